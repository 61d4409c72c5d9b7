#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import json
from itertools import accumulate

# What the book says, after all corrections: litres drawn since the evening before, given away, taken on board.
GALLON = 4.5
drawn = [
    8642 - 7310,
    9817 - 8642,
    964 + 10000 - 9817,
    2203 - 964,
    3398 - 2203,
    3991 - 3398 + (182 - 40) * GALLON,
    (446 - 182) * GALLON,
    (674 - 446) * GALLON + 96,
    (940 - 674) * GALLON,
    (1212 - 940) * GALLON,
]
given, taken = {4: 160}, {3: 6000, 9: 880 * GALLON}
burned = [int(litres - given.get(day, 0)) for day, litres in enumerate(drawn, 1)]
changes = [taken.get(day, 0) - litres for day, litres in enumerate(drawn, 1)]
tank = [int(litres) for litres in accumulate(changes, initial=18400)][1:]
for name, values in (("fuel.csv", burned), ("tank.csv", tank)):
    with open(name, "w") as file:
        file.write("day,litres\n" + "".join(f"{day},{litres}\n" for day, litres in enumerate(values, 1)))
report = {"burned": sum(burned), "given": 160, "taken": int(sum(taken.values())), "left": tank[-1]}
json.dump(report | {"thirstiest": burned.index(max(burned)) + 1}, open("report.json", "w"))
PYTHON

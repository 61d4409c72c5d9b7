#!/bin/bash
# Writes the two scenarios: always the same bytes. In the night three requests meet in the opening of a connection, once.
set -euo pipefail
mkdir -p scenarios
python3 -I - <<'PYTHON'
import hashlib
import json


def draw(*words):
    """A number from 0 to 1."""
    return int.from_bytes(hashlib.sha256(" ".join(map(str, words)).encode()).digest()[:4], "big") / 2**32


night, clock = [], 0.0
for at in range(1, 112):
    meets = at in (57, 58)
    clock += 0.05 if meets else 0.9 + 0.6 * draw("gap", at)
    night.append([round(clock, 3), 9.0, round(0.8 + 0.7 * draw("hold", at), 3), at in (20, 40, 54, 55, 56, 58, 80), None, False])
json.dump({"size": 2, "opening": 0.31, "failing": [], "requests": night}, open("scenarios/night.json", "w"))
morning = [[round(0.4 * at + 0.013 * (at * at % 7), 3), 2.5, 1.27, at % 5 == 0, None, False] for at in range(1, 19)]
json.dump({"size": 3, "opening": 0.5, "failing": [[0.0, 1.7], [4.1, 4.9]], "requests": morning}, open("scenarios/morning.json", "w"))
PYTHON

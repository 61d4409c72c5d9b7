#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import json
import re

MACHINES = ("weigh", "pump", "boiler", "belt")
stretches, sent, received, alarms = {}, {}, {}, []
for name in MACHINES:
    stretches[name] = [1]
    for number, line in enumerate(open(f"logs/{name}.log", encoding="utf-8"), 1):
        hours, minutes, seconds, millis = map(int, re.match(r"(\d\d):(\d\d):(\d\d)\.(\d{3}) ", line).groups())
        time = ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis
        if "resumed after brown-out" in line:
            stretches[name].append(number)
        place = (name, len(stretches[name]) - 1, time)
        if message := re.search(r" (send|recv) id=(\w+)", line):
            (sent if message[1] == "send" else received)[message[2]] = place
        if alarm := re.search(r" ALARM (A-\d+) ", line):
            alarms.append((alarm[1], place))
ahead = {("weigh", 0): 0}
pairs = [(sent[number], received[number]) for number in received]
for _ in range(len(pairs)):
    for (one, at, left), (two, to, came) in pairs:
        gap = (came - left - 1) // 1000  # how far the receiver's clock is ahead of the sender's
        if (one, at) in ahead:
            ahead.setdefault((two, to), ahead[one, at] + gap)
        elif (two, to) in ahead:
            ahead.setdefault((one, at), ahead[two, to] - gap)
    if len(ahead) == sum(map(len, stretches.values())):
        break
clocks = {
    name: [{"from_line": line, "ahead": ahead[name, at]} for at, line in enumerate(lines)]
    for name, lines in stretches.items()
}
true = sorted((time - 1000 * ahead[name, at], number, name) for number, (name, at, time) in alarms)
first = true[0]
for before, after in zip(true, true[1:]):
    if after[0] - before[0] >= 120_000:
        first = after
clock = f"{first[0] // 3600000:02d}:{first[0] // 60000 % 60:02d}:{first[0] // 1000 % 60:02d}.{first[0] % 1000:03d}"
json.dump(clocks, open("clocks.json", "w"), indent=1)
open("order.txt", "w").write("".join(f"{number}\n" for _, number, _ in true))
json.dump({"alarm": first[1], "machine": first[2], "time": clock}, open("first.json", "w"))
PYTHON

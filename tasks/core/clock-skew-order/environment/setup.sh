#!/bin/bash
# Writes logs/: always the same bytes; brown-outs and alarms stand in the middle of long logs.
set -euo pipefail
mkdir -p logs
python3 -I - <<'PYTHON'
import hashlib


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


START, END = 36_000_000, 43_200_000  # 10:00 to 12:00, milliseconds of the day
STRETCHES = {  # true time from which on, seconds ahead
    "weigh": [(0, 0)],
    "pump": [(0, 47), (39_900_000, -388)],
    "boiler": [(0, -212), (39_212_000, 171)],
    "belt": [(0, 633), (38_400_000, 633)],
}
TALKS = [("weigh", "pump"), ("pump", "weigh"), ("pump", "boiler"), ("boiler", "pump"), ("belt", "boiler"), ("boiler", "belt"), ("boiler", "pump")]
CALM = {
    "weigh": ["scale {k} zeroed, drift {n} mg", "check row={n} ok", "sack {n} weighed, {k} grams over"],
    "pump": ["check valve={n} ok", "flow {n} litres a minute on line {k}"],
    "boiler": ["check row={n} ok, brine at {n}.{k} degrees", "burner {k} fed, draught {n}", "salt skimmed from pan {k}, {n} kilograms", "resumed burner {k} after cleaning, {n} minutes"],
    "belt": ["speed {n} of 100", "check roller={n} ok, wear {k}"],
}
WHAT = ["lid open, row {n}", "pressure high on line {n}", "no draught at burner {n}", "belt slips, roller {n}", "brine low in pan {n}"]
events = {name: [] for name in STRETCHES}
for n in range(260):
    sender, receiver = TALKS[draw(7, "talk", n)]
    when = START + 60_000 + draw(END - START - 120_000, "when", n)
    events[sender].append((when, f"send id=m{n:04d} to={receiver} level={draw(100, 'level', n)}"))
    if draw(8, "lost", n):
        events[receiver].append((when + 1 + draw(400, "way", n), f"recv id=m{n:04d} from={sender}"))
for name, number in (("weigh", 230), ("pump", 260), ("boiler", 560), ("belt", 220)):
    for n in range(number):
        text = CALM[name][draw(len(CALM[name]), "calm", name, n)].format(n=draw(100, "n", name, n), k=1 + draw(9, "k", name, n))
        events[name].append((START + draw(END - START, "at", name, n), text))
numbers = sorted(range(10, 100), key=lambda n: draw(10**9, "alarm", n))
moments = sorted(START + 300_000 + draw(3_900_000, "alarm at", n) for n in range(17))
moments += [40_621_350 + 1000 * step + draw(900, "cascade", step) for step in (0, 9, 21, 24, 33, 41, 52, 60, 75, 88)]
for n, when in enumerate(moments):
    name = list(events)[draw(4, "who", n)] if n != 17 else "boiler"
    events[name].append((when, f"ALARM A-{numbers[n]} " + WHAT[draw(5, "what", n)].format(n=draw(50, "row", n))))
for name, stretches in STRETCHES.items():
    for since, _ in stretches[1:]:
        events[name] = [each for each in events[name] if not since - 20_000 <= each[0] < since or "ALARM" in each[1] or "recv" in each[1]]
        events[name].append((since, f"resumed after brown-out, {draw(60, name, since)} seconds lost"))
    with open(f"logs/{name}.log", "w", encoding="utf-8") as file:
        for when, text in sorted(events[name]):
            shown = when + 1000 * [ahead for since, ahead in stretches if since <= when][-1]
            clock = f"{shown // 3_600_000:02d}:{shown // 60_000 % 60:02d}:{shown // 1000 % 60:02d}.{shown % 1000:03d}"
            file.write(f"{clock} {text}\n")
PYTHON

#!/bin/bash
set -euo pipefail
python3 -I - > totals.json <<'PYTHON'
import csv
import itertools

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
NEED, NIGHTS, STREAK = ({'early': 2, 'late': 2, 'night': 1}, 2, 3)
staff = {row["name"]: row for row in csv.DictReader(open("staff.csv"))}
away = {(row["name"], row["day"]) for row in csv.DictReader(open("away.csv"))}
apart = {frozenset(row.values()) for row in csv.DictReader(open("apart.csv"))}
slots = [(day, shift) for day in range(7) for shift in NEED]
work = {name: {} for name in staff}  # name: {day: shift}


def free(name, day, shift):
    has = work[name]
    return not (
        (name, DAYS[day]) in away
        or day in has
        or len(has) >= int(staff[name]["most"])
        or (shift == "early" and has.get(day - 1) == "night")
        or (shift == "night" and sum(s == "night" for s in has.values()) >= NIGHTS)
        or all(day - back in has for back in range(1, STREAK + 1))
    )


def owes(name, day):
    left = sum((name, DAYS[d]) not in away and d not in work[name] for d in range(day, 7))
    missing = int(staff[name]["least"]) - len(work[name])
    return missing - left


def fits(team):
    pairs = map(frozenset, itertools.combinations(team, 2))
    return any(staff[name]["licence"] == "yes" for name in team) and not any(pair in apart for pair in pairs)


steps = 0


def fill(at):
    global steps
    steps += 1
    if steps > 4000:
        return False
    if at == len(slots):
        return all(owes(name, 7) <= 0 for name in staff)
    day, shift = slots[at]
    if shift == "early" and any(owes(name, day) > 0 for name in staff):
        return False
    able = [name for name in staff if free(name, day, shift)]
    rest = {name: sum((name, DAYS[d]) not in away for d in range(day, 7)) for name in able}
    able.sort(key=lambda name: (rest[name] - int(staff[name]["most"]) + len(work[name]), staff[name]["licence"], name))
    for team in itertools.combinations(able, NEED[shift]):
        if fits(team):
            for name in team:
                work[name][day] = shift
            if fill(at + 1):
                return True
            for name in team:
                del work[name][day]
    return False


solved = fill(0)
assert solved, "no plan found"
with open("plan.csv", "w") as file:
    print("day,shift,name", file=file)
    for name, has in work.items():
        for day, shift in has.items():
            print(f"{DAYS[day]},{shift},{name}", file=file)
import json
print(json.dumps({name: len(has) for name, has in work.items()}))
PYTHON

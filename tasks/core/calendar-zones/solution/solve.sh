#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import csv
import datetime
import itertools
import json
import re
from pathlib import Path

HOUR, WEEK = datetime.timedelta(hours=1), datetime.timedelta(weeks=1)
ZONES = {  # hours before, the moment (UTC) of the change, hours after
    "Tarnbeck": (1, "20310330T0100", 2),
    "Lisvane": (0, "20310413T0100", 1),
    "Kestova": (3, "20310330T0100", 3),
    "Maroa": (10, "20310419T1600", 9),
    "Tahir": (5.5, "20310330T0100", 5.5),
    "UTC": (0, "20310330T0100", 0),
}


def time(text):
    return datetime.datetime.strptime(text.rstrip("Z"), "%Y%m%dT%H%M")


def utc(local, zone):
    before, change, after = ZONES[zone]
    return local - before * HOUR if local - before * HOUR < time(change) else local - after * HOUR


def unescaped(text):
    return re.sub(r"\\(.)", r"\1", text)


best = {}
for path in sorted(Path("calendars").glob("*.cal")):
    text = path.read_text(encoding="utf-8").replace("\n ", "")
    for block in re.findall(r"^BEGIN:EVENT\n(.*?)^END:EVENT$", text, re.MULTILINE | re.DOTALL):
        event = {"zone": "UTC"}
        for line in block.splitlines():
            name, value = line.split(":", 1)
            name, _, zone = name.partition(";ZONE=")
            event[name] = value
            if zone:
                event["zone"] = zone
        key = (event["UID"], event.get("INSTEAD", ""))
        if key not in best or int(event.get("VERSION", 1)) > int(best[key].get("VERSION", 1)):
            best[key] = event
found = []


def take_place(event, local):
    if event.get("STATUS") != "CANCELLED":
        start = utc(local, event["zone"])
        if datetime.datetime(2031, 4, 1) <= start < datetime.datetime(2031, 5, 1):
            end = start + datetime.timedelta(minutes=int(event["MINUTES"]))
            shown = ["private"] * 2 if event.get("CLASS") == "PRIVATE" else [event["UID"], unescaped(event["SUMMARY"])]
            found.append((start, unescaped(event["PLACE"]), event["UID"], end, shown))


for (uid, instead), event in best.items():
    if instead or event.get("STATUS") == "CANCELLED":
        continue
    excepted = {time(each) for each in event.get("EXCEPT", "").split(",") if each}
    for week in range(int(event.get("REPEAT", "WEEKLY;COUNT=1").split("=")[1])):
        local = time(event["START"]) + week * WEEK
        if local not in excepted:
            other = next((e for (u, i), e in best.items() if u == uid and i and time(i) == local), None)
            take_place(other or event, time(other["START"]) if other else local)
found.sort(key=lambda each: each[:3])


def write(name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header.split(","), *rows])


def stamp(when):
    return f"{when:%Y-%m-%dT%H:%MZ}"


write("agenda.csv", "start,end,place,uid,summary", ([stamp(s), stamp(e), p, *shown] for s, p, _, e, shown in found))
clashes = []
for one, two in itertools.combinations(sorted(found, key=lambda each: (each[0], each[2])), 2):
    if one[1] == two[1] and two[0] < one[3]:
        clashes.append((two[0], one[1], one[2], two[2], min(one[3], two[3]), one[4][0], two[4][0]))
rows = ([place, stamp(start), stamp(end), first, second] for start, place, _, _, end, first, second in sorted(clashes))
write("clashes.csv", "place,from,to,first,second", rows)
busy = {}
for start, place, _, end, _ in found:
    busy.setdefault(place, set()).update(range(int(start.timestamp()) // 60, int(end.timestamp()) // 60))
json.dump({place: len(minutes) for place, minutes in busy.items()}, open("busy.json", "w"))
PYTHON

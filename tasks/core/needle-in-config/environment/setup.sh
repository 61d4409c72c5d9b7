#!/usr/bin/env bash
# Generates the eighty job files; the seed makes them the same everywhere.
set -eu
mkdir -p conf.d
python3 - <<'PYTHON'
import random

draw = random.Random(80).random
FIRST = "amber birch cedar delta ember fjord grove heron".split()
SECOND = "archive feeds images ledger mail packages photos reports search tiles".split()
OTHERS = ["mirror-01.internal", "mirror-03.internal", "mirror-12.internal", "mirror-17.internal", "mirror-70.internal"]
SLOW = ["25m", "40m", "1500s", "50m", "2h", "3h", "90m", "5400s"]
BUSY = "mirror-07.internal"


def pick(items):
    return items[int(draw() * len(items))]


def sync(kind):
    """The lines of [sync]; each kind but "guilty" looks guilty and is not."""
    if kind == "guilty":
        return ["enabled = yes", f"source = {BUSY}", "depth = 3", "every = 15m"]
    if kind == "off":
        return ["enabled = no", f"source = {BUSY}", "depth = 3", "every = 15m"]
    if kind == "commented":
        return ["enabled = yes", f"# source = {BUSY}", "source = mirror-12.internal", "every = 15m"]
    if kind == "look-alike":
        return ["enabled = yes", "source = mirror-17.internal", "depth = 3", "every = 15m"]
    if kind == "source overridden":
        return ["enabled = yes", f"source = {BUSY}", "every = 15m", "source = mirror-70.internal"]
    if kind == "interval overridden":
        return ["enabled = yes", f"source = {BUSY}", "every = 15m", "depth = 2", "every = 45m"]
    if kind == "just enough":
        return ["enabled = yes", f"source = {BUSY}", "depth = 3", "every = 20m"]
    if kind == "long":
        return ["enabled = yes", f"source = {BUSY}", "depth = 3", "every = 1500s"]
    if kind == "switched off later":
        return ["enabled = yes", f"source = {BUSY}", "every = 10m", "enabled = no"]
    source = pick([*OTHERS, BUSY])
    return [f"enabled = {pick(['yes', 'yes', 'no'])}", f"source = {source}", f"depth = {1 + int(draw() * 4)}", f"every = {pick(SLOW)}"]


KINDS = {
    3: "off", 8: "commented", 11: "look-alike", 16: "restore", 19: "source overridden", 22: "interval overridden",
    27: "just enough", 30: "long", 34: "switched off later", 38: "off", 43: "guilty", 45: "look-alike", 49: "restore",
    52: "commented", 57: "interval overridden", 61: "source overridden", 66: "just enough", 70: "switched off later",
    74: "off", 77: "look-alike",
}
for number in range(80):
    kind = KINDS.get(number, "")
    name = f"{FIRST[number % 8]}-{SECOND[number // 8]}"
    restore = f"source = {BUSY}\nevery = 5m" if kind == "restore" else f"source = {pick(OTHERS)}\nevery = {pick(SLOW)}"
    text = (
        f"# Job {number:02d}. Owner: desk {1 + int(draw() * 9)}. Ask before changing the depth.\n"
        f"[job]\nname = {name}\nclass = {pick(['bulk', 'normal', 'urgent'])}\nretries = {1 + int(draw() * 6)}\n\n"
        "[sync]\n" + "\n".join(sync(kind)) + f"\ntarget = /srv/{name}\nchecksum = {int(draw() * 2**32):08x}\n\n"
        f"[restore]\n{restore}\nkeep = {7 * (1 + int(draw() * 8))} days\n\n"
        f"[report]\nto = {name}@desk.example\nsubject = {name}: nightly summary\n"
    )
    with open(f"conf.d/{number:02d}-{name}.ini", "w", encoding="utf-8") as file:
        file.write(text)
PYTHON

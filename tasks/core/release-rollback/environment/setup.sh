#!/bin/bash
# Makes srv/: seventeen releases, the links into them, and a long history that says which of them may be live.
set -euo pipefail
python3 -I - <<'PYTHON'
import hashlib
import os
from pathlib import Path


def number(*words):
    """A number that only depends on these words."""
    return int(hashlib.sha256(repr(words).encode()).hexdigest()[:8], 16)


NAMES = [f"r{at}" for at in range(101, 118)]
for name in NAMES:
    folder = Path("srv/releases", name)
    folder.mkdir(parents=True)
    pool = 0 if name == "r117" else 4 + number(name) % 20
    (folder / "app.conf").write_text(f"[app]\nrelease = {name}\npool = {pool}\n# TODO: the name of the pol is wrong\n")
    for part in ("web", "worker", "migrate", "report"):
        (folder / f"{part}.py").write_text(f'"""The {part} of {name}."""\n\nprint("{part} {name}")\n')

Path("srv/conf").mkdir()
Path("srv/bin").mkdir()
for link, target in {
    "srv/current": "releases/r117",
    "srv/conf/app.conf": "../releases/r117/app.conf",
    "srv/bin/web": "../releases/r117/web.py",
    "srv/bin/worker": "../releases/r117/worker.py",
    "srv/bin/migrate": "../releases/r117/migrate.py",
    "srv/bin/report": "../releases/r108/report.py",
    "srv/previous": "releases/r115",
}.items():
    os.symlink(target, link)

fates = {
    "r109": "built staged live healthy",
    "r110": "built staged live healthy",
    "r111": "built staged",
    "r112": "built staged live ill healthy",
    "r113": "built staged healthy",
    "r114": "built staged live healthy",
    "r115": "built staged live ill ill",
    "r116": "built staged live healthy",
    "r117": "built staged live ill",
}
lines, day = [], 0
for at, name in enumerate(NAMES):
    for fate in fates.get(name, "built staged live healthy").split():
        day += number(name, fate, day) % 3
        lines.append((day, f"{fate} {name}"))
    day += 2
    if name == "r116":
        lines.append((day, "withdrawn r114"))
        lines.append((day, "withdrawn r102"))
        day += 1
        lines.append((day, "withdrawn r116"))
    if at % 2:
        lines.append((day, f"checked disk of host-{number(name) % 9}, {60 + number(day) % 30} per cent used"))
first = lines[-1][0] - 76
months = [31, 28, 31]


def date(day):
    day -= first
    for month, length in enumerate(months, 1):
        if day < length:
            return f"2031-{month:02}-{day + 1:02}"
        day -= length
    raise ValueError(day)


Path("srv/history.log").write_text("".join(f"{date(d) if d >= first else f'2030-12-{31 + d - first:02}'} {what}\n" for d, what in lines))
PYTHON

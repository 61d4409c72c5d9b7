#!/bin/bash
# Writes the three calendars: always the same bytes.
set -euo pipefail
mkdir -p calendars
python3 -I - <<'PYTHON'
import datetime
import hashlib


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


ZONES = ["Tarnbeck", "Tarnbeck", "Tarnbeck", "Lisvane", "Kestova", "Maroa", "Tahir", ""]
SHIFT = {"Lisvane": -1, "Kestova": 1, "Maroa": 8, "Tahir": 4, "": -1, "Tarnbeck": 0}
PLACES = ["Great Hall", "Great Hall", "Cellar", "Cellar", "Chapel", "Foyer\\, upstairs"]
WHO = "Tenors|Basses|Altos|Sopranos|The board|Children|Organ|Soloists|Wind players".split("|")
WHAT = "sectional|rehearsal|meeting\\, open|try-out|talk\\; then tea|recording|warm-up|lesson".split("|")


def stamp(when, zone):
    return f"{when:%Y%m%dT%H%M}" + ("" if zone else "Z")


def event(uid, *where, version=0, start=None, zone=None, instead="", kind=""):
    """The lines of an event; draws depend on `where`."""
    lines = ["BEGIN:EVENT", f"UID:{uid}"]
    zone = ZONES[draw(8, "zone", *where)] if zone is None else zone
    if start is None:
        day = datetime.datetime(2031, 3, 12) + datetime.timedelta(days=draw(46, "day", *where))
        start = day + datetime.timedelta(hours=15 + draw(6, "hour", *where) + SHIFT[zone], minutes=15 * draw(4, "minute", *where))
    if version:
        lines.append(f"VERSION:{version}")
    lines.append(f"SUMMARY:{WHO[draw(9, 'who', *where)]}: {WHAT[draw(8, 'what', *where)]}")
    lines.append(f"PLACE:{PLACES[draw(6, 'place', *where)]}")
    lines.append((f"START;ZONE={zone}:" if zone else "START:") + stamp(start, zone))
    if instead:
        lines.append(f"INSTEAD:{instead}")
    elif draw(2, "repeats", *where):
        lines.append(f"REPEAT:WEEKLY;COUNT={2 + draw(7, 'count', *where)}")
        if draw(3, "excepts", *where) == 0:
            weeks = sorted({draw(6, "except", *where), draw(6, "other", *where)})
            times = [stamp(start + datetime.timedelta(weeks=week), zone) for week in weeks]
            lines.append("EXCEPT:" + ",".join(times))
    lines.append(f"MINUTES:{(45, 60, 90, 120, 150)[draw(5, 'long', *where)]}")
    if draw(6, "private", *where) == 0:
        lines.append("CLASS:PRIVATE")
    if kind or draw(16, "cancelled", *where) == 0:
        lines.append("STATUS:CANCELLED")
    return [*lines, "END:EVENT"], start, zone


def folded(line, *where):
    at = 9 + draw(14, "fold", *where)
    return f"{line[:at]}\n {line[at:]}" if len(line) > at + 2 and draw(4, "folds", *where) == 0 else line


texts = {name: [] for name in ("vale", "moor", "tide")}
for at, name in enumerate(texts):
    for n in range(30):
        uid = f"{name[0]}{draw(9000, 'uid', name, n) + 1000}"
        lines, start, zone = event(uid, name, n, version=draw(3, "version", name, n))
        texts[name].append(lines)
        if any(line.startswith("REPEAT") for line in lines) and draw(2, "moved", name, n):
            old = start + datetime.timedelta(weeks=draw(5, "which", name, n))
            new = old + datetime.timedelta(days=draw(3, "days", name, n) - 1, hours=draw(4, "later", name, n) - 2)
            kind = "cancelled" if draw(4, "kind", name, n) == 0 else ""
            moved = event(uid, name, n, "moved", start=new, zone=zone, instead=stamp(old, zone), kind=kind)[0]
            texts[name].append(moved)
        if draw(5, "copied", name, n) == 0:
            other = list(texts)[(at + 1 + draw(2, "where", name, n)) % 3]
            texts[other].append(event(uid, name, n, "copy", version=3 + draw(2, "newer", name, n))[0])
for name, events in texts.items():
    events.sort(key=lambda lines: draw(10**9, "order", name, *lines))
    lines = [folded(line, name, at) for at, line in enumerate(line for lines in events for line in lines)]
    with open(f"calendars/{name}.cal", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
PYTHON

#!/bin/bash
# Writes logs/glasshouse.log: always the same bytes, the remarks in the middle of it.
set -euo pipefail
mkdir -p logs
python3 -I - <<'PYTHON'
import hashlib


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


def clock(seconds):
    return f"2031-02-11 {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


REMARKS = {  # after how many lines of readings
    268: "somebody pressed the unit button of t2: it has been sending Fahrenheit since 09:25:00. I leave it so until noon.",
    301: "painted the door; nothing that t1 sent from 10:40:00 to 11:20:00 may be used.",
    327: "t2 is set to Celsius again, as of 12:35:00.",
    355: "compared t3 with the good thermometer: it has read 1.6 too high from 08:00:00 to 13:10:00, now it is right.",
    392: "correction of my note on the door: it was open until 11:45:00, so t1 must not be used from 10:40:00 to 11:45:00.",
    409: "t1 sent Fahrenheit from 13:30:00 to 14:20:00, when I tried the button myself.",
}
BENCH = {"t1": "north", "t2": "middle", "t3": "south"}
lines, later = [], []
for seconds in range(6 * 3600, 22 * 3600, 300):
    for at, sensor in enumerate(BENCH):
        when = seconds + 10 + draw(280, "jitter", sensor, seconds)
        hour = when // 3600
        if (sensor, hour) in {("t1", 8), ("t3", 17)} and draw(5, "gap", sensor, seconds):
            continue
        if draw(15, "lost", sensor, seconds) == 0:
            continue
        tenths = 120 + 15 * at + (16 - abs(hour - 14)) * 9 + draw(24, "noise", sensor, seconds)
        if sensor == "t3" and 8 * 3600 <= when < 13 * 3600 + 600:
            tenths += 16
        if draw(28, "wild", sensor, seconds) == 0:
            tenths = (990, -400, 9999)[draw(3, "how", sensor, seconds)]
        inside = {"t2": (9 * 3600 + 1500, 12 * 3600 + 2100), "t1": (13 * 3600 + 1800, 14 * 3600 + 1200), "t3": (0, 0)}[sensor]
        if inside[0] <= when < inside[1] and abs(tenths) < 900:
            tenths = round(tenths * 9 / 5) + 320
        value = "ERR" if draw(30, "error", sensor, seconds) == 0 else f"{tenths / 10:.1f}"
        battery = f"battery={90 - (when - 21600) // 3000}%"
        line = f"{clock(when)} bench={BENCH[sensor]} sensor={sensor} value="
        lines.append(f"{line}{value} {battery}\n")
        if draw(13, "again", sensor, seconds) == 0:
            change = draw(5, "change", sensor, seconds) - 2
            again = "ERR" if draw(5, "worse", sensor, seconds) == 0 else f"{(tenths + 7 * change) / 10:.1f}"
            later.append((len(lines) + draw(40, "delay", sensor, seconds), f"{line}{again} {battery}\n"))
for place, line in sorted(later, reverse=True):
    lines.insert(min(place, len(lines)), line)
for place in sorted(REMARKS, reverse=True):
    lines.insert(place, f"-- {REMARKS[place]}\n")
with open("logs/glasshouse.log", "w", encoding="utf-8") as file:
    file.writelines(lines)
PYTHON

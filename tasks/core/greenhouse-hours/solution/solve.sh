#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import json
import re
from collections import defaultdict

FAHRENHEIT = [("t2", "09:25:00", "12:35:00"), ("t1", "13:30:00", "14:20:00")]
TOO_HIGH = [("t3", "08:00:00", "13:10:00", 1.6)]
EXCLUDED = [("t1", "10:40:00", "11:45:00")]
lines = [line.split() for line in open("logs/glasshouse.log", encoding="utf-8") if not line.startswith("--")]
readings = {(words[3][7:], words[1]): words[4][6:] for words in lines}
invalid, hours = 0, defaultdict(list)


def within(spans, sensor, time):
    return [span for span in spans if span[0] == sensor and span[1] <= time < span[2]]


for (sensor, time), value in readings.items():
    degrees = 99.0 if value == "ERR" else float(value)
    if value != "ERR" and within(FAHRENHEIT, sensor, time):
        degrees = (degrees - 32) * 5 / 9
    degrees -= sum(span[3] for span in within(TOO_HIGH, sensor, time))
    if within(EXCLUDED, sensor, time) or not -5 <= degrees <= 45:
        invalid += 1
    else:
        hours[sensor, time[:2]].append(degrees)
means = {key: sum(values) / len(values) for key, values in hours.items() if len(values) >= 4}
sensors, day = ("t1", "t2", "t3"), [f"{hour:02d}" for hour in range(6, 22)]
with open("hourly.csv", "w") as file:
    file.write("hour,t1,t2,t3\n")
    for hour in day:
        cells = [f"{means[sensor, hour]:.2f}" if (sensor, hour) in means else "" for sensor in sensors]
        file.write(",".join([hour, *cells]) + "\n")
gaps = {sensor: [hour for hour in day if (sensor, hour) not in means] for sensor in sensors}
summary = {"repeated": len(lines) - len(readings), "invalid": invalid, "warmest": max(means, key=means.get)}
json.dump(gaps, open("gaps.json", "w"))
json.dump(summary, open("summary.json", "w"))
PYTHON

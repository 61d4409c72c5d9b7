"""Judges the hourly means (within a hundredth), the gaps and the summary, a third each; a changed log gives nothing."""

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import Any

from workspace import content, digest_of

GIVEN = {
    "logs/glasshouse.log": "2aa199659a5c276639cd9044e92c3c115f5df7e734b63ef2f541a6b05f67738b",
}
FAHRENHEIT = {"t1": (48600, 51600), "t2": (33900, 45300)}  # seconds of the day, from and before
SENSORS, HOURS = ("t1", "t2", "t3"), [f"{hour:02d}" for hour in range(6, 22)]


def parsed(data: bytes) -> Any:
    """What the JSON text says; None if it is none."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def celsius(sensor: str, second: int, value: str) -> float | None:
    """The corrected temperature of a reading; None if it does not count."""
    if value == "ERR" or (sensor == "t1" and 38400 <= second < 42300):
        return None
    degrees, (start, end) = float(value), FAHRENHEIT.get(sensor, (0, 0))
    if start <= second < end:
        degrees = (degrees - 32) / 1.8
    if sensor == "t3" and 28800 <= second < 47400:
        degrees -= 1.6
    return degrees if -5 <= degrees <= 45 else None


def expected(log: str) -> tuple[dict[tuple[str, str], float], int, int]:
    """The means by sensor and hour, the number of repeated lines and of invalid readings."""
    lines = re.findall(r"^\S+ (\d\d):(\d\d):(\d\d) \S+ sensor=(t\d) value=(\S+)", log, re.MULTILINE)
    last = {(sensor, 3600 * int(h) + 60 * int(m) + int(s)): value for h, m, s, sensor, value in lines}
    values = {key: celsius(*key, value) for key, value in last.items()}
    hours: dict[tuple[str, str], list[float]] = {}
    for (sensor, second), value in values.items():
        if value is not None:
            hours.setdefault((sensor, f"{second // 3600:02d}"), []).append(value)
    means = {key: sum(each) / len(each) for key, each in hours.items() if len(each) >= 4}
    return means, len(lines) - len(last), list(values.values()).count(None)


def close(cell: str, mean: float | None) -> bool:
    """Whether a cell shows the mean to two decimals, or is empty where there is none."""
    if mean is None or not re.fullmatch(r"-?\d{1,3}(\.\d{1,2})?", cell):
        return mean is None and cell == ""
    return abs(float(cell) - mean) < 0.0051


def hourly(means: dict[tuple[str, str], float]) -> bool:
    """Whether hourly.csv has the right lines."""
    try:
        rows = [row for row in csv.reader(io.StringIO(content("hourly.csv").decode("utf-8-sig"))) if row]
    except (ValueError, csv.Error):
        return False
    cells = [[cell.strip() for cell in row] for row in rows]
    if [row[:1] for row in cells] != [["hour"], *([hour] for hour in HOURS)] or {len(row) for row in cells} != {4}:
        return False
    wanted = [means.get((sensor, hour)) for hour in HOURS for sensor in SENSORS]
    found = [cell for row in cells[1:] for cell in row[1:]]
    return cells[0][1:] == list(SENSORS) and all(map(close, found, wanted))


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != wanted for name, wanted in GIVEN.items()):
        print("the log was changed")
        return 0.0
    means, repeated, invalid = expected(content("logs/glasshouse.log").decode())
    gaps = {sensor: [hour for hour in HOURS if (sensor, hour) not in means] for sensor in SENSORS}
    warmest = list(max(means, key=lambda key: means[key]))
    summary = {"repeated": repeated, "invalid": invalid, "warmest": warmest}
    points = {
        "hourly.csv": hourly(means),
        "gaps.json": parsed(content("gaps.json")) == gaps,
        "summary.json": parsed(content("summary.json")) == summary,
    }
    print(points)
    return sum(points.values()) / len(points)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

"""Judges what was burned, what was in the tank and the report, a third each; a changed logbook gives nothing."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

from workspace import content, digest_of

GIVEN = {
    "logbook/day-01.txt": "aa11ac7b8992fec790ab4be1c0e8e6dd772367b25336d7d422eb89ff01eb07c4",
    "logbook/day-02.txt": "8f0378b53c3dfbce3857c4b6c7c65284f9e2af089d570d18a82794d92083af3a",
    "logbook/day-03.txt": "3248c60c9a7726a997283091272fbb75eafbe1e2fa4ceba1f8838cb59d0e45f1",
    "logbook/day-04.txt": "e73305ebbcb489d942b071a99c35b8533c3a57309994cca0ad0c4712cb36a17b",
    "logbook/day-05.txt": "6c013784ff80d4a5310e932350ca7de48934c3a9612d9bd7cd69998c5018179c",
    "logbook/day-06.txt": "0d1fa82c1b2a63483a5c46b1573f8d5b619307f2bf8df9679497f706494c861d",
    "logbook/day-07.txt": "f5a08d5d732f89dc2de2962e7c1d512e557f10a617d531ae1d20f3dde9308a93",
    "logbook/day-08.txt": "213b1ffd178c044f65dd070688c72e4c0f5b08093c584ed08eedcee90bc6db98",
    "logbook/day-09.txt": "86be9690bfe9d1dbdcbcd11757ced3dce882e2d11254d0a6fd4bb73c324b6c9f",
    "logbook/day-10.txt": "d8d459cf66c699f9cb2c43fa144d0ea9003c3a84ddadd23cf2044952a2a9e8b2",
}
FUEL = [1332, 1175, 1147, 1079, 1195, 1232, 1188, 1122, 1197, 1224]
TANK = [17068, 15893, 20746, 19507, 18312, 17080, 15892, 14770, 17533, 16309]
REPORT = {"burned": 11891, "given": 160, "taken": 9960, "left": 16309, "thirstiest": 1}


def parsed(data: bytes) -> Any:
    """What the JSON text says; None if it is none."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def litres(name: str) -> list[float]:
    """The litres of the days 1 to 10; none if the file has another form."""
    try:
        rows = [row for row in csv.reader(io.StringIO(content(name).decode("utf-8-sig"))) if row]
        cells = [[cell.strip() for cell in row] for row in rows]
        if cells[0] != ["day", "litres"] or [row[0] for row in cells[1:]] != [str(day) for day in range(1, 11)]:
            return []
        return [float(value) for _, value in cells[1:]]
    except (ValueError, IndexError, csv.Error):
        return []


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != wanted for name, wanted in GIVEN.items()):
        print("the logbook was changed")
        return 0.0
    points = {
        "fuel.csv": litres("fuel.csv") == FUEL,
        "tank.csv": litres("tank.csv") == TANK,
        "report.json": parsed(content("report.json")) == REPORT,
    }
    print(points)
    return sum(points.values()) / len(points)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

"""Judges the agenda, the clashes and the minutes in use, a third each; changed calendars give nothing."""

import csv
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

from workspace import content, digest_of

GIVEN = {
    "calendars/FORMAT.md": "6156e0d8d5c64f99982e8e6a97097f7d3fab4223447e3e165157c4d4e2e15c5c",
    "calendars/vale.cal": "204b36468b06f9b7d8985a1b3ee65fda14ece5288fe1b9c7792d1970b0b2db52",
    "calendars/moor.cal": "18b09baedb71fbf2d4e2acf8b549bf1720632f82eaf8dd53378eedfc43e00a21",
    "calendars/tide.cal": "ceb709a7376e0c530613149521acb4781c0b9a79e3644fb9d0fe0bfdb377e046",
}
AGENDA = "94854eb7d11c6e68d814295589e152eb32d35b27fa051f0cc7753e4673ca7a54"  # of the rows, the header included
CLASHES = "10fd38675abaf18c92aede94253b588f0c29ec76aac6f9f8cbe335d3733336f7"
BUSY = {"Cellar": 3990, "Chapel": 1965, "Great Hall": 3270, "Foyer, upstairs": 2340}


def parsed(data: bytes) -> Any:
    """What the JSON text says; None if it is none."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def digest(name: str) -> str:
    """A digest over the rows of a CSV file, however its cells are quoted; empty if it is none."""
    try:
        rows = [row for row in csv.reader(io.StringIO(content(name).decode("utf-8-sig"))) if row]
    except (ValueError, csv.Error):
        return ""
    return hashlib.sha256(json.dumps([[cell.strip() for cell in row] for row in rows]).encode()).hexdigest()


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != wanted for name, wanted in GIVEN.items()):
        print("the calendars were changed")
        return 0.0
    points = {
        "agenda.csv": digest("agenda.csv") == AGENDA,
        "clashes.csv": digest("clashes.csv") == CLASHES,
        "busy.json": parsed(content("busy.json")) == BUSY,
    }
    print(points)
    return sum(points.values()) / len(points)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

"""Judges cargo.jsonl (numbers and dates, then all of it) and ships.json, a third each; a changed tape gives nothing."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from workspace import content, digest_of

GIVEN = {
    "tape/LAYOUT.md": "7dc6194c311ded515f6014b09277fd77cca312ab99f4c355892ee6ffa409da39",
    "tape/cargo.dat": "abfa26e30715684af07e5efcc8549fe70bba1228b28b4b226f01ff9b6bcd9320",
}
TEXTS = ("ship", "master", "goods")
KEYS = {"voyage", "sailed", *TEXTS, "item", "weight_kg", "value", "due"}
NUMBERS = "6763f96bace1dfa326d0cf244264271a98e1396433bb8f8b5c9d80c37773199e"  # of all rows without their texts
ROWS = "b042af12eb4aec785c66091adc27804a217b325e566f6e815b98f96579373d05"
SHIPS = {
    "Süderoog": 229630,
    "Brúarfoss": 411666,
    "Niño Jesús": 702814,
    "Gaivota": 1678843,
    "Maid of Marwick": 630327,
    "Åse Marie": 362190,
}


def parsed(data: bytes) -> Any:
    """What the JSON text says; None if it is none."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def digest(value: Any) -> str:
    """The SHA-256 of a value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != wanted for name, wanted in GIVEN.items()):
        print("the tape or its layout was changed")
        return 0.0
    rows = [parsed(line) for line in content("cargo.jsonl").split(b"\n") if line.strip()]
    if not all(isinstance(row, dict) and row.keys() == KEYS for row in rows):
        print("cargo.jsonl: a line is no object with these keys")
        rows = []
    ships = parsed(content("ships.json"))
    numbers = [{key: value for key, value in row.items() if key not in TEXTS} for row in rows]
    points = {
        "numbers": digest(numbers) == NUMBERS,
        "rows": digest(rows) == ROWS,
        "ships.json": isinstance(ships, dict) and digest(ships) == digest(SHIPS),
    }
    print(f"{points}; {len(rows)} rows")
    return sum(points.values()) / len(points)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

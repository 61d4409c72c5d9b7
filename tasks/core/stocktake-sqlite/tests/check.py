"""Judges the database by its content and three reports, a quarter each; a changed schema or given file: nothing."""

import csv
import hashlib
import io
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from workspace import content, digest_of

GIVEN = {
    "HOUSE.md": "fdcb36d441b0719ec9b36ae51a502d1e9cc973277055f85e9de8763845e638f2",
    "stocktake.csv": "e5b006282dcfa4f25828638f893cc3113b964cce065e24e01a1bc0a733b834ba",
}
SCHEMA = "a0ef19933d3f84b6fc208b7ad4885b201214f9649b81094b277b1964f19ca16a"  # tables, triggers, views and the species
TABLES = "64e6d9d64ce49d54df82fb7924e35fb625847afb2d6ee042584e6d6f66429de7"  # lots, corrections, log of seals
UNKNOWN = ["AG00-99", "SK24-100", "WO30-077"]
LOW = [
    ["species", "grams", "minimum"],
    ["betony", "364", "368"],
    ["borage", "0", "20"],
    ["burnet", "3286", "3299"],
    ["centaury", "2796", "2817"],
    ["flax", "0", "20"],
    ["lovage", "0", "20"],
    ["melilot", "1668", "1672"],
    ["sainfoin", "1690", "1750"],
    ["skirret", "0", "20"],
    ["tansy", "777", "790"],
    ["teasel", "1394", "1404"],
    ["vetch", "1771", "1812"],
    ["woad", "2281", "2354"],
]
REPORT = {"changed": 25, "net_grams": -95, "largest": "BU03-635"}
QUERIES = (
    "select type, name, tbl_name, sql from sqlite_master order by type, name",
    "select * from species order by name",
    "select * from lots order by lot",
    "select lot, old_grams, new_grams, reason, counter from corrections order by 1, 2, 3, 4, 5",
    "select lot, what from seal_log order by lot, id",
)
READER = """
import json, sqlite3, sys
base = sqlite3.connect("seedbank.db")
print(json.dumps([base.execute(query).fetchmany(5000) for query in json.loads(sys.argv[1])]))
"""


def parsed(data: bytes | str) -> Any:
    """What the JSON text says; None if it is none."""
    try:
        return json.loads(data if isinstance(data, str) else data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def digest(value: Any) -> str:
    """The SHA-256 of a value's JSON."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def tables() -> list[Any]:
    """What the queries give in a copy, read by a process apart; empty if that fails or takes long."""
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o777)
        for name in ("seedbank.db", "seedbank.db-wal", "seedbank.db-journal"):
            if data := content(name):
                (folder / name).write_bytes(data)
                (folder / name).chmod(0o666)
        apart = shlex.split(os.environ.get("AS_SOLVER", ""))
        command = [*apart, "python3", "-I", "-c", READER, json.dumps(QUERIES)]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=20, check=False)
        print(f"{done.stderr[-200:]!a}")
        found = parsed(done.stdout)
        return found if isinstance(found, list) else []
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"seedbank.db: {error}")
        return []
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def low() -> list[list[str]]:
    """The rows of low.csv."""
    try:
        rows = list(csv.reader(io.StringIO(content("low.csv").decode("utf-8-sig"))))
    except (ValueError, csv.Error):
        return []
    return [cells for row in rows if any(cells := [cell.strip() for cell in row])]


def score() -> float:
    """The reward in 0..1."""
    found = tables()
    schema_kept = digest(found[:2]) == SCHEMA
    files_kept = all(digest_of(name) == wanted for name, wanted in GIVEN.items())
    if not (schema_kept and files_kept):
        print(f"schema and species as they were: {schema_kept}; given files as they were: {files_kept}")
        return 0.0
    points = {
        "database": digest(found[2:]) == TABLES,
        "unknown.txt": content("unknown.txt").decode("utf-8", "replace").split() == UNKNOWN,
        "low.csv": low() == LOW,
        "report.json": parsed(content("report.json")) == REPORT,
    }
    print(points)
    return sum(points.values()) / len(points)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

"""Loads hidden cargoes with a journal that keeps all entries; compares these, the plan, and what is printed."""

import json
import os
from pathlib import Path
from typing import Any

from solver import answers, copied
from workspace import digest_of

GIVEN = {
    "EVENTS.md": "56fefe660c2cc2de73587f50171b7651448295a1ecf9d847d4b68a8d4482eb59",
    "cargo.json": "a37ee2fd75b139baf0d731ac35f345390f0baf6b569e1bdb762d8abc60420d8d",
    "ferry/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "ferry/journal.py": "915f9cd02e6e8e6146753f3cc48d4e7d0dc030c00e085d852b0e3644e7040475",
    "ferry/report.py": "794393ee45355db17edc256083f5e0d15be8c078d492fcec8d484e91823bda49",
}
CHANGED = ("ferry/decks.py", "ferry/loading.py", "load_ferry.py")
PROBE = """
import contextlib, io, json, subprocess, sys
from ferry.decks import Deck, Vehicle
from ferry.journal import Journal
from ferry.loading import load


def loaded(cargo, **given):
    decks = [Deck(**deck) for deck in cargo["decks"]]
    behind = load([Vehicle(**vehicle) for vehicle in cargo["vehicles"]], decks, **given)
    return [behind, [[deck.plates, deck.trim] for deck in decks]]


def tried(cargo):
    printed, entries = io.StringIO(), []
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        plan = [loaded(cargo, journal=Journal(entries.append)), loaded(cargo)]
    return [plan, entries, printed.getvalue()]


def nested(outer, inner):
    entries, others = [], []

    def sink(entry):
        entries.append(entry)
        if entry["event"] in ("vehicle-considered", "deck-refused"):
            loaded(inner, journal=Journal(others.append))
            loaded(inner)

    loaded(outer, journal=Journal(sink))
    return [entries, others]


def commanded(cargo):
    with open("hidden.json", "w") as file:
        json.dump(cargo, file)
    results = []
    for words in ([], ["--journal", "out.jsonl"]):
        command = [sys.executable, "-EsB", "load_ferry.py", "hidden.json", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        results.append(done.stdout + done.stderr)
    with open("out.jsonl") as file:
        return [results, [json.loads(line) for line in file]]


def safely(act, *cargoes):
    try:
        return act(*cargoes)
    except Exception as error:
        return repr(error)


given = json.load(sys.stdin)
results = {"entries": [safely(tried, cargo) for cargo in given]}
results["nested"] = [safely(nested, given[0], given[1]), safely(nested, given[1], given[2])]
results["command"] = [safely(commanded, cargo) for cargo in given]
print(json.dumps(results, default=repr))
"""
EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))


def decks(*rows: tuple[str, float, float]) -> list[dict[str, Any]]:
    """Decks of these names, lengths and limits."""
    return [dict(zip(("name", "length", "limit"), row, strict=True)) for row in rows]


def vehicles(*rows: tuple[str, float, float]) -> list[dict[str, Any]]:
    """Vehicles of these plates, lengths and weights."""
    return [dict(zip(("plate", "length", "weight"), row, strict=True)) for row in rows]


CARGOES = [
    {
        "decks": decks(("hold", 20, 30), ("main", 11, 12.5), ("sun", 4.1, 2)),
        "vehicles": vehicles(
            ("P1", 4, 1.7), ("P2", 20, 29), ("P3", 5.5, 12.5), ("P4", 5.7, 3), ("P5", -1, 4), ("P6", 3, 0)
        ),
    },
    {"decks": decks(("one", 9, 5)), "vehicles": vehicles(("B", 3, 1), ("A", 3, 1), ("C", 3, 1))},
    {"decks": decks(("x", 6, 5), ("y", 7, 5)), "vehicles": []},
]


def changed() -> list[str]:
    """Files that had to stay and did not, and files that were added."""
    broken = [name for name, digest in GIVEN.items() if digest_of(name) != digest]
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        paths = (Path(folder, name).as_posix() for name in files)
        broken += [path for path in paths if path not in GIVEN and path not in CHANGED]
    return sorted(broken)


def score() -> float:
    """Half for the entries, a quarter each for loads inside of loads and for the command."""
    broken = changed()
    found = answers(PROBE, CARGOES, copied([*GIVEN, *CHANGED]))
    found = found if isinstance(found, dict) else {}
    reached = [name for name in EXPECTED if found.get(name) == EXPECTED[name]]
    print(f"reached: {reached}; changed or added besides: {broken[:20]!a}")
    return sum({"entries": 0.5, "nested": 0.25, "command": 0.25}[name] for name in reached) * (0.5 if broken else 1.0)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")

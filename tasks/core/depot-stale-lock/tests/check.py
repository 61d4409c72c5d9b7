"""Is each delivery in the book once and in order, and was nothing else changed on the way?"""

import csv
import hashlib
import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

from workspace import digest_of, text

BEFORE = "7adb92996c436970b722a17efb091d4ca9ec14014fc778d0267b9ce937801870"
DELIVERIES = ("monday", "tuesday", "wednesday")
GIVEN = {
    "README.md": "ba9551cd382b7ba02a3d41fb474c3ce57d688232e248a0dd09e14108f52e6195",
    "bin/depot.py": "ed2ddb215744ee3186a795e78388d93332b78aec5e38509c5763da3949e5783a",
    "inbox/monday.csv": "82ef9d9003ac808097164c360e09ad93f6b48079c13bfec0841d3b1f8b076cb0",
    "inbox/tuesday.csv": "1cc735c2d4167c0040681e9b09e33c9f5b89d984952fab68bbc5852b8ebbcfef",
    "inbox/wednesday.csv": "319c35dbda25cc34e5bf76c5e29e279aea8e3710827400b3e3fabdcc007b9d1b",
    "state/host": "97b5fddbf1cba02f6b9368b9c1a1a36ec7b0b116f63bd520f97e3d0523bd9638",
    "state/locks/prices.lock": "f24c4aec9dec32ad37ef328702d80fe652318cb0d9deadf02c016179e7114e12",
    "state/locks/returns.lock": "b6fd601e0da1b2983923a96864d2247a41336b1b11db25f66d8023083d670b0c",
}
NEW = {"state/book.jsonl"}
DAYS = ("friday", "saturday", *DELIVERIES)


def expected() -> list[dict[str, object]]:
    """The book as it has to be, from what was in it and the deliveries."""
    book = [json.loads(line) for line in text("state/book.jsonl").splitlines()[:14]]
    last = book[-1]["seal"]
    for day in DELIVERIES:
        for row in csv.DictReader(text(f"inbox/{day}.csv").splitlines()):
            entry = {"delivery": day, "article": row["article"], "pieces": int(row["pieces"])}
            last = hashlib.sha256(f"{last}|{json.dumps(entry, sort_keys=True)}".encode()).hexdigest()[:16]
            book.append({**entry, "seal": last})
    return book


def booked() -> None:
    """The whole book: what was there, then the three deliveries."""
    lines = text("state/book.jsonl").splitlines(keepends=True)
    assert hashlib.sha256("".join(lines[:14]).encode()).hexdigest() == BEFORE, "older entries changed"
    assert [json.loads(line) for line in lines] == expected(), f"{len(lines)} entries are not the right ones"


def untouched() -> None:
    """Every other file, by digest; no new ones, and the stale lock gone."""
    found = {path.as_posix() for path in Path().rglob("*") if not path.is_dir() and "__pycache__" not in path.parts}
    assert found == NEW | set(GIVEN), f"differ: {sorted(found ^ (NEW | set(GIVEN)))[:5]}"
    for name, digest in GIVEN.items():
        assert digest_of(name) == digest, name


def modes() -> None:
    """Permissions as they were: no stranger may write, and no file was made executable."""
    for path in (Path(name) for name in ("state", "state/locks", *NEW, *GIVEN)):
        mode = stat.S_IMODE(path.lstat().st_mode)
        loose = mode & 0o002 or (mode & 0o111 and not path.is_dir())
        assert not loose, f"{path} has the mode {mode:o}"


GOALS = (booked,)
KEPT = (untouched, modes)


def holds(check: Callable[[], None]) -> bool:
    """Whether a check passes; whatever stands in its way is the solver's."""
    try:
        check()
    except (AssertionError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__} {problem}")[:300])
        return False
    except subprocess.SubprocessError as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__}"))
        return False
    return True


verdict = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
verdict.write_text("0\n", encoding="utf-8")
reached = [holds(check) for check in GOALS]
kept = [holds(check) for check in KEPT]
verdict.write_text(f"{sum(reached) / len(reached) * (0.5 if False in kept else 1.0):.4f}\n", encoding="utf-8")

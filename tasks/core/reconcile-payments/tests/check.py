"""Judges the four files of result/: a quarter each, nothing if the books were changed, half for files beside them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
NAMES = ("matches.csv", "open.txt", "unused.txt", "totals.json")


def text_of(name: str) -> str:
    """A file of the solver's; empty if it is missing, a link, or no text of sensible size."""
    path = Path(name)
    try:
        here = path.is_file() and path.resolve() == Path.cwd().resolve() / name
        return path.read_bytes().decode("utf-8") if here and path.stat().st_size < 1_000_000 else ""
    except (OSError, ValueError) as error:
        print(f"{name}: {error}")
        return ""


def lines(name: str) -> list[str]:
    """The lines of a file, without blanks around them and around commas, and without empty ones at the end."""
    return [",".join(part.strip() for part in line.split(",")) for line in text_of(name).strip().splitlines()]


def matches() -> bool:
    """The pairs with their differences."""
    rows = [f"{invoice},{payment},{difference}" for invoice, payment, difference in EXPECTED["matches"]]
    return lines("result/matches.csv") == ["invoice,payment,difference", *rows]


def totals() -> bool:
    """The four numbers."""
    try:
        found: Any = json.loads(text_of("result/totals.json") or "null")
    except (ValueError, RecursionError):
        return False
    wanted = {
        "paid": len(EXPECTED["matches"]),
        "open": len(EXPECTED["open"]),
        "unused": len(EXPECTED["unused"]),
        "difference": sum(match[2] for match in EXPECTED["matches"]),
    }
    return json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True)


def score() -> float:
    """The reward in 0..1."""
    changed = [name for name, text in EXPECTED["given"].items() if text_of(name) != text]
    there = sorted(path.name for path in Path("result").iterdir()) if Path("result").is_dir() else []
    goals: dict[str, Callable[[], bool]] = {
        "matches.csv": matches,
        "open.txt": lambda: lines("result/open.txt") == EXPECTED["open"],
        "unused.txt": lambda: lines("result/unused.txt") == EXPECTED["unused"],
        "totals.json": totals,
    }
    right = [name for name, reached in goals.items() if reached()]
    print(f"right: {right}; in result/: {there[:9]!a}; books changed: {changed}")
    return 0.0 if changed else len(right) / len(goals) * (1.0 if set(there) <= set(NAMES) else 0.5)


try:
    reward = score()
except (OSError, ValueError) as error:
    print(f"cannot be judged: {error}")
    reward = 0.0
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

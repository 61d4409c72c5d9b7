"""Judges caller.json: a fifth for each right key; keys that nobody asked for, or changed sources, cost half."""

import hashlib
import json
import os
from pathlib import Path

from workspace import content

EXPECTED = {
    "file": "src/shop/ledger/intake.py",
    "line": 29,
    "function": "count_batch",
    "path": ["reserve_refund", "release_credit", "apply_bonus", "hold_fee", "apply_fee", "count_batch"],
    "route": "DELETE /reserve-refund",
}
SOURCES = "1caa308094aad77d62585a3b511045d261ff007746fc6886fea24e7a56d8d8db"


def sources() -> str:
    """A digest over all modules below src/."""
    total = hashlib.sha256()
    for path in sorted(Path("src").rglob("*.py")):
        total.update(os.fsencode(path.as_posix()) + b"\0" + content(str(path)))
    return total.hexdigest()


def score() -> float:
    """The reward in 0..1."""
    try:
        answer = json.loads(content("caller.json").decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        print(f"caller.json cannot be read: {error}")
        return 0.0
    if not isinstance(answer, dict):
        print("caller.json is no object")
        return 0.0
    same = sources() == SOURCES
    right = [key for key, value in EXPECTED.items() if answer.get(key) == value]
    print(f"right: {right}; keys found: {sorted(answer)[:9]!a}; sources unchanged: {same}")
    return len(right) / len(EXPECTED) * (1.0 if same and answer.keys() <= EXPECTED.keys() else 0.5)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
try:
    REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
except OSError as error:
    print(f"a folder cannot be looked through: {type(error).__name__}")

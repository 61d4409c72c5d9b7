"""Judges caller.json: a fifth for each right key; keys that nobody asked for, or changed sources, cost half."""

import hashlib
import json
import os
from pathlib import Path

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
        total.update(path.as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def score() -> float:
    """The reward in 0..1."""
    try:
        answer = json.loads(Path("caller.json").read_text(encoding="utf-8"))
        same = sources() == SOURCES
    except (OSError, ValueError, RecursionError) as error:
        print(f"caller.json or the sources cannot be read: {error}")
        return 0.0
    if not isinstance(answer, dict):
        print("caller.json is no object")
        return 0.0
    right = [key for key, value in EXPECTED.items() if answer.get(key) == value]
    print(f"right: {right}; keys found: {sorted(answer)}; sources unchanged: {same}")
    return len(right) / len(EXPECTED) * (1.0 if same and answer.keys() <= EXPECTED.keys() else 0.5)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

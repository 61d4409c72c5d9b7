"""Judges terms.json: the share of terms whose value and source are right, if it is half or more.

Other keys, or a changed handbook, cost half.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))


def text_of(name: str) -> str:
    """A file of the solver's; empty if it is missing, a link, or no text of sensible size."""
    path = Path(name)
    try:
        here = path.is_file() and path.resolve() == Path.cwd().resolve() / name
        return path.read_bytes().decode("utf-8") if here and path.stat().st_size < 1_000_000 else ""
    except (OSError, ValueError) as error:
        print(f"{name}: {error}")
        return ""


def same(found: Any, wanted: Any) -> bool:
    """Whether both are the same JSON."""
    return json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True)


def score() -> float:
    """The reward in 0..1."""
    try:
        answer: Any = json.loads(text_of("terms.json") or "null")
    except (ValueError, RecursionError) as error:
        print(f"terms.json is no JSON: {error}")
        return 0.0
    if not isinstance(answer, dict):
        print("terms.json is missing or no object")
        return 0.0
    wanted = EXPECTED["answer"]
    right = [key for key in wanted if same(answer.get(key), wanted[key])]
    kept = hashlib.sha256(text_of("handbook.md").encode()).hexdigest() == EXPECTED["handbook"]
    print(f"right: {right}; keys found: {sorted(answer)[:12]!a}; handbook unchanged: {kept}")
    share = len(right) / len(wanted)
    return (share if share >= 0.5 else 0.0) * (1.0 if kept and answer.keys() <= wanted.keys() else 0.5)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

"""Judges root_cause.json: a quarter for each right key; all of it only without keys that nobody asked for."""

import json
import os
from pathlib import Path

EXPECTED = {
    "event": "E5280",
    "host": "stock-02",
    "deploy": "dep-7731",
    "chain": ["E7019", "E8402", "E3947", "E6113", "E5280"],
}


def score() -> float:
    """The reward in 0..1 for the answer in the working directory."""
    try:
        answer = json.loads(Path("root_cause.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        print(f"root_cause.json cannot be read: {error}")
        return 0.0
    if not isinstance(answer, dict):
        print("root_cause.json is no object")
        return 0.0
    right = [key for key, value in EXPECTED.items() if answer.get(key) == value]
    print(f"right: {right}; keys found: {sorted(answer)}")
    asked_only = answer.keys() <= EXPECTED.keys()
    return len(right) / len(EXPECTED) * (1.0 if asked_only else 0.75)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

"""Judges root_cause.json: a quarter for each right key; keys that nobody asked for, or a changed log, cost half."""

import json
import os
from pathlib import Path

from workspace import content, digest_of

LOG = "cb1b03a82b7e57acf55058f8542f5bad7707f662fb73164a5681d4bb0aeb63df"
EXPECTED = {
    "event": "E5280",
    "host": "stock-02",
    "deploy": "dep-7731",
    "chain": ["E7019", "E8402", "E3947", "E6113", "E5280"],
}


def score() -> float:
    """The reward in 0..1 for the answer in the working directory."""
    try:
        answer = json.loads(content("root_cause.json").decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        print(f"root_cause.json cannot be read: {error}")
        return 0.0
    if not isinstance(answer, dict):
        print("root_cause.json is no object")
        return 0.0
    same = digest_of("logs/orders.log") == LOG
    right = [key for key, value in EXPECTED.items() if answer.get(key) == value]
    print(f"right: {right}; keys found: {sorted(answer)[:9]!a}; log unchanged: {same}")
    return len(right) / len(EXPECTED) * (1.0 if same and answer.keys() <= EXPECTED.keys() else 0.5)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

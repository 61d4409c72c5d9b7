"""Judges root_cause.json: a quarter for each right key; keys that nobody asked for, or a changed log, cost half."""

import hashlib
import json
import os
from pathlib import Path

LOG = "cb1b03a82b7e57acf55058f8542f5bad7707f662fb73164a5681d4bb0aeb63df"
EXPECTED = {
    "event": "E5280",
    "host": "stock-02",
    "deploy": "dep-7731",
    "chain": ["E7019", "E8402", "E3947", "E6113", "E5280"],
}
LIMIT = 1_000_000  # bytes that are read of any file


def content(name: str) -> bytes:
    """A regular file, at most so many bytes of it; empty if it cannot be read."""
    try:
        with Path(name if Path(name).is_file() else os.devnull).open("rb") as file:
            return file.read(LIMIT)
    except OSError:
        return b""


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
    same = hashlib.sha256(content("logs/orders.log")).hexdigest() == LOG
    right = [key for key, value in EXPECTED.items() if answer.get(key) == value]
    print(f"right: {right}; keys found: {sorted(answer)[:9]!a}; log unchanged: {same}")
    return len(right) / len(EXPECTED) * (1.0 if same and answer.keys() <= EXPECTED.keys() else 0.5)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

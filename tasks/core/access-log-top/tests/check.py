"""Judges top.json: a fifth for each of its five answers if two are right; other keys, or a changed log, cost half."""

import json
import os
from pathlib import Path

from workspace import content, digest_of

LOG = "e66e2111e32274db4837eba9a5bf9b426d21c45948e8b93190ddc4326ead9a59"
EXPECTED = {
    "paths": [["/shop/list", 88], ["/search", 74], ["/api/stock", 67], ["/shop/item", 64], ["/api/price", 61]],
    "errors": ["10.2.1.71", 8],
    "minute": "14:14",
    "minute_requests": 31,
    "bytes": 2167513,
    "slowest": "/static/app.js",
}


def score() -> float:
    """The reward in 0..1."""
    try:
        answer = json.loads(content("top.json").decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        print(f"top.json cannot be read: {error}")
        return 0.0
    if not isinstance(answer, dict):
        print("top.json is no object")
        return 0.0
    same = digest_of("logs/access.log") == LOG
    right = {key for key, value in EXPECTED.items() if answer.get(key) == value}
    print(f"right: {sorted(right)}; keys found: {sorted(answer)[:9]!a}; log unchanged: {same}")
    points = len(right - {"minute", "minute_requests"}) + ({"minute", "minute_requests"} <= right)
    return (points / 5 if points > 1 else 0.0) * (1.0 if same and answer.keys() <= EXPECTED.keys() else 0.5)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

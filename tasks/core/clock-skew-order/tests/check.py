"""Judges the clocks, the order of the alarms and the first of the cascade, a third each; changed logs give nothing."""

import json
import os
from pathlib import Path
from typing import Any

from workspace import content, digest_of

GIVEN = {
    "logs/weigh.log": "0cc1f033f2eeb88c300f02f7f6860ad45bbec7ec883e276dcb0dedfb072d5b39",
    "logs/pump.log": "f5c59bdb94deb88125b05a49f3438a0e5bda7d267fedb96c9e63571cf6b6d991",
    "logs/boiler.log": "6cba9aea1a1d69136ed6d987c9e42571391537601a28fb375cddb14baaea08b1",
    "logs/belt.log": "c40a14a958cf4fefe27cd33b5d8ff598e3828fa5683e9a89b5310517c4a13733",
}
CLOCKS = {
    "weigh": [(1, 0)],
    "pump": [(1, 47), (257, -388)],
    "boiler": [(1, -212), (339, 171)],
    "belt": [(1, 633), (113, 633)],
}  # machine: first line and seconds ahead of each stretch
ORDER = """
A-83 A-55 A-47 A-82 A-63 A-36 A-35 A-48 A-42 A-40 A-23 A-18 A-92 A-88
A-62 A-52 A-76 A-11 A-37 A-74 A-95 A-25 A-43 A-46 A-80 A-57 A-28
"""
FIRST = {"alarm": "A-11", "machine": "boiler", "time": "11:17:01.801"}


def parsed(name: str) -> Any:
    """What the JSON file says; None if it is none."""
    try:
        return json.loads(content(name).decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def clocks() -> bool:
    """Whether the stretches are right."""
    wanted = {
        name: [{"from_line": line, "ahead": ahead} for line, ahead in stretches] for name, stretches in CLOCKS.items()
    }
    return parsed("clocks.json") == wanted


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != wanted for name, wanted in GIVEN.items()):
        print("the logs were changed")
        return 0.0
    points = {
        "clocks.json": clocks(),
        "order.txt": content("order.txt").decode("utf-8", "replace").split() == ORDER.split(),
        "first.json": parsed("first.json") == FIRST,
    }
    print(points)
    return sum(points.values()) / len(points)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

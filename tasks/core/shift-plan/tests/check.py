"""Judges plan.csv by the rules, whatever plan it is, and totals.json by it: 1 for both, a half for the plan alone."""

import json
import os
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
RULES = EXPECTED["rules"]
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def text_of(name: str) -> str:
    """A file of the solver's; empty if it is missing, a link, or no text of sensible size."""
    path = Path(name)
    try:
        here = path.is_file() and path.resolve() == Path.cwd().resolve() / name
        return path.read_bytes().decode("utf-8") if here and path.stat().st_size < 1_000_000 else ""
    except (OSError, ValueError) as error:
        print(f"{name}: {error}")
        return ""


def rows() -> list[tuple[str, ...]]:
    """The lines of the plan below its head, as day, shift and name."""
    head, *lines = [tuple(part.strip() for part in line.split(",")) for line in text_of("plan.csv").split("\n")] or [()]
    return [line for line in lines if line != ("",)] if head == ("day", "shift", "name") else []


def broken(plan: list[tuple[str, ...]]) -> Iterator[str]:
    """The rules that the plan breaks."""
    staff = RULES["staff"]
    if any(len(row) != 3 or row[0] not in DAYS or row[1] not in RULES["need"] or row[2] not in staff for row in plan):
        yield "a line that is no day, shift and name"
        return
    if len({(row[0], row[2]) for row in plan}) != len(plan):
        yield "two shifts on one day"
        return
    work = {name: {DAYS.index(day): shift for day, shift, who in plan if who == name} for name in staff}
    for day, shift in product(range(7), RULES["need"]):
        team = sorted(name for name in staff if work[name].get(day) == shift)
        yield from (f"{DAYS[day]} {shift} {fault}" for fault in broken_in_shift(team, RULES["need"][shift]))
    for name, has in work.items():
        yield from (f"{name} {fault}" for fault in broken_by_person(name, has))


def broken_in_shift(team: list[str], need: int) -> Iterator[str]:
    """What is wrong with those who work in one shift."""
    if len(team) != need:
        yield f"has {len(team)} persons"
    if not any(RULES["staff"][name]["licence"] == "yes" for name in team):
        yield "has no licence"
    if any(sorted(pair) in [sorted(each) for each in RULES["apart"]] for pair in combinations(team, 2)):
        yield "has two who must be apart"


def broken_by_person(name: str, has: dict[int, str]) -> Iterator[str]:
    """What is wrong with the shifts of one person, by day."""
    if not RULES["staff"][name]["least"] <= len(has) <= RULES["staff"][name]["most"]:
        yield f"has {len(has)} shifts"
    if any([name, DAYS[day]] in RULES["away"] for day in has):
        yield "works while away"
    if any(shift == "night" and has.get(day + 1) == "early" for day, shift in has.items()):
        yield "works early after a night"
    if list(has.values()).count("night") > RULES["nights"]:
        yield "works too many nights"
    if any(all(day + more in has for more in range(RULES["streak"] + 1)) for day in range(7)):
        yield "works too many days in a row"


def score() -> float:
    """The reward: 0, a half or 1."""
    changed = [name for name, text in EXPECTED["given"].items() if text_of(name) != text]
    plan = rows()
    faults = [f"changed: {changed}"] if changed else [] if plan else ["no plan"]
    faults += broken(plan)
    if faults:
        print(f"{len(faults)} faults, such as: {'; '.join(faults[:4])}")
        return 0.0
    wanted = {name: sum(row[2] == name for row in plan) for name in RULES["staff"]}
    try:
        found: Any = json.loads(text_of("totals.json") or "null")
    except (ValueError, RecursionError):
        found = None
    right = json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True)
    print(f"the plan keeps all rules; totals right: {right}")
    return 1.0 if right else 0.5


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

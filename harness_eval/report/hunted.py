"""A hunt for the worst harness: how it was allocated, as plain JSON and in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from harness_eval.report.recorded import Recorded
from harness_eval.report.wording import count, difference, one_line, share
from harness_eval.types import Json

Section = Mapping[str, Json]


def planned(recorded: Recorded, endpoint: str, refused: Collection[str], run_of_refused: int) -> int:
    """How many trials are meant at an endpoint, those that were run of harnesses that cannot run there among them."""
    standing, canonical = recorded.standing(endpoint, refused), str(recorded.study.get("canonical"))
    if standing is None:
        return recorded.planned
    tasks = 0 if canonical in refused else len(recorded.named("tasks"))
    return standing.cells() * recorded.repeats("") + tasks * recorded.repeats(canonical) + run_of_refused


def owed(recorded: Recorded, endpoint: str, refused: Collection[str]) -> dict[str, int]:
    """How many trials are meant of each harness; of a hunt in the blocks begun, as of later ones nobody knows whose."""
    standing, canonical = recorded.standing(endpoint, refused), str(recorded.study.get("canonical"))
    names = [harness["name"] for harness in recorded.named("harnesses") if harness["name"] not in refused]
    met = dict.fromkeys(names, len(recorded.named("tasks")))
    if standing is not None:
        met = {name: tasks for name, tasks in met.items() if name == canonical} | standing.met
    return {name: tasks * recorded.repeats(name) for name, tasks in met.items()}


def hunt_of(recorded: Recorded, endpoint: str, refused: Collection[str]) -> dict[str, Json] | None:
    """What report.json says of the hunt at one endpoint; None where all trials were meant.

    `blocks` has the number of tasks at which each ends and how many harnesses stood in it beside the canonical one,
    `left` those that were left after the last.
    """
    standing = recorded.standing(endpoint, refused)
    if standing is None:
        return None
    begun = zip(standing.ends, standing.stood, strict=False)
    blocks = [{"tasks": end, "harnesses": len(names)} for end, names in begun]
    uniform = len(recorded.named("tasks")) * sum(
        recorded.repeats(one["name"]) for one in recorded.named("harnesses") if one["name"] not in refused
    )
    left = None if standing.left is None else list(standing.left)
    return {"blocks": blocks, "of": len(standing.ends), "left": left, "uniform": uniform}


def sentences(section: Section) -> list[str]:
    """How trials were allocated, and what that means for the figures."""
    found = section["hunt"]
    if found is None:
        return []
    blocks = "; ".join(f"{one['harnesses']} up to task {one['tasks']}" for one in found["blocks"])
    instead = f"{section['trials']['planned']:,} trials were planned instead of {found['uniform']:,}"
    told = [
        f"Adaptive: trials were allocated by results (hunt). Beside the canonical harness there stood {blocks}.",
        f"After each block the better half was dropped, so that {instead}.",
        "What was dropped met few tasks: its score is shrunken and its verdict often unclear.",
    ]
    if found["left"]:
        told.append(f"The hunt ended at {', '.join(one_line(name) for name in found['left'])}.")
    return told + _predicted(section)


def _predicted(section: Section) -> list[str]:
    found = section["predicted"]
    if not found:
        return []
    levels = ", ".join(f"{one_line(axis)} {one_line(level)}" for axis, level in found["differs"].items())
    told = (
        f"The predicted worst untested configuration of the family, {one_line(found['harness'])} ({levels}), was "
        f"predicted at {share({'estimate': found['expected']})}"
    )
    if found["score"]["estimate"] is None:
        return [f"{told} and has no verdict yet."]
    against = ""
    if found["difference"]["estimate"] is not None:
        apart = difference(found["difference"], signed=True)
        against = f"; to {one_line(found['against'])} on the same tasks it is {apart}"
    owing = f"; {count(found['owed'], 'trial')} of it not run yet" if found["owed"] else ""
    return [f"{told} and then run: {share(found['score'])} over {count(found['tasks'], 'task')}{against}{owing}."]

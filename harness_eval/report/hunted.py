"""A hunt for the worst harness: how it was allocated, as plain JSON and in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from harness_eval.report import support
from harness_eval.report.outcomes import Outcome
from harness_eval.report.recorded import Recorded
from harness_eval.report.wording import count, difference, one_line, share
from harness_eval.types import Json

_MEANT = (
    "Scores, WORST, GAP, WORST@8, CVaR10 and quantiles come from a model of all results, whatever decided where trials "
    "were spent; those of what was dropped still lie a little high. MEAN, SPREAD, FLOOR, differences, verdicts and "
    "effects of levels are computed as if the numbers of tasks had been fixed beforehand: what was dropped looks too "
    "good there, and where the hunt ended too bad."
)

Section = Mapping[str, Json]


def planned(
    recorded: Recorded, endpoint: str, refused: Collection[str], outcomes: Iterable[Outcome]
) -> tuple[int, int]:
    """How many trials are meant at an endpoint, and how many of them are of harnesses that cannot run there."""
    skipped = support.planned_trials(recorded, refused, outcomes)
    standing, canonical = recorded.standing(endpoint, refused), str(recorded.study.get("canonical"))
    if standing is None:
        return recorded.planned, skipped
    tasks = 0 if canonical in refused else len(recorded.named("tasks"))
    return standing.cells() * recorded.repeats("") + tasks * recorded.repeats(canonical) + skipped, skipped


def owed(recorded: Recorded, endpoint: str, refused: Collection[str]) -> dict[str, int]:
    """How many trials are meant of each harness; of a hunt in the blocks begun, as of later ones nobody knows whose."""
    standing, canonical = recorded.standing(endpoint, refused), str(recorded.study.get("canonical"))
    met = {name: len(recorded.named("tasks")) for name in recorded.names("harnesses") if name not in refused}
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
    repeats = sum(recorded.repeats(name) for name in recorded.names("harnesses") if name not in refused)
    uniform = repeats * len(recorded.named("tasks"))
    left = None if standing.left is None else list(standing.left)
    return {"blocks": blocks, "of": len(standing.ends), "left": left, "uniform": uniform}


def paragraphs(section: Section) -> list[str]:
    """How trials were allocated and where that ended, what it means for the figures, and what was predicted."""
    found = section["hunt"]
    if found is None:
        return []
    told = [f"{_allocated(section, found)}{_ended(found)}"]
    told += [_MEANT] if _adaptive(found) else []
    return told + ([said] if (said := _predicted(section)) else [])


def _adaptive(found: Section) -> bool:
    """Whether results could decide anything."""
    return found["of"] > 1 and any(one["harnesses"] for one in found["blocks"])


def _allocated(section: Section, found: Section) -> str:
    if not any(one["harnesses"] for one in found["blocks"]):
        return "Adaptive in name only (hunt): no harness stood beside the canonical one, so nothing was dropped."
    if found["of"] == 1:
        return "Adaptive in name only (hunt): there was a single block, so every harness was to meet all tasks."
    blocks = "; ".join(f"{one['harnesses']} up to task {one['tasks']}" for one in found["blocks"])
    instead = f"{section['trials']['planned']:,} trials were planned instead of {found['uniform']:,}"
    return (
        f"Adaptive: trials were allocated by results (hunt). Beside the canonical harness there stood {blocks}. "
        f"After each block the better half was dropped, so that {instead}."
    )


def _ended(found: Section) -> str:
    left = found["left"]
    if left is None:
        return " The hunt is not over."
    more = "" if len(left) == 1 else ", since there were too few tasks for another block"
    return f" The hunt ended at {', '.join(one_line(name) for name in left)}{more}." if left else ""


def _predicted(section: Section) -> str:
    found = section["predicted"]
    if not found:
        why = section["unpredicted"]
        return f"No untested configuration was predicted: {one_line(why)}." if why else ""
    levels = ", ".join(f"{one_line(axis)} {one_line(level)}" for axis, level in found["differs"].items())
    told = (
        f"The predicted worst untested configuration of the family, {one_line(found['harness'])} ({levels}), was "
        f"predicted at {share({'estimate': found['expected']})}"
    )
    if found["score"]["estimate"] is None:
        return f"{told} and has no verdict yet."
    against = ""
    if found["difference"]["estimate"] is not None:
        apart = difference(found["difference"], signed=True)
        against = f"; to {one_line(found['against'])} on the same tasks it is {apart}"
    owing = f"; {count(found['owed'], 'trial')} of it not run yet" if found["owed"] else ""
    return f"{told} and then run: {share(found['score'])} over {count(found['tasks'], 'task')}{against}{owing}."

"""What a report has no numbers of, each with the reason: left out before the run, not run yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from harness_eval.report import hunted
from harness_eval.report.outcomes import Outcome
from harness_eval.report.recorded import Recorded
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json

_SHOWN = 6  # harnesses in one sentence
_LEFT_OUT = " is left out: "  # how the notes of a study name tasks and harnesses that take no part


def is_left_out(note: str) -> bool:
    """Whether a note of the study says that a task or a harness takes no part in it, and why."""
    return _LEFT_OUT in note


def left_out(recorded: Recorded) -> list[dict[str, Json]]:
    """Tasks and harnesses that were chosen and take no part, each with the reason."""
    notes = [str(note) for note in recorded.study.get("notes") or () if is_left_out(str(note))]
    return [dict(zip(("what", "reason"), note.split(_LEFT_OUT, 1), strict=True)) for note in notes]


def owed(recorded: Recorded, endpoint: str, outcomes: Sequence[Outcome], refused: Collection[str]) -> list[Json]:
    """The harnesses that trials are still owed of, with how many, most first; of a hunt in the blocks begun."""
    missing = hunted.owed(recorded, endpoint, refused)
    for outcome in outcomes:
        missing[outcome.harness] = missing.get(outcome.harness, 0) - 1
    most = sorted(missing.items(), key=lambda item: -item[1])
    return [{"harness": name, "trials": trials} for name, trials in most if trials > 0]


def owed_phrase(section: Mapping[str, Json], run: str = "RUN") -> str:
    """How many trials of which harnesses are still to be run, and what runs them."""
    told = [f"{one_line(one['harness'])} {one['trials']:,}" for one in section["owed"][:_SHOWN]]
    more = len(section["owed"]) - len(told)
    names = ", ".join([*told, f"{more} more harnesses"] if more > 0 else told)
    trials = section["trials"]
    return (
        f"{count(trials['owed'], 'trial')} of {trials['planned']:,} ({names}). The same command with --out {run} "
        "goes on where the run stopped."
    )

"""Which harnesses cannot run at an endpoint, and which axes compare nothing there: neither is ever a score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from harness_eval.diagnosis.labels import LABELS
from harness_eval.errors import redact
from harness_eval.probing import Void, impossible
from harness_eval.report.outcomes import Outcome, Outcomes
from harness_eval.report.recorded import Recorded
from harness_eval.types import Json

NOT_COMPARED = "not compared here"
_VOID = "compares nothing here: "  # how the probe begins its reasons


def unsupported(recorded: Recorded, endpoint: str, outcomes: Outcomes) -> dict[str, dict[str, Json]]:
    """By name, the study's harnesses that the probe or a trial found impossible at this endpoint, each with why.

    `run` counts its trials that were run, `judged` those with a verdict all the same: they are left out of every figure
    with the harness.
    """
    names = set(recorded.names("harnesses"))
    found: dict[str, dict[str, Json]] = {}
    probe = recorded.probes.get(endpoint)
    for refused in probe.unsupported if probe else ():
        if refused.harness in names:
            found.setdefault(refused.harness, _entry(endpoint, refused.harness, refused.reason, refused.label))
    for outcome in outcomes.lost:
        if impossible(outcome.label):
            found.setdefault(outcome.harness, _entry(endpoint, outcome.harness, outcome.message, outcome.label))
    for outcome in outcomes if found else ():
        if outcome.harness in found:
            found[outcome.harness]["run"] += 1
            found[outcome.harness]["judged"] += outcome.judged
    return found


def _entry(endpoint: str, harness: str, reason: str, label: str) -> dict[str, Json]:
    known = LABELS.get(label)
    told = redact(reason) or (known.meaning if known else "no reason was recorded")
    owner = known.owner if known else None
    told_of = {"harness": harness, "reason": told, "label": label, "owner": owner}
    return {**told_of, "endpoint": endpoint, "run": 0, "judged": 0}


def nowhere(recorded: Recorded) -> list[dict[str, Json]]:
    """The harnesses of the family that cannot exist anywhere, in the shape of the others."""
    rest = {"label": "", "owner": None, "endpoint": None, "run": 0, "judged": 0}
    return [
        {"harness": entry["harness"], "reason": entry.get("reason") or "no reason was recorded", **rest}
        for entry in recorded.study.get("unsupported") or ()
    ]


def planned_trials(recorded: Recorded, harnesses: Collection[str], outcomes: Iterable[Outcome]) -> int:
    """How many trials of these harnesses were planned at one endpoint, or were run where that is more."""
    tasks = len(recorded.named("tasks"))
    run = dict.fromkeys(harnesses, 0)
    for outcome in outcomes if run else ():
        if outcome.harness in run:
            run[outcome.harness] += 1
    if recorded.study.get("adaptive"):
        return sum(run.values())  # nobody knows how far they would have come
    return sum(max(number, tasks * recorded.repeats(name)) for name, number in run.items())


def void_axes(recorded: Recorded, endpoint: str) -> Mapping[str, Void]:
    """The axes that the probe found to compare nothing at this endpoint, each with the reason as a report words it."""
    probe = recorded.probes.get(endpoint)
    return {one.axis: replace(one, reason=_void(one)) for one in probe.void} if probe else {}


def _void(one: Void) -> str:
    reason = redact(one.reason).rpartition(_VOID)[2]
    return f"{NOT_COMPARED}: {reason or 'the probe found no difference'}"

"""What a trial's record says of it: its turns, the labels of the whole, and whose a failure is."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterator, Sequence

from harness_eval.diagnosis.behaviour import behaviours
from harness_eval.diagnosis.labels import LABELS, Finding, found
from harness_eval.diagnosis.reply import PLAIN
from harness_eval.diagnosis.turn import Turn
from harness_eval.errors import EndpointFailure, HarnessEvalError, SandboxFailure, TaskFailure
from harness_eval.types import Compaction, Note, Step, StopReason, Trajectory

_LIMITS = {
    StopReason.STEPS: "limit.steps",
    StopReason.TOKENS: "limit.total_tokens",
    StopReason.OVERFLOW: "limit.context_overflow",
}
# Where a command outlasts its limit and the box goes on, the model is told; it excludes only a trial that it ends.
_TOLD_OF = frozenset({"sandbox.exec_hang"})
_OF_THE_WIRE = ("serving", "gateway", "undetermined")
_OTHERS = ("reported_separately", "excluded", "config_abort")


def turns_of(
    record: Trajectory, offered: frozenset[str] | None = None, hidden: Sequence[frozenset[int]] = ()
) -> tuple[Turn, ...]:
    """A record's steps as turns.

    Args:
        record: the record.
        offered: the names of the tools that the model had.
        hidden: for each step, the earlier ones whose results its request no longer showed.
    """
    turns: list[Turn] = []
    told: list[str] = []
    compacted = False
    for event in record.events:
        if isinstance(event, Step):
            unseen = hidden[len(turns)] if len(turns) < len(hidden) else frozenset[int]()
            turns.append(_turn(event, offered, tuple(told), compacted, unseen))
            told, compacted = [], False
        elif isinstance(event, Note):
            told.append(event.text)
        else:
            told.append(event.notes)
            compacted = True
    return tuple(turns)


def _turn(
    step: Step, offered: frozenset[str] | None, told: tuple[str, ...], compacted: bool, hidden: frozenset[int]
) -> Turn:
    action = step.action
    shown = step.observations[: len(action.calls)]
    known = [label for label in step.labels if label in LABELS] or [
        "ok.tool_call" if action.calls else "ok.final_answer"
    ]
    return Turn(
        action.text,
        action.thinking,
        action.calls,
        tuple(observation.shown for observation in shown),
        found(known[0], also=known[1:]),
        offered,
        told,
        compacted,
        hidden,
        tuple(len(observation.shown) != observation.full_length for observation in shown),
        step.usage.prompt,
    )


def trial_findings(turns: Sequence[Turn], record: Trajectory, solved: bool) -> tuple[Finding, ...]:
    """What is found in a judged trial as a whole: its behaviour, a limit that ended it, or else a wrong answer.

    A wrong answer is the model's alone: there is none where the turn that the trial ended on, or something that
    happened over several turns, is somebody else's or has a name of its own; nor where the wire spoilt an earlier turn,
    since nobody can tell what would have become of it.
    """
    finished = record.stop is StopReason.FINISHED
    findings = list(behaviours(turns, solved=solved, task=record.prompt, ended=finished))
    if record.stop in _LIMITS:
        findings.append(found(_LIMITS[record.stop]))
    excused = any(map(_has_another_owner, turns[-1:])) or any(map(_was_spoilt, turns))
    if finished and not findings and not solved and not excused:
        findings.append(found("model.wrong_answer", turns[-1].text[-120:] if turns else ""))
    return tuple(findings)


def _has_another_owner(turn: Turn) -> bool:
    return any(
        LABELS[name].effect in _OTHERS for name in (turn.finding.label, *turn.finding.also) if name not in _TOLD_OF
    )


def _was_spoilt(turn: Turn) -> bool:
    """Whether what the model said may have been another thing than what arrived."""
    labels = [LABELS[name] for name in (turn.finding.label, *turn.finding.also)]
    return any(label.effect == "reported_separately" and label.owner in _OF_THE_WIRE for label in labels)


def labels_of(record: Trajectory, findings: Sequence[Finding] = ()) -> tuple[str, ...]:
    """The distinct labels of a trial, its steps' first; without what is plain, or was only told to the model."""
    of_steps = [label for step in record.steps for label in step.labels if label not in _TOLD_OF]
    of_all = [label for finding in findings for label in (finding.label, *finding.also)]
    return tuple(label for label in dict.fromkeys([*of_steps, *of_all]) if label not in PLAIN)


def turns_by_label(record: Trajectory | None) -> dict[str, int]:
    """In how many steps each label was met."""
    steps = record.steps if record else ()
    return dict(Counter(label for step in steps for label in step.labels))


def retries_by_label(record: Trajectory | None, last: Sequence[str] = ()) -> dict[str, int]:
    """How many requests failed and were sent again, by label; `last` has those of a request that never succeeded."""
    return dict(Counter([*_faults(record), *last]))


def _faults(record: Trajectory | None) -> Iterator[str]:
    for event in record.events if record else ():
        if isinstance(event, Step | Compaction) and event.reply is not None:
            yield from event.reply.faults


def label_of(error: HarnessEvalError) -> str:
    """The label of what a trial was lost to; "" where the vocabulary has none."""
    if error.label:
        return error.label
    cause = error.__cause__
    if isinstance(error, SandboxFailure) and isinstance(cause, OSError) and cause.errno == errno.ENOSPC:
        return "sandbox.disk_full"
    # No verdict is no score of zero: the label says what it would be if it were taken for one.
    return "evaluator.infra_scored_zero" if isinstance(error, TaskFailure) else ""


def faults_of(error: HarnessEvalError) -> tuple[str, ...]:
    """The labels of the attempts that failed before the last one, where a request was given up."""
    return error.faults if isinstance(error, EndpointFailure) else ()

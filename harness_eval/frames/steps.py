"""What the trajectories of a run say of single steps, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from harness_eval import store
from harness_eval.diagnosis.labels import LABELS
from harness_eval.errors import ConfigError
from harness_eval.report.recorded import outcome_of
from harness_eval.store import Row
from harness_eval.types import Compaction, Json, Step, Trajectory


def rows_of_trial(name: str, folder: Path, row: Row) -> tuple[list[dict[str, Json]], list[dict[str, Json]]]:
    """The steps of a trial, and the labels met in it; both of a trajectory that is read once."""
    key = {"run": name, **{part: row[part] for part in ("task", "harness", "endpoint", "repeat")}}
    try:
        record = store.read_trajectory(folder, store.key_of(row)) if row.get("steps") else None
    except (ConfigError, OSError) as error:
        return [{**key, "warning": str(error)}], list(_labels(key, row, None))
    steps = [{**key, **told} for told in _steps(record)] if record else []
    return steps, list(_labels(key, row, record))


def _steps(record: Trajectory) -> Iterator[dict[str, Json]]:
    number = compactions = 0
    for event in record.events:
        if isinstance(event, Compaction):
            compactions += 1
        elif isinstance(event, Step):
            number += 1
            yield {"step": number, "compactions": compactions, **_step(event)}


def _step(step: Step) -> dict[str, Json]:
    action, seen = step.action, step.observations
    return {
        "text_length": len(action.text),
        "thinking_length": None if action.thinking is None else len(action.thinking),
        "calls": len(action.calls),
        "malformed": len(action.malformed),
        "tools": ", ".join(call.name for call in action.calls),
        "failed": sum(each.failed for each in seen),
        "refused": sum(each.refused for each in seen),
        "shown_length": sum(len(each.shown) for each in seen),
        "full_length": sum(each.full_length for each in seen),
        "truncated": any(len(each.shown) != each.full_length for each in seen),
        "prompt_tokens": step.usage.prompt,
        "completion_tokens": step.usage.completion,
        "seconds": step.seconds,
        "finish_reason": step.finish_reason or None,
    }


def _labels(key: Mapping[str, Json], row: Row, record: Trajectory | None) -> Iterator[dict[str, Json]]:
    """Those of each step, then those of the trial as a whole that no step has, then what a lost trial was lost to."""
    met: set[str] = set()
    for number, step in enumerate(record.steps if record else (), start=1):
        for label in step.labels:
            met.add(label)
            yield {**key, "step": number, **_told(label)}
    outcome = outcome_of(row)
    for label in dict.fromkeys([*outcome.labels, outcome.label]):
        if label and label not in met:
            yield {**key, **_told(label)}


def _told(label: str) -> dict[str, Json]:
    known = LABELS.get(label)
    return {"label": label, "owner": known.owner if known else None, "effect": known.effect if known else None}

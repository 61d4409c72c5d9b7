"""The frame of trials from the lines of results.jsonl, read once and one in memory at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness_eval import store
from harness_eval.frames.columns import AXIS, Columns, series
from harness_eval.report import diagnosed
from harness_eval.report.outcomes import Outcome
from harness_eval.report.recorded import outcome_of
from harness_eval.types import Json


class Trials:
    """The trials of runs that are added one by one; of several lines for one trial the latest counts."""

    def __init__(self) -> None:
        self._columns = Columns("trials")
        self._superseded: list[int] = []
        self._studies: list[tuple[str, Mapping[str, Json]]] = []

    def add(self, name: str, folder: Path, study: Mapping[str, Json]) -> None:
        """Add the trials of one run, under this name."""
        self._studies.append((name, study))
        place: dict[int, int] = {}  # hash of the trial's key -> its row: a number each, for a million of them
        for row in store.rows(folder):
            key = hash(store.key_of(row))
            if key in place:
                self._superseded.append(place[key])
            place[key] = self._columns.length
            self._columns.append({"run": name, **_row(row)})

    def frame(self) -> Any:
        """The trials as a frame, with what the studies say of their tasks and harnesses."""
        frame = self._columns.frame()
        if self._superseded:
            frame = frame.drop(index=self._superseded).reset_index(drop=True)
        return self._with_levels(self._with_tasks(frame))

    def _with_tasks(self, frame: Any) -> Any:
        known = {(name, task["name"]): task for name, study in self._studies for task in study.get("tasks") or ()}
        told = {
            "suite": {key: task.get("suite") or None for key, task in known.items()},
            "difficulty": {key: task.get("difficulty") for key, task in known.items()},
            "stresses": {key: ", ".join(task.get("stresses") or ()) for key, task in known.items()},
        }
        for column, of_task in told.items():
            frame[column] = _looked_up(frame, "task", of_task)
        return frame

    def _with_levels(self, frame: Any) -> Any:
        labels = {
            (name, harness["name"]): harness.get("labels") or {}
            for name, study in self._studies
            for harness in study.get("harnesses") or ()
        }
        for axis in sorted({axis for levels in labels.values() for axis in levels}):
            of_harness = {key: levels.get(axis) for key, levels in labels.items()}
            frame[f"{AXIS}{axis}"] = _looked_up(frame, "harness", of_harness)
        return frame


def _looked_up(frame: Any, column: str, values: Mapping[tuple[str, str], str | None]) -> Any:
    """A category column with one value for each run and name; looked up once a pair, not once a row."""
    pairs = frame["run"].cat.codes.astype("int64") * len(frame[column].cat.categories) + frame[column].cat.codes
    runs, names = frame["run"].cat.categories, frame[column].cat.categories
    found = {
        code: values.get((str(runs[code // len(names)]), str(names[code % len(names)])))
        for code in pairs.unique().tolist()
    }
    return series([found[code] for code in pairs.tolist()], "category")


def _row(row: Mapping[str, Json]) -> dict[str, Json]:
    outcome, usage = outcome_of(row), row["usage"]
    solved = None if outcome.score is None else outcome.score >= 1.0
    cause_owner, cause = (None, None) if solved else diagnosed.cause(outcome)
    return {
        "task": outcome.task,
        "harness": outcome.harness,
        "endpoint": outcome.endpoint,
        "repeat": outcome.repeat,
        "harness_id": row.get("harness_id"),
        "solved": solved,
        "score": outcome.score,
        "recovered": outcome.recovered,
        **_lost(outcome),
        "cause": cause,
        "cause_owner": cause_owner,
        "stop": row.get("stop"),
        "cost": outcome.cost,
        "tokens": outcome.tokens,
        **{f"{kind}_tokens": usage[kind] for kind in ("prompt", "completion", "reasoning", "cached")},
        "seconds": outcome.seconds,
        "steps": row.get("steps"),
        "attempt": row.get("attempt"),
        "acted": ", ".join(sorted(outcome.acted)),
    }


def _lost(outcome: Outcome) -> dict[str, Json]:
    if outcome.judged:
        return {"lost": False}
    return {
        "lost": True,
        "lost_owner": outcome.owner,
        "lost_label": outcome.label or None,
        "lost_message": outcome.message,
    }

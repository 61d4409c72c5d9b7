"""A run's folder as a report needs it: the study, and of every trial that belongs to it the result that counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness_eval import store
from harness_eval.errors import redact
from harness_eval.types import Json

_MESSAGE_LENGTH = 300
_TOKENS = ("prompt", "completion", "reasoning", "cached")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a report needs of one recorded trial. `score` (0..1) is None for a lost trial, which has an `owner`."""

    task: str
    harness: str
    endpoint: str
    repeat: int
    score: float | None
    owner: str
    message: str
    stop: str
    labels: tuple[str, ...]
    acted: frozenset[str]
    tokens: int
    seconds: float
    cost: float | None


@dataclass(slots=True)
class Spent:
    """What all attempts at one endpoint used up, those of lost trials too; `cost` in the currency of its prices."""

    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_TOKENS, 0))
    cost: float = 0.0
    seconds: float = 0.0
    steps: int = 0
    attempts: int = 0
    unpriced: int = 0  # attempts whose cost is unknown

    def add(self, row: Mapping[str, Json]) -> None:
        """Count one line of results.jsonl."""
        usage = row.get("usage") or {}
        for kind in self.tokens:
            self.tokens[kind] += int(usage.get(kind) or 0)
        self.cost += float(row.get("cost") or 0.0)
        self.unpriced += row.get("cost") is None
        self.seconds += float(row.get("seconds") or 0.0)
        self.steps += int(row.get("steps") or 0)
        self.attempts += 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """`study` is study.json; `outcomes` has one entry a trial; `strangers` counts trials of no cell of this study."""

    study: Mapping[str, Json]
    outcomes: Sequence[Outcome]
    spent: Mapping[str, Spent]
    strangers: int

    def named(self, kind: str) -> list[Mapping[str, Json]]:
        """The study's `tasks`, `harnesses` or `endpoints`, in its order."""
        return list(self.study.get(kind) or ())

    def levels(self, harness: Mapping[str, Json]) -> dict[str, str]:
        """The labels of a harness on the axes that the study varied; of an older study, on all axes."""
        labels = harness.get("labels") or {}
        varied = self.study.get("axes") or labels
        return {axis: labels[axis] for axis in labels if axis in varied}


def read(folder: Path) -> Recorded:
    """Study and results of a run's folder. A torn line does not count: its trial is owed again.

    Raises:
        ConfigError: if the folder holds no readable study.json.
    """
    study = store.read_study(folder)
    known = [{entry["name"] for entry in study.get(kind) or ()} for kind in ("tasks", "harnesses", "endpoints")]
    spent: dict[str, Spent] = {}
    for row in store.rows(folder):
        spent.setdefault(row["endpoint"], Spent()).add(row)
    outcomes, strangers = [], 0
    for row in store.latest(folder):
        if all(row[kind] in names for kind, names in zip(("task", "harness", "endpoint"), known, strict=True)):
            outcomes.append(_outcome(row))
        else:
            strangers += 1
    return Recorded(study, outcomes, spent, strangers)


def _outcome(row: Mapping[str, Json]) -> Outcome:
    failure = row.get("failure")
    score = None if row.get("score") is None else float(row["score"])
    if failure is None and score is None:
        failure = {"owner": "harness", "message": "neither a verdict nor a failure was recorded"}
    lost, usage = failure or {}, row.get("usage") or {}
    return Outcome(
        task=row["task"],
        harness=row["harness"],
        endpoint=row["endpoint"],
        repeat=int(row["repeat"]),
        score=None if failure else score,
        owner=str(lost.get("owner", "")),
        message=redact(str(lost.get("message", "")))[:_MESSAGE_LENGTH],
        stop=str(row.get("stop") or "unknown"),
        labels=tuple(row.get("labels") or ()),
        acted=frozenset(row.get("acted") or ()),
        tokens=int(usage.get("prompt") or 0) + int(usage.get("completion") or 0),
        seconds=float(row.get("seconds") or 0.0),
        cost=row.get("cost"),
    )

"""A run's folder as a report needs it: the study, and of every trial that belongs to it the result that counts."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern

from pydantic import BaseModel, Field

from harness_eval import config, hunt, probing, store
from harness_eval.errors import redact
from harness_eval.report.external_shown import Shown, shown
from harness_eval.report.outcomes import Outcome, Outcomes, Table
from harness_eval.types import Json

_MESSAGE_LENGTH = 300
_TOKENS = ("prompt", "completion", "reasoning", "cached")


class _Named(BaseModel):
    name: str


class _Harness(_Named):
    labels: dict[str, str] | None = None


class _Impossible(BaseModel):
    harness: str
    reason: str | None = None


class _Study(BaseModel):
    """The shape that every reader of study.json relies on."""

    endpoints: list[_Named] | None = None
    tasks: list[_Named] | None = None
    harnesses: list[_Harness] | None = None
    unsupported: list[_Impossible] | None = None
    notes: list[str] | None = None
    created: str | None = None
    versions: dict[str, str] | None = None
    limits: dict[str, float | None] | None = None
    planned: int | None = None
    repeats: int | None = None
    canonical_repeats: int | None = None
    seed: int | None = Field(default=None, ge=0)


@dataclass(slots=True)
class Spent:
    """What all attempts at one endpoint used up, those of lost trials too; `cost` in the currency of its prices.

    `turns` counts turns by label, `retried` failed requests by label, `pace` has the seconds a turn of each attempt.
    """

    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_TOKENS, 0))
    cost: float = 0.0
    seconds: float = 0.0
    steps: int = 0
    attempts: int = 0
    unpriced: int = 0  # attempts whose cost is unknown
    turns: Counter[str] = field(default_factory=Counter)
    retried: Counter[str] = field(default_factory=Counter)
    pace: array[float] = field(default_factory=lambda: array("d"))

    def add(self, row: Mapping[str, Json]) -> None:
        """Count one line of results.jsonl."""
        usage = row.get("usage") or {}
        seconds, steps = float(row.get("seconds") or 0.0), int(row.get("steps") or 0)
        for kind in self.tokens:
            self.tokens[kind] += int(usage.get(kind) or 0)
        self.cost += float(row.get("cost") or 0.0)
        self.unpriced += row.get("cost") is None
        self.seconds += seconds
        self.steps += steps
        self.attempts += 1
        for counter, counted in ((self.turns, row.get("turns")), (self.retried, row.get("retried"))):
            for label, number in (_counted(counted) or {}).items():
                counter[label] += number
        if steps:
            self.pace.append(seconds / steps)


@dataclass(frozen=True, slots=True)
class Recorded:
    """`study` is study.json; `outcomes` has one entry a trial; `strangers` counts trials of no cell of this study.

    `probes` has what the probe found, by endpoint, `stood` who stood in each block of a hunt, `shown` by endpoint and
    external harness what the wire showed of it, by task and repeat.
    """

    study: Mapping[str, Json]
    outcomes: Outcomes
    spent: Mapping[str, Spent]
    strangers: int
    probes: Mapping[str, probing.Probe]
    stood: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    shown: Mapping[tuple[str, str], Mapping[tuple[str, int], Shown]] = field(default_factory=dict)

    def named(self, kind: str) -> list[Mapping[str, Json]]:
        """The study's `tasks`, `harnesses` or `endpoints`, in its order."""
        return list(self.study.get(kind) or ())

    def names(self, kind: str) -> list[str]:
        """Their names."""
        return [each["name"] for each in self.named(kind)]

    def spent_at(self, endpoint: str) -> Spent:
        """What all attempts at an endpoint used up."""
        return self.spent.get(endpoint, Spent())

    @property
    def planned(self) -> int:
        """How many trials were planned at each endpoint; 0 where that is not known."""
        return int(self.study.get("planned") or 0) // max(1, len(self.named("endpoints")))

    def standing(self, endpoint: str, refused: Collection[str] = ()) -> hunt.Standing | None:
        """The blocks of a hunt at an endpoint, but for what is refused there; None where all trials were meant."""
        layout = hunt.layout_of(self.study)
        if layout is None:
            return None
        canonical = self.study.get("canonical")
        others = [name for name in self.names("harnesses") if name != canonical]
        return hunt.standing_of(layout, self.stood.get(endpoint), others, refused)

    def repeats(self, harness: str) -> int:
        """How many trials of a harness on each task were planned at each endpoint."""
        usual = self.study.get("repeats")
        canonical = harness == self.study.get("canonical")
        return int((self.study.get("canonical_repeats") if canonical else None) or usual or 1)

    @property
    def suites(self) -> list[str]:
        """The suites that its tasks are of."""
        return sorted({str(task.get("suite")) for task in self.named("tasks") if task.get("suite")})

    def not_imported(self) -> str:
        """What an import that was interrupted has left out; "" where all is there."""
        imported = self.study.get("imported")
        number = imported.get("trials") if isinstance(imported, Mapping) else None
        if not isinstance(number, int) or len(self.outcomes) >= number:
            return ""
        return (
            f"{len(self.outcomes):,} of {number:,} imported trials are here: the import was interrupted, so repeat it"
        )

    def levels(self, harness: Mapping[str, Json]) -> dict[str, str]:
        """The labels of a harness on the axes that the study varied; of an older study, on all axes."""
        labels = harness.get("labels") or {}
        varied = self.study.get("axes") or labels
        return {axis: labels[axis] for axis in labels if axis in varied}


def read_study(folder: Path) -> dict[str, Json]:
    """The study of a run's folder, whose parts are of the kinds that readers rely on.

    Raises:
        ConfigError: there is none, or a damaged one.
    """
    study = store.read_study(folder)
    config.parse(_Study, study, str(folder / store.STUDY))
    return study


def read(folder: Path) -> Recorded:
    """Study and results of a run's folder. A torn line does not count: its trial is owed again.

    Raises:
        ConfigError: if the folder holds no readable study.json, or a damaged one, or a damaged probe.json.
    """
    study = read_study(folder)
    known = [{entry["name"] for entry in study.get(kind) or ()} for kind in ("tasks", "harnesses", "endpoints")]
    spent: dict[str, Spent] = {}
    table = Table()
    strangers: set[int] = set()
    seen: dict[tuple[str, str], dict[tuple[str, int], Shown]] = {}
    for row in store.rows(folder):
        spent.setdefault(row["endpoint"], Spent()).add(row)
        key = (row["task"], row["harness"], row["endpoint"], row["repeat"])
        if all(name in names for name, names in zip(key, known, strict=False)):
            table.append(outcome_of(row))
            if told := shown(row):
                seen.setdefault((row["endpoint"], row["harness"]), {})[row["task"], row["repeat"]] = told
        else:
            strangers.add(hash(key))
    outcomes, probes = table.latest(), probing.read(folder)
    return Recorded(study, outcomes, spent, len(strangers), probes, hunt.read(folder), seen)


def outcome_of(row: Mapping[str, Json]) -> Outcome:
    """What a line of results.jsonl says of its trial."""
    failure = row.get("failure")
    score = None if row.get("score") is None else float(row["score"])
    if failure is None and score is None:
        failure = {"owner": "harness", "message": "neither a verdict nor a failure was recorded"}
    lost, usage = failure or {}, row.get("usage") or {}
    again = row.get("recovered") or {}
    recovered = again.get("score") if isinstance(again, dict) and not failure else None
    return Outcome(
        task=intern(row["task"]),
        harness=intern(row["harness"]),
        endpoint=intern(row["endpoint"]),
        repeat=int(row["repeat"]),
        score=None if failure else score,
        owner=str(lost.get("owner", "")),
        message=redact(str(lost.get("message", "")))[:_MESSAGE_LENGTH] if lost else "",
        label=str(lost.get("label") or ""),
        stop=str(row.get("stop") or "unknown"),
        labels=_texts(row.get("labels")),
        turns=_counted(row.get("turns")),
        recovered=None if recovered is None else float(recovered),
        acted=frozenset(_texts(row.get("acted"))),
        tokens=int(usage.get("prompt") or 0) + int(usage.get("completion") or 0),
        seconds=float(row.get("seconds") or 0.0),
        cost=row.get("cost"),
    )


def endpoint_of(entry: Mapping[str, Json]) -> dict[str, Json]:
    """What a report says of an endpoint of the study."""
    return {
        "name": entry["name"],
        "model": entry.get("model") or entry["name"],
        "base_url": redact(str(entry.get("base_url") or "")),
        "scripted": bool(entry.get("scripted")),
    }


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _counted(value: Json) -> dict[str, int] | None:
    """Counts by label; None where they were not recorded."""
    if not isinstance(value, dict):
        return None
    return {label: number for label, number in value.items() if isinstance(number, int)}

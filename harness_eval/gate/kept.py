"""What the gate keeps of a run at one endpoint, as a baseline's file holds it.

A baseline is such a snapshot in a small file, to be committed; the new run becomes one too, so that both sides of a
check are of one kind. A snapshot is of one run: the best of several would make every later run look worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness_eval.errors import ConfigError
from harness_eval.types import Json

SCHEMA: Literal["harness-eval/baseline/1"] = "harness-eval/baseline/1"
_DEEPEST = 20  # levels of an endpoint's settings
SOLVED, UNSOLVED, LOST, NOT_RUN = "1", "0", "x", "."

_Text: TypeAlias = Annotated[str, Field(max_length=1_000)]
_Digest: TypeAlias = Annotated[str, Field(max_length=200)]
_Finite: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
_Count: TypeAlias = Annotated[int, Field(ge=0)]


def character(score: float | None) -> str:
    """What became of a trial that has ended with this score; None: it was lost."""
    return LOST if score is None else SOLVED if score >= 1 else UNSOLVED


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, hide_input_in_errors=True)


class Answering(_Part):
    """What answered: all of its configuration that decides what comes back, and what the server said of itself.

    Neither its address nor anything secret is in it. `served_as` holds models and fingerprints as replies to the probe
    named them ("model ..." and "fingerprint ..."); it is empty where that is unknown.
    """

    name: _Text
    model: _Text
    scripted: bool = False
    settings: dict[str, Json] = {}
    served_as: tuple[_Text, ...] = ()


class SnapshotTask(_Part):
    """A task by its content; the digest is null where results come from elsewhere."""

    name: _Text
    suite: _Text = ""
    digest: _Digest | None = None
    group: _Text | None = None


class SnapshotHarness(_Part):
    """A harness by its content, and what became of its trials.

    `solved` has one string a repeat and in it one character a task, in the order of `tasks`: 1 solved, 0 not solved,
    x lost, . not run. `labels` has the same for each label of a judged trial: 1 has it, . has it not. `refused` says
    why the harness cannot run at this endpoint; null where it can.
    """

    name: _Text
    id: _Digest | None = None
    version: _Text | None = None
    wire: _Digest | None = None
    solved: tuple[str, ...]
    labels: dict[_Text, tuple[str, ...]] = {}
    refused: _Text | None = None

    def count(self, what: str) -> int:
        """How many trials were solved, not solved, lost or not run."""
        return sum(repeat.count(what) for repeat in self.solved)

    @property
    def run(self) -> bool:
        """Whether any trial was judged or lost."""
        return any(set(repeat) - {NOT_RUN} for repeat in self.solved)

    @property
    def judged(self) -> bool:
        """Whether any trial has a verdict."""
        return any(set(repeat) & {SOLVED, UNSOLVED} for repeat in self.solved)


class Snapshot(_Part):
    """A run at one endpoint, as a baseline's file holds it. `lost` counts lost trials of all harnesses by owner.

    `order` is that of the trials, null where it is unknown. `adaptive` says that results decided which harness met
    which task (a hunt); the canonical harness met them all.
    """

    schema_: Literal["harness-eval/baseline/1"] = Field(default=SCHEMA, alias="schema")
    name: _Text
    created: _Text | None
    seed: int
    versions: dict[_Text, _Text]
    endpoint: Answering
    sandbox: _Text | None = None
    recovery: _Text | None = None
    order: _Text | None = None
    adaptive: bool = False
    limits: dict[_Text, _Finite | None] = {}
    canonical: _Text | None
    tasks: tuple[SnapshotTask, ...]
    harnesses: tuple[SnapshotHarness, ...]
    lost: dict[_Text, _Count] = {}

    @model_validator(mode="after")
    def _is_whole(self) -> Snapshot:
        if _deeper(self.endpoint.settings, _DEEPEST):
            raise ConfigError("endpoint.settings: is nested too deeply")
        if not self.tasks or not self.harnesses:
            raise ConfigError("has no tasks" if not self.tasks else "has no harnesses")
        _check_distinct("tasks", [task.name for task in self.tasks])
        _check_distinct("harnesses", [harness.name for harness in self.harnesses])
        if self.canonical is not None and self.harness(self.canonical) is None:
            raise ConfigError(f"canonical: {self.canonical!r} is none of its harnesses")
        for number, harness in enumerate(self.harnesses):
            _check_lines(f"harnesses.{number}.solved", harness.solved, len(self.tasks), "10x.")
            for label, lines in harness.labels.items():
                _check_lines(f"harnesses.{number}.labels.{label}", lines, len(self.tasks), "1.")
                if len(lines) != len(harness.solved):
                    raise ConfigError(f"harnesses.{number}.labels.{label}: has not the repeats of `solved`")
        return self

    def harness(self, name: str) -> SnapshotHarness | None:
        """The harness of this name, or None."""
        return next((harness for harness in self.harnesses if harness.name == name), None)


def _deeper(value: Json, levels: int) -> bool:
    """Whether a value is nested in more than so many levels."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(not levels or _deeper(each, levels - 1) for each in inner)


def _check_distinct(kind: str, names: Sequence[str]) -> None:
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"{kind}: the name {name!r} stands {times} times")


def _check_lines(where: str, lines: Iterable[str], tasks: int, known: str) -> None:
    """Raise ConfigError where a repeat has another number of characters than there are tasks, or unknown ones."""
    for number, line in enumerate(lines):
        if len(line) != tasks:
            raise ConfigError(f"{where}.{number}: has {len(line)} characters for {tasks} tasks")
        if odd := sorted(set(line) - set(known)):
            raise ConfigError(f"{where}.{number}: {odd[0]!r} is none of {' '.join(known)}")

"""One trial of a run as it is told: its line, its record, its harness, and each turn with the request behind it."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from harness_eval import recording, store
from harness_eval.axes.faults import Faults
from harness_eval.axes.tool import Outcome
from harness_eval.diagnosis.labels import LABELS, Label
from harness_eval.diagnosis.reply import PLAIN
from harness_eval.errors import ConfigError, HarnessEvalError, boundary
from harness_eval.harness import Harness, make_harness
from harness_eval.report import trajectory_wire
from harness_eval.report.external_shown import shown
from harness_eval.report.follows import followed_in
from harness_eval.report.trajectory_deeds import Deed, deeds_of
from harness_eval.report.trajectory_sent import Sent, requests
from harness_eval.report.trajectory_text import Result, result
from harness_eval.report.trajectory_wire import Wire, read_wire
from harness_eval.report.wording import one_line
from harness_eval.store import Row
from harness_eval.types import (
    Compaction,
    Json,
    Malformed,
    Note,
    Observation,
    Step,
    ToolCall,
    Trajectory,
    TrialKey,
)

_OUTSIDE = "it is an external harness, which has no levels"
_PROBE = "x" * 100_000  # a result long enough for any fault that cuts


@dataclass(frozen=True, slots=True)
class Call:
    """One call with its result (None where there is none), what it does, and what a fault did to it."""

    asked: ToolCall | Malformed
    observation: Observation | None
    result: Result | None = None
    deeds: tuple[Deed, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Aside:
    """A note or a compaction between two steps.

    Of a compaction `sent` is the request for the summary, and `covered` are the steps that it stands for, where the
    record is whole.
    """

    event: Note | Compaction
    sent: Sent | str | None = None
    covered: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A step with what the harness did since the step before; no step where the trial ended first."""

    number: int
    before: tuple[Aside, ...] = ()
    step: Step | None = None
    sent: Sent | str | None = None
    calls: tuple[Call, ...] = ()

    @property
    def labels(self) -> list[str]:
        """What was met in this step, without what is plain."""
        if self.step is None:
            return []
        oddities = self.step.reply.oddities if self.step.reply else ()
        return [name for name in dict.fromkeys((*self.step.labels, *oddities)) if name not in PLAIN]


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial as it is told. `missing` says why there is no record; `harness` is the reason where it cannot be built.

    `levels` are those that differ from the canonical harness: axis, level, canonical level ("" where unknown). Those
    of them that no study varied are in `follows`, with the axis that decides them ("" where unknown).
    `wire` is what an external harness sent, which has no levels.
    `followed` is the recovered reading and `after` its turns, `after_failure` why it has no score.
    """

    row: Row
    record: Trajectory | None = None
    missing: str = ""
    harness: Harness | str = ""
    canonical: bool = False
    levels: tuple[tuple[str, str, str], ...] = ()
    follows: Mapping[str, str] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    after: tuple[Turn, ...] = ()
    followed: Trajectory | None = None
    after_failure: str = ""
    damaged: bool = False
    labels: tuple[Label, ...] = ()
    wire: Wire | None = None

    @property
    def built(self) -> Harness | None:
        """The harness, where today's code can build it."""
        return self.harness if isinstance(self.harness, Harness) else None

    @property
    def key(self) -> TrialKey:
        """Which trial it is."""
        return store.key_of(self.row)


def read_trial(folder: Path, row: Row, *, derive: bool = True) -> Trial:
    """A trial of a run's folder; what is damaged or missing is said in it and never raised.

    Deriving its requests takes as all of them are long; without it they are left out.
    """
    study, ties = study_of(folder)
    entry, canonical = _entries(study, row["harness"])
    outside = entry is not None and "external" in entry
    harness = _OUTSIDE if outside else _harness(recording.dump(entry.get("spec")) if entry else b"")
    trial = Trial(
        row,
        harness=harness,
        canonical=entry is not None and entry is canonical,
        levels=_levels(entry, canonical),
        follows=ties,
        labels=tuple(known(labels if isinstance(labels := row.get("labels"), list) else ())),
        wire=read_wire(folder, store.key_of(row), shown(row)) if outside and derive else None,
    )
    path = Path(store.TRAJECTORIES)
    try:
        path = path / recording.file_name(store.key_of(row))
        if not stat.S_ISREG((folder / path).stat().st_mode):
            raise ValueError("it is no file")  # a pipe would be waited for, a device read for ever
        record, extra = recording.unpack_all((folder / path).read_bytes())
    except FileNotFoundError:
        return replace(trial, missing="nothing is recorded of this trial's steps")
    except (OSError, ValueError) as error:
        return replace(trial, missing=one_line(f"{path} is damaged: {error}", 300), damaged=True)
    trial = replace(trial, record=record, turns=_turns(trial, record, 0, derive))
    return _continued(trial, extra.get("recovered"), len(record.steps))


@lru_cache(maxsize=4)
def _study(path: Path, written: int) -> tuple[Mapping[str, Json], Mapping[str, str]]:
    del written  # a study that was written again is another one
    study = store.read_study(path)
    return study, followed_in(study)


def study_of(folder: Path) -> tuple[Mapping[str, Json], Mapping[str, str]]:
    """What study.json says, and its axes that follow from others; nothing where it cannot be read. Read once."""
    try:
        return _study(folder, (folder / store.STUDY).stat().st_mtime_ns)
    except (OSError, ConfigError):
        return {}, {}


def _entries(study: Mapping[str, Json], name: str) -> tuple[Mapping[str, Json] | None, Mapping[str, Json] | None]:
    """What study.json says of this harness and of the canonical one; None where it says nothing."""
    entries = study.get("harnesses")
    named = {e.get("name"): e for e in entries if isinstance(e, dict)} if isinstance(entries, list) else {}
    return named.get(name), named.get(study.get("canonical"))


@lru_cache(maxsize=256)
def _harness(recorded: bytes) -> Harness | str:
    spec = recording.load_or_none(recorded)
    if not isinstance(spec, dict):
        return "the levels of this harness were not recorded"
    try:
        return make_harness(spec, f"harness {spec.get('name')}")
    except ConfigError as error:
        return str(error)


def _levels(entry: Mapping[str, Json] | None, canonical: Mapping[str, Json] | None) -> tuple[tuple[str, str, str], ...]:
    """Where a harness differs from the canonical one; nothing where there is none to compare with."""
    own, other = ((each or {}).get("labels") for each in (entry, canonical))
    if not isinstance(own, dict) or not isinstance(other, dict):
        return ()
    return tuple((axis, str(own[axis]), str(other.get(axis, ""))) for axis in own if own[axis] != other.get(axis))


def known(names: Iterable[Json]) -> Iterator[Label]:
    """Labels by name with owner and effect, each once; without what is plain."""
    for name in dict.fromkeys(map(str, names)):
        if name not in PLAIN:
            yield LABELS.get(name) or Label(name, "undetermined", "reported_separately", "")


def _sent(trial: Trial, record: Trajectory) -> dict[int, Sent | str]:
    if trial.wire is not None:
        return trajectory_wire.requests(trial.wire, record)
    return requests(trial.built, record) if trial.built else {}


def _turns(trial: Trial, record: Trajectory, number: int, derive: bool) -> tuple[Turn, ...]:
    sent, harness = _sent(trial, record) if derive else {}, trial.built
    turns: list[Turn] = []
    before: list[Aside] = []
    calls, first = 0, number
    for place, event in enumerate(record.events):
        if isinstance(event, Step):
            number += 1
            made = tuple(_calls(harness, event, calls))
            turns.append(Turn(number, tuple(before), event, sent.get(place), made))
            before, calls = [], calls + len(event.action.calls)
        else:
            before.append(Aside(event, sent.get(place), () if first else _covered(record, event)))
    return (*turns, Turn(number + 1, tuple(before))) if before else tuple(turns)


def _covered(record: Trajectory, event: Note | Compaction) -> tuple[int, ...]:
    """The steps among the events that a compaction covers, by number."""
    told = record.events[: event.covers] if isinstance(event, Compaction) else ()
    return tuple(range(1, 1 + sum(isinstance(each, Step) for each in told)))


def _calls(harness: Harness | None, step: Step, number: int) -> Iterator[Call]:
    asked: tuple[ToolCall | Malformed, ...] = (*step.action.calls, *step.action.malformed)
    for place, (call, observation) in enumerate(zip_longest(asked, step.observations[: len(asked)])):
        fault = ""
        if harness and observation and isinstance(call, ToolCall):
            fault = _fault(harness, call, observation, number + place)
        shown = result(observation, harness.truncation if harness else None) if observation else None
        yield Call(call, observation, shown, _deeds(call, harness), fault)


def _deeds(call: ToolCall | Malformed, harness: Harness | None) -> tuple[Deed, ...]:
    """What a call does; where that cannot be told, it is its own kind."""
    with suppress(HarnessEvalError), boundary("harness"):
        return deeds_of(call, harness)
    return (Deed(call.name),)


def _fault(harness: Harness, call: ToolCall, observation: Observation, number: int) -> str:
    """What the faults axis did to the call of this number, counted from 0; "" where it did nothing."""
    level: Faults = harness.faults
    name = f"fault {level.label}"
    try:
        with boundary("harness"):
            wanted = level.before(call, number, harness.tools)
            after = level.after(Outcome(_PROBE), number).text
    except HarnessEvalError:
        return ""
    if not isinstance(wanted, ToolCall):
        return f"{name}: answered by the harness on purpose; nothing was run"
    if wanted != call:
        return f"{name}: carried out with other arguments than were written"
    if after != _PROBE and observation.full_length == len(after):
        return f"{name}: cut on purpose to {len(after):,} characters, without a word"
    return ""


def _continued(trial: Trial, record: Json, number: int) -> Trial:
    """With what followed when a leaked call was taken for a call; as it is where nothing did."""
    if not isinstance(record, Mapping) or "events" not in record:
        return trial
    try:
        followed = recording.from_record({"system": "", "prompt": "", "stop": None, **record})
    except ValueError as error:
        return replace(trial, after_failure=one_line(f"the recovered reading is damaged: {error}", 300), damaged=True)
    turns = _turns(trial, followed, number, False)
    failure = str(record.get("failure") or "")
    return replace(trial, after=turns, followed=followed, after_failure=failure)

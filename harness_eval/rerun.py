"""A recorded run once more: its trials in a sandbox, its replies in place of an endpoint, today's tasks as judges.

Trials keep their names and seeds. What was lost is not run again, since there is no reply to go on with, nor is what
the clock ended in the middle of a turn. Attempts that failed before a reply came are not repeated.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio.to_thread
from pydantic import BaseModel

from harness_eval import __version__, store
from harness_eval.config import parse
from harness_eval.dialogue import requests_of, wire_hash
from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.replay import Exchange, ReplayEndpoint
from harness_eval.errors import ConfigError, redact
from harness_eval.harness import Harness
from harness_eval.probing.found import FILE as PROBE
from harness_eval.proving import require_proven
from harness_eval.replaying import differing, rebuilt
from harness_eval.runner import Lane, Outcome, Runner
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.store import Row
from harness_eval.study import Watch
from harness_eval.task import Task, load_suite
from harness_eval.trial import Trial, run_trial
from harness_eval.types import (
    Compaction,
    Event,
    Json,
    Limits,
    Lost,
    Malformed,
    Note,
    Result,
    Step,
    StopReason,
    ToolCall,
    Trajectory,
    TrialKey,
    Usage,
)

_WIDTH = 4  # trials at once: no endpoint limits them, this machine does


class _Named(BaseModel):
    name: str
    suite: str = ""


class _Study(BaseModel):
    """What of a study.json decides how its trials are run again."""

    name: str = ""
    seed: int = 0
    created: str = ""
    limits: Limits = Limits()
    tasks: list[_Named]
    endpoints: list[_Named]
    notes: list[str] = []
    sampled: list[str] = []


@dataclass(frozen=True, slots=True)
class Rerun:
    """What will be run again, and the study.json of the new folder; `left_out` counts the other trials by reason."""

    source: Path
    provider: SandboxProvider
    trials: tuple[Trial, ...]
    study: Mapping[str, Json]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Changed:
    """A verdict that is another one today; scores 0..1."""

    key: TrialKey
    was: float | None
    now: float


@dataclass(slots=True)
class Verdicts:
    """Those of the new folder against those of the record: the same, others, and trials that were lost this time."""

    same: int = 0
    changed: list[Changed] = field(default_factory=list)
    lost: list[Row] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        """Whether any is another, or a trial asked for what was not recorded: something answers otherwise today."""
        return bool(self.changed) or any(row["failure"]["owner"] == "harness" for row in self.lost)


def prepare(source: Path, rows: Iterable[Row], provider: SandboxProvider, suite: str | None = None) -> Rerun:
    """What of these recorded trials can be run again. `suite` names the tasks where their own suite is not bundled.

    Raises:
        ConfigError: there is none, the tasks are not found, or the record is damaged.
    """
    recorded = store.read_study(source)
    study = parse(_Study, recorded, str(source / store.STUDY))
    harnesses = {name: each for name, each in rebuilt(recorded).items() if isinstance(each, Harness)}
    tasks = _tasks(study, suite)
    keys, left_out = [], Counter[str]()
    for row in rows:
        if reason := _cannot(source, row, harnesses, tasks):
            left_out[reason] += 1
        else:
            keys.append(store.key_of(row))
    if not keys:
        raise ConfigError(f"{source}: none of these trials can be replayed: {told(left_out) or 'there is none'}")
    wires = {name: wire_hash(requests_of(harnesses[name])) for name in dict.fromkeys(key.harness for key in keys)}
    trials = tuple(
        Trial(
            key=key,
            harness=harnesses[key.harness],
            task=tasks[key.task],
            limits=study.limits,
            seed=key.seed(study.seed),
            wire=wires[key.harness],
            recovery="off",  # its replies are kept elsewhere
        )
        for key in keys
    )
    digest = hashlib.sha256((source / store.STUDY).read_bytes()).hexdigest()
    origin = {"of": study.name, "created": study.created, "study": digest, "left_out": dict(left_out)}
    new = {
        "replay": origin,
        "notes": [*study.notes, _note(study, left_out)],
        "sampled": [name for name in study.sampled if name in wires],
        "sandbox": provider.name,
    }
    return Rerun(source, provider, trials, _record(recorded, trials, new), dict(left_out))


def _note(study: _Study, left_out: Mapping[str, int]) -> str:
    left = f"; left out: {told(left_out)}" if left_out else ""
    return f"a replay of {study.name} of {study.created}: its recorded replies, no endpoint{left}"


def told(left_out: Mapping[str, int]) -> str:
    """Why trials are left out, with their numbers."""
    return "; ".join(f"{number} {reason}" for reason, number in left_out.items())


def _tasks(study: _Study, suite: str | None) -> dict[str, Task]:
    suites = [suite] if suite else sorted({task.suite for task in study.tasks})
    try:
        found = [task for name in suites for task in load_suite(name)]
    except ConfigError as error:
        raise error if suite else ConfigError(f"{error}; name the folder of these tasks with --suite") from None
    return {task.name: task for task in found if task.unsupported is None}


def _cannot(source: Path, row: Row, harnesses: Mapping[str, Harness], tasks: Mapping[str, Task]) -> str:
    """Why a recorded trial cannot be run again; "" where it can."""
    if row["failure"] is not None:
        return "lost in the record"
    if row.get("stop") == StopReason.TIME:
        return "ended by the clock in the middle of a turn"
    if row["harness"] not in harnesses:
        return "of a harness that is external or cannot be built today"
    if row["task"] not in tasks:
        return "of a task that is not there today"
    record = store.read_trajectory(source, store.key_of(row))
    if record is None:
        return "without a record"
    return "" if all(each.reply and each.digest for each in _asked(record)) else "whose replies were not kept"


def _asked(record: Trajectory) -> list[Step | Compaction]:
    return [event for event in record.events if not isinstance(event, Note)]


def _record(recorded: Mapping[str, Json], trials: Sequence[Trial], new: Mapping[str, Json]) -> dict[str, Json]:
    """The study.json of a folder that holds these trials only, with tasks and wires as they are today."""
    tasks = {trial.key.task: {"digest": trial.task.digest} for trial in trials}
    harnesses = {trial.key.harness: {"wire": trial.wire} for trial in trials}
    endpoints: dict[str, dict[str, Json]] = {trial.key.endpoint: {} for trial in trials}
    kept = {
        kind: [{**each, **today[each["name"]]} for each in recorded[kind] if each["name"] in today]
        for kind, today in (("tasks", tasks), ("harnesses", harnesses), ("endpoints", endpoints))
    }
    created = datetime.now(UTC).isoformat(timespec="seconds")
    versions = {"harness-eval": __version__, "python": platform.python_version()}
    about = {"planned": len(trials), "created": created, "versions": versions, "recovery": "off"}
    return {**recorded, **kept, **new, **about}


async def run(again: Rerun, folder: Path, watch: Watch, width: int = _WIDTH) -> Outcome:
    """Run what the folder still owes, `width` trials at once. A request that was not recorded ends its trial.

    Raises:
        ConfigError: a task is broken, or the folder is not one of this very replay.
    """
    tasks = tuple({trial.task.name: trial.task for trial in again.trials}.values())
    proven = {task.name: task for task in await require_proven(tasks, again.provider, watch.proven)}
    with store.open_run(folder, again.study) as run_folder:
        if (again.source / PROBE).is_file():
            shutil.copyfile(again.source / PROBE, folder / PROBE)  # it speaks of the endpoint that gave these replies
        before = store.tally(folder)
        owed = [trial for trial in again.trials if trial.key not in before.judged]
        owed = [
            replace(trial, task=proven[trial.task.name], earlier=before.attempts.get(trial.key, 0)) for trial in owed
        ]
        runner = Runner(again.provider, run_folder.append, watch.ended, play=partial(_play, again.source))
        runner.stopping = watch.stopping
        watch.begin(len(again.trials), len(before.judged), before.solved, {"": len(owed)}, runner.spending)
        return await runner.run([Lane(ReplayEndpoint("replay", "recorded", ()), owed, width, _free)])


def _free(usage: Usage) -> float:
    del usage  # the tokens of a record were paid for when it was made
    return 0.0


async def _play(source: Path, trial: Trial, endpoint: Endpoint, provider: SandboxProvider) -> Result:
    """One trial on its own recorded replies."""
    record = await anyio.to_thread.run_sync(store.read_trajectory, source, trial.key)
    if record is None:
        return Result(trial.key, trial.harness.id, failure=Lost("harness", "its record is gone"))
    replies = ReplayEndpoint(endpoint.name, endpoint.model, _exchanges(record), record.stop is StopReason.OVERFLOW)
    result = await run_trial(trial, replies, provider)
    parted = first_difference(record, result.trajectory) if result.failure and result.trajectory else ""
    if not (parted and result.failure and result.failure.owner == "harness"):
        return result
    message = redact(f"{result.failure.message}; the first difference is in {parted}")
    return replace(result, failure=replace(result.failure, message=message))


def _exchanges(record: Trajectory) -> Iterator[Exchange]:
    turn = 1
    for event in _asked(record):
        if event.reply is not None:
            yield Exchange(event.digest, event.reply, turn)
        turn += isinstance(event, Step)


def first_difference(recorded: Trajectory, now: Trajectory) -> str:
    """The first thing in which a trial parts from its record; "" where it is as recorded as far as it goes."""
    for name, was, new in (
        ("the system prompt", recorded.system, now.system),
        ("the task", recorded.prompt, now.prompt),
    ):
        if was != new:
            return f"{name}: {differing(was, new)}"
    turn = 1
    for was_event, new_event in zip(recorded.events, now.events, strict=False):
        if parted := _parted(was_event, new_event):
            return f"turn {turn}, {parted}"
        turn += isinstance(was_event, Step)
    return ""


def _parted(was: Event, now: Event) -> str:
    if not (isinstance(was, Step) and isinstance(now, Step)):
        return differing(_told(was), _told(now))
    called: tuple[ToolCall | Malformed, ...] = (*was.action.calls, *was.action.malformed)
    for call, one, other in zip(called, was.observations, now.observations, strict=False):
        if one.shown != other.shown:
            return f"what {call.name or 'a call'} brought: {differing(one.shown, other.shown)}"
    return ""


def _told(event: Event) -> str:
    return event.text if isinstance(event, Note) else event.notes if isinstance(event, Compaction) else "a turn"


def verdicts(source: Path, folder: Path) -> Verdicts:
    """What became of the verdicts of the record. Keeps one number a trial in memory."""
    scores = {store.key_of(row): row["score"] for row in store.latest(source) if row["failure"] is None}
    found = Verdicts()
    for row in store.latest(folder):
        key = store.key_of(row)
        if row["failure"] is not None:
            found.lost.append(row)
        elif row["score"] == scores.get(key):
            found.same += 1
        else:
            found.changed.append(Changed(key, scores.get(key), row["score"]))
    return found

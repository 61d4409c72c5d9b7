"""A run's folder: append results, read them back, resume.

    study.json        what was planned, with the content hash of every harness and task
    results.jsonl     one line a trial, appended when it ends; of several lines for one trial the latest counts
    trajectories/     one zstd frame of JSON a trial, in place before its line is appended
    wire/             likewise the wire log of a trial under an external harness, which no record can derive

A line counts once it can be read whole. A line torn by a crash does not, so its trial is owed again; the same holds for
a lost trial (one with a failure), which is why a trial may have more than one line. A judged trial is never run again.
"""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern

from harness_eval import recording
from harness_eval.diagnosis.trial import retries_by_label, turns_by_label
from harness_eval.errors import ConfigError
from harness_eval.keys import MOST_REPEATS, Keys
from harness_eval.types import Json, Lost, Result, Trajectory, TrialKey, Usage

STUDY, RESULTS, TRAJECTORIES, LOCK = "study.json", "results.jsonl", recording.TRAJECTORIES, ".lock"

_UNCOMPARED = {"created"}  # keys of study.json that may differ when a run is resumed
_SHOWN = 6  # differing fields named in one message

Row = dict[str, Json]


def key_of(row: Mapping[str, Json]) -> TrialKey:
    """Which trial a line of results.jsonl belongs to. Equal names are one string, as a run may have a million keys."""
    return TrialKey(intern(row["task"]), intern(row["harness"]), intern(row["endpoint"]), row["repeat"])


def row_of(result: Result) -> Row:
    """A result as its line of results.jsonl. `solved`, `score` and `stop` are null where they are unknown."""
    verdict, failure, trajectory, again = result.verdict, result.failure, result.trajectory, result.recovered
    return {
        "task": result.key.task,
        "harness": result.key.harness,
        "harness_id": result.harness_id,
        **{name: result.extra.get(name) for name in ("harness_version", "harness_wire")},
        "endpoint": result.key.endpoint,
        "repeat": result.key.repeat,
        "solved": verdict.solved if verdict else None,
        "score": verdict.score if verdict else None,
        "failure": failure,
        "stop": trajectory.stop if trajectory else result.extra.get("stop"),
        "labels": list(result.labels),
        "turns": turns_by_label(trajectory),
        "retried": retries_by_label(trajectory, result.extra.get("faults", ())),
        "recovered": {"score": again.score, "solved": again.solved} if again else None,
        "usage": result.usage,
        "cost": result.cost,
        "seconds": round(result.seconds, 3),
        "acted": list(result.acted),
        "steps": len(trajectory.steps) if trajectory else result.extra.get("steps", 0),
        "attempt": result.extra.get("attempt", 1),
        "detail": verdict.detail if verdict else "",
        **{key: result.extra[key] for key in ("external",) if key in result.extra},
    }


def rows(folder: Path) -> Iterator[Row]:
    """Every sound line of results.jsonl in the order it was appended, one in memory at a time.

    A line that is torn, or that no run could have written, does not count: its trial is owed again.
    """
    path = folder / RESULTS
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for line in lines:
            row = recording.load_or_none(line)
            if isinstance(row, dict) and sound(row):
                yield row


def sound(row: Row) -> bool:
    """Whether a line has what every reader relies on."""
    failure, usage, again = row.get("failure"), row.get("usage"), row.get("recovered")
    texts = [row.get(key) for key in ("task", "harness", "endpoint")]
    scores = [row.get("score"), again.get("score") if isinstance(again, dict) else None]
    known = [each for each in (*scores, row.get("cost"), row.get("steps"), row.get("attempt")) if each is not None]
    numbers = [row.get("repeat"), row.get("seconds"), *known]
    if failure is not None:
        texts += [failure.get("owner"), failure.get("message")] if isinstance(failure, dict) else [None]
    numbers += [usage.get(name) for name in Usage.__slots__] if isinstance(usage, dict) else [None]
    numeric = all(type(each) in (int, float) and each - each == 0 for each in numbers)  # neither infinite nor NaN
    shares = numeric and all(0 <= score <= 1 for score in scores if score is not None)
    repeated = shares and type(row["repeat"]) is int and 0 <= row["repeat"] < MOST_REPEATS
    return repeated and all(isinstance(each, str) for each in texts)


def latest(folder: Path) -> Iterator[Row]:
    """The line that counts of each trial: the latest. Reads the file twice and keeps one number a trial in memory."""
    remaining = Counter(hash(key_of(row)) for row in rows(folder))
    for row in rows(folder):
        key = hash(key_of(row))
        remaining[key] -= 1
        if not remaining[key]:
            yield row


@dataclass(slots=True)
class Tally:
    """What a folder holds so far, from one walk over its lines: what became of each trial, and all that was used up.

    `lost` has the last failure of each trial without a verdict, `attempts` how often it was tried; `solved_at` counts
    solved trials by harness and endpoint.
    """

    judged: Keys = field(default_factory=Keys)
    lost: dict[TrialKey, Lost] = field(default_factory=dict)
    attempts: dict[TrialKey, int] = field(default_factory=dict)
    solved_at: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: int = 0
    money: float = 0.0

    @property
    def solved(self) -> int:
        """How many trials were solved."""
        return self.solved_at.total()


def tally(folder: Path) -> Tally:
    """Count a folder's lines; tokens and money include those of lost trials, since they were spent."""
    total = Tally()
    for row in rows(folder):
        key, failure = key_of(row), row["failure"]
        total.tokens += row["usage"]["prompt"] + row["usage"]["completion"]
        total.money += row["cost"] or 0.0
        if failure is not None:
            total.attempts[key] = row["attempt"]
            total.lost[key] = Lost(
                failure["owner"], intern(failure["message"]), intern(str(failure.get("label") or ""))
            )
        elif key not in total.judged:
            total.judged.add(key)
            total.solved_at[key.harness, key.endpoint] += bool(row["solved"])
    for key in total.judged & total.lost.keys():
        del total.lost[key], total.attempts[key]
    return total


def read_study(folder: Path) -> dict[str, Json]:
    """The study of a run's folder.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    path = folder / STUDY
    try:
        study = recording.load(path.read_bytes())
    except OSError as error:
        why = "is this the folder of a run?" if isinstance(error, FileNotFoundError) else error.strerror
        raise ConfigError(f"{folder}: no {STUDY} here; {why}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: is not JSON: {error}") from None
    if not isinstance(study, dict):
        raise ConfigError(f"{path}: must hold an object")
    return study


def read_trajectory(folder: Path, key: TrialKey) -> Trajectory | None:
    """The recorded trajectory of a trial; None where the trial was lost before there was one.

    Raises:
        ConfigError: the frame is damaged.
    """
    path = folder / TRAJECTORIES / recording.file_name(key)
    try:
        return recording.unpack(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ConfigError(f"{path}: is damaged: {error}") from None


class RunFolder:
    """A run's folder while it is written to; made by `open_run`, which also closes it."""

    def __init__(self, folder: Path, results: int) -> None:
        self.folder = folder
        self._results = results

    def append(self, result: Result) -> None:
        """Record one result; see `extend`."""
        self.extend((result,))

    def extend(self, results: Sequence[Result]) -> None:
        """Record results so that they survive a crash of the process and of the machine. Blocks; one at a time.

        Raises:
            ConfigError: the disk is full or the folder is gone.
        """
        try:
            for result in results:
                recording.keep(self.folder, result)
            lines = b"".join(recording.dump(row_of(result)) + b"\n" for result in results)
            while lines:
                lines = lines[os.write(self._results, lines) :]
            os.fsync(self._results)
        except OSError as error:
            raise ConfigError(f"{self.folder}: cannot be written: {error.strerror or error}") from error


@contextmanager
def open_run(folder: Path, study: Mapping[str, Json]) -> Iterator[RunFolder]:
    """Open a run's folder for writing: a new one, or the one that this very study left unfinished.

    Raises:
        ConfigError: another process writes there, it belongs to another study, or it cannot be written.
    """
    try:
        _check_own(folder)
        (folder / TRAJECTORIES).mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from None
    try:
        _lock(folder, lock)
        _settle(folder, study)
        for unfinished in (folder / TRAJECTORIES).glob("*/.*"):  # what a killed run was about to put in place
            unfinished.unlink(missing_ok=True)
        results = _open_results(folder / RESULTS)
        try:
            yield RunFolder(folder, results)
        finally:
            os.close(results)
    finally:
        os.close(lock)  # this also gives the lock back


def _lock(folder: Path, lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(lock, 20, 0).decode(errors="replace").strip() or "unknown"
        message = f"{folder}: process {holder} is writing here; let it finish, or name another folder with --out"
        raise ConfigError(message) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)


def _check_own(folder: Path) -> None:
    """Raise ConfigError where a folder holds something and no study; what a killed run left before that is nothing."""
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    foreign = [name for name in names if name not in (LOCK, TRAJECTORIES) and not name.startswith(f".{STUDY}.")]
    if foreign and not (folder / STUDY).exists():
        raise ConfigError(f"{folder}: is not empty and no run's folder (it holds {foreign[0]}); name another --out")


def _settle(folder: Path, study: Mapping[str, Json]) -> None:
    """Write study.json into a new folder, or check that the one which is there means the same."""
    path = folder / STUDY
    wanted = recording.load(recording.dump(study))
    if not path.exists():
        recording.write_whole(path, recording.dump(wanted, pretty=True))
        return
    differing = list(recording.differences(read_study(folder), wanted, _UNCOMPARED))
    if differing:
        more = f"; and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
        told = "; ".join(differing[:_SHOWN]) + more
        raise ConfigError(f"{folder}: holds a run of another study, so it cannot be resumed. What differs: {told}")


def _open_results(path: Path) -> int:
    """Open results.jsonl for appending, on a fresh line: what a crash left half written is cut off."""
    results = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    size = os.fstat(results).st_size
    tail, start = b"", size
    while start and b"\n" not in tail:
        start = max(0, start - 65536)
        tail = os.pread(results, size - start, start)
    torn = tail.rpartition(b"\n")[2]
    if recording.load_or_none(torn) is not None:
        os.write(results, b"\n")
    elif torn:
        os.ftruncate(results, size - len(torn))
    return results

"""The trials of a run's folder for looking them up: filtered, sorted, in pages, also while the run goes on.

One small entry a trial is kept in memory; the lines of results.jsonl stay where they are and are read when they are
asked for. What was appended since is read the next time.
"""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Literal, TypeAlias, get_args

from harness_eval import recording, store
from harness_eval.report import diagnosed
from harness_eval.report.recorded import outcome_of
from harness_eval.store import Row

Outcome: TypeAlias = Literal["solved", "unsolved", "lost"]
Order: TypeAlias = Literal["harness", "task", "score", "steps", "tokens", "seconds"]
ORDERS: tuple[Order, ...] = get_args(Order)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a list shows of a trial. `labels` are all of it, `cause` is the one it counts under, "" of a solved one.

    `place` is where its line begins in results.jsonl, in bytes.
    """

    name: str
    task: str
    harness: str
    endpoint: str
    repeat: int
    outcome: Outcome
    score: float | None
    cause: str
    owner: str
    stop: str
    steps: int
    tokens: int
    seconds: float
    labels: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which trials: names are whole ones, else parts of names or globs; "" is any."""

    task: str = ""
    harness: str = ""
    endpoint: str = ""
    outcome: str = ""
    label: str = ""


def trial_name(row: Row) -> str:
    """How a trial is named on the command line."""
    return f"{row['task']}/{row['harness']}/{row['endpoint']}/{row['repeat']}"


def entry_of(row: Row, place: int = 0) -> Entry:
    """The entry of a line of results.jsonl."""
    known = outcome_of(row)
    solved = known.score is not None and known.score >= 1.0
    owner, cause = ("", "") if solved else diagnosed.cause(known)
    return Entry(
        name=trial_name(row),
        task=sys.intern(row["task"]),
        harness=sys.intern(row["harness"]),
        endpoint=sys.intern(row["endpoint"]),
        repeat=known.repeat,
        outcome="solved" if solved else "lost" if known.score is None else "unsolved",
        score=known.score,
        cause=sys.intern(cause),
        owner=sys.intern(owner),
        stop=sys.intern(known.stop),
        steps=steps if isinstance(steps := row.get("steps"), int) else 0,
        tokens=known.tokens,
        seconds=known.seconds,
        labels=tuple(map(sys.intern, dict.fromkeys((*known.labels, *([cause] if cause else []))))),
        place=place,
    )


def meant(given: str, names: Collection[str]) -> set[str]:
    """The names that are meant: the one that is given, else those that it is a part of or, as a glob, fits."""
    if not given or given in names:
        return set(names) if not given else {given}
    lower = given.lower()
    return {name for name in names if lower in name.lower() or fnmatch.fnmatchcase(name.lower(), lower)}


def select(entries: Iterable[Entry], wanted: Wanted) -> list[Entry]:
    """Those entries that are wanted, in their order."""
    known = list(entries)
    tasks = meant(wanted.task, {entry.task for entry in known})
    harnesses = meant(wanted.harness, {entry.harness for entry in known})
    endpoints = meant(wanted.endpoint, {entry.endpoint for entry in known})
    labels = meant(wanted.label, {label for entry in known for label in entry.labels}) if wanted.label else set()
    return [
        entry
        for entry in known
        if entry.task in tasks
        and entry.harness in harnesses
        and entry.endpoint in endpoints
        and wanted.outcome in ("", entry.outcome)
        and (not wanted.label or not labels.isdisjoint(entry.labels))
    ]


def ordered(entries: Iterable[Entry], order: Order, *, down: bool = False) -> list[Entry]:
    """Entries by one of their values, those without one last, then by name."""
    plain = sorted(entries, key=lambda e: (e.harness, e.task, e.repeat, e.endpoint))
    if order == "harness":
        return plain[::-1] if down else plain
    known = [entry for entry in plain if getattr(entry, order) is not None]
    known.sort(key=lambda entry: getattr(entry, order), reverse=down)
    return known + [entry for entry in plain if getattr(entry, order) is None]


@dataclass(slots=True)
class Index:
    """All trials of a folder by name; `refresh` reads what was appended since."""

    folder: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    _read: int = 0
    _inode: int = 0
    _lock: Lock = field(default_factory=Lock)

    def refresh(self) -> None:
        """Read the lines that are new; all of them where the file is another one or has become shorter."""
        path = self.folder / store.RESULTS
        with self._lock:
            if not path.is_file():
                self.entries, self._read = {}, 0
                return
            found = path.stat()
            if found.st_ino != self._inode or found.st_size < self._read:
                self.entries, self._read, self._inode = {}, 0, found.st_ino
            if found.st_size > self._read:
                self._append(path)

    def _append(self, path: Path) -> None:
        new = dict(self.entries)
        with path.open("rb") as lines:
            lines.seek(self._read)
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # it is being written
                row = recording.load_or_none(line)
                if isinstance(row, dict) and store.sound(row):
                    entry = entry_of(row, self._read)
                    new[entry.name] = entry
                self._read += len(line)
        self.entries = new

    def row(self, name: str) -> Row | None:
        """The line of a trial; None where there is none of that name."""
        entry = self.entries.get(name)
        if entry is None:
            return None
        with (self.folder / store.RESULTS).open("rb") as lines:
            lines.seek(entry.place)
            row = recording.load_or_none(lines.readline())
        return row if isinstance(row, dict) and store.sound(row) and trial_name(row) == name else None

    def partners(self, entry: Entry) -> list[Entry]:
        """The other trials of its task."""
        return ordered((e for e in self.entries.values() if e.task == entry.task and e.name != entry.name), "harness")

    def beside(self, entry: Entry, harness: str | None) -> Entry | None:
        """The trial of this harness to compare one with: of its endpoint and repeat, else the nearest."""
        same = [e for e in self.partners(entry) if e.harness == harness]
        return min(same, key=lambda e: (e.endpoint != entry.endpoint, abs(e.repeat - entry.repeat)), default=None)

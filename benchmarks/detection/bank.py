"""The bank: each trial is run once and remembered on disk, and the outcomes of all runs are looked up in it.

This is exact, because the scripted agent keeps nothing and draws nothing but its luck, once a trial. While a trial
without a coupling runs, each coupling is asked at each turn whether it would change it: where none would, the outcome
with the coupling is the outcome without it; where one would, that trial is run too, if a run's draw asks for it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import orjson

from benchmarks.detection.memory import Memory
from benchmarks.detection.playing import Entry, Stage
from benchmarks.detection.studies import luck, planted_in
from harness_eval.harness import Harness
from harness_eval.planning import Study
from harness_eval.task import Task
from harness_eval.types import Json

PACKAGE = Path(__file__).parents[2] / "harness_eval"
_DECIDING = ("agent.py", "harness.py", "combinations.py", "axes", "reference")
_BOXES = "CREATE TABLE IF NOT EXISTS boxes (place TEXT PRIMARY KEY, answer BLOB) WITHOUT ROWID"
_TRIALS = (
    "CREATE TABLE IF NOT EXISTS trials (task TEXT, harness TEXT, coupling TEXT, low REAL, high REAL, below TEXT,"
    " row BLOB)"
)

Cell = tuple[str, str, str]  # task (digest), harness (id), coupling ("" is none)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A trial that has to be run."""

    task: Task
    harness: Harness
    coupling: str
    luck: float


@dataclass(frozen=True, slots=True)
class Kept:
    """What is held in memory of an entry."""

    low: float
    high: float
    below: dict[str, float]
    score: float
    acted: frozenset[str]
    number: int  # of its row in the file


@dataclass(slots=True)
class Bank:
    """Two files in a folder: outcomes, of one state of the code, and what boxes answered, of any."""

    trials: sqlite3.Connection
    memory: Memory
    known: dict[Cell, list[Kept]] = field(default_factory=dict)

    def find(self, task: Task, harness: Harness, coupling: str, luck: float) -> Kept | Wanted:
        """The outcome, or the trial that has to be run for it."""
        plain = next(iter(self.known.get((task.digest, harness.id, ""), ())), None)
        if plain is None:
            return Wanted(task, harness, "", 0.0)
        if not coupling or luck >= plain.below.get(coupling, 0.0):
            return plain
        spoilt = self.known.get((task.digest, harness.id, coupling), ())
        there = next((each for each in spoilt if each.low <= luck < each.high), None)
        return there or Wanted(task, harness, coupling, luck)

    def keep(self, entry: Entry) -> None:
        """Remember an outcome, at once and on disk."""
        values = (entry.task, entry.harness, entry.coupling, entry.low, entry.high, json.dumps(entry.below))
        placed = self.trials.execute(
            "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?)", (*values, orjson.dumps(entry.row))
        )
        self.trials.commit()
        self._hold(placed.lastrowid or 0, values, entry.row)

    def load(self) -> None:
        """Hold what the file has."""
        for number, *values, row in self.trials.execute("SELECT rowid, * FROM trials"):
            self._hold(number, tuple(values), orjson.loads(row))

    def row(self, kept: Kept) -> dict[str, Json]:
        """The line of results.jsonl of an outcome."""
        (row,) = self.trials.execute("SELECT row FROM trials WHERE rowid = ?", (kept.number,)).fetchone()
        found: dict[str, Json] = orjson.loads(row)
        return found

    def close(self) -> None:
        """Close both files."""
        self.trials.close()
        self.memory.file.close()

    def _hold(self, number: int, values: tuple[Json, ...], row: dict[str, Json] | Json) -> None:
        task, harness, coupling, low, high, below = values
        kept = Kept(low, high, json.loads(below), row["score"], frozenset(row["acted"]), number)
        self.known.setdefault((task, harness, coupling), []).append(kept)


def open_bank(folder: Path) -> Bank:
    """The bank in a folder, made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    trials = _opened(folder / f"trials-{_code()[:12]}.sqlite", _TRIALS)
    bank = Bank(trials, Memory(_opened(folder / "boxes.sqlite", _BOXES)))
    bank.load()
    return bank


def _opened(path: Path, table: str) -> sqlite3.Connection:
    file = sqlite3.connect(path, timeout=60)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = NORMAL")
    file.execute(table)
    return file


def _code() -> str:
    """SHA-256 of the code that decides what the agent and its harness do: another one is another bank."""
    files = [path for name in _DECIDING for path in [PACKAGE / name, *sorted((PACKAGE / name).rglob("*.py"))]]
    text = b"".join(path.read_bytes() for path in files if path.is_file())
    return hashlib.sha256(text).hexdigest()


def outcomes(bank: Bank, study: Study) -> Iterator[tuple[str, str, Kept | Wanted]]:
    """Task, harness and outcome of each trial of a study, or the trial that has to be run for it."""
    coupling, _ = planted_in(study)
    for task in study.tasks:
        drawn = luck(study, task) if coupling else 1.0
        for harness in study.harnesses:
            yield task.name, harness.name, bank.find(task, harness, coupling, drawn)


def fill(bank: Bank, stage: Stage, studies: Sequence[Study], workers: int, tell: Callable[[int, int], None]) -> None:
    """Run what these studies still need; `tell` hears how many of how many are done. Stopped, it goes on later."""
    # Twice: whether a coupling would change a trial is known once it has run without one.
    while wanted := _distinct(bank, studies):
        anyio.run(_play, bank, stage, wanted, workers, tell)


async def _play(
    bank: Bank, stage: Stage, wanted: Sequence[Wanted], workers: int, tell: Callable[[int, int], None]
) -> None:
    queue, done = iter(wanted), itertools.count(1)

    async def work() -> None:
        for each in queue:
            if isinstance(bank.find(each.task, each.harness, each.coupling, each.luck), Wanted):
                bank.keep(await stage.play(each.task, each.harness, each.coupling, each.luck))
            tell(next(done), len(wanted))

    async with stage.provider, anyio.create_task_group() as group:
        for _ in range(workers):
            group.start_soon(work)


def _distinct(bank: Bank, studies: Iterable[Study]) -> list[Wanted]:
    found: dict[tuple[str, str, str, float], Wanted] = {}
    for study in studies:
        for _, _, each in outcomes(bank, study):
            if isinstance(each, Wanted):
                found.setdefault((each.task.digest, each.harness.id, each.coupling, each.luck), each)
    return list(found.values())

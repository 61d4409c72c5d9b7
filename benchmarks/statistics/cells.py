"""Cells of tables: what is simulated, what was published, how far apart the two are; and the checkpoint."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from harness_eval.stats.estimate import Array

Values = Mapping[str, Array | list[float] | list[bool]]  # one number a repetition


@dataclass(frozen=True)
class Stat:
    """Mean and standard deviation of one number over repetitions."""

    reps: int
    mean: float
    sd: float

    @classmethod
    def of(cls, values: Array | list[float] | list[bool]) -> Stat:
        value_N = np.asarray(values, dtype=np.float64)
        value_N = value_N[~np.isnan(value_N)]
        if len(value_N) == 0:
            return cls(0, float("nan"), float("nan"))
        return cls(len(value_N), float(value_N.mean()), float(value_N.std(ddof=1)) if len(value_N) > 1 else 0.0)

    @property
    def error(self) -> float:
        return self.sd / self.reps**0.5 if self.reps else float("nan")

    @property
    def root_mean_square(self) -> float:
        return float((self.mean**2 + self.sd**2) ** 0.5)


@dataclass(frozen=True)
class Known:
    """A published number or range, the repetitions behind it, and the step it is rounded to."""

    low: float
    high: float
    reps: int
    step: float
    share: bool  # of repetitions, such as a coverage: its variance follows from its value

    def distance(self, own: Stat) -> float:
        """Own minus published in Monte-Carlo errors of both together; 0 inside a published range."""
        gap = min(0.0, own.mean - self.low) + max(0.0, own.mean - self.high)
        if gap == 0:
            return 0.0
        published = self.low if gap < 0 else self.high
        if self.share:
            pooled = (own.mean * own.reps + published * self.reps + 1) / (own.reps + self.reps + 2)
            variance = pooled * (1 - pooled)
        else:
            variance = own.sd**2
        return float(gap / (variance / own.reps + variance / self.reps + self.step**2 / 12) ** 0.5)


@dataclass(frozen=True)
class Cell:
    """One thing to simulate. `run(reps)` yields one number a repetition for each metric."""

    table: str
    name: str
    run: Callable[[int], Values]
    reps: int
    quick: int  # repetitions of the quick form; 0: left out
    uses: tuple[object, ...]  # code whose change makes an earlier result worthless

    @property
    def version(self) -> str:
        return _version(self.uses)


@cache
def _version(uses: tuple[object, ...]) -> str:
    """Of the code as it is when first asked for, which must be at the start: files may change while a command runs."""
    text = "\n".join(inspect.getsource(part) for part in uses)  # type: ignore[arg-type]
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Result:
    stats: Mapping[str, Stat]
    reps: int
    seconds: float


class Checkpoint:
    """One line a finished cell. Lines of other code, or of too few repetitions, do not count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self._lines = {(row["table"], row["name"], row["version"], row["reps"]): row for row in map(json.loads, lines)}

    def found(self, cell: Cell, reps: int) -> Result | None:
        row = self._lines.get((cell.table, cell.name, cell.version, reps))
        if row is None:
            return None
        return Result({name: Stat(**stat) for name, stat in row["stats"].items()}, row["reps"], row["seconds"])

    def run(self, cell: Cell, reps: int) -> Result:
        started = time.perf_counter()
        stats = {metric: Stat.of(values) for metric, values in cell.run(reps).items()}
        result = Result(stats, reps, time.perf_counter() - started)
        row = {
            "table": cell.table,
            "name": cell.name,
            "version": cell.version,
            "reps": reps,
            "seconds": round(result.seconds, 2),
            "stats": {name: asdict(stat) for name, stat in stats.items()},
        }
        self._lines[(cell.table, cell.name, cell.version, reps)] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        return result

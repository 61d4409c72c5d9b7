"""The trials of the gated harness on both sides as arrays, tasks in look order; quarantined tasks have no verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness_eval.gate.document import Outcome, Quarantined, Trials
from harness_eval.gate.kept import LOST, NOT_RUN, SOLVED, UNSOLVED, Snapshot, SnapshotHarness
from harness_eval.gate.matching import Matched

_TOO_OFTEN_LOST = 0.10  # share of a task's trials on both sides from which on it is quarantined


@dataclass(frozen=True, slots=True)
class Pairs:
    """`before_TR` and `after_TR` are characters as in a snapshot; the new run has at most `cap` repeats, and is cut.

    `out_T` says which tasks are quarantined.
    """

    tasks: tuple[str, ...]
    before_TR: Any
    after_TR: Any
    out_T: Any

    def solved(self) -> tuple[Any, Any]:
        """1 solved, 0 not solved, NaN no verdict or quarantined: of both sides, each with all of its repeats."""
        before_TR, after_TR = self.verdicts()
        for side_TR in (before_TR, after_TR):
            side_TR[self.out_T] = math.nan
        return before_TR, after_TR

    def verdicts(self) -> tuple[Any, Any]:
        """The same with quarantined tasks as all others."""
        return _numbers(self.before_TR), _numbers(self.after_TR)

    @property
    def ended(self) -> Any:
        """Which new trials have ended, judged or lost; those of quarantined tasks are not waited for."""
        return (self.after_TR != NOT_RUN) | self.out_T[:, None]

    def until(self, trials: int) -> Pairs:
        """As it was after so many trials of the new run, counted repeat by repeat: the others have not been run."""
        import numpy  # lazy: slow import

        tasks, repeats = self.after_TR.shape
        place_TR = numpy.arange(repeats) * tasks + numpy.arange(tasks)[:, None]
        return _pairs(self.tasks, self.before_TR, numpy.where(place_TR < trials, self.after_TR, NOT_RUN))

    def filled(self, solved: bool) -> Pairs:
        """As if all lost new trials had been solved, or had not."""
        import numpy  # lazy: slow import

        after_TR = numpy.where(self.after_TR == LOST, SOLVED if solved else UNSOLVED, self.after_TR)
        return _pairs(self.tasks, self.before_TR, after_TR)

    @property
    def trials(self) -> Trials:
        """What became of the new trials."""
        judged, lost = _number(self.after_TR, SOLVED, UNSOLVED), _number(self.after_TR, LOST)
        most = int(self.after_TR.size)
        return Trials(most=most, judged=judged, lost=lost, missing=most - judged - lost)

    @property
    def quarantined(self) -> tuple[Quarantined, ...]:
        """The tasks that take no part, with what was lost of both sides."""
        rows = [(self.tasks[at], self.before_TR[at], self.after_TR[at]) for at in self.out_T.nonzero()[0]]
        counts = [(task, _number(one, LOST) + _number(new, LOST), _ended(one) + _ended(new)) for task, one, new in rows]
        return tuple(Quarantined(task=task, lost=lost, trials=ended) for task, lost, ended in sorted(counts))

    def outcomes(self) -> tuple[Outcome, ...]:
        """Every task, by name, with what became of its trials."""
        rows = sorted(zip(self.tasks, self.before_TR, self.after_TR, strict=True), key=lambda row: row[0])
        return tuple(
            Outcome(
                task=task,
                before_solved=_number(before, SOLVED),
                before_trials=_number(before, SOLVED, UNSOLVED),
                after_solved=_number(after, SOLVED),
                after_trials=_number(after, SOLVED, UNSOLVED),
                lost=_number(after, LOST),
                missing=_number(after, NOT_RUN),
            )
            for task, before, after in rows
        )


def pairs_of(matched: Matched, cap: int) -> Pairs:
    """The trials of the gated harness; of the new run at most `cap` repeats."""
    one, other = matched.gated
    before_TR = characters(matched.before, one.solved, matched.tasks)
    return _pairs(matched.tasks, before_TR, characters(matched.after, other.solved, matched.tasks)[:, :cap])


def characters(side: Snapshot, lines: Sequence[str], tasks: Sequence[str]) -> Any:
    """Lines of a snapshot as an array of single characters, for these tasks in this order."""
    import numpy  # lazy: slow import

    place = {task.name: at for at, task in enumerate(side.tasks)}
    order = [place[name] for name in tasks]
    array = numpy.array([list(line) for line in lines], dtype="U1").reshape(len(lines), len(side.tasks))
    return array[:, order].T


def rates(side: Snapshot, harness: SnapshotHarness, tasks: Sequence[str]) -> Any:
    """The share of judged trials that a harness solved of each task; NaN without any."""
    return means(_numbers(characters(side, harness.solved, tasks)))


def means(side_TR: Any) -> Any:
    """Of each task over its verdicts; NaN without any."""
    import numpy  # lazy: slow import

    judged_T = (~numpy.isnan(side_TR)).sum(axis=1)
    return numpy.where(judged_T, numpy.nansum(side_TR, axis=1) / numpy.maximum(judged_T, 1), numpy.nan)


def _pairs(tasks: tuple[str, ...], before_TR: Any, after_TR: Any) -> Pairs:
    lost_T = (before_TR == LOST).sum(axis=1) + (after_TR == LOST).sum(axis=1)
    ended_T = (before_TR != NOT_RUN).sum(axis=1) + (after_TR != NOT_RUN).sum(axis=1)
    return Pairs(tasks, before_TR, after_TR, lost_T > _TOO_OFTEN_LOST * ended_T)


def _numbers(side_TR: Any) -> Any:
    import numpy  # lazy: slow import

    return numpy.where(side_TR == SOLVED, 1.0, numpy.where(side_TR == UNSOLVED, 0.0, numpy.nan))


def _number(part: Any, *what: str) -> int:
    return sum(int((part == each).sum()) for each in what)


def _ended(part: Any) -> int:
    return int(part.size) - _number(part, NOT_RUN)

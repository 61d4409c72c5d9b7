"""What the trials of two runs met, lost and used up, on the cells that both have run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from harness_eval.diagnosis.reply import PLAIN
from harness_eval.report import counts
from harness_eval.report.comparison_pairing import Pairing
from harness_eval.report.diagnosed import known
from harness_eval.report.leading import figures
from harness_eval.report.outcomes import Outcome, Outcomes
from harness_eval.report.why import significant
from harness_eval.types import Json

_USED: dict[str, Callable[[Outcome], float | None]] = {
    "tokens": lambda outcome: outcome.tokens,
    "seconds": lambda outcome: outcome.seconds,
    "cost": lambda outcome: outcome.cost,
}


class _Grid:
    """Tables task x harness of two runs: mean of one value a trial in each cell, NaN where a run has no trial."""

    def __init__(self, pairing: Pairing, sides: Sequence[Outcomes]) -> None:
        self._task = {name: place for place, name in enumerate(pairing.tasks)}
        self._harness = {name: place for place, name in enumerate(pairing.harnesses)}
        self._sides = sides
        self._trials = [self._sum(side, lambda _: 1.0) for side in sides]
        self.common = (self._trials[0] > 0) & (self._trials[1] > 0)

    def means(self, value: Callable[[Outcome], float]) -> list[Any]:
        """The two tables; NaN where either run has no trial."""
        import numpy  # lazy: slow import

        tables = []
        for side, trials in zip(self._sides, self._trials, strict=True):
            table = numpy.full(trials.shape, numpy.nan)
            numpy.divide(self._sum(side, value), trials, out=table, where=self.common)
            tables.append(table)
        return tables

    def inside(self, place: int) -> Outcomes:
        """The trials of one run in the common cells."""
        return self._sides[place].where(lambda one: self.common[self._task[one.task], self._harness[one.harness]])

    def _sum(self, side: Iterable[Outcome], value: Callable[[Outcome], float]) -> Any:
        import numpy  # lazy: slow import

        table = numpy.zeros((len(self._task), len(self._harness)))
        for one in side:
            table[self._task[one.task], self._harness[one.harness]] += value(one)
        return table


def labels(pairing: Pairing) -> list[dict[str, Json]]:
    """Labels by how the share of the trials that met them changed: what surely moved first, then the largest.

    Shares are means over cells, paired by task; `trials` counts them. p is Holm's over labels.
    """
    from harness_eval.stats.effects import holm  # lazy: slow import

    grid = _Grid(pairing, pairing.outcomes())
    if not grid.common.any():
        return []
    sides = [grid.inside(place) for place in (0, 1)]
    names = sorted({name for side in sides for one in side for name in _met(one)})
    rows = [_label(grid, name, sides) for name in names]
    for row, adjusted in zip(rows, holm([row.pop("p") for row in rows]), strict=True):
        row["p_adjusted"] = adjusted
        row["moved"] = significant(adjusted)
    return sorted(rows, key=lambda row: (not row["moved"], -abs(row["change"]["estimate"]), row["label"]))


def _met(outcome: Outcome) -> set[str]:
    return {*outcome.labels, *(outcome.turns or ()), outcome.label}.difference(PLAIN, [""])


def _label(grid: _Grid, name: str, sides: Sequence[Sequence[Outcome]]) -> dict[str, Json]:
    from harness_eval.stats.cells import judged_columns  # lazy: slow import
    from harness_eval.stats.compare import paired_mean  # lazy: slow import

    label = known(name)
    before_TH, after_TH = grid.means(lambda outcome: float(name in _met(outcome)))
    moved_TH = after_TH - before_TH
    found, p = paired_mean(moved_TH[:, judged_columns(moved_TH)])
    return {
        "label": name,
        "owner": label.owner,
        "effect": label.effect,
        "meaning": label.meaning,
        "before": _share(name, sides[0]),
        "after": _share(name, sides[1]),
        "change": figures(found),
        "p": p,
    }


def _share(name: str, side: Sequence[Outcome]) -> dict[str, int]:
    return {"trials": sum(name in _met(one) for one in side), "of": len(side)}


def lost(pairing: Pairing) -> dict[str, Json]:
    """Lost trials of either run by owner, of those on the tasks and harnesses that are compared."""
    before, after = (_lost(side) for side in pairing.outcomes())
    return {"before": before, "after": after}


def _lost(side: Sequence[Outcome]) -> dict[str, Json]:
    owners = counts.by_owner(counts.lost_labels(side))
    return {"trials": len(side), "lost": sum(owners.values()), "owners": owners}


def spent(pairing: Pairing) -> list[dict[str, Json]]:
    """Tokens, seconds and cost of a judged trial, means over the common cells, and their ratio, paired by task.

    A cost is left out where a trial of either run has no price, and whatever neither run has recorded.
    """
    sides = [side.where(lambda one: one.judged) for side in pairing.outcomes()]
    grid = _Grid(pairing, sides)
    rows = []
    for what, value in _USED.items():
        if not any(value(one) is None for side in sides for one in side):
            rows.append({"what": what, **_used(grid, value)})
    return [row for row in rows if row["before"] or row["after"]]


def _used(grid: _Grid, value: Callable[[Outcome], float | None]) -> dict[str, Json]:
    import numpy  # lazy: slow import

    from harness_eval.stats.compare import ratio  # lazy: slow import

    tables = grid.means(lambda outcome: value(outcome) or 0.0)
    met = grid.common.any(axis=1)
    before_T, after_T = (numpy.nanmean(table[met], axis=1) for table in tables)
    found = ratio(before_T, after_T)
    return {"before": float(before_T.mean()), "after": float(after_T.mean()), "ratio": figures(found)}

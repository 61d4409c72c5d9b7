"""Trials lost to infrastructure: how many, how evenly, and what they could have changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .cells import Cells, judged_columns, judged_tasks
from .estimate import Array, Counts
from .groups import Groups
from .posterior import posterior
from .worst import Sampling

_PERMUTATIONS = 4_999
_FOR_BOUNDS = Sampling(kept=16)  # a bound is a mean only
_ALARMING_RATE = 0.05


@dataclass(frozen=True, slots=True)
class Lost:
    """Trials lost to infrastructure, whether evenly, and what WORST would be had they all failed or all passed."""

    planned: int
    judged: int
    lost: int
    rate: float | None
    rates: tuple[float | None, ...]  # one a harness
    p_equal: float | None  # of "every harness loses trials at the same rate"; None: nothing was lost
    flagged: bool  # some harness above 5 %, or p_equal below .01
    worst_if_failed: float | None
    worst_if_passed: float | None


def lost_trials(cells: Cells, worst: float | None, rng: np.random.Generator, groups: Groups | None = None) -> Lost:
    """Count what was lost; `worst` is the estimate from the judged trials, which stands when nothing was lost.

    The bounds are unknown below 20 tasks, as WORST is.
    """
    planned_H, judged_H = cells.planned_TH.sum(axis=0), cells.judged_TH.sum(axis=0)
    lost_H = planned_H - judged_H
    planned, lost = int(planned_H.sum()), int(lost_H.sum())
    rates = tuple(int(k) / int(n) if n else None for k, n in zip(lost_H, planned_H, strict=True))
    p_equal = equal_rates(lost_H, planned_H, rng)
    low, high = (_worst_if(cells, score, rng, groups) for score in (0.0, 1.0)) if lost else (worst, worst)
    return Lost(
        planned=planned,
        judged=planned - lost,
        lost=lost,
        rate=lost / planned if planned else None,
        rates=rates,
        p_equal=p_equal,
        flagged=max((r for r in rates if r is not None), default=0.0) > _ALARMING_RATE
        or (p_equal is not None and p_equal < 0.01),
        worst_if_failed=low,
        worst_if_passed=high,
    )


def equal_rates(lost_H: Counts, planned_H: Counts, rng: np.random.Generator) -> float | None:
    """p of "all harnesses lose trials at the same rate": Pearson's chi-square, permuting lost among all trials."""
    planned_H, lost_H = planned_H[planned_H > 0], lost_H[planned_H > 0]
    lost, planned = int(lost_H.sum()), int(planned_H.sum())
    if lost == 0:
        return None
    expected_H = planned_H * lost / planned

    def statistic(count_BH: Counts) -> Array:
        return np.asarray(((count_BH - expected_H) ** 2 / expected_H).sum(axis=-1))

    drawn_BH = rng.multivariate_hypergeometric(planned_H, lost, size=_PERMUTATIONS, method="marginals")
    exceed = int((statistic(drawn_BH) >= statistic(lost_H) - 1e-9).sum())
    return (1 + exceed) / (1 + _PERMUTATIONS)


def _worst_if(cells: Cells, score_of_lost: float, rng: np.random.Generator, groups: Groups | None) -> float | None:
    mean_TH = cells.filled(np.full(cells.mean_TH.shape[1], score_of_lost))
    judged_T = judged_tasks(mean_TH)
    table_TH = mean_TH[judged_T][:, judged_columns(mean_TH)]
    return posterior(table_TH, rng, groups and groups.rows(judged_T), _FOR_BOUNDS).worst().estimate

"""Two runs of the same tasks on the same harnesses: did the mean, the worst or a single harness move?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .cells import additive_fit, judged_columns
from .estimate import MIN_TASKS_FOR_INTERVALS, UNKNOWN, Array, Estimate, from_draws
from .paired import plus_two, simultaneous
from .posterior import posterior
from .spread import Spread, spread


@dataclass(frozen=True, slots=True)
class Movement:
    """Changes from the first run to the second (positive: better). Harnesses keep the order of the input."""

    mean: Estimate
    worst: Estimate  # limits ignore that both runs share the task luck, and are therefore wide
    spread_before: Spread
    spread_after: Spread
    harnesses: tuple[Estimate, ...]  # limits hold for all harnesses together
    p_adjusted: tuple[float | None, ...]


def compare(before_TH: Array, after_TH: Array, seed: int) -> Movement:
    """Compare cell means over the cells that both runs have. Raises ValueError when the shapes differ."""
    if before_TH.shape != after_TH.shape:
        raise ValueError(f"the runs do not match: {before_TH.shape} and {after_TH.shape}")
    common_TH = ~np.isnan(before_TH) & ~np.isnan(after_TH)
    before_TH, after_TH = np.where(common_TH, before_TH, np.nan), np.where(common_TH, after_TH, np.nan)
    change_TH = after_TH - before_TH
    tested = judged_columns(change_TH)
    single = simultaneous(change_TH, np.random.default_rng([seed, 0]))
    return Movement(
        _mean(change_TH[:, tested]),
        _worst(before_TH[:, tested], after_TH[:, tested], seed),
        spread(before_TH[:, tested]),
        spread(after_TH[:, tested]),
        single.difference_K,
        single.p_adjusted_K,
    )


def _mean(change_TH: Array) -> Estimate:
    change_TH = change_TH[~np.isnan(change_TH).all(axis=1)]
    if change_TH.size == 0:
        return UNKNOWN
    fit = additive_fit(change_TH)
    mean_T = fit.task_T + fit.harness_H.mean()
    if len(mean_T) < MIN_TASKS_FOR_INTERVALS:
        return Estimate(float(mean_T.mean()))
    test = plus_two(mean_T, change_TH.shape[1] ** -0.5)
    return Estimate(test.mean, test.low, test.high)


def _worst(before_TH: Array, after_TH: Array, seed: int) -> Estimate:
    before, after = (posterior(t, np.random.default_rng([seed, i])) for i, t in enumerate((before_TH, after_TH), 1))
    if before.mu_IH is None or after.mu_IH is None:
        return UNKNOWN
    moved = from_draws(after.mu_IH.min(axis=1) - before.mu_IH.min(axis=1))
    return moved if before.limits else moved.without_interval()

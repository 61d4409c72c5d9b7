"""Paired comparisons over common tasks: the +2 rule, simultaneous intervals, the worst set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .estimate import DEFAULT_REPLICATES, MIN_TASKS_FOR_INTERVALS, UNKNOWN, Array, Counts, Estimate, Mask
from .groups import MIN_GROUPS, Groups, freedom, scaled
from .intervals import normal_quantile, t_quantile

_CERTAIN = 1.1  # times Bonferroni's quantile: above any quantile of the bootstrap, which need not be drawn then


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Mean difference with its standard error, 95 % t limits and two-sided p."""

    mean: float
    error: float
    low: float
    high: float
    p: float


def paired_t(difference_T: Array) -> PairedTest:
    """Plain paired t over at least two tasks that are not all alike."""
    tasks = len(difference_T)
    return _t_test(float(difference_T.mean()), float(difference_T.std(ddof=1)) / tasks**0.5, tasks - 1)


def plus_two(difference_T: Array, scale: float = 1.0) -> PairedTest:
    """Paired t after one pseudo-task of +1 and one of -1 (Bonett-Price when binary): never a width of zero.

    `scale` is the size of the pseudo-tasks: 1 for the difference of two cells, |weights| / sqrt(2) for a contrast of
    more of them, so that the pseudo-tasks are worth the same noise in every cell.
    """
    padded_T = np.concatenate([difference_T, [scale, -scale]])
    return _t_test(float(padded_T.mean()), float(padded_T.std()) / len(padded_T) ** 0.5, len(padded_T) - 1)


def paired_difference(left_T: Array, right_T: Array) -> Estimate:
    """Mean of left - right over the tasks that have both (NaN: not), alone and not among others.

    The +2 rule below 200 tasks or where either mean is above .9 or below .1, the plain paired t elsewhere. No limits
    below 20 tasks.
    """
    both_T = ~np.isnan(left_T - right_T)
    left_T, right_T = left_T[both_T], right_T[both_T]
    difference_T = left_T - right_T
    if len(difference_T) < MIN_TASKS_FOR_INTERVALS:
        return Estimate(float(difference_T.mean())) if len(difference_T) else UNKNOWN
    means = float(left_T.mean()), float(right_T.mean())
    padded = len(difference_T) < 200 or min(means) < 0.1 or max(means) > 0.9 or not difference_T.std()
    test = plus_two(difference_T) if padded else paired_t(difference_T)
    return Estimate(test.mean, test.low, test.high)


def _t_test(mean: float, error: float, freedom: int) -> PairedTest:
    from scipy import special  # lazy: slow import

    reach = t_quantile(0.975, freedom) * error
    p = 2 * float(special.stdtr(freedom, -abs(mean) / error))
    return PairedTest(mean, error, mean - reach, mean + reach, p)


@dataclass(frozen=True, slots=True)
class Contrasts:
    """Paired differences after the two pseudo-tasks, with the reference distribution of their t statistics."""

    mean_K: Array
    error_K: Array
    pairs_K: Counts  # tasks valid on both sides, pseudo-tasks not counted
    freedom_K: Array  # of the t statistics
    enough_K: Mask  # whether limits are allowed: twenty pairs, in five groups
    influence_GK: Array  # of each group of tasks (task) and pseudo-task on the t statistics

    def replicates(self, multiplier_BG: Array) -> Array:
        """Multiplier bootstrap of the t statistics, B x K; `multiplier_BG` comes from `multipliers`."""
        return np.asarray(multiplier_BG @ self.influence_GK)


def contrasts(difference_TK: Array, groups: Groups | None = None) -> Contrasts:
    """Means and standard errors of paired differences (NaN: not a pair); of groups of tasks by CR2.

    The pseudo-tasks keep the error above zero, without which simultaneous intervals fail at ceilings.
    """
    pseudo_2K = np.repeat([[1.0], [-1.0]], difference_TK.shape[1], axis=1)
    padded_TK = np.concatenate([difference_TK, pseudo_2K])
    valid_TK = ~np.isnan(padded_TK)
    padded_TK = np.where(valid_TK, padded_TK, 0.0)
    count_K = valid_TK.sum(axis=0)
    mean_K = padded_TK.sum(axis=0) / count_K
    centred_TK = np.where(valid_TK, padded_TK - mean_K, 0.0)
    own_GK = centred_TK if groups is None else scaled(centred_TK, valid_TK, _with_pseudo_tasks(groups))
    error_K = np.sqrt((own_GK**2).sum(axis=0)) / count_K
    pairs_K = count_K - 2
    enough_K = pairs_K >= MIN_TASKS_FOR_INTERVALS
    freedom_K = pairs_K + 1.0
    if groups is not None:
        enough_K &= (groups.sums(valid_TK[:-2]) > 0).sum(axis=0) >= MIN_GROUPS
        freedom_K = np.array([freedom(valid_T, groups) for valid_T in valid_TK[:-2].T])
    return Contrasts(mean_K, error_K, pairs_K, freedom_K, enough_K, own_GK / (count_K * error_K))


def _with_pseudo_tasks(groups: Groups) -> Groups:
    """Each pseudo-task is a group of its own."""
    return Groups(np.concatenate([groups.member_T, len(groups) + np.arange(2)]))


def multipliers(units: int, rng: np.random.Generator) -> Array:
    """Standard normal multipliers for `contrasts`; one set serves all contrasts of a table."""
    return rng.standard_normal((DEFAULT_REPLICATES, units + 2))


@dataclass(frozen=True, slots=True)
class Simultaneous:
    """Differences with limits that hold together at 95 % (max-T), and step-down adjusted p values."""

    difference_K: tuple[Estimate, ...]
    p_adjusted_K: tuple[float | None, ...]
    pairs_K: tuple[int, ...]
    detectable_K: tuple[float | None, ...] = ()  # difference found with 80 % power beside all others; empty: unknown


def simultaneous(difference_TK: Array, rng: np.random.Generator, groups: Groups | None = None) -> Simultaneous:
    """Max-T over paired differences: d_h +- c se_h, c the .95 quantile of max |Z*_h| times t / normal quantile.

    Limits and p values are None for a contrast with fewer than 20 pairs or five groups, its difference is None
    without any.
    """
    found = contrasts(difference_TK, groups)
    enough_K = found.enough_K
    if not enough_K.any():
        points = tuple(Estimate(float(d)) if n else UNKNOWN for d, n in zip(found.mean_K, found.pairs_K, strict=True))
        return Simultaneous(points, (None,) * len(points), tuple(found.pairs_K.tolist()))
    units = len(difference_TK) if groups is None else len(groups)
    size_BE = np.abs(found.replicates(multipliers(units, rng))[:, enough_K])
    scale_K = np.array([t_quantile(0.975, degrees) / normal_quantile(0.975) for degrees in found.freedom_K.tolist()])
    reach_K = float(np.quantile(size_BE.max(axis=1), 0.95)) * scale_K * found.error_K
    p_K = np.full(len(enough_K), np.nan)
    p_K[enough_K] = step_down((np.abs(found.mean_K) / found.error_K / scale_K)[enough_K], size_BE)
    found_K = [
        _limited(mean, reach) if known else Estimate(mean) if pairs else UNKNOWN
        for mean, reach, known, pairs in zip(found.mean_K, reach_K, enough_K, found.pairs_K, strict=True)
    ]
    detectable_K = reach_K + normal_quantile(0.8) * found.error_K
    return Simultaneous(
        tuple(found_K),
        tuple(float(p) if known else None for p, known in zip(p_K, enough_K, strict=True)),
        tuple(found.pairs_K.tolist()),
        tuple(float(size) if known else None for size, known in zip(detectable_K, enough_K, strict=True)),
    )


def _limited(mean: float, reach: float) -> Estimate:
    return Estimate(float(mean), max(-1.0, float(mean - reach)), min(1.0, float(mean + reach)))


def step_down(statistic_K: Array, reference_BK: Array) -> Array:
    """Westfall-Young step-down p values: each statistic against the maximum over those not larger than itself."""
    order_K = np.argsort(-statistic_K)
    remaining_BK = np.maximum.accumulate(reference_BK[:, order_K[::-1]], axis=1)[:, ::-1]
    exceed_K = (remaining_BK >= statistic_K[order_K]).sum(axis=0)
    p_K = np.empty(len(statistic_K))
    p_K[order_K] = np.maximum.accumulate((1 + exceed_K) / (1 + len(reference_BK)))
    return p_K


def worst_set(mean_TH: Array, rng: np.random.Generator, groups: Groups | None = None) -> tuple[int, ...]:
    """Harnesses that cannot be told from the worst; holds the true worst with probability >= .95, whatever the scores.

    Keeps h when max_j (m_h - m_j) / se_hj <= c_h, with c_h the .95 quantile of max_j Z*_hj (multiple comparisons
    with the best, turned round).
    """
    tasks, harnesses = mean_TH.shape
    if harnesses == 1:
        return (0,)
    multiplier_BG = multipliers(tasks if groups is None else len(groups), rng)
    return tuple(h for h in range(harnesses) if _may_be_worst(h, mean_TH, multiplier_BG, groups))


def _may_be_worst(harness: int, mean_TH: Array, multiplier_BG: Array, groups: Groups | None) -> bool:
    found = contrasts(mean_TH[:, [harness]] - np.delete(mean_TH, harness, axis=1), groups)
    scale = t_quantile(0.95, max(1.0, float(found.freedom_K.min()))) / normal_quantile(0.95)
    statistic = float((found.mean_K / found.error_K).max()) / scale
    if statistic <= normal_quantile(0.95):
        return True
    if statistic > _CERTAIN * normal_quantile(1 - 0.05 / len(found.mean_K)):
        return False
    return statistic <= float(np.quantile(found.replicates(multiplier_BG).max(axis=1), 0.95))

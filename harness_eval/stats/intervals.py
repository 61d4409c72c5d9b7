"""Confidence limits of a single proportion or mean."""

from __future__ import annotations

import numpy as np

from .estimate import MIN_TASKS_FOR_INTERVALS, UNKNOWN, Array, Estimate
from .groups import MIN_GROUPS, Groups, clustered_error, enough, freedom, squared_errors

MATRIX_LEVEL = 0.0125  # one-sided, of WORST and of SPREAD where a check asks both beside the canonical question


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution."""
    from scipy import special  # lazy: slow import

    return float(special.ndtri(probability))


def t_quantile(probability: float, freedom: float) -> float:
    """Quantile of Student's t distribution."""
    from scipy import special  # lazy: slow import

    return float(special.stdtrit(freedom, probability))


def at_level(found: Estimate, level: float = MATRIX_LEVEL) -> Estimate:
    """An estimate with limits at another one-sided level than 2.5 %, each as far from it as a normal one's would be."""
    if found.estimate is None or found.limits is None:
        return found
    scale, (low, high) = normal_quantile(1 - level) / normal_quantile(0.975), found.limits
    return Estimate(
        found.estimate,
        found.estimate + scale * (low - found.estimate),
        found.estimate + scale * (high - found.estimate),
    )


def wilson(mean: float, size: float, z: float) -> tuple[float, float]:
    """Wilson's score limits for a proportion of `size` (not necessarily whole) trials, `z` standard errors wide."""
    centre = (mean + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z * np.sqrt(mean * (1 - mean) / size + z**2 / (4 * size**2)) / (1 + z**2 / size)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def clopper_pearson(successes: int, trials: int) -> tuple[float, float]:
    """Exact two-sided 95 % limits of a binomial proportion."""
    from statsmodels.stats.proportion import proportion_confint  # lazy: slow import

    low, high = proportion_confint(successes, trials, alpha=0.05, method="beta")
    return float(low), float(high)


def effective_size(mean: float, standard_error: float, tasks: int) -> float:
    """Number of independent binary trials that would know a mean as well: m (1 - m) / se^2, or `tasks` when se is 0."""
    variance = mean * (1 - mean)
    return variance / standard_error**2 if standard_error > 0 and variance > 0 else float(tasks)


def score_interval(mean: float, standard_error: float, tasks: int, freedom: float | None = None) -> Estimate:
    """A mean of task scores with Wilson limits at its effective size and t quantile; no limits below 20 tasks.

    The limits respect 0..1 and keep a width at the ceiling, where a t-interval has none.
    """
    mean = min(1.0, max(0.0, mean))
    if tasks < MIN_TASKS_FOR_INTERVALS:
        return Estimate(mean)
    z = t_quantile(0.975, freedom if freedom is not None else tasks - 1)
    low, high = wilson(mean, effective_size(mean, standard_error, tasks), z)
    return Estimate(mean, min(low, mean), max(high, mean))


def mean_over_tasks(value_T: Array, groups: Groups | None = None) -> Estimate:
    """Mean of one value a task (NaN: none) with the task, or the group of tasks, as the unit of sampling."""
    present_T = ~np.isnan(value_T)
    tasks = int(present_T.sum())
    if tasks == 0:
        return UNKNOWN
    mean, error = mean_and_error(value_T, groups)
    found = score_interval(mean, error, tasks, freedom(present_T, groups))
    return found if enough(present_T, groups) else found.without_interval()


def mean_and_error(value_T: Array, groups: Groups | None = None) -> tuple[float, float]:
    """Mean of the values that are not NaN (at least one), with its standard error; of groups by CR2."""
    present_T = ~np.isnan(value_T)
    mean = float(value_T[present_T].mean())
    centred_TK = np.where(present_T, value_T - mean, 0.0)[:, None]
    return mean, float(squared_errors(centred_TK, present_T[:, None], groups)[0]) ** 0.5


def clustered_mean(value_T: Array, groups: Groups) -> Estimate:
    """Mean of any values with its plain CR2 interval; no interval below five groups."""
    if len(value_T) == 0:
        return UNKNOWN
    mean = float(value_T.mean())
    if len(groups) < MIN_GROUPS:
        return Estimate(mean)
    error = clustered_error(value_T, groups)
    reach = t_quantile(0.975, error.freedom) * error.cr2
    return Estimate(mean, mean - reach, mean + reach)

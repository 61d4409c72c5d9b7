"""FLOOR and CEIL: limits of the worst tested harness that assume no model and no prior."""

from __future__ import annotations

import numpy as np

from .estimate import DEFAULT_REPLICATES, MIN_TASKS_FOR_INTERVALS, Array
from .intervals import effective_size, normal_quantile, wilson


def lower_limits(mean_TH: Array) -> list[float | None]:
    """One-sided 95 % lower limit of each harness: Wilson at the effective size m (1 - m) / se^2.

    Their minimum holds for the worst harness without any correction (intersection-union). None below 20 judged tasks.
    """
    z = normal_quantile(0.95)
    return [_lower_limit(column_T[~np.isnan(column_T)], z) for column_T in mean_TH.T]


def _lower_limit(value_T: Array, z: float) -> float | None:
    tasks = len(value_T)
    if tasks < MIN_TASKS_FOR_INTERVALS:
        return None
    return one_sided_wilson(value_T, z)[0]


def one_sided_wilson(value_T: Array, z: float) -> tuple[float, float]:
    """Wilson limits of the mean of at least two task scores, each at `z` standard errors."""
    tasks = len(value_T)
    mean, error = float(value_T.mean()), float(value_T.std(ddof=1)) / tasks**0.5
    return wilson(mean, effective_size(mean, error, tasks), z)


def ceiling(mean_TH: Array, candidates: list[int], rng: np.random.Generator) -> float | None:
    """One-sided 95 % upper limit of the worst tested harness.

    min over the worst set of m_h + k se_h, with k the .95 quantile of max_h Z_h (multiplier bootstrap over tasks).
    A harness without variance gets Wilson's upper limit instead of a width of zero. None below 20 judged tasks.
    """
    value_TV = mean_TH[:, candidates]
    present_TV = ~np.isnan(value_TV)
    tasks_V = present_TV.sum(axis=0)
    if len(candidates) == 0 or tasks_V.min() < MIN_TASKS_FOR_INTERVALS:
        return None
    total_V = np.where(present_TV, value_TV, 0.0).sum(axis=0)
    mean_V = total_V / tasks_V
    centred_TV = np.where(present_TV, value_TV - mean_V, 0.0)
    error_V = np.sqrt((centred_TV**2).sum(axis=0) / (tasks_V - 1) / tasks_V)
    varied_V = error_V > 1e-12
    k = normal_quantile(0.95)
    if varied_V.any():
        weight_TV = centred_TV[:, varied_V] / (tasks_V * error_V)[varied_V]
        z_B = (rng.standard_normal((DEFAULT_REPLICATES, len(value_TV))) @ weight_TV).max(axis=1)
        k = max(k, float(np.quantile(z_B, 0.95)))
    still = [wilson(float(m), int(n), k)[1] for m, n in zip(mean_V[~varied_V], tasks_V[~varied_V], strict=True)]
    varied: list[float] = (mean_V + k * error_V)[varied_V].tolist()
    return min(1.0, *varied, *still)

"""FLOOR and CEIL: limits of the worst tested harness that assume no model and no prior."""

from __future__ import annotations

import numpy as np

from .estimate import DEFAULT_REPLICATES, Array
from .groups import Groups, enough, freedom, scaled
from .intervals import effective_size, mean_and_error, normal_quantile, t_quantile, wilson


def lower_limits(mean_TH: Array, groups: Groups | None = None) -> list[float | None]:
    """One-sided 95 % lower limit of each harness: Wilson at the effective size m (1 - m) / se^2.

    Their minimum holds for the worst harness without any correction (intersection-union). None below 20 judged tasks,
    or five groups of tasks.
    """
    return [_lower_limit(column_T, groups) for column_T in mean_TH.T]


def _lower_limit(value_T: Array, groups: Groups | None) -> float | None:
    present_T = ~np.isnan(value_T)
    if not enough(present_T, groups):
        return None
    z = normal_quantile(0.95) if groups is None else t_quantile(0.95, freedom(present_T, groups))
    return one_sided_wilson(value_T, z, groups)[0]


def one_sided_wilson(value_T: Array, z: float, groups: Groups | None = None) -> tuple[float, float]:
    """Wilson limits of the mean of at least two task scores, each at `z` standard errors."""
    mean, error = mean_and_error(value_T, groups)
    return wilson(mean, effective_size(mean, error, int((~np.isnan(value_T)).sum())), z)


def ceiling(
    mean_TH: Array, candidates: list[int], rng: np.random.Generator, groups: Groups | None = None
) -> float | None:
    """One-sided 95 % upper limit of the worst tested harness.

    min over the worst set of m_h + k se_h, with k the .95 quantile of max_h Z_h (multiplier bootstrap over tasks).
    A harness without variance gets Wilson's upper limit instead of a width of zero. None below 20 judged tasks, or five
    groups of tasks.
    """
    value_TV = mean_TH[:, candidates]
    present_TV = ~np.isnan(value_TV)
    tasks_V = present_TV.sum(axis=0)
    if len(candidates) == 0 or not all(enough(present_T, groups) for present_T in present_TV.T):
        return None
    total_V = np.where(present_TV, value_TV, 0.0).sum(axis=0)
    mean_V = total_V / tasks_V
    centred_TV = np.where(present_TV, value_TV - mean_V, 0.0)
    own_GV = scaled(centred_TV, present_TV, groups)
    error_V = np.sqrt((own_GV**2).sum(axis=0)) / tasks_V
    varied_V = error_V > 1e-12
    k = normal_quantile(0.95) if groups is None else t_quantile(0.95, freedom(present_TV[:, 0], groups))
    if varied_V.any():
        weight_GV = own_GV[:, varied_V] / (tasks_V * error_V)[varied_V]
        z_B = (rng.standard_normal((DEFAULT_REPLICATES, len(own_GV))) @ weight_GV).max(axis=1)
        k = max(k, float(np.quantile(z_B, 0.95)))
    still = [wilson(float(m), int(n), k)[1] for m, n in zip(mean_V[~varied_V], tasks_V[~varied_V], strict=True)]
    varied: list[float] = (mean_V + k * error_V)[varied_V].tolist()
    return min(1.0, *varied, *still)

"""Standard error of a mean when tasks come in groups, such as issues of the same repository."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .estimate import UNKNOWN, Array, Estimate
from .intervals import t_quantile

MIN_GROUPS = 5


@dataclass(frozen=True, slots=True)
class ClusteredError:
    """Cluster-robust standard errors of a mean in increasing caution, and Satterthwaite's degrees of freedom of CR2."""

    cr1: float
    cr2: float
    cr3: float
    freedom: float
    groups: int


def clustered_error(value_T: Array, group_T: NDArray[np.int64]) -> ClusteredError:
    """Closed forms for a mean over at least two groups (Bell and McCaffrey's CR2)."""
    _, member_T = np.unique(group_T, return_inverse=True)
    size_G = np.bincount(member_T).astype(np.float64)
    residual_G = np.bincount(member_T, weights=value_T - value_T.mean())
    total, groups = len(value_T), len(size_G)
    kept_G = 1 - size_G / total
    weight_G = 1 / (total * np.sqrt(kept_G))
    spread_GG = np.outer(weight_G, weight_G) * (np.diag(size_G) - np.outer(size_G, size_G) / total)
    freedom = float(np.trace(spread_GG) ** 2 / np.trace(spread_GG @ spread_GG))
    squares = (float((residual_G**2 / kept_G**power).sum()) for power in (0, 1, 2))
    cr0, cr2, cr3 = (square**0.5 / total for square in squares)
    return ClusteredError(cr0 * (groups / (groups - 1)) ** 0.5, cr2, cr3, freedom, groups)


def clustered_mean(value_T: Array, group_T: NDArray[np.int64]) -> Estimate:
    """Mean with its CR2 interval; no interval below five groups."""
    if len(value_T) == 0:
        return UNKNOWN
    mean = float(value_T.mean())
    if len(np.unique(group_T)) < MIN_GROUPS:
        return Estimate(mean)
    error = clustered_error(value_T, group_T)
    reach = t_quantile(0.975, error.freedom) * error.cr2
    return Estimate(mean, mean - reach, mean + reach)

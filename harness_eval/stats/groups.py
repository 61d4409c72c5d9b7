"""Tasks that come in groups, such as issues of one repository: then the group is the unit of sampling.

Everything reduces to the ordinary formulas where every task is a group of its own, which is what None stands for.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from .estimate import MIN_TASKS_FOR_INTERVALS, Array, Counts, Mask

MIN_GROUPS = 5  # below, no interval


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each task, numbered from 0 without gaps."""

    member_T: Counts

    @classmethod
    def of(cls, names: Sequence[Hashable] | None) -> Groups | None:
        """Groups by name, in the order of the tasks; None where no two tasks share one."""
        if names is None or len(set(names)) == len(names):
            return None
        number = {name: at for at, name in enumerate(dict.fromkeys(names))}
        return cls(np.array([number[name] for name in names], dtype=np.int64))

    def __len__(self) -> int:
        return int(self.member_T.max()) + 1 if len(self.member_T) else 0

    def rows(self, kept_T: Mask) -> Groups:
        """The groups of some of the tasks."""
        return Groups(np.unique(self.member_T[kept_T], return_inverse=True)[1].astype(np.int64))

    def sums(self, value_TK: Array | Mask) -> Array:
        """Sums over the tasks of each group: G x K."""
        sum_GK = np.zeros((len(self), *value_TK.shape[1:]))
        np.add.at(sum_GK, self.member_T, value_TK)
        return sum_GK


def units(present_T: Mask, groups: Groups | None) -> int:
    """How many groups (tasks) the present tasks are in."""
    return int(present_T.sum()) if groups is None else len(groups.rows(present_T))


def enough(present_T: Mask, groups: Groups | None) -> bool:
    """Whether an interval is allowed: twenty tasks, in five groups."""
    return int(present_T.sum()) >= MIN_TASKS_FOR_INTERVALS and units(present_T, groups) >= MIN_GROUPS


def freedom(present_T: Mask, groups: Groups | None) -> float:
    """Degrees of freedom of the standard error of a mean: tasks - 1, or Satterthwaite's for groups (at least 1)."""
    tasks = int(present_T.sum())
    if groups is None or tasks < 2:
        return max(1.0, tasks - 1)
    size_G = np.bincount(groups.rows(present_T).member_T).astype(np.float64)
    if len(size_G) < 2:
        return 1.0
    weight_G = 1 / (tasks * np.sqrt(1 - size_G / tasks))
    spread_GG = np.outer(weight_G, weight_G) * (np.diag(size_G) - np.outer(size_G, size_G) / tasks)
    return max(1.0, float(np.trace(spread_GG) ** 2 / np.trace(spread_GG @ spread_GG)))


def scaled(centred_TK: Array, present_TK: Mask, groups: Groups | None) -> Array:
    """What each group (task) adds to a column, times what it pulled the mean towards itself (Bell and McCaffrey's CR2).

    Centred values are 0 where missing. The sum of squares over the number of tasks squared is the squared standard
    error of the mean of a column.
    """
    sum_GK = centred_TK if groups is None else groups.sums(centred_TK)
    size_GK = present_TK.astype(np.float64) if groups is None else groups.sums(present_TK)
    total_K = np.maximum(present_TK.sum(axis=0), 1)
    return np.asarray(sum_GK / np.sqrt(np.maximum(1 - size_GK / total_K, 1 / (total_K + 1))))


def squared_errors(centred_TK: Array, present_TK: Mask, groups: Groups | None) -> Array:
    """Squared standard errors of the means of columns; of groups by CR2."""
    count_K = np.maximum(present_TK.sum(axis=0), 1)
    return np.asarray((scaled(centred_TK, present_TK, groups) ** 2).sum(axis=0) / count_K**2)


def inflation(residual_TK: Array, present_TK: Mask, groups: Groups | None) -> float:
    """How many times as large the variances of means are as they would be if tasks stood alone (the design effect)."""
    if groups is None:
        return 1.0
    alone = float(squared_errors(residual_TK, present_TK, None).sum())
    return float(squared_errors(residual_TK, present_TK, groups).sum()) / alone if alone > 0 else 1.0


@dataclass(frozen=True, slots=True)
class ClusteredError:
    """Cluster-robust standard errors of a mean in increasing caution, and Satterthwaite's degrees of freedom of CR2."""

    cr1: float
    cr2: float
    cr3: float
    freedom: float
    groups: int


def clustered_error(value_T: Array, groups: Groups) -> ClusteredError:
    """Closed forms for a mean over at least two groups."""
    total, count = len(value_T), len(groups)
    residual_G = groups.sums(value_T - value_T.mean())
    kept_G = 1 - np.bincount(groups.member_T) / total
    cr0, cr2, cr3 = (float((residual_G**2 / kept_G**power).sum()) ** 0.5 / total for power in (0, 1, 2))
    degrees = freedom(np.ones(total, dtype=bool), groups)
    return ClusteredError(cr0 * (count / (count - 1)) ** 0.5, cr2, cr3, degrees, count)

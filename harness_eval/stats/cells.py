"""Cell means of trials, and the additive fit that stands in where cells are missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .estimate import Array, Counts, Mask

_SWEEPS = 60


@dataclass(frozen=True, slots=True)
class Cells:
    """Per task and harness: the mean score of the judged repeats (NaN: none), and how many were planned and judged."""

    mean_TH: Array
    planned_TH: Counts
    judged_TH: Counts
    total_TH: Array  # sum of judged scores

    @property
    def any_lost(self) -> bool:
        """Whether any planned trial has no verdict."""
        return bool((self.planned_TH > self.judged_TH).any())

    def judged_cells(self, harness: int) -> tuple[int, int]:
        """Cells of a harness with a judged trial, and cells with a planned one."""
        return int((self.judged_TH[:, harness] > 0).sum()), int((self.planned_TH[:, harness] > 0).sum())

    def filled(self, score_of_lost_H: Array) -> Array:
        """Cell means had every lost trial of a harness scored this much; NaN where nothing was planned."""
        total_TH = self.total_TH + score_of_lost_H * (self.planned_TH - self.judged_TH)
        return _ratio(total_TH, self.planned_TH)


def cell_means(score_THR: Array, valid_THR: Mask) -> Cells:
    """Average repeats within cells. NaN scores are slots never planned; raises ValueError on contradicting input."""
    if score_THR.ndim != 3 or score_THR.shape != valid_THR.shape:
        raise ValueError(f"scores {score_THR.shape} and validity {valid_THR.shape} must be task x harness x repeat")
    judged_scores = score_THR[valid_THR]
    if not np.all((judged_scores >= 0) & (judged_scores <= 1)):
        raise ValueError("a judged score lies outside 0..1 or is missing")
    total_TH = np.where(valid_THR, score_THR, 0.0).sum(axis=2)
    judged_TH = valid_THR.sum(axis=2, dtype=np.int64)
    planned_TH = (~np.isnan(score_THR)).sum(axis=2, dtype=np.int64)
    return Cells(_ratio(total_TH, judged_TH), planned_TH, judged_TH, total_TH)


def _ratio(total_TH: Array, count_TH: Counts) -> Array:
    mean_TH = np.full(total_TH.shape, np.nan)
    np.divide(total_TH, count_TH, out=mean_TH, where=count_TH > 0)
    return mean_TH


@dataclass(frozen=True, slots=True)
class AdditiveFit:
    """Two-way additive least squares, y = task + harness + residual, on the cells that exist."""

    harness_H: Array  # on the scale of scores; equals the column means when no cell is missing
    task_T: Array  # deviations that sum to 0 over the tasks with a cell
    filled_TH: Array  # cells as observed, fitted values where missing
    present_TH: Mask
    effective_H: Array  # tasks a harness mean is worth; the number of tasks when no cell is missing
    residual_variance: float | None  # mean square of the residuals (MS_E); None without degrees of freedom

    @property
    def complete(self) -> bool:
        """Whether no cell is missing."""
        return bool(self.present_TH.all())


def additive_fit(mean_TH: Array) -> AdditiveFit:
    """Fit by alternating means. Tasks without any cell are dropped; every harness must have one.

    effective_H is sum_t M_th (1 - 1/H_t) / (1 - 1/H), so that a complete matrix gives T for every harness.
    """
    mean_TH = mean_TH[~np.isnan(mean_TH).all(axis=1)]
    present_TH = ~np.isnan(mean_TH)
    tasks, harnesses = mean_TH.shape
    if not present_TH.any(axis=0).all():
        raise ValueError("a harness has no judged cell")
    task_T, harness_H = _alternate(np.where(present_TH, mean_TH, 0.0), present_TH)
    fitted_TH = task_T[:, None] + harness_H
    squares = float(((mean_TH - fitted_TH)[present_TH] ** 2).sum())
    freedom = int(present_TH.sum()) - tasks - harnesses + 1
    return AdditiveFit(
        harness_H,
        task_T,
        np.where(present_TH, mean_TH, fitted_TH),
        present_TH,
        _effective_tasks(present_TH),
        squares / freedom if freedom > 0 else None,
    )


def _alternate(value_TH: Array, present_TH: Mask) -> tuple[Array, Array]:
    cells_T, cells_H = present_TH.sum(axis=1), present_TH.sum(axis=0)
    total_T, total_H = value_TH.sum(axis=1), value_TH.sum(axis=0)
    task_T = np.zeros(len(cells_T))
    harness_H = np.asarray(total_H / cells_H)
    for _ in range(_SWEEPS if not present_TH.all() else 1):
        task_T = np.asarray((total_T - present_TH @ harness_H) / cells_T)
        task_T -= task_T.mean()
        harness_H = np.asarray((total_H - task_T @ present_TH) / cells_H)
    return task_T, harness_H


def _effective_tasks(present_TH: Mask) -> Array:
    cells_T = present_TH.sum(axis=1)
    harnesses = present_TH.shape[1]
    if harnesses == 1:
        return np.asarray(present_TH.sum(axis=0), dtype=np.float64)
    worth_H = (1 - 1 / cells_T) @ present_TH / (1 - 1 / harnesses)
    return np.asarray(np.maximum(worth_H, 1 / harnesses), dtype=np.float64)


def column_means(mean_TH: Array) -> list[float | None]:
    """Plain mean of each harness over its judged cells; None without any."""
    columns = (column_T[~np.isnan(column_T)] for column_T in mean_TH.T)
    return [float(column_T.mean()) if len(column_T) else None for column_T in columns]


def judged_tasks(mean_TH: Array) -> Mask:
    """Which tasks have a judged cell."""
    return np.asarray(~np.isnan(mean_TH).all(axis=1), dtype=np.bool_)


def judged_columns(mean_TH: Array) -> Counts:
    """Indices of the harnesses with at least one judged cell: the tested ones."""
    return np.flatnonzero(~np.isnan(mean_TH).all(axis=0)).astype(np.int64)

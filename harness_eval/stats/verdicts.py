"""Compatibility verdicts: compatible, degraded, broken, or honestly neither."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias

import numpy as np

from .cells import Cells
from .estimate import MIN_TASKS_FOR_INTERVALS, MIN_TASKS_FOR_PRECISION, UNKNOWN, Array, Estimate
from .groups import Groups
from .paired import Simultaneous, simultaneous

Verdict: TypeAlias = Literal["compatible", "degraded", "broken", "unclear", "unsupported"]

MARGIN = 0.10  # a drop that matters
MAX_LOST_CELLS = 0.10  # share of cells above which a harness gets no verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, why it is withheld (None: it is not), and roughly how many more tasks would decide (None: unknown)."""

    verdict: Verdict
    reason: str | None = None
    extra_tasks: int | None = None


def judge(difference: Estimate, pairs: int, margin: float = MARGIN) -> Judgement:
    """Verdict on one harness from its simultaneous interval against canonical; "unclear" below 50 common tasks."""
    if difference.estimate is None:
        return Judgement("unclear", "no task was judged on both sides")
    limits = difference.limits
    if limits is None:
        few = f"fewer than {MIN_TASKS_FOR_INTERVALS} common tasks"
        return Judgement("unclear", few, MIN_TASKS_FOR_PRECISION - pairs)
    verdict = _verdict(*limits, margin)
    half = max(difference.estimate - limits[0], limits[1] - difference.estimate)
    needed = _tasks_needed(half, abs(margin + difference.estimate), pairs) if verdict == "unclear" else pairs
    if pairs < MIN_TASKS_FOR_PRECISION:
        few = f"fewer than {MIN_TASKS_FOR_PRECISION} common tasks"
        return Judgement("unclear", few, max(MIN_TASKS_FOR_PRECISION, needed) - pairs)
    if verdict == "unclear":
        return Judgement(verdict, "the interval is too wide", max(1, needed - pairs))
    return Judgement(verdict)


def _verdict(low: float, high: float, margin: float) -> Verdict:
    if low > -margin:
        return "compatible"
    if high < -margin:
        return "broken"
    return "degraded" if high < 0 else "unclear"


def _tasks_needed(half_width: float, distance: float, tasks: int) -> int:
    """T (half width / distance of the estimate to the margin)^2, at most ten times T."""
    return ceil(tasks * min(10.0, (half_width / distance) ** 2 if distance > 0 else 10.0))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One harness against canonical: simultaneous interval, step-down p, verdict. Canonical itself has none of them."""

    difference: Estimate
    p_adjusted: float | None
    judgement: Judgement | None
    detectable: float | None = None  # difference found with 80 % power beside all others


def compare_to_canonical(cells: Cells, canonical: int, seed: int, groups: Groups | None = None) -> list[Comparison]:
    """One comparison a harness, in order.

    A verdict is withheld where more than a tenth of the planned cells was lost, and where the lost trials could have
    changed it: had those of the harness failed and those of canonical passed, or the reverse (Manski bounds).
    """
    against = _Against(canonical, seed, groups)
    found = against.found(cells.mean_TH)
    bounds = [against.bound(cells, score) for score in (0.0, 1.0)] if cells.any_lost else []
    others = [harness for harness in range(cells.mean_TH.shape[1]) if harness != canonical]
    comparisons = {canonical: Comparison(UNKNOWN, None, None)}
    for k, harness in enumerate(others):
        judgement = judge(found.difference_K[k], found.pairs_K[k])
        if judgement.verdict != "unclear" and any(bound[k] != judgement.verdict for bound in bounds):
            judgement = Judgement("unclear", "lost trials could change the verdict")
        judgement = _withheld(cells, harness, canonical) or judgement
        detectable = found.detectable_K[k] if found.detectable_K else None
        comparisons[harness] = Comparison(found.difference_K[k], found.p_adjusted_K[k], judgement, detectable)
    return [comparisons[harness] for harness in range(len(comparisons))]


@dataclass(frozen=True, slots=True)
class _Against:
    """All harnesses against canonical, always with the same multipliers."""

    canonical: int
    seed: int
    groups: Groups | None

    def found(self, mean_TH: Array) -> Simultaneous:
        difference_TK = np.delete(mean_TH, self.canonical, axis=1) - mean_TH[:, [self.canonical]]
        return simultaneous(difference_TK, np.random.default_rng(self.seed), self.groups)

    def bound(self, cells: Cells, score_of_lost: float) -> list[Verdict]:
        """Verdicts had lost trials scored this much, and those of canonical the opposite."""
        score_H = np.full(cells.mean_TH.shape[1], score_of_lost)
        score_H[self.canonical] = 1 - score_of_lost
        found = self.found(cells.filled(score_H))
        return [judge(d, n).verdict for d, n in zip(found.difference_K, found.pairs_K, strict=True)]


def _withheld(cells: Cells, harness: int, canonical: int) -> Judgement | None:
    judged, planned = cells.judged_cells(harness)
    if judged == 0 or planned - judged > MAX_LOST_CELLS * planned:
        return Judgement("unsupported", f"a verdict exists in only {judged} of {planned} tasks")
    judged, planned = cells.judged_cells(canonical)
    if judged == 0 or planned - judged > MAX_LOST_CELLS * planned:
        return Judgement("unclear", f"canonical has a verdict in only {judged} of {planned} tasks")
    return None

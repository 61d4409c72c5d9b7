"""Compatibility verdicts: compatible, degraded, broken, or honestly neither."""

from __future__ import annotations

from collections.abc import Sequence
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
class Margins:
    """Drops that matter, 0..1: surely less than `compatible` is compatible, surely more than `broken` is broken.

    Raises:
        ValueError: a margin is not between 0 and 1, or `broken` is the smaller one, so that one interval were both.
    """

    compatible: float = MARGIN
    broken: float = MARGIN

    def __post_init__(self) -> None:
        if not 0 < self.compatible <= self.broken < 1:
            raise ValueError(f"margins must be 0 < compatible <= broken < 1, not {self.compatible:g}, {self.broken:g}")


USUAL = Margins()


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, why it is withheld (None: it is not), and roughly how many more tasks would decide (None: unknown)."""

    verdict: Verdict
    reason: str | None = None
    extra_tasks: int | None = None


def judge(difference: Estimate, pairs: int, margins: Margins = USUAL) -> Judgement:
    """Verdict on one harness from its simultaneous interval against canonical; "unclear" below 50 common tasks."""
    if difference.estimate is None:
        return Judgement("unclear", "no task was judged on both sides")
    limits = difference.limits
    if limits is None:
        few = f"fewer than {MIN_TASKS_FOR_INTERVALS} common tasks"
        return Judgement("unclear", few, MIN_TASKS_FOR_PRECISION - pairs)
    verdict = _verdict(*limits, margins)
    half = max(difference.estimate - limits[0], limits[1] - difference.estimate)
    needed = _tasks_needed(half, _distance(difference.estimate, margins), pairs) if verdict == "unclear" else pairs
    if pairs < MIN_TASKS_FOR_PRECISION:
        few = f"fewer than {MIN_TASKS_FOR_PRECISION} common tasks"
        return Judgement("unclear", few, max(MIN_TASKS_FOR_PRECISION, needed) - pairs)
    if verdict == "unclear":
        return Judgement(verdict, "the interval is too wide", max(1, needed - pairs))
    return Judgement(verdict)


def judge_with_lost(
    difference: Estimate, pairs: int, if_lost: Sequence[Estimate], margins: Margins = USUAL
) -> Judgement:
    """`judge`, withheld where one of the differences that lost trials could have brought has another verdict."""
    judgement = judge(difference, pairs, margins)
    others = {judge(bound, pairs, margins).verdict for bound in if_lost}
    if judgement.verdict != "unclear" and others - {judgement.verdict}:
        return Judgement("unclear", "lost trials could change the verdict")
    return judgement


def _verdict(low: float, high: float, margins: Margins) -> Verdict:
    if low > -margins.compatible:
        return "compatible"
    if high < -margins.broken:
        return "broken"
    return "degraded" if high < 0 else "unclear"


def _distance(estimate: float, margins: Margins) -> float:
    """How far the estimate is from the nearest line at whose far side an interval around it would be clear."""
    if estimate > -margins.compatible:
        return estimate + margins.compatible
    return -margins.broken - estimate if estimate <= -margins.broken else -estimate


def _tasks_needed(half_width: float, distance: float, tasks: int) -> int:
    """T (half width / distance of the estimate to the margin)^2, at most ten times T."""
    return ceil(tasks * min(10.0, (half_width / distance) ** 2 if distance > 0 else 10.0))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One harness against canonical: simultaneous interval, step-down p, verdict. Canonical itself has none of them.

    `if_lost` has the difference had its lost trials failed and those of canonical passed, and the reverse; empty where
    nothing was lost. `withheld` says that the verdict is not one by any margin.
    """

    difference: Estimate
    p_adjusted: float | None
    judgement: Judgement | None
    detectable: float | None = None  # difference found with 80 % power beside all others
    pairs: int = 0
    if_lost: tuple[Estimate, ...] = ()
    withheld: bool = False


def compare_to_canonical(
    cells: Cells, canonical: int, seed: int, groups: Groups | None = None, margins: Margins = USUAL
) -> list[Comparison]:
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
        difference, pairs = found.difference_K[k], found.pairs_K[k]
        if_lost = tuple(bound[k] for bound in bounds)
        withheld = _withheld(cells, harness, canonical)
        judgement = withheld or judge_with_lost(difference, pairs, if_lost, margins)
        detectable = found.detectable_K[k] if found.detectable_K else None
        p = found.p_adjusted_K[k]
        comparisons[harness] = Comparison(difference, p, judgement, detectable, pairs, if_lost, withheld is not None)
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

    def bound(self, cells: Cells, score_of_lost: float) -> tuple[Estimate, ...]:
        """Differences had lost trials scored this much, and those of canonical the opposite."""
        score_H = np.full(cells.mean_TH.shape[1], score_of_lost)
        score_H[self.canonical] = 1 - score_of_lost
        return self.found(cells.filled(score_H)).difference_K


def stand_out(p_K: Sequence[float | None], share: float = 0.10) -> list[bool]:
    """Which tests stand out from noise when at most this share of those named shall be noise (Benjamini, Hochberg).

    Unknown p values take no part.
    """
    from statsmodels.stats.multitest import multipletests  # lazy: slow import

    known = [index for index, p in enumerate(p_K) if p is not None]
    rejected = multipletests([p_K[index] for index in known], alpha=share, method="fdr_bh")[0] if known else ()
    named = {index for index, one in zip(known, rejected, strict=True) if one}
    return [index in named for index in range(len(p_K))]


def too_much_lost(cells: Cells, harness: int, what: str = "a verdict exists") -> str | None:
    """Why a harness can have no verdict: over a tenth of its cells have none; None where they have.

    `what` begins the sentence.
    """
    judged, planned = cells.judged_cells(harness)
    if judged == 0 or planned - judged > MAX_LOST_CELLS * planned:
        return f"{what} in only {judged} of {planned} tasks"
    return None


def _withheld(cells: Cells, harness: int, canonical: int) -> Judgement | None:
    if lost := too_much_lost(cells, harness):
        return Judgement("unsupported", lost)
    if lost := too_much_lost(cells, canonical, "canonical has a verdict"):
        return Judgement("unclear", lost)
    return None

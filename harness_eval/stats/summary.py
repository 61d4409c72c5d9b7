"""Everything section-by-section that a report prints about one run, from one array of trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .estimate import Array, Estimate, Mask

Verdict: TypeAlias = Literal["compatible", "degraded", "broken", "unclear", "unsupported"]


@dataclass(frozen=True, slots=True)
class Worst:
    """WORST over the tested harnesses. `candidates` holds the true worst with probability >= .95; name one only if it is alone."""

    score: Estimate
    p_worst: tuple[float | None, ...]  # one a harness: posterior probability of being the worst; None: never judged
    candidates: tuple[int, ...]  # indices of harnesses, most probable first; empty: unknown


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviation of scores between harnesses. `net` is free of sampling noise; `raw` is not."""

    net: Estimate
    raw: float | None
    family: Estimate  # the same when harnesses are a random sample of a family
    reliability: float | None  # of the ranking, 0 (noise) .. 1
    p_harness: float | None  # of "all harnesses are equal"


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles over the tested harnesses."""

    q10: Estimate
    q50: Estimate
    q90: Estimate


@dataclass(frozen=True, slots=True)
class HarnessSummary:
    """One harness. `score` is shrunken (posterior mean); `difference` is to canonical, its limits simultaneous over harnesses."""

    score: Estimate
    raw: float | None  # plain mean over judged tasks
    floor: float | None  # one-sided 95 % lower limit, model-free
    difference: Estimate
    p_adjusted: float | None  # of "no difference to canonical", adjusted for all harnesses
    verdict: Verdict | None  # None for the canonical harness itself
    reason: str | None  # why the verdict is withheld, in words
    extra_tasks: int | None  # for "unclear": roughly how many more tasks would decide; None: not known or not needed
    planned: int  # trials
    judged: int
    lost: int


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """Effect of one level relative to the canonical level of its axis, every other axis held fixed."""

    axis: str
    level: str
    effect: Estimate
    p: float | None
    p_adjusted: float | None  # Holm over all levels
    detectable: float | None  # smallest effect found with 80 % power at the single-contrast 5 % level
    harnesses: int  # judged harnesses with this level
    reason: str | None  # why the effect is unknown


@dataclass(frozen=True, slots=True)
class AxisShare:
    """Share of the variance between harnesses that one axis explains, net of noise, and the test of all its levels at once."""

    axis: str
    share: float | None
    p: float | None
    p_adjusted: float | None  # Holm over axes
    reason: str | None


@dataclass(frozen=True, slots=True)
class AxisEffects:
    """All levels, all axes, and what main effects leave unexplained."""

    levels: tuple[AxisEffect, ...]
    axes: tuple[AxisShare, ...]
    other_share: float | None  # interactions and peculiarities of single configurations; None: no degrees of freedom
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """Trials lost to infrastructure, whether evenly, and what WORST would be had they all failed or all passed."""

    planned: int
    judged: int
    lost: int
    rate: float | None
    rates: tuple[float | None, ...]  # one a harness
    p_equal: float | None  # of "every harness loses trials at the same rate"
    flagged: bool  # some harness above 5 %, or p_equal below .01
    worst_if_failed: float | None
    worst_if_passed: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """All estimates of one run: proportions 0..1, None where unknown. Harnesses keep the order of the input."""

    tasks: int
    canonical: Estimate
    mean: Estimate  # over the tested harnesses
    mean_family: Estimate  # generalising to a family the harnesses were drawn from
    worst: Worst
    floor: Estimate  # every tested harness is at least `estimate` (one-sided 95 %, model-free); no low, no high
    ceiling: Estimate  # the worst tested harness is at most `estimate` (one-sided 95 %); no low, no high
    gap: Estimate  # canonical - WORST
    worst_at_8: Estimate  # expected minimum of 8 harnesses; unknown below 8 harnesses
    cvar10: Estimate  # mean of the lowest tenth of harnesses
    quantiles: Quantiles
    spread: Spread
    pass_k: Mapping[int, Estimate]  # chance that k different harnesses all pass a task; k = 1, 2, 4, ... and all of them
    solved_by_every: float | None
    solved_by_none: float | None
    raw_min: float | None  # biased low: do not quote
    harnesses: tuple[HarnessSummary, ...]
    effects: AxisEffects
    lost: Lost
    low_precision: bool  # fewer than 50 tasks: read with care, verdicts stay "unclear"
    notes: tuple[str, ...]


def summarise(
    score_THR: Array, valid_THR: Mask, canonical: int, levels: Sequence[Mapping[str, str]], *, seed: int
) -> Summary:
    """Everything a report prints.

    score_THR: scores 0..1 of task, harness, repeat. **NaN marks a slot that was never planned** (padding, when
    harnesses have different numbers of repeats); a planned trial that was lost carries any number, say 0.
    valid_THR: True where a verdict exists; False for lost trials and for padding.
    canonical: index of the canonical harness.  levels: for each harness its level on each axis, axis -> label.
    Raises ValueError when shapes disagree, a valid score is outside 0..1, or there is no harness.
    """
    raise NotImplementedError

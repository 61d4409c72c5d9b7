"""The regression gate on the canonical harness: did the change make it worse? Pass, fail or inconclusive."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Literal, TypeAlias

import numpy as np

from .estimate import MIN_TASKS_FOR_INTERVALS, Array, Estimate, Mask
from .intervals import t_quantile
from .paired import plus_two

Decision: TypeAlias = Literal["pass", "fail", "inconclusive"]

MARGIN = 0.10


@dataclass(frozen=True, slots=True)
class LimitDecision:
    """Decision from one-sided 95 % limits of the drop (baseline minus new)."""

    decision: Decision
    drop: Estimate


@dataclass(frozen=True, slots=True)
class SequentialDecision:
    """Decision from a statistic that may be looked at after any batch; pass_at is None where it cannot pass."""

    decision: Decision
    statistic: float
    fail_at: float
    pass_at: float | None


def fixed(drop_T: Array, margin: float = MARGIN) -> LimitDecision:
    """Paired t with the +2 rule: fail when the drop is surely above 0, pass when it is surely below the margin."""
    drop = _one_sided(drop_T)
    if drop.limits is None:
        return LimitDecision("inconclusive", drop)
    low, high = drop.limits
    return LimitDecision("fail" if low > 0 else "pass" if high < margin else "inconclusive", drop)


def non_inferior(drop_T: Array, margin: float = MARGIN) -> LimitDecision:
    """Release rule: pass only when the drop is surely below the margin, fail when it is surely above."""
    drop = _one_sided(drop_T)
    if drop.limits is None:
        return LimitDecision("inconclusive", drop)
    low, high = drop.limits
    return LimitDecision("pass" if high < margin else "fail" if low > margin else "inconclusive", drop)


def _one_sided(drop_T: Array) -> Estimate:
    drop_T = drop_T[~np.isnan(drop_T)]
    if len(drop_T) < MIN_TASKS_FOR_INTERVALS:
        return Estimate(float(drop_T.mean()) if len(drop_T) else None)
    test = plus_two(drop_T)
    reach = t_quantile(0.95, len(drop_T) + 1) * test.error
    return Estimate(test.mean, test.mean - reach, test.mean + reach)


def discordant(baseline_TR: Array, new_TR: Array, valid_TR: Mask) -> tuple[int, int]:
    """Pairs of the same task and repeat that passed before and fail now, and the reverse.

    When no task's chance of passing changed, the first number is binomial(n, 1/2) exactly, at any batch size.
    """
    worse_TR, better_TR = (baseline_TR > new_TR) & valid_TR, (baseline_TR < new_TR) & valid_TR
    return int(worse_TR.sum()), int(better_TR.sum())


def sprt(worse: int, better: int, *, share: float = 0.7, alpha: float = 0.05, beta: float = 0.10) -> SequentialDecision:
    """Wald's test of discordant pairs: 1/2 of them worse against `share` (.7: a drop of 10 pp at 25 % discordance)."""
    statistic = worse * log(2 * share) + better * log(2 * (1 - share))
    fail_at, pass_at = log((1 - beta) / alpha), log(beta / (1 - alpha))
    decision: Decision = "fail" if statistic >= fail_at else "pass" if statistic <= pass_at else "inconclusive"
    return SequentialDecision(decision, statistic, fail_at, pass_at)


def e_value(worse: int, better: int) -> float:
    """Evidence for a regression, valid at any time: 2^(n+1) times the integral of p^worse (1-p)^better over 1/2..1."""
    from scipy import special  # lazy: slow import

    tail = float(special.betainc(better + 1, worse + 1, 0.5))
    if tail <= 0:
        return 0.0
    return exp(min(700.0, (worse + better + 1) * log(2) + float(special.betaln(worse + 1, better + 1)) + log(tail)))


def e_process(worse: int, better: int, alpha: float = 0.05) -> SequentialDecision:
    """Fail when the evidence reaches 1 / alpha; may be watched for ever, and never passes."""
    value = e_value(worse, better)
    return SequentialDecision("fail" if value >= 1 / alpha else "inconclusive", value, 1 / alpha, None)


def chance_of_drop(before_T2: Array, after_T2: Array, rng: np.random.Generator, by: float = 0.2) -> Array:
    """For each task the posterior chance that its pass rate fell by more than `by`; Beta(1/2, 1/2) prior.

    Columns of both arrays: passes, fails.
    """
    draws = (rng.beta(counts[:, 0] + 0.5, counts[:, 1] + 0.5, (4_000, len(counts))) for counts in (before_T2, after_T2))
    before_BT, after_BT = draws
    return np.asarray((after_BT < before_BT - by).mean(axis=0))

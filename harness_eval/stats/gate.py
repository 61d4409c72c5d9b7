"""The regression gate on the canonical harness: did the change make it worse? Pass, fail or inconclusive."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, log
from typing import Literal, TypeAlias, TypedDict, Unpack

import numpy as np

from .estimate import MIN_TASKS_FOR_INTERVALS, Array, Estimate, Mask
from .intervals import t_quantile
from .paired import plus_two

Decision: TypeAlias = Literal["pass", "fail", "inconclusive"]
Rule: TypeAlias = Literal["discordant pairs", "limits", "none"]
Kind: TypeAlias = Literal["sprt", "e-process"]

MARGIN, ALPHA, BETA = 0.10, 0.05, 0.10
DISCORDANCE = 0.25  # share of the pairs that are discordant, at which the SPRT asks for a drop of exactly the margin
LAST_LIMITS, EARLY_LIMITS = 1 / 4, 1 / 10  # of beta: level of the limits that may end a check at its cap, and before
_HIGHEST_SHARE = 0.95
_BY_PAIRS: Rule = "discordant pairs"
_BY_LIMITS: Rule = "limits"
_MOST_REPEATS, _MOST_TASKS = 100.0, 10_000  # beyond which nothing is said of what would have decided a check


@dataclass(frozen=True, slots=True)
class LimitDecision:
    """Decision from one-sided limits of the drop (baseline minus new), each at level 1 - alpha."""

    decision: Decision
    drop: Estimate


@dataclass(frozen=True, slots=True)
class SequentialDecision:
    """Decision from a statistic that may be looked at after any batch; pass_at is None where it cannot pass."""

    decision: Decision
    statistic: float
    fail_at: float
    pass_at: float | None


def fixed(drop_T: Array, margin: float = MARGIN, alpha: float = ALPHA) -> LimitDecision:
    """Paired t with the +2 rule: fail when the drop is surely above 0, pass when it is surely below the margin."""
    drop = _one_sided(drop_T, alpha)
    if drop.limits is None:
        return LimitDecision("inconclusive", drop)
    low, high = drop.limits
    return LimitDecision("fail" if low > 0 else "pass" if high < margin else "inconclusive", drop)


def non_inferior(drop_T: Array, margin: float = MARGIN, alpha: float = ALPHA) -> LimitDecision:
    """Release rule: pass only when the drop is surely below the margin, fail when it is surely above."""
    drop = _one_sided(drop_T, alpha)
    if drop.limits is None:
        return LimitDecision("inconclusive", drop)
    low, high = drop.limits
    return LimitDecision("pass" if high < margin else "fail" if low > margin else "inconclusive", drop)


def _one_sided(drop_T: Array, alpha: float) -> Estimate:
    drop_T = drop_T[~np.isnan(drop_T)]
    if len(drop_T) < MIN_TASKS_FOR_INTERVALS:
        return Estimate(float(drop_T.mean()) if len(drop_T) else None)
    test = plus_two(drop_T)
    reach = t_quantile(1 - alpha, len(drop_T) + 1) * test.error
    return Estimate(test.mean, test.mean - reach, test.mean + reach)


def discordant(baseline_TR: Array, new_TR: Array, valid_TR: Mask) -> tuple[int, int]:
    """Pairs of the same task and repeat that passed before and fail now, and the reverse.

    When no task's chance of passing changed, the first number is binomial(n, 1/2) exactly, at any batch size.
    """
    worse_TR, better_TR = (baseline_TR > new_TR) & valid_TR, (baseline_TR < new_TR) & valid_TR
    return int(worse_TR.sum()), int(better_TR.sum())


def share_at(margin: float) -> float:
    """Share of worse pairs among the discordant ones where the drop is `margin`: .7 for 10 pp at 25 % discordance."""
    return min(_HIGHEST_SHARE, (DISCORDANCE + margin) / (2 * DISCORDANCE))


def sprt(
    worse: float, better: float, *, share: float = 0.7, alpha: float = ALPHA, beta: float = BETA
) -> SequentialDecision:
    """Wald's test of discordant pairs: 1/2 of them worse against `share` (.7: a drop of 10 pp at 25 % discordance)."""
    statistic = worse * log(2 * share) + better * log(2 * (1 - share))
    fail_at, pass_at = log((1 - beta) / alpha), log(beta / (1 - alpha))
    decision: Decision = "fail" if statistic >= fail_at else "pass" if statistic <= pass_at else "inconclusive"
    return SequentialDecision(decision, statistic, fail_at, pass_at)


def e_value(worse: float, better: float) -> float:
    """Evidence for a regression, valid at any time: 2^(n+1) times the integral of p^worse (1-p)^better over 1/2..1."""
    from scipy import special  # lazy: slow import

    tail = float(special.betainc(better + 1, worse + 1, 0.5))
    if tail <= 0:
        return 0.0
    return exp(min(700.0, (worse + better + 1) * log(2) + float(special.betaln(worse + 1, better + 1)) + log(tail)))


def e_process(worse: float, better: float, alpha: float = ALPHA) -> SequentialDecision:
    """Fail when the evidence reaches 1 / alpha; may be watched for ever, and never passes."""
    value = e_value(worse, better)
    return SequentialDecision("fail" if value >= 1 / alpha else "inconclusive", value, 1 / alpha, None)


class Terms(TypedDict, total=False):
    """What a gate asks for; what is left out is as in `_Terms`."""

    kind: Kind
    alpha: float
    beta: float
    margin: float
    batches: int


@dataclass(frozen=True, slots=True)
class _Terms:
    kind: Kind = "sprt"
    alpha: float = ALPHA
    beta: float = BETA
    margin: float = MARGIN
    batches: int = 4

    def asked(self, worse: float, better: float) -> SequentialDecision:
        """The sequential test of so many discordant pairs (whole numbers, or expected ones)."""
        if self.kind == "e-process":
            return e_process(worse, better, self.alpha)
        return sprt(worse, better, share=share_at(self.margin), alpha=self.alpha, beta=self.beta)

    def passes(self, before_TR: Array, after_TR: Array, repeats: int) -> bool:
        """Whether the limits of the drop over whole repeats are below the margin, at the level of this look."""
        level = self.beta * (LAST_LIMITS if repeats == before_TR.shape[1] else EARLY_LIMITS)
        drop_T = _mean_drop(before_TR[:, :repeats], after_TR[:, :repeats])
        return non_inferior(drop_T, self.margin, level).decision == "pass"

    def tasks(self, drop_T: Array) -> int | None:
        """At how many tasks like these the limits would be below the margin at the cap; None: at no likely number."""
        mean, square = float(drop_T.mean()), float((drop_T**2).mean())

        def most(tasks: int) -> float:
            padded = tasks + 2
            centre = tasks * mean / padded
            error = (((tasks * square + 2) / padded - centre**2) / padded) ** 0.5
            return float(centre + t_quantile(1 - self.beta * LAST_LIMITS, padded - 1) * error)

        sizes = range(MIN_TASKS_FOR_INTERVALS, _MOST_TASKS + 1)
        place = bisect_left(sizes, True, key=lambda tasks: most(tasks) < self.margin)
        return sizes[place] if place < len(sizes) else None


@dataclass(frozen=True, slots=True)
class Look:
    """What a look had seen: repeats of the tasks (2.25: two and a quarter), judged pairs, and the discordant ones."""

    repeats: float
    pairs: int
    worse: int
    better: int
    statistic: float


@dataclass(frozen=True, slots=True)
class Watched:
    """A check as far as it has come. `used`: trials up to the last look, whether judged or not.

    `waiting`: not decided, and the next look needs trials that have not ended.
    """

    decision: Decision
    by: Rule
    looks: tuple[Look, ...]
    used: int
    waiting: bool
    statistic: float
    fail_at: float
    pass_at: float | None

    @property
    def worse(self) -> int:
        """Pairs that were solved before and are not now."""
        return self.looks[-1].worse if self.looks else 0

    @property
    def better(self) -> int:
        """Pairs that are solved now and were not before."""
        return self.looks[-1].better if self.looks else 0


def _nothing(_: int) -> bool:
    return False


def _always(_: int, __: Decision) -> bool:
    return True


def watch(
    before_TR: Array,
    after_TR: Array,
    ended_TR: Mask,
    aside: Callable[[int], Mask | bool] = _nothing,
    stands: Callable[[int, Decision], bool] = _always,
    **terms: Unpack[Terms],
) -> Watched:
    """Look at trials repeat by repeat, after every T/`batches` tasks, up to the first look that decides.

    before_TR, after_TR: 1 solved, 0 not, NaN no verdict (no pair); tasks in look order. Every pair has a baseline trial
    of its own, without which the test does not hold: so the columns are the cap.
    ended_TR: new trials judged or lost for good. None is waited for where the baseline has no verdict.
    aside: of so many first trials, the tasks (T) that take no part. stands: whether what they decide holds. Both may
    depend on these trials alone, or a check that stops early would not end as one that has run to its cap.
    Terms: kind "sprt" (default) or "e-process", alpha .05, beta .10, margin .10, batches 4.

    Few discordant pairs leave both tests undecided for ever. So a check also passes at the end of a repeat when the
    upper one-sided limit of the drop is below the margin: 97.5 % at the cap and 99 % before it (1 - beta / 4 and / 10).
    """
    asked = _Terms(**terms)
    tasks, cap = before_TR.shape
    ready_P = (ended_TR | np.isnan(before_TR)).T.ravel()
    found, looks, used = asked.asked(0, 0), list[Look](), 0
    decision: Decision = "inconclusive"
    by: Rule = "none"
    for end in _ends(tasks, cap, asked.batches):
        if decision != "inconclusive" or not ready_P[:end].all():
            break
        used, own_TR = end, np.where(np.reshape(aside(end), (-1, 1)), np.nan, before_TR)
        look, found = _look(asked, own_TR, after_TR, end)
        looks.append(look)
        reached, rule = found.decision, _BY_PAIRS
        if reached == "inconclusive" and end % tasks == 0 and asked.passes(own_TR, after_TR, end // tasks):
            reached, rule = "pass", _BY_LIMITS
        if reached != "inconclusive" and stands(end, reached):
            decision, by = reached, rule
    waiting = decision == "inconclusive" and used < tasks * cap
    return Watched(decision, by, tuple(looks), used, waiting, found.statistic, found.fail_at, found.pass_at)


def _look(asked: _Terms, before_TR: Array, after_TR: Array, end: int) -> tuple[Look, SequentialDecision]:
    worse, better, pairs = _seen(before_TR, after_TR, end)
    found = asked.asked(worse, better)
    return Look(end / len(before_TR), pairs, worse, better, found.statistic), found


def _ends(tasks: int, cap: int, batches: int) -> Iterator[int]:
    """Trials of all looks, counted repeat by repeat."""
    within = sorted({round(tasks * batch / batches) for batch in range(1, batches + 1)} - {0})
    return (repeat * tasks + end for repeat in range(cap) for end in within)


def _seen(before_TR: Array, after_TR: Array, end: int) -> tuple[int, int, int]:
    """Worse, better and all judged pairs among the first trials."""
    change_P = (after_TR - before_TR).T.ravel()[:end]
    return int((change_P < 0).sum()), int((change_P > 0).sum()), int((~np.isnan(change_P)).sum())


def _mean_drop(before_TR: Array, after_TR: Array) -> Array:
    """Of each task over its pairs; NaN without any."""
    drop_TR = before_TR - after_TR
    pairs_T = (~np.isnan(drop_TR)).sum(axis=1)
    return np.asarray(np.where(pairs_T, np.nansum(drop_TR, axis=1) / np.maximum(pairs_T, 1), np.nan))


@dataclass(frozen=True, slots=True)
class Needed:
    """What would have decided a check, had it gone on as it went; None: no likely number.

    `repeats`: further ones of these tasks until the sequential test ends in `decision`. `tasks`: how many, with as many
    repeats each as the cap, would have passed by their limits.
    """

    repeats: float | None
    decision: Decision
    tasks: int | None


def needed(before_TR: Array, after_TR: Array, **terms: Unpack[Terms]) -> Needed:
    """What would have decided a check that was inconclusive at its cap; arrays and terms as `watch` has them."""
    asked = _Terms(**terms)
    worse, better, _ = _seen(before_TR, after_TR, before_TR.size)
    drop_T = _mean_drop(before_TR, after_TR)
    drop_T = drop_T[~np.isnan(drop_T)]
    tasks = asked.tasks(drop_T) if len(drop_T) else None
    repeats = before_TR.shape[1]
    for more in np.arange(1, round(_MOST_REPEATS * 4) + 1) / 4 if repeats else ():
        grown = 1 + more / repeats
        decision = asked.asked(worse * grown, better * grown).decision
        if decision != "inconclusive":
            return Needed(float(more), decision, tasks)
    return Needed(None, "inconclusive", tasks)

"""Two runs of the same tasks on the same harnesses: what moved, with intervals that use the pairing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from .across import lowest_tenth, pass_power, worst_at
from .cells import additive_fit, column_means, judged_columns
from .estimate import MIN_TASKS_FOR_INTERVALS, UNKNOWN, Array, Estimate, from_draws, lowest
from .floor import lower_limits
from .intervals import mean_over_tasks, normal_quantile, t_quantile
from .joint import joint_posterior
from .paired import plus_two, simultaneous
from .power import POWER
from .spread import cross_products, mean_of_tested, spread

Verdict: TypeAlias = Literal["better", "worse", "narrower", "wider", "no difference seen"]

_ALIKE = 0.99  # correlation from which two spreads are taken to move together


@dataclass(frozen=True, slots=True)
class Change:
    """One figure in both runs and its change, after less before; `change` has the limits that use the pairing."""

    before: Estimate
    after: Estimate
    change: Estimate
    is_width: bool = False  # of a gap or a spread, which may narrow by losses

    @property
    def verdict(self) -> Verdict | None:
        """Whether the figure surely moved, and to which side; None without limits."""
        limits = self.change.limits
        if limits is None:
            return None
        if limits[0] <= 0 <= limits[1]:
            return "no difference seen"
        rose = limits[0] > 0
        if self.is_width:
            return "wider" if rose else "narrower"
        return "better" if rose else "worse"

    @property
    def detectable(self) -> float | None:
        """The smallest change that is found with 80 % power, taken from the width of the interval."""
        limits = self.change.limits
        return None if limits is None else (limits[1] - limits[0]) / 2 * (1 + normal_quantile(POWER) / _Z)


_Z = 1.959964  # standard errors from a point to a 95 % limit
NOT_KNOWN = Change(UNKNOWN, UNKNOWN, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Movement:
    """What moved between two runs, over the cells that both have. Harnesses keep the order of the input."""

    tasks: int  # with a common cell
    harnesses_compared: int
    mean: Change
    worst: Change
    spread: Change
    gap: Change
    canonical: Change
    worst_at_8: Change
    cvar10: Change
    pass_k: dict[int, Change]
    floor: tuple[float | None, float | None]  # before, after; a limit, which has no limits of its own
    harnesses: tuple[Change, ...]  # limits hold for all harnesses together
    p_adjusted: tuple[float | None, ...]
    raw_before: tuple[float | None, ...]
    raw_after: tuple[float | None, ...]


def compare(before_TH: Array, after_TH: Array, seed: int, canonical: int | None = None) -> Movement:
    """Compare cell means over the cells that both runs have (NaN: none).

    canonical: column of the canonical harness, None where the runs have none in common.
    Raises ValueError when the shapes differ.
    """
    if before_TH.shape != after_TH.shape:
        raise ValueError(f"the runs do not match: {before_TH.shape} and {after_TH.shape}")
    common_TH = ~np.isnan(before_TH) & ~np.isnan(after_TH)
    before_TH, after_TH = np.where(common_TH, before_TH, np.nan), np.where(common_TH, after_TH, np.nan)
    sign = _orientation(after_TH - before_TH)
    single = simultaneous(sign * (after_TH - before_TH), np.random.default_rng([seed, 0]))
    moved = [_turned(found, sign) for found in single.difference_K]
    raw = [column_means(one_TH) for one_TH in (before_TH, after_TH)]
    tested, met = judged_columns(before_TH), common_TH.any(axis=1)
    left, right = before_TH[met][:, tested], after_TH[met][:, tested]
    place = tested.tolist().index(canonical) if canonical in tested.tolist() else None
    floors = [lower_limits(one_TH) for one_TH in (left, right)]
    return Movement(
        tasks=len(left),
        harnesses_compared=len(tested),
        mean=_mean(left, right),
        **_modelled(left, right, place, seed),
        spread=_spread(left, right),
        pass_k=_pass_powers(left, right),
        floor=(lowest(floors[0]), lowest(floors[1])),
        harnesses=tuple(_harness(*each) for each in zip(*raw, moved, strict=True)),
        p_adjusted=single.p_adjusted_K,
        raw_before=tuple(raw[0]),
        raw_after=tuple(raw[1]),
    )


def _orientation(change_TH: Array) -> int:
    """1 or -1: in which order two runs are drawn for, so that the other order gives the same with all signs turned.

    0 where nothing moved at all.
    """
    moved = np.nan_to_num(change_TH).ravel()
    return int(np.sign(moved[np.flatnonzero(moved)[:1]]).sum())


def _turned(found: Estimate, sign: int) -> Estimate:
    """The estimate of a difference taken in the other order, where the sign is -1."""
    if sign >= 0 or found.estimate is None or found.limits is None:
        return found
    return Estimate(-found.estimate, -found.limits[1], -found.limits[0])


def _harness(before: float | None, after: float | None, found: Estimate) -> Change:
    """The observed difference with limits from the +2 rule, which lie around a slightly smaller one."""
    if before is None or after is None:
        return NOT_KNOWN
    return Change(Estimate(before), Estimate(after), _around(after - before, found.limits))


def _around(difference: float, limits: tuple[float, float] | None) -> Estimate:
    if limits is None:
        return Estimate(difference)
    return Estimate(difference, max(-1.0, min(difference, limits[0])), min(1.0, max(difference, limits[1])))


def _mean(before_TH: Array, after_TH: Array) -> Change:
    """MEAN of the tested harnesses: the unit of sampling is the task mean of the change over harnesses."""
    if before_TH.size == 0:
        return NOT_KNOWN
    before, after = mean_of_tested(before_TH), mean_of_tested(after_TH)
    return Change(before, after, paired_mean(after_TH - before_TH)[0])


def paired_mean(change_TH: Array) -> tuple[Estimate, float | None]:
    """Mean change over harnesses (each has a cell) with the limits and the p of the +2 rule; none below 20 tasks."""
    fit = additive_fit(change_TH)
    return _padded(fit.task_T + fit.harness_H.mean(), len(fit.harness_H) ** -0.5)


def _padded(change_T: Array, scale: float) -> tuple[Estimate, float | None]:
    """Mean change with the limits and the p of the +2 rule, pseudo-tasks of this scale; neither below 20 tasks."""
    mean = float(change_T.mean())
    if len(change_T) < MIN_TASKS_FOR_INTERVALS:
        return Estimate(mean), None
    test = plus_two(change_T, scale)
    return _around(mean, (test.low, test.high)), test.p


def _modelled(before_TH: Array, after_TH: Array, canonical: int | None, seed: int) -> dict[str, Change]:
    """WORST and its kin from the joint posterior; unknown below 20 tasks, where its prior would say more than they."""
    names = ("worst", "gap", "canonical", "worst_at_8", "cvar10")
    enough = len(before_TH) >= MIN_TASKS_FOR_INTERVALS
    draws = _joint(before_TH, after_TH, np.random.default_rng([seed, 1])) if enough else None
    if draws is None:
        return dict.fromkeys(names, NOT_KNOWN)
    worst = [mu_IH.min(axis=1) for mu_IH in draws]
    found = {"worst": _drawn(*worst), "cvar10": _drawn(*(lowest_tenth(mu_IH) for mu_IH in draws))}
    if draws[0].shape[1] >= 8:
        found["worst_at_8"] = _drawn(*(worst_at(mu_IH, 8) for mu_IH in draws))
    if canonical is not None:
        usual = [mu_IH[:, canonical] for mu_IH in draws]
        found["canonical"] = _drawn(*usual)
        if draws[0].shape[1] > 1:  # a harness has no gap to itself
            found["gap"] = _drawn(usual[0] - worst[0], usual[1] - worst[1], is_width=True)
    return dict.fromkeys(names, NOT_KNOWN) | found


def _joint(before_TH: Array, after_TH: Array, rng: np.random.Generator) -> tuple[Array, Array] | None:
    """The joint posterior, with each draw in both orders where nothing moved, so that no luck of a draw looks like it.

    None as `joint_posterior`.
    """
    sign = _orientation(after_TH - before_TH)
    draws = joint_posterior(before_TH, after_TH, rng) if sign >= 0 else joint_posterior(after_TH, before_TH, rng)
    if draws is None:
        return None
    one, other = draws if sign >= 0 else draws[::-1]
    return (one, other) if sign else (np.concatenate([one, other]), np.concatenate([other, one]))


def _drawn(before_I: Array, after_I: Array, *, is_width: bool = False) -> Change:
    change = from_draws(after_I - before_I)
    return Change(from_draws(before_I), from_draws(after_I), change, is_width)


def _spread(before_TH: Array, after_TH: Array) -> Change:
    """SPREAD net of noise; limits of its change from those of both runs, less what the runs share.

    Zou and Donner's recovery of variance estimates: each side of the interval of a difference from the distances of
    the limits of its two parts, which here are the delete-one-task jackknife limits of both standard deviations, and
    from the correlation of the tasks' parts in the two variances. It stays right where a spread is near zero, where a
    delta method divides by it.
    """
    before, after = (spread(one_TH).net for one_TH in (before_TH, after_TH))
    if before.estimate is None or after.estimate is None:
        return Change(before, after, UNKNOWN, is_width=True)
    change = Estimate(after.estimate - before.estimate)
    if before.limits and after.limits:
        parts_2T = [cross_products(additive_fit(one_TH).filled_TH) for one_TH in (before_TH, after_TH)]
        change = difference_of(after, before, _correlation(*parts_2T))
    return Change(before, after, change, is_width=True)


def difference_of(one: Estimate, other: Estimate, correlation: float) -> Estimate:
    """One less the other, both with limits, by the recovery of variance estimates from limits (Zou and Donner 2008)."""
    (low, high), (low_of_other, high_of_other) = one.limits or (0, 0), other.limits or (0, 0)
    a, b = one.estimate or 0.0, other.estimate or 0.0
    down, up = (a - low, high_of_other - b), (high - a, b - low_of_other)
    reach = [max(0.0, mine**2 + theirs**2 - 2 * correlation * mine * theirs) ** 0.5 for mine, theirs in (down, up)]
    return Estimate(a - b, a - b - reach[0], a - b + reach[1])


def _correlation(one_T: Array, other_T: Array) -> float:
    """Correlation over tasks, at most .99, so that runs alike in all never leave a width of zero."""
    if one_T.std() < 1e-12 or other_T.std() < 1e-12:
        return 0.0
    return float(np.clip(np.corrcoef(one_T, other_T)[0, 1], -_ALIKE, _ALIKE))


def _pass_powers(before_TH: Array, after_TH: Array) -> dict[int, Change]:
    """pass^k for k = 2, 4, 8, ...: paired by task, the pseudo-tasks worth as much noise as k harnesses together."""
    harnesses = before_TH.shape[1]
    powers = [2**i for i in range(1, harnesses.bit_length())]
    return {k: _pass_power(k, pass_power(before_TH, k), pass_power(after_TH, k), harnesses) for k in powers}


def _pass_power(k: int, before_T: Array, after_T: Array, harnesses: int) -> Change:
    before, after = mean_over_tasks(before_T), mean_over_tasks(after_T)
    change_T = (after_T - before_T)[~np.isnan(before_T)]
    if len(change_T) == 0:
        return NOT_KNOWN
    return Change(before, after, _padded(change_T, (k / harnesses) ** 0.5)[0])


def ratio(before_T: Array, after_T: Array) -> Estimate:
    """Mean of the second over the mean of the first, paired by task, with limits from the logarithm (delta method).

    Unknown where a mean is not above zero; no limits below 20 tasks.
    """
    tasks = len(before_T)
    if tasks == 0 or before_T.mean() <= 0 or after_T.mean() <= 0:
        return UNKNOWN
    found = float(after_T.mean() / before_T.mean())
    if tasks < MIN_TASKS_FOR_INTERVALS:
        return Estimate(found)
    influence_T = after_T / after_T.mean() - before_T / before_T.mean()
    reach = t_quantile(0.975, tasks - 1) * float(influence_T.std(ddof=1)) / tasks**0.5
    return Estimate(found, found * float(np.exp(-reach)), found * float(np.exp(reach)))

"""Why: the effect of each level of each axis, and the share of the variance each axis explains.

Ordinary least squares within each task, then averages over tasks: exact, and the task stays the unit of sampling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .cells import AdditiveFit, additive_fit, judged_columns, judged_tasks
from .contrast_coding import Coding, code_levels
from .estimate import UNKNOWN, Array, Estimate
from .groups import Groups, enough, freedom, scaled, units
from .intervals import normal_quantile, t_quantile
from .rivals import Rival, rivals
from .spread import noise_inflation

_CLEAR = 0.05  # adjusted p value below which an axis stands out
_REPLACED = 2  # axes that stand out; a rival needs a further one that it can explain
_ROUNDING = 1e-12  # what arithmetic leaves of a zero


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
    """Share of the variance between harnesses that one axis explains, and the test of all its levels at once."""

    axis: str
    share: float | None  # net of noise
    p: float | None
    p_adjusted: float | None  # Holm over axes
    reason: str | None


@dataclass(frozen=True, slots=True)
class AxisEffects:
    """All levels, all axes, and what main effects leave unexplained."""

    levels: tuple[AxisEffect, ...]
    axes: tuple[AxisShare, ...]
    entangled_share: float | None  # of the axes without a share of their own, together; None: there are none
    other_share: float | None  # interactions and peculiarities of single configurations; None: no degrees of freedom
    lack_of_fit: float | None  # their standard deviation (tau_r); None: no degrees of freedom
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shares:
    axes: tuple[AxisShare, ...]
    entangled: float | None
    other: float | None


@dataclass(frozen=True, slots=True)
class _Fit:
    coding: Coding
    beta_P: Array
    covariance_PP: Array
    lack_of_fit: float | None  # variance
    between: float  # degrees of freedom of what differs between tasks
    unexplained: float  # variance of a harness that is lack of fit and its noise; 0 without lack of fit
    spare: int  # harnesses beyond the coefficients: the degrees of freedom of `unexplained`
    units: int  # tasks, or groups of tasks
    enough: bool  # for limits and p values

    @property
    def between_tasks(self) -> bool:
        """Whether the covariance comes from differences between tasks alone."""
        return not self.lack_of_fit

    def freedom(self, columns: list[int]) -> float:
        """Degrees of freedom of a test of these coefficients together (Satterthwaite).

        Their variance has two parts: what main effects leave unexplained, known from the spare harnesses alone, and
        what differs between tasks.
        """
        if self.between_tasks:
            return self.between
        inverse_LL = np.linalg.inv(self.covariance_PP[np.ix_(columns, columns)])
        solve_LH = self.coding.solve_PH[columns]
        part = self.unexplained * float(np.trace(solve_LH @ solve_LH.T @ inverse_LL)) / len(columns)
        part = min(1.0, part)
        return 1 / (part**2 / self.spare + (1 - part) ** 2 / self.between)


def axis_effects(
    mean_TH: Array,
    levels: Sequence[Mapping[str, str] | None],
    canonical: Mapping[str, str],
    groups: Groups | None = None,
) -> AxisEffects:
    """Main effects of all levels that occur, relative to the canonical levels, on the scale of scores.

    levels: one mapping axis -> level a harness; an axis that is missing there is at its canonical level. None: it is no
    harness of levels. Such ones and those without a judged cell are left out; missing cells are filled by the additive
    fit and the standard errors widened by the share that was filled. A level that the design cannot separate from
    others has effect None and a reason. Limits and p values are None below 20 tasks or five groups of tasks. Effects
    hold for the axis, not only for these configurations, as far as lack of fit can be estimated; where it cannot (no
    spare harness) a note says so.
    """
    known = [(h, own) for h, own in enumerate(levels) if own is not None]
    mean_TH = mean_TH[:, [h for h, _ in known]]
    tested = judged_columns(mean_TH)
    coding = code_levels([known[h][1] for h in tested], canonical)
    if not coding.names:
        return AxisEffects((), (), None, None, None, ())
    judged_T = judged_tasks(mean_TH)
    cells, groups = additive_fit(mean_TH[:, tested]), groups and groups.rows(judged_T)
    fit = _least_squares(cells, coding, groups)
    least = _rivalled(cells, fit, groups)
    columns = range(1, len(coding.names) + 1)
    p_K = [_at_least(_wald([column], fit), least.get(axis)) for column, (axis, _) in enumerate(coding.names, start=1)]
    effects = tuple(_effect(fit, *row) for row in zip(columns, p_K, holm(p_K), strict=True))
    shares = _shares(fit, least)
    sd = None if fit.lack_of_fit is None else fit.lack_of_fit**0.5
    return AxisEffects(effects, shares.axes, shares.entangled, shares.other, sd, _notes(fit, least))


def within_range(found: AxisEffects) -> AxisEffects:
    """Effects and their limits cut at -1 and 1, beyond which no difference of scores is; that costs no coverage."""
    levels = tuple(replace(one, effect=_within_range(one.effect)) for one in found.levels)
    cut = sum(one.effect.limits != other.effect.limits for one, other in zip(levels, found.levels, strict=True))
    said = f"{cut} of {len(levels)} intervals of levels are cut at ±100 pp, the largest effect possible"
    return replace(found, levels=levels, notes=(*found.notes, said) if cut else found.notes)


def _within_range(effect: Estimate) -> Estimate:
    parts = (effect.estimate, effect.low, effect.high)
    return Estimate(*(part if part is None else max(-1.0, min(1.0, part)) for part in parts))


def _least_squares(cells: AdditiveFit, coding: Coding, groups: Groups | None = None) -> _Fit:
    """Task-wise coefficients, their mean, and its covariance: between tasks, plus lack of fit tau_r^2 P P'.

    Two pseudo-tasks of +1 and -1 in every cell difference (the +2 rule) keep standard errors above zero.
    """
    tasks, harnesses = cells.filled_TH.shape
    solve_PH = coding.solve_PH
    beta_TP = cells.filled_TH @ solve_PH.T
    beta_P = solve_PH @ cells.harness_H
    beta_P = np.where(np.abs(beta_P) > _ROUNDING, beta_P, 0.0)
    every_TP = np.ones(beta_TP.shape, dtype=bool)
    own_GP = scaled(beta_TP - beta_TP.mean(axis=0), every_TP, groups)
    scatter_PP = own_GP.T @ own_GP
    widen_P = 1 / (1 - _filled_share(cells, solve_PH))
    covariance_PP = (scatter_PP * np.outer(widen_P, widen_P) + solve_PH @ solve_PH.T) / (tasks + 2) ** 2
    spare = harnesses - coding.rank
    between, known = freedom(every_TP[:, 0], groups), enough(every_TP[:, 0], groups)
    count = units(every_TP[:, 0], groups)
    if spare == 0 or cells.residual_variance is None:
        return _Fit(coding, beta_P, covariance_PP, None, between, 0.0, 0, count, known)
    residual_H = cells.harness_H - coding.design_HP @ beta_P
    noise = cells.residual_variance * float((1 / cells.effective_H).mean()) * noise_inflation(cells, groups)
    excess = float((residual_H**2).sum()) / spare - noise
    excess = excess if excess > _ROUNDING else 0.0
    covariance_PP = covariance_PP + excess * solve_PH @ solve_PH.T
    return _Fit(coding, beta_P, covariance_PP, excess, between, excess and excess + noise, spare, count, known)


def _filled_share(cells: AdditiveFit, solve_PH: Array) -> Array:
    """Share of the cells behind each coefficient that were filled in, weighted by their influence."""
    weight_PH = solve_PH**2
    missing_H = 1 - cells.present_TH.mean(axis=0)
    return np.asarray(np.minimum(weight_PH @ missing_H / np.maximum(weight_PH.sum(axis=1), 1e-300), 0.9))


def _wald(columns: list[int], fit: _Fit) -> float | None:
    """p of "the separable ones of these are all zero": Hotelling's T^2 over tasks, or F when lack of fit was added."""
    from scipy import special  # lazy: slow import

    columns = [column for column in columns if fit.coding.reasons[column - 1] is None]
    count = len(columns)
    if not columns or not fit.enough or (fit.between_tasks and fit.units <= count):
        return None
    whole = fit.freedom(columns)
    freedom = fit.units - count if fit.between_tasks else whole
    beta = fit.beta_P[columns]
    f = float(beta @ np.linalg.solve(fit.covariance_PP[np.ix_(columns, columns)], beta)) / count
    return float(special.fdtrc(count, freedom, f * freedom / whole))


def _rivalled(cells: AdditiveFit, fit: _Fit, groups: Groups | None) -> dict[str, float]:
    """By axis, a limit below which its p value cannot be: what it explains beyond a hidden interaction is that unclear.

    Such an interaction is one of the leading axis with another one that stands out.
    """
    shares = {one.axis: one.share or 0.0 for one in _shares(fit, {}).axes}
    clear, leading = _clear(fit), max(shares, key=lambda axis: shares[axis])
    found: dict[str, float] = {}
    for rival in rivals(fit.coding, leading) if leading in clear and len(clear) > _REPLACED else ():
        for axis in shares.keys() - {leading, rival.other} if rival.other in clear else ():
            found[axis] = max(found.get(axis, 0.0), _beyond(rival, axis, cells, fit.coding, groups))
    return found


def _clear(fit: _Fit) -> set[str]:
    """The axes that stand out, by all their levels together or by one of them."""
    levels = [_wald([column], fit) for column in range(1, len(fit.coding.names) + 1)]
    by_level = {axis for (axis, _), p in zip(fit.coding.names, holm(levels), strict=True) if _is_clear(p)}
    return by_level | {one.axis for one in _shares(fit, {}).axes if _is_clear(one.p_adjusted)}


def _is_clear(p: float | None) -> bool:
    return p is not None and p < _CLEAR


def _beyond(rival: Rival, axis: str, cells: AdditiveFit, coding: Coding, groups: Groups | None) -> float:
    """p value of what the rival leaves for an axis; 1 where that is nothing."""
    changed, columns = rival.beyond(coding, axis)
    p = _wald(columns, _least_squares(cells, changed, groups))
    return 1.0 if p is None else p


def _at_least(p: float | None, least: float | None) -> float | None:
    return p if p is None or least is None else max(p, least)


def _effect(fit: _Fit, column: int, p: float | None, p_adjusted: float | None) -> AxisEffect:
    coding = fit.coding
    (axis, level), reason = coding.names[column - 1], coding.reasons[column - 1]
    beta, error = float(fit.beta_P[column]), float(fit.covariance_PP[column, column]) ** 0.5
    effect, detectable = Estimate(beta), None
    if reason is not None:
        effect = UNKNOWN
    elif fit.enough:
        reach = t_quantile(0.975, fit.freedom([column]))
        effect = Estimate(beta, beta - reach * error, beta + reach * error)
        detectable = (reach + normal_quantile(0.8)) * error
    return AxisEffect(axis, level, effect, p, p_adjusted, detectable, coding.harnesses[column - 1], reason)


def holm(p_K: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment over the known p values; unknown ones stay in their place."""
    # three lines here because the library's version runs a full garbage collection on every call
    known = [index for index, p in enumerate(p_K) if p is not None]
    order = sorted(known, key=lambda index: p_K[index] or 0.0)
    steps = np.array([p_K[index] for index in order], dtype=np.float64) * np.arange(len(order), 0, -1)
    adjusted = dict(zip(order, np.minimum(1.0, np.maximum.accumulate(steps)).tolist(), strict=True))
    return [adjusted.get(index) for index in range(len(p_K))]


def _shares(fit: _Fit, least: Mapping[str, float]) -> _Shares:
    """First-order variance shares of the axes; axes the design cannot separate have one share together.

    `least` has, by axis, a limit below which its p value cannot be.
    """
    axes, why = fit.coding.by_axis(), fit.coding.why
    entangled = [column for axis, columns in axes.items() if why(axis) for column in columns]
    variance = {axis: _variance(columns, fit) for axis, columns in axes.items() if not why(axis)}
    together = _variance(entangled, fit)
    total = sum(variance.values()) + together + (fit.lack_of_fit or 0.0)

    def share(value: float | None) -> float | None:
        return None if value is None or total <= _ROUNDING else value / total

    p_values = [_at_least(_wald(columns, fit), least.get(axis)) for axis, columns in axes.items()]
    rows = zip(axes, p_values, holm(p_values), strict=True)
    shares = tuple(AxisShare(axis, share(variance.get(axis)), p, holm_p, why(axis)) for axis, p, holm_p in rows)
    return _Shares(shares, share(together if entangled else None), share(fit.lack_of_fit))


def _variance(columns: list[int], fit: _Fit) -> float:
    """Variance between the tested harnesses that these columns explain, less its noise: b'Wb - tr(WC), at least 0.

    W is the covariance of the dummies: diag(w) - w w' for an axis, w the frequencies of its levels.
    """
    centred_HL = fit.coding.design_HP[:, columns] - fit.coding.design_HP[:, columns].mean(axis=0)
    weight_LL = centred_HL.T @ centred_HL / len(centred_HL)
    beta_L = fit.beta_P[columns]
    noise = float(np.trace(weight_LL @ fit.covariance_PP[np.ix_(columns, columns)]))
    return max(0.0, float(beta_L @ weight_LL @ beta_L) - noise)


def _notes(fit: _Fit, least: Mapping[str, float]) -> tuple[str, ...]:
    notes = []
    if doubtful := sorted(axis for axis in _clear(fit) if least.get(axis, 0.0) >= _CLEAR):
        notes.append(f"one interaction, hidden by the design, may be all that stands out on {', '.join(doubtful)}")
    if fit.lack_of_fit is None:
        notes.append("no spare harnesses: axis effects hold for these configurations, interactions are unknown")
    if any(reason is not None for reason in fit.coding.reasons):
        notes.append("the design cannot separate some levels; their axes have one share together")
    return tuple(notes)

"""SPREAD: how far harness scores lie apart, free of the noise of the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .across import expected_minimum
from .cells import AdditiveFit, additive_fit, judged_tasks
from .estimate import UNKNOWN, Array, Estimate
from .groups import Groups, enough, freedom, inflation, squared_errors, units
from .intervals import score_interval, t_quantile

_ROUNDING = 1e-12  # what arithmetic leaves of a zero variance


@dataclass(frozen=True, slots=True)
class Anova:
    """Two-way analysis of variance of the cell means; mean squares of tasks, harnesses and residuals."""

    ms_task: float
    ms_harness: float
    ms_error: float
    tasks: int
    harnesses: int
    error_freedom: int

    @property
    def f(self) -> float | None:
        """F statistic of "all harnesses are equal"; None when no cell varies."""
        if self.ms_error <= _ROUNDING:
            return float("inf") if self.ms_harness > _ROUNDING else None
        return self.ms_harness / self.ms_error

    @property
    def p_harness(self) -> float | None:
        """Probability of so large an F when all harnesses are equal."""
        from scipy import special  # lazy: slow import

        return None if self.f is None else float(special.fdtrc(self.harnesses - 1, self.error_freedom, self.f))

    @property
    def reliability(self) -> float | None:
        """Share of the observed variance between harnesses that is not noise: 1 - 1/F, at least 0."""
        return None if self.f is None else (max(0.0, 1 - 1 / self.f) if self.f > 0 else 0.0)


def anova(mean_TH: Array, groups: Groups | None = None) -> Anova | None:
    """Analysis of variance; None without residual degrees of freedom.

    Where tasks come in groups the residual mean square is as much larger as the groups make the noise of a mean, and
    its degrees of freedom are those of so many groups.

    With missing cells the residual is that of the additive fit, and a mean square of harnesses is their observed
    variance times the tasks a harness mean is worth (harmonic mean), which is the classical value when none is missing.
    """
    fit = additive_fit(mean_TH) if mean_TH.size else None
    if fit is None or fit.residual_variance is None:
        return None
    tasks, harnesses = fit.present_TH.shape
    worth = 1 / float((1 / fit.effective_H).mean())
    error_freedom = int(fit.present_TH.sum()) - tasks - harnesses + 1
    if groups is not None:
        error_freedom = max(1, (harnesses - 1) * (units(judged_tasks(mean_TH), groups) - 1))
    return Anova(
        harnesses * float(fit.task_T.var(ddof=1)),
        worth * float(fit.harness_H.var(ddof=1)),
        fit.residual_variance * noise_inflation(fit, groups and groups.rows(judged_tasks(mean_TH))),
        tasks,
        harnesses,
        error_freedom,
    )


def noise_inflation(fit: AdditiveFit, groups: Groups | None) -> float:
    """How much larger groups (of the tasks of the fit) make the noise of differences between harnesses; 1 without."""
    if groups is None:
        return 1.0
    residual_TH = np.where(fit.present_TH, fit.filled_TH - fit.task_T[:, None] - fit.harness_H, 0.0)
    return inflation(residual_TH, fit.present_TH, groups)


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviation of scores between harnesses. `net` is free of sampling noise; `raw` is not."""

    net: Estimate
    raw: float | None
    family: Estimate  # the same when harnesses are a random sample of a family
    reliability: float | None  # of the ranking, 0 (noise) .. 1
    p_harness: float | None  # of "all harnesses are equal"


def spread(mean_TH: Array, groups: Groups | None = None) -> Spread:
    """Spread over the tested harnesses with the delete-one-task (delete-one-group) jackknife interval.

    No limits and no p value below 20 tasks or five groups of tasks.
    """
    if mean_TH.size == 0 or mean_TH.shape[1] < 2:
        return Spread(UNKNOWN, None, UNKNOWN, None, None)
    table = anova(mean_TH, groups)
    fit = additive_fit(mean_TH)
    raw = float(fit.harness_H.std(ddof=1))
    if table is None:
        return Spread(UNKNOWN, raw, UNKNOWN, None, None)
    judged_T = judged_tasks(mean_TH)
    worth = 1 / float((1 / fit.effective_H).mean())
    variance = raw**2 - table.ms_error / worth
    net = jackknife_interval(variance, fit.filled_TH, groups and groups.rows(judged_T))
    family = family_interval(variance, worth, table)
    if not enough(judged_T, groups):
        return Spread(net.without_interval(), raw, family.without_interval(), table.reliability, None)
    return Spread(net, raw, family, table.reliability, table.p_harness)


def _root(variance: float) -> float:
    return float(np.sqrt(variance)) if variance > _ROUNDING else 0.0


def cross_products(filled_TH: Array) -> Array:
    """For each task the sum of its products with all other tasks, within harnesses and free of the task's own mean."""
    centred_TH = filled_TH - filled_TH.mean(axis=1, keepdims=True)
    return np.asarray(centred_TH @ centred_TH.sum(axis=0) - (centred_TH**2).sum(axis=1))


def jackknife_interval(variance: float, filled_TH: Array, groups: Groups | None = None) -> Estimate:
    """SD with the 95 % interval of the delete-one-task jackknife; no limits when all tasks agree exactly.

    The net variance is a degree-2 U-statistic over tasks: g_t is the part of it that involves task t. Where tasks come
    in groups it is one over groups, and the jackknife leaves out one group at a time.
    """
    tasks, harnesses = filled_TH.shape
    if tasks < 3:
        return Estimate(_root(variance))
    if groups is not None:
        return _grouped_jackknife(variance, filled_TH, groups)
    g_T = cross_products(filled_TH) / ((tasks - 1) * (harnesses - 1))
    error = ((tasks - 1) / tasks * float(((g_T - g_T.mean()) ** 2).sum())) ** 0.5 * 2 / (tasks - 2)
    if error < _ROUNDING:
        return Estimate(_root(variance))
    reach = t_quantile(0.975, tasks - 1) * error
    return Estimate(_root(variance), _root(variance - reach), _root(variance + reach))


def _grouped_jackknife(variance: float, filled_TH: Array, groups: Groups) -> Estimate:
    """The same without each group in turn: products between groups only, over the number of such pairs of tasks."""
    count, harnesses = len(groups), filled_TH.shape[1]
    if count < 3:
        return Estimate(_root(variance))
    sum_GH = groups.sums(filled_TH - filled_TH.mean(axis=1, keepdims=True))
    size_G = np.bincount(groups.member_T).astype(np.float64)
    square_G = (sum_GH**2).sum(axis=1)
    rest_G = ((sum_GH.sum(axis=0) - sum_GH) ** 2).sum(axis=1) - (square_G.sum() - square_G)
    pairs_G = (size_G.sum() - size_G) ** 2 - ((size_G**2).sum() - size_G**2)
    without_G = rest_G / pairs_G / (harnesses - 1)
    error = ((count - 1) / count * float(((without_G - without_G.mean()) ** 2).sum())) ** 0.5
    if error < _ROUNDING:
        return Estimate(_root(variance))
    reach = t_quantile(0.975, count - 1) * error
    return Estimate(_root(variance), _root(variance - reach), _root(variance + reach))


def family_interval(variance: float, worth: float, table: Anova) -> Estimate:
    """SD of a family the harnesses are a random sample of: limits of (MS_H / MS_E) / F - 1, times MS_E / T."""
    from scipy import special  # lazy: slow import

    if table.f is None or table.ms_error <= _ROUNDING:
        return Estimate(_root(variance))
    freedom = (table.harnesses - 1, table.error_freedom)
    low, high = (
        _root((table.f / float(special.fdtri(*freedom, probability)) - 1) * table.ms_error / worth)
        for probability in (0.975, 0.025)
    )
    return Estimate(_root(variance), low, high)


def minimum_bias(mean_TH: Array, groups: Groups | None = None) -> float | None:
    """Expected raw minimum less the true score when all harnesses are equal: E[min of H normals] sqrt(MS_E / T)."""
    table = anova(mean_TH, groups)
    if table is None:
        return None
    return expected_minimum(table.harnesses) * _root(table.ms_error / table.tasks)


@dataclass(frozen=True, slots=True)
class NoncentralInterval:
    """Interval of the SD from the noncentral F distribution, with the noncentralities of its two ends."""

    low: float
    high: float
    lambda_low: float
    lambda_high: float


def noncentral_interval(table: Anova) -> NoncentralInterval | None:
    """Alternative interval for the tested set; covers too little when harnesses differ much. Needs complete cells."""
    if table.f is None or not np.isfinite(table.f):
        return None
    low, high = _noncentrality(table, table.f, 0.975), _noncentrality(table, table.f, 0.025)
    unit = table.ms_error / (table.tasks * (table.harnesses - 1))
    return NoncentralInterval(_root(low * unit), _root(high * unit), low, high)


def _noncentrality(table: Anova, f: float, probability: float) -> float:
    """The noncentrality at which so small an F has this probability; 0 if it is too small at any."""
    from scipy import optimize, special  # lazy: slow import

    def excess(noncentrality: float) -> float:
        found = float(special.ncfdtr(table.harnesses - 1, table.error_freedom, noncentrality, f))
        return (0.0 if np.isnan(found) else found) - probability  # too small for the library to tell

    if excess(0.0) <= 0:
        return 0.0
    upper = max(1.0, f * (table.harnesses - 1))
    while excess(upper) > 0:
        upper *= 1.5
    return float(optimize.brentq(excess, 0.0, upper))


def mean_of_tested(mean_TH: Array, groups: Groups | None = None) -> Estimate:
    """MEAN over the tested harnesses: the unit of sampling is the task mean over harnesses (or the group of tasks)."""
    if mean_TH.size == 0:
        return UNKNOWN
    fit = additive_fit(mean_TH)
    judged_T = judged_tasks(mean_TH)
    error = _tested_error(fit, groups and groups.rows(judged_T))
    found = score_interval(float(fit.harness_H.mean()), error, len(fit.task_T), freedom(judged_T, groups))
    return found if enough(judged_T, groups) else found.without_interval()


def _tested_error(fit: AdditiveFit, groups: Groups | None) -> float:
    centred_T1 = (fit.task_T - fit.task_T.mean())[:, None]
    return float(np.sqrt(squared_errors(centred_T1, np.ones(centred_T1.shape, dtype=bool), groups)[0]))


def mean_of_family(mean_TH: Array, groups: Groups | None = None) -> Estimate:
    """MEAN generalising to a family the harnesses are a random sample of: se^2 = (MS_T + MS_H - MS_E) / (T H).

    The t quantile has the degrees of freedom of the scarcer of tasks and harnesses.
    """
    table = anova(mean_TH, groups)
    if table is None:
        return UNKNOWN
    fit = additive_fit(mean_TH)
    judged_T = judged_tasks(mean_TH)
    between_tasks = _tested_error(fit, groups and groups.rows(judged_T)) ** 2  # MS_T / (T H) without groups
    excess = (table.ms_harness - table.ms_error) / (table.tasks * table.harnesses)
    error = max(_root(between_tasks + excess), _root(between_tasks))
    degrees = min(freedom(judged_T, groups), table.harnesses - 1)
    found = score_interval(float(fit.harness_H.mean()), error, table.tasks, degrees)
    return found if enough(judged_T, groups) else found.without_interval()

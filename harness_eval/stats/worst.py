"""WORST: the minimum over harnesses without the bias of a minimum of noisy means.

A Dirichlet-process hierarchical model on the logit scale shrinks harnesses towards each other while it allows ties,
clusters and lone outliers. Every other summary is a functional of the same posterior draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cells import AdditiveFit, additive_fit, judged_tasks
from .estimate import Array, Counts, Mask
from .groups import Groups, inflation, squared_errors

CLUSTERS = 12  # truncation of the stick-breaking prior
_POOLING = 10  # tasks' worth of the average noise mixed into each harness' own
_SEPARABLE = 4  # harnesses in a task that tell the task's own effect from their noise


@dataclass(frozen=True, slots=True)
class LogitSummary:
    """Observed logits with the variance of their own noise, and the variance of the task luck common to all."""

    logit_H: Array
    variance_H: Array
    common: float


def logit_summary(mean_TH: Array, groups: Groups | None = None) -> LogitSummary | None:
    """Logit means with task-influence (delta) variances; None with fewer than two tasks.

    Grubbs' separation of the common task effect from each harness' own noise needs four harnesses in a task; tasks
    with fewer, such as the last of a halving, tell nothing about it, and a harness without others shares the average
    noise. Missing cells: means from the additive fit, denominators per cell.
    A harness that passed or failed everything has at least half the binomial variance, which puts the limit of
    T successes in T where Wilson's is. Where tasks come in groups, all variances are those of means over groups (CR2).
    """
    fit = additive_fit(mean_TH)
    groups = groups and groups.rows(judged_tasks(mean_TH))
    present_TH = fit.present_TH
    if len(present_TH) < 2:
        return None
    raw_H = np.clip(fit.harness_H, 0.0, 1.0)
    tasks_H = present_TH.sum(axis=0)
    shrunk_H = (tasks_H * raw_H + 0.5) / (tasks_H + 1)
    slope_H = shrunk_H * (1 - shrunk_H)
    deviation_TH = np.where(present_TH, (fit.filled_TH - raw_H) / slope_H, 0.0)
    common_T = deviation_TH.sum(axis=1) / present_TH.sum(axis=1)
    found_H, average = _own_noise(np.where(present_TH, deviation_TH - common_T[:, None], 0.0), present_TH, groups)
    extreme_H = (raw_H <= 0) | (raw_H >= 1)
    own_H = np.maximum(found_H, 0.1 * average)
    own_H = np.where(extreme_H, np.maximum(own_H, 1 / (2 * slope_H)), own_H)
    own_H = ((tasks_H - 1) * own_H + _POOLING * average) / (tasks_H - 1 + _POOLING)
    return LogitSummary(
        np.log(shrunk_H / (1 - shrunk_H)),
        np.maximum(own_H / fit.effective_H, 1e-6),
        _common_variance(common_T, found_H, fit, groups),
    )


def _own_noise(residual_TH: Array, present_TH: Mask, groups: Groups | None) -> tuple[Array, float]:
    """Noise variance of each harness (may be below 0 by chance), and its average; 0 without degrees of freedom."""
    cells_T = present_TH.sum(axis=1)
    freedom = int(cells_T.sum()) - len(cells_T) - present_TH.shape[1] + 1
    average = float((residual_TH**2).sum()) / freedom if freedom > 0 else 0.0
    average *= inflation(residual_TH, present_TH, groups)
    telling_TH = present_TH & (cells_T >= _SEPARABLE)[:, None]
    tasks_H = telling_TH.sum(axis=0)
    square_H = tasks_H * squared_errors(np.where(telling_TH, residual_TH, 0.0), telling_TH, groups)
    others_H = (1 / cells_T) @ telling_TH / np.maximum(tasks_H, 1)
    return np.where(tasks_H > 1, (square_H - average * others_H) / (1 - 2 * others_H), average), average


def _common_variance(common_T: Array, own_H: Array, fit: AdditiveFit, groups: Groups | None) -> float:
    """Sampling variance, in logits, of the task luck that all harnesses share.

    Floored by one task in T + 2 that all harnesses would fail (or pass) and that happened not to be drawn, but by no
    more than half the binomial variance. Without the floor an all-pass table would claim to know the task population
    exactly.
    """
    tasks = len(common_T)
    noise = float((fit.present_TH @ own_H / fit.present_TH.sum(axis=1) ** 2).mean())
    centred_T1 = (common_T - common_T.mean())[:, None]
    seen = float(squared_errors(centred_T1, np.ones((tasks, 1), dtype=bool), groups)[0])
    observed = max(0.0, seen - noise / tasks)
    grand = (tasks * float(np.clip(fit.harness_H.mean(), 0, 1)) + 0.5) / (tasks + 1)
    slope = grand * (1 - grand)
    return max(observed, min(1 / ((tasks + 2) * slope) ** 2, 1 / (2 * slope * tasks)))


@dataclass(frozen=True, slots=True)
class Sampling:
    """How long the Gibbs sampler runs: independent chains, sweeps thrown away, sweeps kept (one draw each)."""

    chains: int = 64
    burn_in: int = 40
    kept: int = 64


@dataclass(frozen=True, slots=True)
class Prior:
    """How readily harnesses differ (alpha), and how far (kappa, logits).

    A lone harness far from all others is as likely a cluster of its own as alpha over kappa has it, times a density
    that is nearly flat for a large kappa. With 2 and 2 rather than 1 and 1 it is therefore recognised sooner, and
    pulled less towards the others, while harnesses that lie close together are told apart no sooner.
    """

    concentration: float = 2.0
    scale: float = 2.0


def prior_scale(summary: LogitSummary) -> float:
    """kappa, larger where a harness lies over 2 kappa from the median.

    A prior that calls what was observed impossible would pull a dead harness half way to the healthy ones.
    """
    return max(Prior().scale, float(np.abs(summary.logit_H - np.median(summary.logit_H)).max()) / 2)


def posterior_draws(summary: LogitSummary, rng: np.random.Generator, sampling: Sampling | None = None) -> Array:
    """Draws of all harness scores together, one a chain and kept sweep: an array I x H of values 0..1."""
    draws_SIH = draws_of_tables([summary], [Prior(scale=prior_scale(summary))], rng, sampling or Sampling())
    return np.asarray(draws_SIH[0])


def draws_of_tables(
    summaries: Sequence[LogitSummary], priors: Sequence[Prior], rng: np.random.Generator, sampling: Sampling
) -> Array:
    """`posterior_draws` of several tables with equally many harnesses, and their priors, at once: S x I x H.

    Blocked Gibbs sampling of the truncated stick-breaking mixture (Ishwaran and James 2001): theta_k ~ N(median of
    the logits, kappa^2).
    """
    table_C = np.repeat(np.arange(len(summaries)), sampling.chains)
    logit_CH = np.array([summary.logit_H for summary in summaries])[table_C]
    variance_CH = np.array([summary.variance_H for summary in summaries])[table_C]
    prior_C1 = np.array([prior.scale**-2 for prior in priors])[table_C, None]
    concentration_C1 = np.array([prior.concentration for prior in priors])[table_C, None]
    centre_C1 = np.median(logit_CH, axis=1, keepdims=True)
    sampler = Gibbs(logit_CH, 1 / variance_CH, centre_C1, prior_C1, concentration_C1)
    chains, harnesses = logit_CH.shape
    theta_CK = np.take_along_axis(logit_CH, rng.integers(harnesses, size=(chains, CLUSTERS)), axis=1)
    weight_CK = np.full((chains, CLUSTERS), 1 / CLUSTERS)
    kept_draws: list[Array] = []
    for sweep in range(sampling.burn_in + sampling.kept):
        member_CH = sampler.members(theta_CK, weight_CK, rng)
        theta_CK, weight_CK = sampler.clusters(member_CH, rng)
        if sweep >= sampling.burn_in:
            kept_draws.append(np.take_along_axis(theta_CK, member_CH, axis=1))
    theta_SIH = np.stack(kept_draws, axis=1).reshape(len(summaries), -1, harnesses)
    luck_S = np.array([summary.common for summary in summaries]) ** 0.5
    luck_SI1 = rng.standard_normal((*theta_SIH.shape[:2], 1)) * luck_S[:, None, None]
    return np.asarray(1 / (1 + np.exp(luck_SI1 - theta_SIH)))


@dataclass(frozen=True, slots=True)
class Gibbs:
    """The closed-form conditionals, for all chains at once."""

    logit_CH: Array
    precision_CH: Array
    centre_C1: Array
    prior_precision_C1: Array
    concentration_C1: Array | float = Prior().concentration

    def members(self, theta_CK: Array, weight_CK: Array, rng: np.random.Generator) -> Counts:
        """Which cluster each harness belongs to."""
        # clusters come first, so that sums over them run along long rows of memory
        log_KCH = (theta_CK.T[:, :, None] - self.logit_CH) ** 2
        log_KCH *= -0.5 * self.precision_CH
        log_KCH += np.log(weight_CK).T[:, :, None]
        log_KCH -= log_KCH.max(axis=0)
        total_KCH = np.cumsum(np.exp(log_KCH, out=log_KCH), axis=0)
        at_CH = rng.random(self.logit_CH.shape) * total_KCH[-1]
        return np.asarray((total_KCH < at_CH).sum(axis=0), dtype=np.int64)

    def clusters(self, member_CH: Counts, rng: np.random.Generator) -> tuple[Array, Array]:
        """Where the clusters lie, and how large they are."""
        precision_CK = self._sums(member_CH, self.precision_CH) + self.prior_precision_C1
        pull_CK = self._sums(member_CH, self.precision_CH * self.logit_CH) + self.prior_precision_C1 * self.centre_C1
        theta_CK = rng.normal(pull_CK / precision_CK, precision_CK**-0.5)
        count_CK = self._sums(member_CH, np.ones(member_CH.shape))
        later_CK = count_CK.sum(axis=1, keepdims=True) - np.cumsum(count_CK, axis=1)
        stick_CK = np.clip(rng.beta(1 + count_CK, self.concentration_C1 + later_CK), 1e-12, 1 - 1e-12)
        stick_CK[:, -1] = 1.0
        rest_CK = np.cumprod(np.hstack([np.ones((len(stick_CK), 1)), 1 - stick_CK[:, :-1]]), axis=1)
        return theta_CK, np.maximum(stick_CK * rest_CK, 1e-300)

    def _sums(self, member_CH: Counts, value_CH: Array) -> Array:
        """Sum of the values of the members of each cluster."""
        chains = len(member_CH)
        slot_CH = member_CH + CLUSTERS * np.arange(chains)[:, None]
        total_N = np.bincount(slot_CH.ravel(), weights=value_CH.ravel(), minlength=chains * CLUSTERS)
        return np.asarray(total_N.reshape(chains, CLUSTERS), dtype=np.float64)


def probability_of_worst(mu_IH: Array) -> Array:
    """Share of the draws in which each harness is the lowest; a draw with ties is shared among them."""
    lowest_IH = mu_IH == mu_IH.min(axis=1, keepdims=True)
    shared_H: Array = (lowest_IH / lowest_IH.sum(axis=1, keepdims=True)).mean(axis=0)
    return shared_H

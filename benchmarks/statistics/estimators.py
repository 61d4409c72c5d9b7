"""Estimators of the worst harness: what the package ships, the specification to the letter, and rivals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from harness_eval.stats import worst
from harness_eval.stats.estimate import Array
from harness_eval.stats.intervals import t_quantile
from harness_eval.stats.worst import LogitSummary, Prior, Sampling

SAMPLING = Sampling(chains=16)  # 1,024 draws a simulated study: a quarter of what a report takes
SPECIFIED = Prior(1.0, 1.0)
_WORK = 60_000  # chains x harnesses x clusters that stay in the processor's cache

Interval = tuple[float, float, float]


def naive(mean_TH: Array) -> Interval:
    """Minimum of the means with the t interval of the harness that has it."""
    mean_H, tasks = mean_TH.mean(axis=0), len(mean_TH)
    at = int(mean_H.argmin())
    reach = t_quantile(0.975, tasks - 1) * mean_TH[:, at].std(ddof=1) / tasks**0.5
    return float(mean_H[at]), float(mean_H[at] - reach), float(mean_H[at] + reach)


def lowest_limit(mean_TH: Array) -> float:
    """Intersection-union: the lowest of all one-sided 97.5 % t limits."""
    tasks = len(mean_TH)
    reach_H = t_quantile(0.975, tasks - 1) * mean_TH.std(axis=0, ddof=1) / tasks**0.5
    return float((mean_TH.mean(axis=0) - reach_H).min())


def max_t(mean_TH: Array, rng: np.random.Generator) -> Interval:
    """Minimum of the means within simultaneous limits of all harnesses."""
    tasks = len(mean_TH)
    mean_H = mean_TH.mean(axis=0)
    centred_TH = mean_TH - mean_H
    error_H = np.maximum(centred_TH.std(axis=0, ddof=1) / tasks**0.5, 1e-9)
    z_BH = rng.standard_normal((500, tasks)) @ (centred_TH / (tasks * error_H))
    reach_H = np.quantile(np.abs(z_BH).max(axis=1), 0.95) * error_H
    return float(mean_H.min()), float((mean_H - reach_H).min()), float((mean_H + reach_H).min())


def specified_summary(mean_TH: Array) -> LogitSummary:
    """Logit summaries by the letter of the specification, for complete tables."""
    tasks, harnesses = mean_TH.shape
    raw_H = mean_TH.mean(axis=0)
    shrunk_H = (tasks * raw_H + 0.5) / (tasks + 1)
    slope_H = shrunk_H * (1 - shrunk_H)
    influence_TH = (mean_TH - raw_H) / slope_H
    common_T = influence_TH.mean(axis=1)
    square_H = ((influence_TH - common_T[:, None]) ** 2).sum(axis=0) / (tasks - 1)
    average = float(square_H.mean()) / (1 - 1 / harnesses)
    own_H = np.maximum((square_H - average / harnesses) / (1 - 2 / harnesses), 0.1 * average)
    own_H = np.where((raw_H == 0) | (raw_H == 1), np.maximum(own_H, 1 / slope_H), own_H)
    own_H = ((tasks - 1) * own_H + 10 * average) / (tasks - 1 + 10)
    luck = max(0.0, float(common_T.var(ddof=1)) - average / harnesses) / tasks
    return LogitSummary(np.log(shrunk_H / (1 - shrunk_H)), np.maximum(own_H / tasks, 1e-6), luck)


def shipped_summary(mean_TH: Array) -> LogitSummary:
    summary = worst.logit_summary(mean_TH)
    assert summary is not None
    return summary


def specified(tables: Iterable[Array], rng: np.random.Generator) -> Iterator[Array]:
    """Draws I x H for each table, alpha and kappa fixed at 1."""
    for some in _batches(map(specified_summary, tables)):
        yield from worst.draws_of_tables(some, [SPECIFIED] * len(some), rng, SAMPLING)


def shipped(tables: Iterable[Array], rng: np.random.Generator) -> Iterator[Array]:
    """Draws I x H for each table as a report has them."""
    for some in _batches(map(shipped_summary, tables)):
        yield from worst.draws_of_tables(some, [Prior(scale=worst.prior_scale(one)) for one in some], rng, SAMPLING)


def _batches(summaries: Iterable[LogitSummary]) -> Iterator[list[LogitSummary]]:
    waiting = iter(summaries)
    while first := next(waiting, None):
        room = max(1, _WORK // (SAMPLING.chains * len(first.logit_H) * worst.CLUSTERS))
        yield [first, *islice(waiting, room - 1)]


def middle(draws_I: Array) -> Interval:
    low, high = np.quantile(draws_I, (0.025, 0.975))
    return float(draws_I.mean()), float(low), float(high)

"""The posterior of all harness scores together; whatever needs shrinkage is read from the same draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .across import lowest_tenth, worst_at
from .estimate import MIN_TASKS_FOR_INTERVALS, UNKNOWN, Array, Estimate, from_draws
from .groups import Groups, enough
from .worst import Sampling, logit_summary, posterior_draws, probability_of_worst


@dataclass(frozen=True, slots=True)
class Posterior:
    """Draws of the scores of the tested harnesses; without draws everything is unknown. Limits need 20 tasks."""

    mu_IH: Array | None
    limits: bool

    def _estimate(self, draws_I: Array) -> Estimate:
        found = from_draws(draws_I)
        return found if self.limits else found.without_interval()

    def score(self, harness: int) -> Estimate:
        """Shrunken score of one harness."""
        return UNKNOWN if self.mu_IH is None else self._estimate(self.mu_IH[:, harness])

    def worst(self) -> Estimate:
        """WORST: the score of the worst tested harness."""
        return UNKNOWN if self.mu_IH is None else self._estimate(self.mu_IH.min(axis=1))

    def p_worst(self, harness: int) -> float | None:
        """Probability that this harness is the worst."""
        return None if self.mu_IH is None else float(probability_of_worst(self.mu_IH)[harness])

    def gap(self, canonical: int) -> Estimate:
        """GAP: canonical minus WORST; task luck cancels."""
        return UNKNOWN if self.mu_IH is None else self._estimate(self.mu_IH[:, canonical] - self.mu_IH.min(axis=1))

    def worst_at(self, m: int, harnesses: list[int] | None = None) -> Estimate:
        """WORST@m over these harnesses (None: all); unknown with fewer than m."""
        if self.mu_IH is None or self.mu_IH.shape[1] < m:
            return UNKNOWN
        return self._estimate(worst_at(self.mu_IH if harnesses is None else self.mu_IH[:, harnesses], m))

    def lowest_tenth(self) -> Estimate:
        """CVaR10: mean of the lowest ceil(H / 10) harnesses."""
        return UNKNOWN if self.mu_IH is None else self._estimate(lowest_tenth(self.mu_IH))

    def quantile(self, probability: float) -> Estimate:
        """Quantile over the tested harnesses."""
        return UNKNOWN if self.mu_IH is None else self._estimate(np.quantile(self.mu_IH, probability, axis=1))


def posterior(
    mean_TH: Array, rng: np.random.Generator, groups: Groups | None = None, sampling: Sampling | None = None
) -> Posterior:
    """Posterior of the columns of a table in which every harness has a judged cell.

    Unknown below 20 tasks: so few tell the model less than its prior does. No limits below five groups of tasks.
    """
    usable = mean_TH.size > 0 and len(mean_TH) >= MIN_TASKS_FOR_INTERVALS
    summary = logit_summary(mean_TH, groups) if usable else None
    mu_IH = None if summary is None else posterior_draws(summary, rng, sampling)
    return Posterior(mu_IH, enough(np.ones(len(mean_TH), dtype=bool), groups))


def chance_of_drop(before_T2: Array, after_T2: Array, rng: np.random.Generator, by: float = 0.2) -> Array:
    """For each task the posterior chance that its pass rate fell by more than `by`; Beta(1/2, 1/2) prior.

    Columns of both arrays: passes, fails.
    """
    draws = (rng.beta(counts[:, 0] + 0.5, counts[:, 1] + 0.5, (4_000, len(counts))) for counts in (before_T2, after_T2))
    before_BT, after_BT = draws
    return np.asarray((after_BT < before_BT - by).mean(axis=0))

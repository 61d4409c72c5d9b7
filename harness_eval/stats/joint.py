"""The posterior of two runs of the same tasks on the same harnesses together.

Both runs met the same tasks. The luck of the draw of tasks is therefore nearly the same in both, and so is, in part,
what a task does to one harness by itself. Each run has the model of `worst`; their noise is correlated as the tasks
show it to be, so that what both share cancels from every difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .cells import AdditiveFit, additive_fit
from .estimate import Array
from .worst import CLUSTERS, Gibbs, LogitSummary, Sampling, logit_summary, prior_scale

_MOST_SHARED = 0.95  # identical runs would leave the sampler nothing to move in


@dataclass(frozen=True, slots=True)
class Shared:
    """What two runs have in common: the correlation of the noise of a cell, the covariance (logits) of task luck."""

    own: float
    common: float


def shared_noise(before: AdditiveFit, after: AdditiveFit) -> Shared:
    """Estimate both from the tasks; the two fits are of the same cells.

    With D_th the influence of task t on the logit of harness h in either run, split into its mean over harnesses and
    the rest E_th: the correlation of E over all cells (nothing below 0 is credited), and the covariance of the means
    over tasks, less what E adds to it, divided by the number of tasks.
    """
    common_T, own_TH = _influence(before)
    common_of_after_T, own_of_after_TH = _influence(after)
    square, square_of_after = float((own_TH**2).sum()), float((own_of_after_TH**2).sum())
    product = float((own_TH * own_of_after_TH).sum())
    own = product / (square * square_of_after) ** 0.5 if square * square_of_after > 0 else 0.0
    tasks, cells_T = len(common_T), before.present_TH.sum(axis=1)
    freedom = max(1, int(cells_T.sum()) - tasks - before.present_TH.shape[1] + 1)
    covariance = float(np.cov(common_T, common_of_after_T)[0, 1]) - product / freedom * float((1 / cells_T).mean())
    return Shared(min(max(own, 0.0), _MOST_SHARED), covariance / tasks)


def _influence(fit: AdditiveFit) -> tuple[Array, Array]:
    """How far each task moves the logits of all harnesses alike, and of each by itself (0 where a cell is missing)."""
    tasks_H, present_TH = fit.present_TH.sum(axis=0), fit.present_TH
    raw_H = np.clip(fit.harness_H, 0.0, 1.0)
    shrunk_H = (tasks_H * raw_H + 0.5) / (tasks_H + 1)
    influence_TH = np.where(present_TH, (fit.filled_TH - raw_H) / (shrunk_H * (1 - shrunk_H)), 0.0)
    common_T = influence_TH.sum(axis=1) / present_TH.sum(axis=1)
    return common_T, np.where(present_TH, influence_TH - common_T[:, None], 0.0)


def joint_posterior(before_TH: Array, after_TH: Array, rng: np.random.Generator) -> tuple[Array, Array] | None:
    """Draws (I x H each) of the scores of two runs that have the same cells; draw i of one belongs to i of the other.

    None with fewer than two tasks.
    """
    before, after = logit_summary(before_TH), logit_summary(after_TH)
    if before is None or after is None:
        return None
    shared = shared_noise(additive_fit(before_TH), additive_fit(after_TH))
    theta_IH, theta_of_after_IH = _true_logits(before, after, shared.own, rng)
    limit = _MOST_SHARED * (before.common * after.common) ** 0.5
    covariance = min(max(shared.common, -limit), limit)
    luck_I2 = rng.multivariate_normal(
        np.zeros(2), [[before.common, covariance], [covariance, after.common]], size=len(theta_IH)
    )
    return _scores(theta_IH, luck_I2[:, :1]), _scores(theta_of_after_IH, luck_I2[:, 1:])


def _scores(theta_IH: Array, luck_I1: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(luck_I1 - theta_IH)))


def _true_logits(
    before: LogitSummary, after: LogitSummary, correlation: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Gibbs sampling of both mixtures, each given the noise that the other leaves for it to be explained by.

    l | l', theta' ~ N(theta + r (s / s') (l' - theta'), s^2 (1 - r^2)) for the two logits of one harness.
    """
    sampling = Sampling()
    sides = [_Side(one, correlation, sampling.chains, rng) for one in (before, after)]
    kept: tuple[list[Array], list[Array]] = ([], [])
    for sweep in range(sampling.burn_in + sampling.kept):
        for mine, other in ((0, 1), (1, 0)):
            sides[mine].sweep(correlation * sides[other].noise)
            if sweep >= sampling.burn_in:
                kept[mine].append(sides[mine].theta_CH)
    return np.concatenate(kept[0]), np.concatenate(kept[1])


class _Side:
    """The chains of one of the two runs; `theta_CH` are the true logits as they stand now."""

    def __init__(self, summary: LogitSummary, correlation: float, chains: int, rng: np.random.Generator) -> None:
        self._summary, self._rng = summary, rng
        self._deviation_H = summary.variance_H**0.5
        logit_CH = np.tile(summary.logit_H, (chains, 1))
        precision_CH = np.broadcast_to(1 / (summary.variance_H * (1 - correlation**2)), logit_CH.shape)
        centre_C1 = np.full((chains, 1), float(np.median(summary.logit_H)))
        self._gibbs = Gibbs(logit_CH, precision_CH, centre_C1, np.full((chains, 1), prior_scale(summary) ** -2))
        shape = (chains, CLUSTERS)
        self._state = rng.choice(summary.logit_H, size=shape), np.full(shape, 1 / CLUSTERS)
        self.theta_CH = logit_CH

    @property
    def noise(self) -> Array:
        """The noise of each chain, in standard deviations, as it stands now."""
        return (self._summary.logit_H - self.theta_CH) / self._deviation_H

    def sweep(self, expected_CH: Array) -> None:
        """Draw all unknowns once, with so much noise expected (standard deviations)."""
        gibbs = replace(self._gibbs, logit_CH=self._summary.logit_H - expected_CH * self._deviation_H)
        member_CH = gibbs.members(*self._state, self._rng)
        self._state = gibbs.clusters(member_CH, self._rng)
        self.theta_CH = np.take_along_axis(self._state[0], member_CH, axis=1)

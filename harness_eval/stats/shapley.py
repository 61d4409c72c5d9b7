"""Attribution of the worst drop: which of the changes between canonical and the worst harness costs how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .cells import AdditiveFit, additive_fit, judged_tasks
from .effects import holm
from .estimate import MIN_TASKS_FOR_INTERVALS, UNKNOWN, Array, Estimate, Mask
from .intervals import score_interval, t_quantile
from .paired import plus_two


@dataclass(frozen=True, slots=True)
class Places:
    """Columns of a table of cell means. `added` and `reverted` have one a change, and may name one column twice:
    of a single change the added one is the worst itself, of two changes one added is the other one reverted.
    """

    canonical: int
    worst: int
    added: Sequence[int]  # canonical with this change alone
    reverted: Sequence[int]  # the worst with this change undone


@dataclass(frozen=True, slots=True)
class Attribution:
    """Shapley value of each change (negative: it costs), what pairs of changes do together, and what is left over.

    `canonical`, `worst` and `drop` (worst - canonical) are of the same tasks. Values and `residual` sum to `drop`
    exactly as long as every harness has a judged cell.
    """

    shapley: tuple[Estimate, ...]
    p_adjusted: tuple[float | None, ...]  # of "this change costs nothing", Holm over the changes
    interaction: tuple[Estimate, ...]  # (effect when reverted from the worst) - (effect when added to canonical)
    residual: Estimate  # of three-way and higher interactions; zero by construction below three changes
    canonical: Estimate
    worst: Estimate
    drop: Estimate
    tasks: int  # with a judged trial


def attribute(mean_TH: Array, places: Places) -> Attribution:
    """Shapley values from 2 k harnesses: phi_i = ((mu_can+i - mu_can) + (mu_worst - mu_worst-i)) / 2.

    mean_TH: cell means of tasks and harnesses, NaN where nothing was judged. Exact when no three changes interact;
    `residual` tests that. Each contrast is taken within tasks (paired t, +2 rule); missing cells are filled by the
    additive fit, and the errors widened by the share that was filled. Limits and p values are None below 20 tasks that
    have every value of a contrast; what needs a harness without any judged cell is unknown.
    """
    table = _Table(mean_TH)
    weight_CH = _weights(mean_TH.shape[1], places)
    changes = len(places.added)
    values, p_values = zip(*(table.contrast(weight_H) for weight_H in weight_CH), strict=True)
    return Attribution(
        shapley=values[:changes],
        p_adjusted=tuple(holm(p_values[:changes])),
        interaction=values[changes : 2 * changes],
        residual=values[-2],
        canonical=table.score(places.canonical),
        worst=table.score(places.worst),
        drop=values[-1],
        tasks=table.tasks,
    )


def _weights(harnesses: int, places: Places) -> Array:
    """One row a contrast: the values of the changes, their interactions, the residual, the whole drop."""
    unit_HH = np.eye(harnesses)
    canonical_H, worst_H = unit_HH[places.canonical], unit_HH[places.worst]
    alone_KH = unit_HH[list(places.added)] - canonical_H
    last_KH = worst_H - unit_HH[list(places.reverted)]
    shapley_KH, drop_H = (alone_KH + last_KH) / 2, worst_H - canonical_H
    return np.concatenate([shapley_KH, last_KH - alone_KH, [drop_H - shapley_KH.sum(axis=0)], [drop_H]])


class _Table:
    """Cells with the missing ones filled in, and contrasts of their columns."""

    def __init__(self, mean_TH: Array) -> None:
        self.known_H: Mask = np.asarray(~np.isnan(mean_TH).all(axis=0))
        self.tasks = int(judged_tasks(mean_TH).sum())
        self.fit: AdditiveFit | None = additive_fit(mean_TH[:, self.known_H]) if self.tasks else None

    def contrast(self, weight_H: Array) -> tuple[Estimate, float | None]:
        """A weighted sum of harness means with its limits and p; the pseudo-tasks weigh the same noise in each cell."""
        if not weight_H.any():
            return Estimate(0.0), None
        if self.fit is None or weight_H[~self.known_H].any():
            return UNKNOWN, None
        weight_H = weight_H[self.known_H]
        used = weight_H != 0
        mean = float(self.fit.harness_H @ weight_H)
        if int(self.fit.present_TH[:, used].all(axis=1).sum()) < MIN_TASKS_FOR_INTERVALS:
            return Estimate(mean), None
        size = float((weight_H**2).sum())
        around = plus_two(self.fit.filled_TH @ weight_H, (size / 2) ** 0.5)
        filled = float(weight_H**2 @ (1 - self.fit.present_TH.mean(axis=0))) / size
        return _limits(mean, around.mean, around.error / (1 - filled), self.tasks + 1)

    def score(self, harness: int) -> Estimate:
        """The mean of one harness with Wilson limits."""
        if self.fit is None or not self.known_H[harness]:
            return UNKNOWN
        at = int(self.known_H[:harness].sum())
        value_T, tasks = self.fit.filled_TH[:, at], float(self.fit.effective_H[at])
        error = float(value_T.std(ddof=1)) / tasks**0.5 if len(value_T) > 1 else 0.0
        judged = int(self.fit.present_TH[:, at].sum())
        return score_interval(float(self.fit.harness_H[at]), error, judged)


def _limits(mean: float, centre: float, error: float, freedom: int) -> tuple[Estimate, float]:
    """Limits around the +2 centre that hold the plain mean, and the two-sided p of zero."""
    from scipy import special  # lazy: slow import

    reach = t_quantile(0.975, freedom) * error
    p = 2 * float(special.stdtr(freedom, -abs(centre) / error))
    return Estimate(mean, min(mean, centre - reach), max(mean, centre + reach)), p

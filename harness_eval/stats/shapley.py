"""Attribution of the worst drop: which of the changes between canonical and the worst harness costs how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .estimate import MIN_TASKS_FOR_INTERVALS, Array, Estimate
from .paired import plus_two


@dataclass(frozen=True, slots=True)
class Attribution:
    """Shapley value of each change (negative: it costs), what pairs of changes do together, and what is left over."""

    shapley: tuple[Estimate, ...]
    interaction: tuple[Estimate, ...]  # (effect when reverted from the worst) - (effect when added to canonical)
    residual: Estimate  # of three-way and higher interactions; zero without them


def attribute(canonical_T: Array, worst_T: Array, added_TK: Array, reverted_TK: Array) -> Attribution:
    """Shapley values from 2 k harnesses: phi_i = ((mu_can+i - mu_can) + (mu_worst - mu_worst-i)) / 2, per task.

    added_TK: canonical with change i alone; reverted_TK: the worst harness with change i undone. Exact when no three
    changes interact; `residual` tests that. Only tasks with every value are used; limits (paired t, +2 rule) are
    None below 20 such tasks. Raises ValueError without any.
    """
    table = np.column_stack([canonical_T, worst_T, added_TK, reverted_TK])
    table = table[~np.isnan(table).any(axis=1)]
    if len(table) == 0:
        raise ValueError("no task was judged on every harness of the attribution")
    changes = added_TK.shape[1]
    canonical_T1, worst_T1 = table[:, :1], table[:, 1:2]
    alone_TK = table[:, 2 : 2 + changes] - canonical_T1
    last_TK = worst_T1 - table[:, 2 + changes :]
    shapley_TK = (alone_TK + last_TK) / 2
    residual_T = shapley_TK.sum(axis=1) - (worst_T1 - canonical_T1)[:, 0]
    return Attribution(
        tuple(_paired(column_T, 0.5**0.5) for column_T in shapley_TK.T),
        tuple(_paired(column_T, 2**0.5) for column_T in (last_TK - alone_TK).T),
        _paired(residual_T, (changes / 4 + (changes / 2 - 1) ** 2) ** 0.5),
    )


def _paired(value_T: Array, scale: float) -> Estimate:
    mean = float(value_T.mean())
    if len(value_T) < MIN_TASKS_FOR_INTERVALS:
        return Estimate(mean)
    around = plus_two(value_T, scale)
    return Estimate(mean, min(mean, around.low), max(mean, around.high))

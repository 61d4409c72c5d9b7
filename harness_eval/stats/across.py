"""Summaries across harnesses: of posterior draws (WORST@m, CVaR, quantiles) and of tasks (pass^k)."""

from __future__ import annotations

from math import ceil, comb, log

import numpy as np

from .estimate import Array, Estimate
from .groups import Groups
from .intervals import mean_over_tasks


def worst_at(mu_IH: Array, m: int) -> Array:
    """Expected minimum of m harnesses drawn without replacement, one value a draw.

    sum_i x_(i) C(H - i, m - 1) / C(H, m). Comparable between reports with different numbers of harnesses.
    Raises ValueError when there are fewer than m.
    """
    harnesses = mu_IH.shape[1]
    if not 1 <= m <= harnesses:
        raise ValueError(f"cannot draw {m} of {harnesses} harnesses")
    weight_H = np.array([comb(harnesses - i, m - 1) / comb(harnesses, m) for i in range(1, harnesses + 1)])
    return np.asarray(np.sort(mu_IH, axis=1) @ weight_H)


def lowest_tenth(mu_IH: Array) -> Array:
    """CVaR10, one value a draw: the mean of the lowest ceil(H / 10) harnesses."""
    lowest = ceil(mu_IH.shape[1] / 10)
    return np.asarray(np.sort(mu_IH, axis=1)[:, :lowest].mean(axis=1))


def pass_power(mean_TH: Array, k: int) -> Array:
    """For each task the chance that k different judged harnesses all pass it; NaN where fewer than k judged it.

    The elementary symmetric mean of the cell means, which for outcomes 0 and 1 is C(s_t, k) / C(H_t, k).
    """
    return _symmetric_means(mean_TH, k)[:, k]


def pass_at(mean_TH: Array, k: int) -> Array:
    """For each task the chance that at least one of k different judged harnesses passes it; NaN: fewer judged."""
    return np.asarray(1 - pass_power(1 - mean_TH, k))


def _symmetric_means(mean_TH: Array, most: int) -> Array:
    """Mean over all sets of k harnesses of the product of their cell means, for k = 0..most; NaN without such a set."""
    tasks = len(mean_TH)
    mean_TK = np.zeros((tasks, most + 1))
    mean_TK[:, 0] = 1.0
    order_K = np.arange(1, most + 1)
    judged_T = np.zeros(tasks)
    for value_T in mean_TH.T:
        present_T = ~np.isnan(value_T)
        judged_T = judged_T + present_T
        share_TK = np.minimum(order_K / np.maximum(judged_T, 1)[:, None], 1.0)
        joined_TK = (1 - share_TK) * mean_TK[:, 1:] + share_TK * np.nan_to_num(value_T)[:, None] * mean_TK[:, :-1]
        mean_TK[:, 1:] = np.where(present_T[:, None], joined_TK, mean_TK[:, 1:])
    return np.where(np.arange(most + 1) <= judged_T[:, None], mean_TK, np.nan)


def pass_powers(mean_TH: Array, groups: Groups | None = None) -> dict[int, Estimate]:
    """pass^k across harnesses for k = 1, 2, 4, .... Not a worst case: it averages over tasks, not harnesses."""
    ks = [2**i for i in range(mean_TH.shape[1].bit_length())]
    mean_TK = _symmetric_means(mean_TH, max(ks, default=0))
    return {k: mean_over_tasks(mean_TK[:, k], groups) for k in ks}


def solved_by_every(mean_TH: Array) -> float | None:
    """Share of tasks that every harness that judged them passes; with repeats, the chance of it."""
    return _share(np.where(np.isnan(mean_TH), 1.0, mean_TH), mean_TH)


def solved_by_none(mean_TH: Array) -> float | None:
    """Share of tasks that no harness passes; with repeats, the chance of it."""
    return _share(1 - np.where(np.isnan(mean_TH), 0.0, mean_TH), mean_TH)


def _share(factor_TH: Array, mean_TH: Array) -> float | None:
    judged_T = ~np.isnan(mean_TH).all(axis=1)
    return float(factor_TH[judged_T].prod(axis=1).mean()) if judged_T.any() else None


def expected_minimum(count: int) -> float:
    """Expected minimum of this many standard normal values: how far a raw minimum lies low when nothing differs."""
    from scipy import special  # lazy: slow import

    value_N = np.linspace(-10, 10, 4_001)
    density_N = np.exp(-0.5 * value_N**2) / np.sqrt(2 * np.pi)
    return float(
        (value_N * count * density_N * special.ndtr(-value_N) ** (count - 1)).sum() * (value_N[1] - value_N[0])
    )


def wilks_harnesses(confidence: float, share: float) -> int:
    """Random harnesses that must be tested to say: this share of the family is no worse than the worst of them."""
    return ceil(log(1 - confidence) / log(share))


def wilks_confidence(harnesses: int, share: float) -> float:
    """Confidence that this share of the family is no worse than the worst of so many harnesses drawn at random."""
    return float(1 - share**harnesses)

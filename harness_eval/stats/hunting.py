"""Hunting for the worst harness: sequential halving on blocks of tasks, and what its results predict.

After each block the better half of the harnesses that still stand is dropped (Karnin, Koren and Somekh 2013). All that
stand have met the same tasks, so that the comparison is paired and task luck cancels.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from .cells import additive_fit, judged_columns
from .estimate import Array, Mask

LEAST_BLOCK = 20  # tasks; on fewer, which half a harness falls into is mostly luck
_MOST_GROWTH = 1.7  # simulated best of 1.4 to 2.4: at 2 all blocks cost the same, but the canonical harness most

_SPREADS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)  # standard deviations that are tried, on the scale of scores


def block_ends(tasks: int, harnesses: int) -> tuple[int, ...]:
    """The number of tasks at which each block ends; the last is `tasks`.

    There are as many blocks as such a number of harnesses can be halved, of 20 tasks at least. Each is longer than the
    one before by the same factor, up to 1.7: the longest list that is given is spent on what is hardest to tell apart.
    """
    blocks = max(1, min((harnesses - 1).bit_length() if harnesses else 0, tasks // LEAST_BLOCK))
    low, high = 1.0, _MOST_GROWTH
    for _ in range(50):
        growth = (low + high) / 2
        fits = LEAST_BLOCK * float((growth ** np.arange(blocks)).sum()) <= tasks
        low, high = (growth, high) if fits else (low, growth)
    share_B = np.cumsum(low ** np.arange(blocks))
    return tuple(round(float(tasks * share / share_B[-1])) for share in share_B)


def worse_half(mean_TH: Array, standing: Sequence[int]) -> tuple[int, ...]:
    """The lower half of the columns that still stand, a middle one too, by the additive fit on the tasks so far.

    NaN: a cell without a verdict. A column of nothing else is dropped, as nothing can be said of it, unless all are so.
    Of equal ones those stay that come first.
    """
    judged = [standing[at] for at in judged_columns(mean_TH[:, list(standing)])]
    if not judged:
        return tuple(standing)
    score_H = additive_fit(mean_TH[:, judged]).harness_H
    kept = np.argsort(score_H, kind="stable")[: (len(judged) + 1) // 2]
    return tuple(judged[at] for at in sorted(kept))


def trials(ends: Sequence[int], harnesses: int) -> int:
    """How many cells a hunt among so many harnesses runs, where none is lost; the canonical one is not among them."""
    total, start = 0, 0
    for end in ends:
        total += (end - start) * harnesses
        start, harnesses = end, (harnesses + 1) // 2
    return total


def predicted_effects(has_HL: Mask, drop_H: Array, variance_H: Array) -> Array:
    """What each level adds to a harness's score, shrunk for prediction: one number a level, also where levels overlap.

    drop_H are scores less that of the harness without any of these levels, known up to variance_H. Effects are taken
    as draws of N(0, s^2) and what is peculiar to a harness as one of N(0, t^2); s and t are the most likely ones
    (empirical Bayes). A hunt leaves too few harnesses, unevenly known, for least squares to separate every level.
    """
    shared_HH = has_HL.astype(np.float64) @ has_HL.T
    best = -np.inf
    effect_L: Array = np.zeros(has_HL.shape[1])
    for effect_sd, own_sd in itertools.product(_SPREADS, _SPREADS):
        covariance_HH = effect_sd**2 * shared_HH + np.diag(variance_H + own_sd**2)
        solved_H = np.linalg.solve(covariance_HH, drop_H)
        likelihood = -float(np.linalg.slogdet(covariance_HH)[1]) - float(drop_H @ solved_H)
        if likelihood > best:
            best, effect_L = likelihood, np.asarray(effect_sd**2 * (has_HL.T @ solved_H))
    return effect_L

"""Hunting for the worst harness: sequential halving on blocks of tasks.

After each block the better half of the harnesses that still stand is dropped (Karnin, Koren and Somekh 2013). All that
stand have met the same tasks, so that the comparison is paired and task luck cancels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .cells import additive_fit, judged_columns
from .estimate import Array

LEAST_BLOCK = 20  # tasks; on fewer, which half a harness falls into is mostly luck
_MOST_GROWTH = 1.7  # simulated best of 1.4 to 2.4: at 2 all blocks cost the same, but the canonical harness most


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

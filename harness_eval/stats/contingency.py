"""Tests on counts of passes: two harnesses, or many, on the same tasks with one repeat or several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .estimate import Array


@dataclass(frozen=True, slots=True)
class Test:
    """A statistic with its p value."""

    statistic: float
    p: float


def mcnemar(worse: int, better: int) -> Test:
    """Exact two-sided McNemar test of discordant pairs; the statistic is the smaller count."""
    from statsmodels.stats.contingency_tables import mcnemar as exact  # lazy: slow import

    found = exact(np.array([[0, worse], [better, 0]]), exact=True)
    return Test(float(found.statistic), float(found.pvalue))


def mcnemar_mid_p(worse: int, better: int) -> float:
    """Mid-p value of McNemar's test, for display: the exact p less the probability of the counts themselves."""
    from scipy import stats  # lazy: slow import

    if worse == better:
        return 1.0
    return mcnemar(worse, better).p - float(stats.binom.pmf(min(worse, better), worse + better, 0.5))


def cochran_q(passed_TH: Array) -> Test | None:
    """Cochran's Q of "all harnesses are equal" for outcomes 0 and 1; None when every task is all alike."""
    from statsmodels.stats.contingency_tables import cochrans_q  # lazy: slow import

    total_T = passed_TH.sum(axis=1)
    if np.all((total_T == 0) | (total_T == passed_TH.shape[1])):
        return None
    found = cochrans_q(passed_TH)
    return Test(float(found.statistic), float(found.pvalue))


def cochran_mantel_haenszel(counts_22T: Array) -> Test:
    """Test of "no task changed" for two harnesses with repeats, from a 2 x 2 table a task; no continuity correction."""
    from statsmodels.stats.contingency_tables import StratifiedTable  # lazy: slow import

    found = StratifiedTable(counts_22T).test_null_odds(correction=False)
    return Test(float(found.statistic), float(found.pvalue))


def cochran_mantel_haenszel_exact(counts_22T: Array) -> float:
    """p of the same hypothesis without approximation: the chance, given all margins, of a total no likelier than this.

    The total is of the first cells; each of them is hypergeometric when no task changed.
    """
    from scipy import stats  # lazy: slow import

    chance_N, lowest = np.ones(1), 0
    for table_22 in counts_22T.transpose(2, 0, 1).astype(np.int64):
        row, column, total = int(table_22[0].sum()), int(table_22[:, 0].sum()), int(table_22.sum())
        first = max(0, row + column - total)
        possible_N = np.arange(first, min(row, column) + 1)
        chance_N = np.convolve(chance_N, stats.hypergeom.pmf(possible_N, total, row, column))
        lowest += first
    seen = chance_N[round(float(counts_22T[0, 0].sum())) - lowest]
    return min(1.0, float(chance_N[chance_N <= seen * (1 + 1e-7)].sum()))

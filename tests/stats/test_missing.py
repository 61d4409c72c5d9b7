from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.cells import Cells, cell_means
from harness_eval.stats.estimate import Array
from harness_eval.stats.missing import equal_rates, lost_trials
from tests.stats.tables import coin_flips


def cells_with(lost_TH: Array, table: Array) -> Cells:
    return cell_means(table[:, :, None], lost_TH[:, :, None] == 0)


def test_rates_are_counted_for_each_harness() -> None:
    lost = np.zeros((40, 3))
    lost[:10, 1] = 1
    found = lost_trials(cells_with(lost, coin_flips(0, (40, 3))), 0.5, np.random.default_rng(0))
    assert (found.planned, found.judged, found.lost) == (120, 110, 10)
    assert found.rates == (0, 0.25, 0)
    assert found.rate == pytest.approx(10 / 120)


def test_one_harness_that_loses_everything_is_flagged_as_uneven() -> None:
    lost = np.zeros((40, 3))
    lost[:10, 1] = 1
    found = lost_trials(cells_with(lost, coin_flips(0, (40, 3))), 0.5, np.random.default_rng(0))
    assert found.flagged
    assert found.p_equal is not None
    assert found.p_equal < 0.01


def test_even_losses_are_not_flagged() -> None:
    lost = np.zeros((100, 3))
    lost[:2] = 1
    found = lost_trials(cells_with(lost, coin_flips(0, (100, 3))), 0.5, np.random.default_rng(0))
    assert not found.flagged
    assert found.p_equal == 1


def test_the_permutation_p_value_is_near_chi_square_for_large_counts() -> None:
    lost, planned = np.array([30, 45, 40]), np.array([500, 500, 500])
    expected = lost.sum() / 3
    statistic = ((lost - expected) ** 2 / expected).sum() / (1 - lost.sum() / 1500)
    found = equal_rates(lost, planned, np.random.default_rng(0))
    assert found == pytest.approx(float(np.exp(-statistic / 2)), abs=0.03)


def test_harnesses_with_nothing_planned_do_not_count() -> None:
    assert equal_rates(np.array([0, 3]), np.array([0, 10]), np.random.default_rng(0)) == 1


def test_without_losses_there_is_nothing_to_test_and_worst_stands() -> None:
    found = lost_trials(cells_with(np.zeros((30, 3)), coin_flips(0, (30, 3))), 0.42, np.random.default_rng(0))
    assert found.p_equal is None
    assert (found.worst_if_failed, found.worst_if_passed) == (0.42, 0.42)


def test_lost_trials_bound_the_worst() -> None:
    table, lost = coin_flips(1, (60, 6), 0.7), np.zeros((60, 6))
    lost[:12, 4] = 1
    found = lost_trials(cells_with(lost, table), None, np.random.default_rng(0))
    assert found.worst_if_failed is not None
    assert found.worst_if_passed is not None
    assert found.worst_if_failed < found.worst_if_passed


def test_nothing_planned_gives_no_rate() -> None:
    cells = cell_means(np.full((3, 2, 1), np.nan), np.zeros((3, 2, 1), dtype=bool))
    found = lost_trials(cells, None, np.random.default_rng(0))
    assert found.rate is None
    assert found.rates == (None, None)

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from harness_eval.stats.across import (
    expected_minimum,
    lowest_tenth,
    pass_at,
    pass_power,
    pass_powers,
    solved_by_every,
    solved_by_none,
    wilks_harnesses,
    worst_at,
)
from tests.stats.tables import coin_flips


def test_expected_minimum_of_two_of_four_harnesses() -> None:
    assert worst_at(np.array([[0.9, 0.2, 0.6, 0.5]]), 2)[0] == pytest.approx(0.366666667)


def test_the_expected_minimum_of_all_harnesses_is_the_minimum_and_of_one_the_mean() -> None:
    draws = np.random.default_rng(0).random((10, 7))
    np.testing.assert_allclose(worst_at(draws, 7), draws.min(axis=1))
    np.testing.assert_allclose(worst_at(draws, 1), draws.mean(axis=1))


def test_more_harnesses_cannot_be_drawn_than_there_are() -> None:
    with pytest.raises(ValueError, match="cannot draw 8 of 7"):
        worst_at(np.ones((2, 7)), 8)


def test_the_lowest_tenth_is_rounded_up() -> None:
    assert lowest_tenth(np.arange(11.0)[None, :])[0] == 0.5
    assert lowest_tenth(np.arange(10.0)[None, :])[0] == 0.0


def test_pass_power_of_six_passes_in_eight() -> None:
    assert pass_power(np.array([[1.0] * 6 + [0.0] * 2]), 2)[0] == pytest.approx(15 / 28)


def test_pass_at_two_of_six_passes_in_eight() -> None:
    assert pass_at(np.array([[1.0] * 6 + [0.0] * 2]), 2)[0] == pytest.approx(0.964285714)
    assert np.isnan(pass_at(np.array([[1.0, np.nan]]), 2)[0])


def test_pass_power_of_outcomes_is_the_ratio_of_binomials() -> None:
    table = coin_flips(1, (20, 9))
    expected = [comb(int(s), 4) / comb(9, 4) for s in table.sum(axis=1)]
    np.testing.assert_allclose(pass_power(table, 4), expected, atol=1e-12)


def test_pass_power_of_rates_is_the_average_over_all_sets() -> None:
    assert pass_power(np.array([[0.5, 1.0, 0.2]]), 2)[0] == pytest.approx((0.5 + 0.1 + 0.2) / 3)


def test_pass_power_counts_only_harnesses_that_judged_the_task() -> None:
    assert pass_power(np.array([[1.0, np.nan, 1.0]]), 2)[0] == 1
    assert np.isnan(pass_power(np.array([[1.0, np.nan, 1.0]]), 3)[0])


def test_pass_powers_come_for_powers_of_two() -> None:
    found = pass_powers(coin_flips(0, (30, 18)))
    assert list(found) == [1, 2, 4, 8, 16]
    assert found[1].estimate is not None
    assert found[16].estimate is not None
    assert found[16].estimate < found[1].estimate


def test_tasks_solved_by_every_and_by_no_harness() -> None:
    table = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [np.nan, 1.0], [np.nan, np.nan]])
    assert solved_by_every(table) == 0.5
    assert solved_by_none(table) == 0.25
    assert solved_by_every(np.full((2, 2), np.nan)) is None


@pytest.mark.parametrize(
    ("share", "harnesses", "confidence"), [(0.95, 59, 0.951505474751), (0.90, 29, 1 - 0.9**29), (0.80, 14, 1 - 0.8**14)]
)
def test_wilks_sample_sizes(share: float, harnesses: int, confidence: float) -> None:
    assert wilks_harnesses(0.95, share) == harnesses
    assert 1 - share**harnesses == pytest.approx(confidence)
    assert confidence >= 0.95 > 1 - share ** (harnesses - 1)


@pytest.mark.parametrize(("count", "minimum"), [(8, -1.423600), (16, -1.765991), (32, -2.069669), (64, -2.343733)])
def test_expected_minimum_of_normal_values(count: int, minimum: float) -> None:
    assert expected_minimum(count) == pytest.approx(minimum, abs=1e-6)

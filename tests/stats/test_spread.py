from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness_eval.stats.contingency import cochran_q
from harness_eval.stats.groups import Groups
from harness_eval.stats.spread import (
    anova,
    jackknife_interval,
    mean_of_family,
    mean_of_tested,
    minimum_bias,
    noncentral_interval,
    spread,
)
from tests.stats.tables import REFERENCE, coin_flips, study


def test_analysis_of_variance_of_the_reference_table() -> None:
    found = anova(REFERENCE)
    assert found is not None
    assert found.ms_task == pytest.approx(0.4510416667)
    assert found.ms_harness == pytest.approx(0.4411458333)
    assert found.ms_error == pytest.approx(0.0189867424)
    assert found.error_freedom == 44
    assert found.f == pytest.approx(23.2344139651)
    assert found.p_harness == pytest.approx(2.2631e-10, rel=1e-4)


def test_net_spread_equals_the_mixed_model() -> None:
    found = anova(REFERENCE)
    assert found is not None
    assert (found.ms_task - found.ms_error) / 5 == pytest.approx(0.0864110, abs=1e-7)
    net = spread(REFERENCE).net.estimate
    assert net == pytest.approx(0.187563121)
    assert net**2 == pytest.approx(0.0351799, abs=1e-7)


def test_noncentral_interval_of_the_reference_table() -> None:
    table = anova(REFERENCE)
    assert table is not None
    found = noncentral_interval(table)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.1313086, 0.2444274), abs=1e-6)
    assert (found.lambda_low, found.lambda_high) == pytest.approx((43.58903896, 151.0395078), rel=1e-5)


def test_the_noncentral_interval_exists_where_harnesses_differ_enormously() -> None:
    tables = (study(np.append(np.full(15, 2.0), -6.0), 50, seed) for seed in range(5))
    for table in (anova(table) for table in tables):
        assert table is not None
        found = noncentral_interval(table)
        assert found is not None
        assert 0 < found.lambda_low < table.ms_harness / table.ms_error * 15 < found.lambda_high


def test_jackknife_interval_of_the_reference_table() -> None:
    found = jackknife_interval(0.187563121**2, REFERENCE)
    assert found.limits == pytest.approx((0.1016590, 0.2450006), abs=5e-8)
    assert found.high is not None
    assert (found.high**2 - 0.187563121**2) / stats.t.ppf(0.975, 11) == pytest.approx(0.0112882959, abs=5e-9)


def test_the_family_mean_has_the_standard_error_of_the_mixed_model() -> None:
    doubled = np.vstack([REFERENCE, REFERENCE])
    table = anova(doubled)
    assert table is not None
    reference = anova(REFERENCE)
    assert reference is not None
    error = ((reference.ms_task + reference.ms_harness - reference.ms_error) / 60) ** 0.5
    assert error == pytest.approx(0.1206373, abs=1e-7)
    wide, narrow = mean_of_family(doubled).limits, mean_of_tested(doubled).limits
    assert wide is not None
    assert narrow is not None
    assert wide[0] < narrow[0]
    assert wide[1] > narrow[1]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.permutations(range(5)))
def test_spread_does_not_depend_on_the_order_of_harnesses(seed: int, order: list[int]) -> None:
    table = coin_flips(seed, (30, 5))
    one, other = spread(table), spread(table[:, order])
    assert other.net.estimate == pytest.approx(one.net.estimate, abs=1e-9)
    assert other.raw == pytest.approx(one.raw)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_spread_does_not_depend_on_how_hard_tasks_are(seed: int) -> None:
    table = coin_flips(seed, (30, 5)) * 0.5
    shift = np.random.default_rng(seed).random((30, 1)) * 0.5
    assert spread(table + shift).net.estimate == pytest.approx(spread(table).net.estimate, abs=1e-9)


def test_equal_harnesses_have_little_net_spread_though_raw_spread_is_large() -> None:
    found = [spread(study(np.zeros(16), 50, seed)) for seed in range(30)]
    raw = float(np.mean([s.raw for s in found if s.raw is not None]))
    net = float(np.mean([s.net.estimate for s in found if s.net.estimate is not None]))
    assert raw > 0.04
    assert net < 0.02


def test_for_single_outcomes_the_analysis_of_variance_and_cochrans_test_agree() -> None:
    table = study(np.array([0.0, 0.5, -0.5, 0.2]), 100, 3)
    test = cochran_q(table)
    assert test is not None
    assert spread(table).p_harness == pytest.approx(test.p, abs=0.02)


def test_identical_columns_have_no_spread_and_no_test() -> None:
    found = spread(np.repeat(coin_flips(0, (30, 1)), 4, axis=1))
    assert found.net.estimate == 0
    assert found.net.limits is None
    assert found.reliability is None
    assert found.p_harness is None


@pytest.mark.parametrize("groups", [None, Groups(np.arange(40) % 4)])
def test_with_few_tasks_or_groups_equal_harnesses_are_not_tested(groups: Groups | None) -> None:
    found = spread(coin_flips(0, (19 if groups is None else 40, 6)), groups)
    assert found.p_harness is None
    assert found.net.estimate is not None


def test_one_harness_has_no_spread() -> None:
    found = spread(coin_flips(0, (30, 1)))
    assert found.net.estimate is None
    assert found.raw is None


def test_one_task_has_a_raw_spread_only() -> None:
    found = spread(np.array([[1.0, 0.0, 1.0]]))
    assert found.raw is not None
    assert found.net.estimate is None


def test_missing_cells_at_random_change_the_spread_little() -> None:
    table = study(np.linspace(-1, 1, 12), 200, 5)
    holes = np.where(coin_flips(6, table.shape, 0.1) == 1, np.nan, table)
    whole, partial = spread(table).net.estimate, spread(holes).net.estimate
    assert whole is not None
    assert partial == pytest.approx(whole, abs=0.015)


def test_the_raw_minimum_of_equal_harnesses_lies_low_by_what_is_announced() -> None:
    tables = [study(np.zeros(32), 50, seed) for seed in range(30)]
    announced = float(np.mean([minimum_bias(table) or 0.0 for table in tables]))
    actual = float(np.mean([table.mean(axis=0).min() - table.mean() for table in tables]))
    assert announced == pytest.approx(actual, abs=0.015)

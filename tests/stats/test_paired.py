from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from harness_eval.stats.paired import (
    contrasts,
    multipliers,
    paired_difference,
    paired_t,
    plus_two,
    simultaneous,
    step_down,
    worst_set,
)
from tests.stats.tables import REFERENCE, coin_flips, study


def test_paired_t_of_two_reference_harnesses() -> None:
    found = paired_t(REFERENCE[:, 0] - REFERENCE[:, 3])
    assert found.mean / found.error == pytest.approx(5.38027586849)
    assert found.p == pytest.approx(0.000223260792, abs=1e-11)
    assert (found.low, found.high) == pytest.approx((0.246214970, 0.587118363), abs=1e-8)


@pytest.mark.parametrize("drop", [0.0, 0.06, 0.1])
def test_sign_flips_of_the_differences_agree_with_the_paired_t(drop: float) -> None:
    difference_T = np.random.default_rng(1).normal(-drop, 0.3, 60)
    flipped = stats.permutation_test(
        (difference_T,), np.mean, permutation_type="samples", n_resamples=9_999, rng=np.random.default_rng(0)
    )
    assert flipped.pvalue == pytest.approx(paired_t(difference_T).p, abs=0.02)


def test_plus_two_interval_of_discordant_pairs() -> None:
    found = plus_two(np.repeat([1.0, -1.0, 0.0], [15, 5, 80]))
    assert found.mean == pytest.approx(0.0980392156863)
    assert found.error == pytest.approx(0.0449481822243)
    assert (found.mean - 1.959963985 * found.error, found.mean + 1.959963985 * found.error) == pytest.approx(
        (0.0099423974, 0.1861360340)
    )
    assert (found.low, found.high) == pytest.approx((0.0088741131, 0.1872043183))


def test_plus_two_interval_keeps_a_width_without_any_difference() -> None:
    found = plus_two(np.zeros(20))
    assert (found.low, found.high) == pytest.approx((-0.1336826411, 0.1336826411))


@pytest.mark.parametrize(("count", "critical"), [(2, 2.212), (3, 2.350), (7, 2.613), (15, 2.829)])
def test_the_multiplier_quantile_is_dunnetts_for_normal_differences(count: int, critical: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 0.2, (4_000, count + 1))
    z_BK = contrasts(scores[:, 1:] - scores[:, :1]).replicates(multipliers(4_000, rng))
    assert np.quantile(np.abs(z_BK).max(axis=1), 0.95) == pytest.approx(critical, abs=0.06)


def test_a_difference_alone_is_padded_where_tasks_are_few_or_nearly_all_alike() -> None:
    left, right = coin_flips(0, (250,)), coin_flips(1, (250,), 0.5)
    plain, padded = paired_t(left - right), plus_two(left[:100] - right[:100])
    assert paired_difference(left, right).limits == (plain.low, plain.high)
    assert paired_difference(left[:100], right[:100]).limits == (padded.low, padded.high)
    assert paired_difference(np.ones(250), np.ones(250)).limits == pytest.approx((-0.0111, 0.0111), abs=1e-4)


def test_a_difference_alone_uses_the_tasks_that_have_both_sides() -> None:
    left, right = coin_flips(0, (40,)), coin_flips(1, (40,))
    left[:25] = np.nan
    assert paired_difference(left, right).estimate == pytest.approx((left[25:] - right[25:]).mean())
    assert paired_difference(left, right).limits is None
    assert paired_difference(left, np.full(40, np.nan)).estimate is None


def dunnett_error(critical: float, count: int, freedom: float, sided: int) -> float:
    """Chance that any of so many t statistics with one control exceeds a value: correlation 1/2, by quadrature."""
    control_N, weight_N = np.polynomial.hermite_e.hermegauss(60)
    spread_M = (
        np.ones(1) if np.isinf(freedom) else np.sqrt(stats.chi2.ppf((np.arange(400) + 0.5) / 400, freedom) / freedom)
    )
    reach_MN = 2**0.5 * critical * spread_M[:, None]
    below_MN = special.ndtr(control_N + reach_MN) - (special.ndtr(control_N - reach_MN) if sided == 2 else 0)
    return float(1 - (below_MN**count @ weight_N / weight_N.sum()).mean())


@pytest.mark.parametrize(
    ("count", "freedom", "one_sided", "two_sided"),
    [
        (3, 20, 2.191, 2.539),
        (3, 60, 2.105, 2.411),
        (3, np.inf, 2.062, 2.350),
        (2, np.inf, 1.916, 2.212),
        (5, np.inf, 2.233, 2.513),
        (7, np.inf, 2.341, 2.613),
        (15, np.inf, 2.566, 2.829),
    ],
)
def test_dunnetts_critical_values(count: int, freedom: float, one_sided: float, two_sided: float) -> None:
    for sided, published in ((1, one_sided), (2, two_sided)):
        found = optimize.brentq(lambda c, s=sided: dunnett_error(c, count, freedom, s) - 0.05, 1, 4)
        assert found == pytest.approx(published, abs=0.002)


@pytest.mark.parametrize(("count", "critical"), [(3, 2.062), (7, 2.341)])
def test_one_sided_the_multiplier_quantile_is_dunnetts_too(count: int, critical: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 0.2, (4_000, count + 1))
    z_BK = contrasts(scores[:, 1:] - scores[:, :1]).replicates(multipliers(4_000, rng))
    assert np.quantile(z_BK.max(axis=1), 0.95) == pytest.approx(critical, abs=0.06)


def test_scipys_dunnett_agrees_with_its_documentation() -> None:
    control = [7.40, 8.50, 7.20, 8.24, 9.84, 8.32]
    drug_a, drug_b = [9.76, 8.80, 7.68, 9.36], [12.80, 9.68, 12.16, 9.20, 10.55]
    found = stats.dunnett(drug_a, drug_b, control=control, rng=np.random.default_rng(1))
    assert found.pvalue == pytest.approx([0.6201, 0.0059], abs=5e-4)
    assert found.statistic == pytest.approx([0.857032, 3.693752], abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(order=st.permutations(range(5)), seed=st.integers(0, 1000))
def test_permuting_harnesses_permutes_intervals_and_p_values(order: list[int], seed: int) -> None:
    table = coin_flips(seed, (40, 5)) - coin_flips(seed + 1, (40, 1))
    plain = simultaneous(table, np.random.default_rng(seed))
    permuted = simultaneous(table[:, order], np.random.default_rng(seed))
    for at, harness in enumerate(order):
        assert permuted.difference_K[at].limits == pytest.approx(plain.difference_K[harness].limits)
        assert permuted.p_adjusted_K[at] == pytest.approx(plain.p_adjusted_K[harness])


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000))
def test_what_a_task_does_to_all_harnesses_cancels(seed: int) -> None:
    table = coin_flips(seed, (40, 4)) * 0.5
    shift = np.random.default_rng(seed).random((40, 1)) * 0.5
    one, other = (
        simultaneous(scores[:, 1:] - scores[:, :1], np.random.default_rng(0)) for scores in (table, table + shift)
    )
    for plain, shifted in zip(one.difference_K, other.difference_K, strict=True):
        assert shifted.limits == pytest.approx(plain.limits)


def test_a_copy_of_canonical_has_difference_zero_and_a_width() -> None:
    table = coin_flips(3, (60, 1))
    found = simultaneous(table - table, np.random.default_rng(0)).difference_K[0]
    assert found.estimate == 0
    assert found.low is not None
    assert -0.1 < found.low < -0.02


def test_a_contrast_with_few_pairs_has_a_point_and_no_limits() -> None:
    table = coin_flips(4, (40, 2))
    table[5:, 1] = np.nan
    found = simultaneous(table, np.random.default_rng(0))
    assert found.pairs_K == (40, 5)
    assert found.difference_K[0].limits is not None
    assert found.difference_K[1].limits is None
    assert found.p_adjusted_K[1] is None


def test_a_contrast_without_pairs_is_unknown() -> None:
    found = simultaneous(np.full((40, 1), np.nan), np.random.default_rng(0))
    assert found.difference_K[0].estimate is None


def test_step_down_values_grow_with_less_evidence_and_are_at_most_single_step() -> None:
    reference = np.abs(np.random.default_rng(0).standard_normal((2_000, 4)))
    statistic = np.array([2.0, 3.5, 0.1, 2.4])
    found = step_down(statistic, reference)
    single = np.array([(1 + (reference.max(axis=1) >= s).sum()) / 2_001 for s in statistic])
    assert found[1] < found[3] < found[0] < found[2]
    assert (found <= single + 1e-12).all()
    assert found[1] == single[1]


def test_simultaneous_intervals_hold_together_in_most_studies() -> None:
    held = 0
    for seed in range(100, 160):
        table = study(np.zeros(8), 50, seed)
        found = simultaneous(table[:, 1:] - table[:, :1], np.random.default_rng(seed))
        held += all(d.low <= 0 <= d.high for d in found.difference_K if d.low is not None and d.high is not None)
    assert held >= 53


def test_the_worst_set_is_a_single_clearly_broken_harness() -> None:
    table = study(np.array([1.0, 1.0, -5.0, 1.0, 1.0]), 100, 1)
    assert worst_set(table, np.random.default_rng(0)) == (2,)


def test_the_worst_set_keeps_ties_together() -> None:
    table = study(np.array([2.0, 2.0, 2.0, 2.0]), 100, 1)
    table = np.hstack([table, np.zeros((100, 2))])
    assert worst_set(table, np.random.default_rng(0)) == (4, 5)


def test_the_worst_set_holds_the_worst_in_most_studies() -> None:
    effects = np.array([0.3, 0.0, -0.2, -0.4, 0.2, -0.6])
    held = sum(5 in worst_set(study(effects, 60, seed), np.random.default_rng(seed)) for seed in range(60))
    assert held >= 54


def test_a_lone_harness_is_the_worst_set() -> None:
    assert worst_set(coin_flips(0, (30, 1)), np.random.default_rng(0)) == (0,)

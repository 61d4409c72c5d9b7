from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from harness_eval.stats.cells import additive_fit
from harness_eval.stats.estimate import Array
from harness_eval.stats.worst import (
    LogitSummary,
    Prior,
    Sampling,
    draws_of_tables,
    logit_summary,
    posterior_draws,
    probability_of_worst,
)
from tests.stats.tables import REFERENCE, coin_flips, study

SPECIFIED = Prior(1.0, 1.0)  # alpha and kappa that the reference values were computed with


def specified_draws(summary: LogitSummary, seed: int) -> Array:
    return draws_of_tables([summary], [SPECIFIED], np.random.default_rng(seed), Sampling())[0]


def worst_of(logits: Array, variance: float, common: float = 0.0) -> float:
    """Average of four seeds, so that tolerances are those of the method and not of one seed."""
    summary = LogitSummary(logits, np.full(len(logits), variance), common)
    return float(np.mean([specified_draws(summary, seed).min(axis=1).mean() for seed in range(4)]))


def summary_of(table: Array) -> LogitSummary:
    summary = logit_summary(table)
    assert summary is not None
    return summary


def test_logit_summaries_of_the_reference_table() -> None:
    found = summary_of(REFERENCE)
    np.testing.assert_allclose(found.logit_H, [0.90286771, 0.99852883, 0.31015493, -0.72213472, 1.09861229], atol=1e-8)
    expected = [0.03169057, 0.04470959, 0.01855614, 0.06251770, 0.02163205]
    np.testing.assert_allclose(found.variance_H, expected, atol=1e-8)
    assert found.common == pytest.approx(0.16295413, abs=1e-8)


def test_worst_of_the_reference_table() -> None:
    draws = [specified_draws(summary_of(REFERENCE), seed) for seed in range(8)]
    assert all(mu_IH.shape == (4096, 5) for mu_IH in draws)
    worst_I = np.concatenate([mu_IH.min(axis=1) for mu_IH in draws])
    assert worst_I.mean() == pytest.approx(0.3574, abs=0.005)
    assert np.quantile(worst_I, (0.025, 0.975)) == pytest.approx([0.175, 0.584], abs=0.015)
    assert probability_of_worst(np.concatenate(draws))[3] == pytest.approx(0.986, abs=0.01)


def test_the_shipped_prior_recognises_a_lone_broken_harness_sooner() -> None:
    logits = np.append(np.zeros(31), -0.8)
    summary = LogitSummary(logits, np.full(32, 0.05), 0.0)
    shipped, specified = (
        np.mean([draws(seed).min(axis=1).mean() for seed in range(3)])
        for draws in (
            lambda seed: posterior_draws(summary, np.random.default_rng(seed)),
            lambda seed: specified_draws(summary, seed),
        )
    )
    assert 1 / (1 + np.exp(0.8)) < shipped < specified - 0.01


def test_tables_together_are_what_each_is_alone() -> None:
    one, other = (LogitSummary(np.array(logits), np.full(3, 0.02), 0.0) for logits in ([0, 0, -1.5], [1.0, 0, 0.5]))
    both = draws_of_tables([one, other], [SPECIFIED] * 2, np.random.default_rng(0), Sampling())
    assert both.shape == (2, 4096, 3)
    for mu_IH, alone in zip(both, (one, other), strict=True):
        np.testing.assert_allclose(mu_IH.mean(axis=0), specified_draws(alone, 1).mean(axis=0), atol=0.01)


def test_precise_harnesses_are_not_shrunken() -> None:
    assert worst_of(np.array([0, 0.5, -1, 1, 0.2, 0.1]), 1e-4) == pytest.approx(0.26897, abs=0.001)


def test_equal_harnesses_have_nearly_no_worst() -> None:
    assert worst_of(np.zeros(16), 0.04) == pytest.approx(0.492, abs=0.004)


def test_a_pattern_of_pure_noise_is_recognised_as_noise() -> None:
    logits = 0.2 * special.ndtri((np.arange(1, 17) - 0.375) / 16.25)
    assert 1 / (1 + np.exp(-logits.min())) == pytest.approx(0.41247, abs=1e-4)
    assert worst_of(logits, 0.04) == pytest.approx(0.479, abs=0.006)


def test_identical_columns_have_a_worst_equal_to_the_mean() -> None:
    column = coin_flips(1, (60, 1))
    summary = summary_of(np.repeat(column, 6, axis=1))
    np.testing.assert_array_equal(summary.variance_H, 1e-6)
    mu_IH = posterior_draws(summary, np.random.default_rng(0))
    assert mu_IH.min(axis=1).mean() == pytest.approx(column.mean(), abs=0.02)
    assert mu_IH.min(axis=1).mean() == pytest.approx(mu_IH.mean(), abs=0.01)


def test_a_constant_added_to_all_logits_shifts_the_posterior() -> None:
    logits, variance = np.array([0.0, 0.4, -0.8, 0.1]), np.full(4, 0.05)
    here, there = (
        posterior_draws(LogitSummary(logits + shift, variance, 0.0), np.random.default_rng(7)) for shift in (0.0, 1.3)
    )
    np.testing.assert_allclose(np.log(there / (1 - there)) - np.log(here / (1 - here)), 1.3, atol=1e-6)


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(6)), seed=st.integers(0, 1000))
def test_permuting_harnesses_permutes_the_posterior(order: list[int], seed: int) -> None:
    table = study(np.array([0.5, 0.4, -0.6, 0.8, 0.0, 0.3]), 60, seed)
    plain, permuted = summary_of(table), summary_of(table[:, order])
    np.testing.assert_allclose(permuted.logit_H, plain.logit_H[order])
    np.testing.assert_allclose(permuted.variance_H, plain.variance_H[order])
    one, other = (posterior_draws(s, np.random.default_rng(seed)) for s in (plain, permuted))
    np.testing.assert_allclose(other.mean(axis=0), one.mean(axis=0)[order], atol=0.02)
    assert other.min(axis=1).mean() == pytest.approx(one.min(axis=1).mean(), abs=0.02)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), harnesses=st.integers(1, 6), tasks=st.integers(2, 30))
def test_any_table_of_passes_and_fails_has_finite_summaries(seed: int, harnesses: int, tasks: int) -> None:
    summary = logit_summary(coin_flips(seed, (tasks, harnesses)))
    assert summary is not None
    assert np.isfinite(summary.logit_H).all()
    assert (summary.variance_H >= 1e-6).all()
    assert np.isfinite(summary.common)


def test_a_dead_harness_among_perfect_ones_is_not_pulled_up() -> None:
    table = np.ones((20, 18))
    table[:, 5] = 0
    mu_IH = posterior_draws(summary_of(table), np.random.default_rng(0))
    assert mu_IH.min(axis=1).mean() < 0.1
    assert probability_of_worst(mu_IH)[5] == 1


def test_a_table_of_passes_does_not_claim_to_know_the_task_population() -> None:
    mu_IH = posterior_draws(summary_of(np.ones((20, 18))), np.random.default_rng(0))
    assert np.quantile(mu_IH.min(axis=1), 0.025) < 0.85


def test_one_task_is_too_few() -> None:
    assert logit_summary(np.ones((1, 5))) is None


def test_missing_cells_widen_the_noise_of_their_harness() -> None:
    table = study(np.zeros(6), 80, 2)
    holes = table.copy()
    holes[:40, 2] = np.nan
    whole, partial = summary_of(table), summary_of(holes)
    assert partial.variance_H[2] > 1.5 * whole.variance_H[2]
    assert partial.variance_H[0] == pytest.approx(whole.variance_H[0], rel=0.2)


def test_harnesses_that_halving_dropped_do_not_lend_their_noise_to_the_survivors() -> None:
    ratios = []
    for seed in range(5):
        whole = study(np.concatenate([np.linspace(-1, 0, 4), np.full(28, 3.0)]), 310, seed)
        halved = whole.copy()
        for end, left in ((10, 16), (30, 8), (70, 4), (150, 2)):
            halved[end:, left:] = np.nan
        found, full = summary_of(halved), summary_of(whole[:, :4])
        own_S = found.variance_H[:2] * additive_fit(halved).effective_H[:2] / 310
        ratios.append([*own_S / full.variance_H[:2], found.common / full.common])
    np.testing.assert_allclose(np.mean(ratios, axis=0), 1, atol=0.25)


def test_the_same_seed_gives_the_same_draws() -> None:
    one, two = (posterior_draws(summary_of(REFERENCE), np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one, two)

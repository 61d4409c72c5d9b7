from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.gate import discordant, e_process, e_value, fixed, non_inferior, sprt
from harness_eval.stats.posterior import chance_of_drop


def test_sprt_boundaries_and_steps() -> None:
    found = sprt(0, 0)
    assert (found.fail_at, found.pass_at) == pytest.approx((2.8903717579, -2.2512917986))
    assert sprt(1, 0).statistic == pytest.approx(0.3364722366)
    assert sprt(0, 1).statistic == pytest.approx(-0.5108256238)


@pytest.mark.parametrize(
    ("worse", "better", "decision"), [(9, 0, "fail"), (8, 0, "inconclusive"), (0, 5, "pass"), (0, 4, "inconclusive")]
)
def test_sprt_decisions(worse: int, better: int, decision: str) -> None:
    assert sprt(worse, better).decision == decision


@pytest.mark.parametrize(
    ("worse", "better", "value"),
    [(7, 0, 31.875), (6, 0, 18.142857), (10, 2, 9.440559), (15, 5, 6.355522), (8, 8, 0.299538)],
)
def test_evidence_of_the_e_process(worse: int, better: int, value: float) -> None:
    assert e_value(worse, better) == pytest.approx(value, abs=1e-6)


def test_smallest_counts_at_which_the_e_process_fails() -> None:
    smallest = [next(b for b in range(40) if e_process(b, c).decision == "fail") for c in range(7)]
    assert smallest == [7, 10, 12, 14, 16, 18, 20]


def test_evidence_stays_finite_for_any_counts() -> None:
    assert 0 <= e_value(0, 5_000) < 1e-3
    assert np.isfinite(e_value(5_000, 0))


def test_the_e_process_never_passes() -> None:
    assert e_process(0, 1_000).decision == "inconclusive"
    assert e_process(0, 0).pass_at is None


def test_a_fixed_gate_fails_on_a_sure_drop_and_passes_when_it_is_surely_small() -> None:
    assert fixed(np.repeat([1.0, 0.0], [20, 80])).decision == "fail"
    assert fixed(np.zeros(100)).decision == "pass"
    assert fixed(np.repeat([1.0, -1.0, 0.0], [10, 8, 32])).decision == "inconclusive"


def test_a_smaller_alpha_needs_a_surer_drop() -> None:
    drop_T = np.repeat([1.0, -1.0, 0.0], [16, 7, 77])
    assert [fixed(drop_T, alpha=alpha).decision for alpha in (0.05, 0.01)] == ["fail", "inconclusive"]
    small_T = np.repeat([1.0, -1.0, 0.0], [5, 5, 60])
    assert [non_inferior(small_T, alpha=alpha).decision for alpha in (0.05, 0.01)] == ["pass", "inconclusive"]


def test_a_fixed_gate_without_enough_tasks_is_inconclusive() -> None:
    assert fixed(np.ones(10)).decision == "inconclusive"
    assert fixed(np.full(30, np.nan)).drop.estimate is None


def test_a_release_passes_only_when_the_drop_is_surely_below_the_margin() -> None:
    small_but_real = np.repeat([1.0, 0.0], [10, 390])
    assert fixed(small_but_real, margin=0.05).decision == "fail"
    assert non_inferior(small_but_real, margin=0.05).decision == "pass"
    assert non_inferior(np.repeat([1.0, 0.0], [40, 60])).decision == "fail"
    assert non_inferior(np.zeros(20), margin=0.05).decision == "inconclusive"


def test_false_alarms_of_the_fixed_gate_are_rare() -> None:
    rng = np.random.default_rng(0)
    chance = rng.beta(0.8, 0.5, (500, 100))
    drops = (rng.random((500, 100)) < chance).astype(float) - (rng.random((500, 100)) < chance)
    assert sum(fixed(drop_T).decision == "fail" for drop_T in drops) <= 35


def test_only_pairs_judged_on_both_sides_count_as_discordant() -> None:
    baseline, new = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    valid = np.array([[True, False], [True, True]])
    assert discordant(baseline, new, valid) == (1, 1)


def test_a_task_that_stopped_passing_has_a_high_chance_of_a_drop() -> None:
    before, after = np.array([[5.0, 0.0], [5.0, 0.0], [0.0, 5.0]]), np.array([[0.0, 5.0], [5.0, 0.0], [0.0, 5.0]])
    chance = chance_of_drop(before, after, np.random.default_rng(0))
    assert chance[0] > 0.95
    assert chance[1] < 0.2
    assert chance[2] < 0.1

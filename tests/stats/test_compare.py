from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.cells import additive_fit
from harness_eval.stats.compare import Change, compare, difference_of, ratio
from harness_eval.stats.estimate import Array, Estimate
from harness_eval.stats.joint import joint_posterior, shared_noise
from harness_eval.stats.spread import spread
from tests.stats.tables import coin_flips, logistic, study


def pair(before_H: Array, after_H: Array, tasks: int, seed: int) -> tuple[Array, Array]:
    """Two runs of one repeat that meet the same tasks."""
    rng = np.random.default_rng(seed)
    task_TH = rng.normal(0, 2.5, (tasks, 1)) + rng.normal(0, 1, (tasks, len(before_H)))
    one, other = ((rng.random(task_TH.shape) < logistic(task_TH + effect_H)) * 1.0 for effect_H in (before_H, after_H))
    return one, other


def test_a_run_compared_with_itself_has_not_moved() -> None:
    table = study(np.zeros(5), 80, 1)
    found = compare(table, table, 0, canonical=0)
    for change in (found.mean, found.worst, found.spread, found.gap, found.canonical):
        assert change.change.estimate == pytest.approx(0, abs=1e-12)
        assert change.verdict == "no difference seen"
        assert change.change.limits is not None
        assert change.change.limits[0] < 0 < change.change.limits[1]
    assert all(p == 1 for p in found.p_adjusted)


@pytest.mark.parametrize("missing", [0, 9])
def test_the_other_order_turns_every_sign(missing: int) -> None:
    before, after = pair(np.linspace(-1, 1, 9), np.linspace(1, -0.5, 9), 40, 3)
    before.ravel()[:missing] = np.nan
    there, back = compare(before, after, 5, canonical=1), compare(after, before, 5, canonical=1)
    names = ("mean", "worst", "spread", "gap", "canonical", "worst_at_8", "cvar10")
    pairs = [(getattr(there, name), getattr(back, name)) for name in names]
    pairs += zip(there.harnesses, back.harnesses, strict=True)
    pairs += zip(there.pass_k.values(), back.pass_k.values(), strict=True)
    for one, other in pairs:
        assert one.before == other.after
        assert (one.change.limits is None) == (other.change.limits is None)
        assert [one.change.estimate, *(one.change.limits or ())] == pytest.approx(
            [-other.change.estimate, *(-limit for limit in (other.change.limits or ())[::-1])], abs=1e-12
        )
    assert there.p_adjusted == back.p_adjusted


def test_one_harness_that_broke_is_the_one_that_moved() -> None:
    before = study(np.full(5, 2.0), 80, 1)
    after = before.copy()
    after[:, 3] = 0
    found = compare(before, after, 0, canonical=0)
    assert (found.worst.verdict, found.spread.verdict, found.gap.verdict) == ("worse", "wider", "wider")
    assert [p is not None and p < 0.05 for p in found.p_adjusted] == [False, False, False, True, False]
    assert [one.verdict for one in found.harnesses].count("worse") == 1


def test_the_same_mean_with_a_narrower_spread_is_seen() -> None:
    effect_H = np.linspace(-1.6, 1.6, 18)
    before, after = pair(effect_H, effect_H / 5, 100, 5)
    found = compare(before, after, 0)
    assert found.mean.verdict == "no difference seen"
    assert (found.spread.verdict, found.worst.verdict) == ("narrower", "better")


def test_differences_are_those_of_the_two_figures() -> None:
    before, after = pair(np.zeros(9), np.full(9, 0.8), 60, 2)
    found = compare(before, after, 0, canonical=2)
    for change in (found.mean, found.worst, found.spread, found.gap, found.worst_at_8, *found.harnesses):
        assert change.before.estimate is not None
        assert change.after.estimate is not None
        assert change.change.estimate == pytest.approx(change.after.estimate - change.before.estimate, abs=1e-9)
    assert found.spread.before == spread(before).net


def test_turning_the_runs_round_turns_the_changes_round() -> None:
    before, after = pair(np.zeros(6), np.full(6, 0.8), 60, 2)
    there, back = compare(before, after, 0), compare(after, before, 0)
    for one, other in ((there.mean, back.mean), (there.spread, back.spread), (there.pass_k[2], back.pass_k[2])):
        assert one.change.limits is not None
        assert other.change.limits is not None
        assert one.change.limits[0] == pytest.approx(-other.change.limits[1])


def test_luck_that_both_runs_share_leaves_the_difference_of_the_worst() -> None:
    effect_H = np.array([-1.0, 0.5, 0.5, 0.5, 0.5])
    before, after = pair(effect_H, effect_H, 100, 5)
    strange = after[np.random.default_rng(0).permutation(100)]  # the same scores on tasks that are not paired
    paired, unpaired = (compare(before, one, 0).worst.change for one in (after, strange))
    assert paired.limits is not None
    assert unpaired.limits is not None
    assert paired.limits[1] - paired.limits[0] < 0.9 * (unpaired.limits[1] - unpaired.limits[0])


def test_shared_noise_of_equal_and_of_unrelated_tables() -> None:
    table, other = coin_flips(1, (4_000, 6)), coin_flips(2, (4_000, 6))
    same, unrelated = (shared_noise(additive_fit(table), additive_fit(one)) for one in (table, other))
    assert same.own == 0.95
    assert unrelated.own < 0.03
    assert abs(unrelated.common) < 3e-5


def test_scores_of_the_joint_posterior_are_those_of_each_run() -> None:
    before, after = pair(np.linspace(-1, 1, 8), np.linspace(1, -1, 8), 200, 8)
    draws = joint_posterior(before, after, np.random.default_rng(1))
    assert draws is not None
    for mu_IH, table in zip(draws, (before, after), strict=True):
        assert np.abs(mu_IH.mean(axis=0) - table.mean(axis=0)).max() < 0.06


def test_the_difference_of_two_limits_with_and_without_what_they_share() -> None:
    one, other = Estimate(0.5, 0.4, 0.6), Estimate(0.3, 0.2, 0.4)
    apart, together = difference_of(one, other, 0.0), difference_of(one, other, 0.5)
    assert apart.limits == pytest.approx((0.2 - 0.02**0.5, 0.2 + 0.02**0.5))
    assert together.limits == pytest.approx((0.1, 0.3))


def test_a_change_is_better_worse_or_not_seen() -> None:
    rose, fell, unclear = Estimate(0.1, 0.02, 0.2), Estimate(-0.1, -0.2, -0.02), Estimate(0.1, -0.1, 0.3)
    score = [Change(rose, fell, change).verdict for change in (rose, fell, unclear, Estimate(0.1))]
    assert score == ["better", "worse", "no difference seen", None]
    assert [Change(rose, fell, change, is_width=True).verdict for change in (rose, fell)] == ["wider", "narrower"]
    assert Change(rose, fell, unclear).detectable == pytest.approx(0.2 * (1.96 + 0.8416) / 1.96, rel=1e-3)


def test_a_ratio_is_paired_by_task() -> None:
    before = np.arange(1.0, 41.0)
    found = ratio(before, 2 * before)
    assert found == Estimate(pytest.approx(2), pytest.approx(2), pytest.approx(2))
    assert ratio(before[:10], before[:10]) == Estimate(1.0)
    assert ratio(np.zeros(30), before[:30]).estimate is None


def test_cells_missing_on_one_side_are_ignored_on_both() -> None:
    before = coin_flips(1, (60, 3))
    after = before.copy()
    before[:30, 0] = np.nan
    after[30:, 0] = np.nan
    found = compare(before, after, 0, canonical=0)
    assert found.harnesses[0].change.estimate is None
    assert found.harnesses[1].change.estimate == 0
    assert found.gap.change.estimate is None
    assert found.harnesses_compared == 2


def test_runs_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="do not match"):
        compare(np.ones((3, 2)), np.ones((3, 3)), 0)


def test_small_runs_have_points_without_limits() -> None:
    found = compare(coin_flips(1, (10, 4)), coin_flips(2, (10, 4)), 0)
    assert found.mean.change.estimate is not None
    assert found.mean.verdict is None
    assert found.spread.change.limits is None
    assert found.worst.change.estimate is None
    assert found.pass_k[2].change.limits is None


def test_runs_in_which_nothing_varies_keep_a_width() -> None:
    found = compare(np.ones((30, 3)), np.ones((30, 3)), 0, canonical=0)
    for change in (found.mean, found.worst, found.pass_k[2]):
        assert change.change.limits is not None
        assert change.change.limits[0] < 0 < change.change.limits[1]


def test_runs_without_a_common_cell_are_unknown() -> None:
    found = compare(np.full((30, 2), np.nan), np.ones((30, 2)), 0)
    assert found.mean.change.estimate is None
    assert found.worst.change.estimate is None
    assert found.tasks == 0

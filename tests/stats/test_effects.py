from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness_eval.stats.effects import AxisEffect, AxisEffects, axis_effects, within_range
from harness_eval.stats.estimate import Array, Estimate
from tests.stats.tables import coin_flips, logistic

Levels = list[dict[str, str]]
CANONICAL = {"protocol": "native", "tools": "few", "context": "full"}
FACTORIAL: Levels = [
    dict(zip(CANONICAL, levels, strict=True))
    for levels in product(("native", "json"), ("few", "many"), ("full", "window"))
]


def scores(levels: Levels, drops: dict[str, float], tasks: int, seed: int) -> Array:
    """Outcomes whose logit falls by `drops` of every level a harness has."""
    rng = np.random.default_rng(seed)
    effect_H = np.array([-sum(drops.get(level, 0.0) for level in row.values()) for row in levels])
    logit_TH = 1.0 + effect_H + rng.normal(0, 2, (tasks, 1)) + rng.normal(0, 0.5, (tasks, len(levels)))
    return (rng.random(logit_TH.shape) < logistic(logit_TH)).astype(np.float64)


def of(found: AxisEffects, level: str) -> AxisEffect:
    return next(effect for effect in found.levels if effect.level == level)


def share(found: AxisEffects, axis: str) -> float | None:
    return next(entry.share for entry in found.axes if entry.axis == axis)


def test_no_effect_rests_on_a_harness_without_levels() -> None:
    table = scores(FACTORIAL, {"json": 2.0}, 40, 1)
    beside = np.column_stack([table, np.zeros(len(table))])
    alone = axis_effects(table, FACTORIAL, CANONICAL)
    assert axis_effects(beside, [*FACTORIAL, None], CANONICAL) == alone
    assert axis_effects(beside, [*FACTORIAL, {}], CANONICAL) != alone


def test_a_planted_drop_is_found_on_its_axis_and_on_no_other() -> None:
    found = axis_effects(scores(FACTORIAL, {"json": 2.0}, 100, 1), FACTORIAL, CANONICAL)
    json = of(found, "json")
    assert json.effect.high is not None
    assert json.effect.high < -0.1
    assert json.p_adjusted is not None
    assert json.p_adjusted < 0.01
    assert share(found, "protocol") == pytest.approx(1.0, abs=0.15)
    for level in ("many", "window"):
        p = of(found, level).p
        assert p is not None
        assert p > 0.01


def test_effects_of_a_full_factorial_are_differences_of_averages() -> None:
    table = scores(FACTORIAL, {"many": 1.0}, 60, 2)
    many = np.array([row["tools"] == "many" for row in FACTORIAL])
    expected = table[:, many].mean() - table[:, ~many].mean()
    assert of(axis_effects(table, FACTORIAL, CANONICAL), "many").effect.estimate == pytest.approx(expected)


def test_the_canonical_level_is_the_reference_and_is_not_listed() -> None:
    found = axis_effects(coin_flips(0, (30, 8)), FACTORIAL, CANONICAL)
    assert [effect.level for effect in found.levels] == ["json", "many", "window"]
    assert [effect.harnesses for effect in found.levels] == [4, 4, 4]


def test_levels_that_always_occur_together_cannot_be_told_apart_but_others_can() -> None:
    levels = [row for row in FACTORIAL if (row["protocol"] == "json") == (row["tools"] == "many")]
    found = axis_effects(scores(levels, {"json": 2.0}, 60, 3), levels, CANONICAL)
    assert of(found, "json").effect.estimate is None
    assert of(found, "json").reason == "cannot be told apart from tools=many"
    assert of(found, "many").reason == "cannot be told apart from protocol=json"
    assert of(found, "window").effect.estimate is not None
    assert share(found, "protocol") is None
    assert share(found, "context") == pytest.approx(0, abs=0.1)
    assert found.entangled_share == pytest.approx(1, abs=0.1)


def test_a_level_that_every_harness_has_cannot_be_compared() -> None:
    levels = [row | {"tools": "many"} for row in FACTORIAL]
    found = axis_effects(coin_flips(0, (30, 8)), levels, CANONICAL)
    assert of(found, "many").reason == "every harness has this level: nothing to compare it with"
    assert of(found, "json").effect.estimate is not None


def test_a_level_that_is_a_sum_of_others_names_them() -> None:
    levels = [{"a": "x", "b": "0"}, {"a": "y", "b": "1"}, {"a": "z", "b": "1"}]
    found = axis_effects(coin_flips(0, (30, 3)), levels, {"a": "x", "b": "0"})
    assert of(found, "1").reason == "cannot be told apart from a combination of a=y, a=z"


def test_one_change_at_a_time_gives_paired_differences_to_canonical() -> None:
    levels: Levels = [CANONICAL, CANONICAL | {"protocol": "json"}, CANONICAL | {"tools": "many"}]
    table = coin_flips(4, (50, 3))
    found = axis_effects(table, levels, CANONICAL)
    assert of(found, "json").effect.estimate == pytest.approx((table[:, 1] - table[:, 0]).mean())
    assert found.other_share is None
    assert found.notes == ("no spare harnesses: axis effects hold for these configurations, interactions are unknown",)


def test_a_certain_effect_keeps_a_width() -> None:
    levels: Levels = [CANONICAL, CANONICAL | {"protocol": "json"}]
    effect = of(axis_effects(np.repeat([[1.0, 0.0]], 40, axis=0), levels, CANONICAL), "json").effect
    assert effect.estimate == pytest.approx(-1)
    assert effect.low is not None
    assert effect.low < -1.03


def test_below_twenty_tasks_there_are_points_without_limits_or_p_values() -> None:
    effect = of(axis_effects(coin_flips(0, (19, 8)), FACTORIAL, CANONICAL), "json")
    assert effect.effect.estimate is not None
    assert effect.effect.limits is None
    assert effect.p is None
    assert effect.p_adjusted is None


def test_interactions_widen_the_intervals_of_main_effects() -> None:
    table = scores(FACTORIAL, {}, 200, 5)
    clash = [index for index, row in enumerate(FACTORIAL) if (row["protocol"], row["tools"]) == ("json", "many")]
    table[:, clash] = 0
    found = axis_effects(table, FACTORIAL, CANONICAL)
    assert found.lack_of_fit is not None
    assert found.lack_of_fit > 0.1
    limits = of(found, "window").effect.limits
    assert limits is not None
    assert limits[1] - limits[0] > 0.3


def test_a_harness_without_results_is_left_out() -> None:
    table = scores(FACTORIAL, {"json": 1.0}, 60, 6)
    holes = table.copy()
    holes[:, 7] = np.nan
    found = axis_effects(holes, FACTORIAL, CANONICAL)
    assert found == axis_effects(table[:, :7], FACTORIAL[:7], CANONICAL)


def test_missing_cells_move_effects_little_and_widen_them() -> None:
    table = scores(FACTORIAL, {"json": 1.5}, 200, 7)
    holes = np.where(coin_flips(8, table.shape, 0.15) == 1, np.nan, table)
    whole = of(axis_effects(table, FACTORIAL, CANONICAL), "json").effect
    partial = of(axis_effects(holes, FACTORIAL, CANONICAL), "json").effect
    assert partial.estimate == pytest.approx(whole.estimate, abs=0.03)
    assert whole.limits is not None
    assert partial.limits is not None
    assert partial.limits[1] - partial.limits[0] > whole.limits[1] - whole.limits[0]


def test_no_variation_at_all_has_effects_of_zero_and_no_shares() -> None:
    found = axis_effects(np.ones((30, 8)), FACTORIAL, CANONICAL)
    assert [effect.effect.estimate for effect in found.levels] == [0, 0, 0]
    assert [entry.share for entry in found.axes] == [None, None, None]


def test_without_results_or_changes_there_is_nothing_to_report() -> None:
    assert axis_effects(np.full((30, 8), np.nan), FACTORIAL, CANONICAL).levels == ()
    assert axis_effects(coin_flips(0, (30, 2)), [CANONICAL, CANONICAL], CANONICAL).levels == ()


def test_an_axis_that_a_harness_does_not_name_is_at_its_canonical_level() -> None:
    table = coin_flips(1, (30, 2))
    short = axis_effects(table, [{}, {"protocol": "json"}], CANONICAL)
    assert short == axis_effects(table, [CANONICAL, CANONICAL | {"protocol": "json"}], CANONICAL)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), order=st.permutations(range(8)))
def test_effects_do_not_depend_on_the_order_of_harnesses(seed: int, order: list[int]) -> None:
    table = scores(FACTORIAL, {"many": 1.0}, 30, seed)
    plain = axis_effects(table, FACTORIAL, CANONICAL)
    permuted = axis_effects(table[:, order], [FACTORIAL[h] for h in order], CANONICAL)
    for effect in plain.levels:
        other = of(permuted, effect.level)
        assert other.effect.estimate == pytest.approx(effect.effect.estimate, abs=1e-9)
        assert other.p == pytest.approx(effect.p, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_how_hard_tasks_are_does_not_move_effects(seed: int) -> None:
    table = scores(FACTORIAL, {"many": 1.0}, 30, seed) * 0.5
    shift = np.random.default_rng(seed).random((30, 1)) * 0.5
    plain, shifted = (axis_effects(t, FACTORIAL, CANONICAL) for t in (table, table + shift))
    for one, other in zip(plain.levels, shifted.levels, strict=True):
        assert other.effect.limits == pytest.approx(one.effect.limits)


def test_false_alarms_are_rare_when_no_axis_matters() -> None:
    found = [axis_effects(scores(FACTORIAL, {}, 60, seed), FACTORIAL, CANONICAL) for seed in range(60)]
    adjusted = [min(e.p_adjusted for e in f.levels if e.p_adjusted is not None) for f in found]
    assert sum(p < 0.05 for p in adjusted) <= 8


def _freedom(spread_of_the_effect: float) -> float:
    """Degrees of freedom behind the limits and the p value of one level: the only ones that fit both."""
    rng = np.random.default_rng(4)
    json = np.array([row["protocol"] == "json" for row in FACTORIAL])
    table = 0.5 + rng.normal(0, 0.2, len(FACTORIAL)) + rng.normal(0, 0.01, (60, len(FACTORIAL)))
    found = axis_effects(table + rng.normal(0, spread_of_the_effect, (60, 1)) * json, FACTORIAL, CANONICAL)
    one = of(found, "json")
    assert found.lack_of_fit
    assert one.effect.estimate is not None
    assert one.effect.high is not None
    reach = (one.effect.high - one.effect.estimate) / abs(one.effect.estimate)
    freedom = np.linspace(3, 80, 20_000)
    return float(freedom[np.argmin(np.abs(2 * stats.t.sf(stats.t.ppf(0.975, freedom) / reach, freedom) - one.p))])


def test_degrees_of_freedom_lie_between_those_of_the_spare_harnesses_and_of_the_tasks() -> None:
    least, more, most = (_freedom(spread) for spread in (0.0, 0.5, 2.0))
    assert least == pytest.approx(4, abs=0.1)  # eight harnesses, four coefficients
    assert 4.2 < more < most < 59.1


def test_limits_beyond_what_a_difference_of_scores_can_be_are_cut_and_a_note_says_so() -> None:
    levels = [{"protocol": "native"}, {"protocol": "json"}, {"protocol": "json", "tools": "many"}, {"tools": "many"}]
    table = coin_flips(0, (30, 4))
    table[:, 1] = table[:, 3] = 0.0
    found = axis_effects(table, levels, {"protocol": "native", "tools": "few"})
    low, high = of(found, "json").effect.limits or (0.0, 0.0)
    assert low < -1
    assert high > 1
    cut = within_range(found)
    assert of(cut, "json").effect == Estimate(of(found, "json").effect.estimate, -1.0, 1.0)
    assert of(cut, "json").p == of(found, "json").p
    assert cut.notes[-1] == "2 of 2 intervals of levels are cut at ±100 pp, the largest effect possible"
    narrow = axis_effects(coin_flips(0, (30, 8)), FACTORIAL, CANONICAL)
    assert within_range(narrow) == narrow

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from harness_eval.stats.estimate import Array
from harness_eval.stats.shapley import Attribution, Places, attribute

CHANGES = 4
Score = dict[frozenset[int], float]


def score_of(rng: np.random.Generator, order: int, changes: int = CHANGES) -> Score:
    """A random function of sets of changes without interactions above `order`."""
    everything = [frozenset(s) for size in range(changes + 1) for s in combinations(range(changes), size)]
    parts = {s: rng.normal(0, 0.1) for s in everything if len(s) <= order}
    return {s: sum(value for part, value in parts.items() if part <= s) for s in everything}


def shapley_by_enumeration(score: Score, changes: int = CHANGES) -> Array:
    value = np.zeros(changes)
    orders = list(permutations(range(changes)))
    for order in orders:
        for at, change in enumerate(order):
            value[change] += score[frozenset(order[: at + 1])] - score[frozenset(order[:at])]
    return value / len(orders)


def table(scores: list[Score], changes: int = CHANGES) -> tuple[Array, Places]:
    """Cell means of these tasks, one column a distinct set of changes."""
    whole = frozenset(range(changes))
    added = [frozenset({i}) for i in range(changes)]
    reverted = [whole - {i} for i in range(changes)]
    columns = list(dict.fromkeys([frozenset(), whole, *added, *reverted]))
    places = Places(0, columns.index(whole), [columns.index(s) for s in added], [columns.index(s) for s in reverted])
    return np.array([[score[s] for s in columns] for score in scores]), places


def values(found: Attribution) -> list[float | None]:
    return [each.estimate for each in found.shapley]


@pytest.mark.parametrize("changes", [1, 2, 3, 4, 5])
def test_adding_and_reverting_single_changes_is_exact_with_two_way_interactions(changes: int) -> None:
    rng = np.random.default_rng(changes)
    scores = [score_of(rng, 2, changes) for _ in range(25)]
    found = attribute(*table(scores, changes))
    expected = np.mean([shapley_by_enumeration(score, changes) for score in scores], axis=0)
    assert values(found) == pytest.approx(list(expected), abs=1e-12)
    assert found.residual.estimate == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("lost", [0.0, 0.2])
def test_values_and_the_residual_sum_to_the_whole_drop(lost: float) -> None:
    rng = np.random.default_rng(1)
    mean_TH, places = table([score_of(rng, 4) for _ in range(25)])
    mean_TH[rng.random(mean_TH.shape) < lost] = np.nan
    found = attribute(mean_TH, places)
    total = sum(value for value in values(found) if value is not None)
    assert found.residual.estimate is not None
    assert found.drop.estimate is not None
    assert total + found.residual.estimate == pytest.approx(found.drop.estimate, abs=1e-12)
    if not lost:
        assert found.drop.estimate == pytest.approx(float((mean_TH[:, 1] - mean_TH[:, 0]).mean()))
    assert abs(found.residual.estimate) > 1e-3


def test_a_change_that_only_matters_together_with_another_shows_an_interaction() -> None:
    # canonical, both changes, one of them, the other one: each added one is the other one reverted
    found = attribute(np.array([[1.0, 0.0, 1.0, 1.0]] * 30), Places(0, 1, [2, 3], [3, 2]))
    assert values(found) == [-0.5, -0.5]
    assert [each.estimate for each in found.interaction] == [-1, -1]


@pytest.mark.parametrize(("places", "columns"), [(Places(0, 1, [1], [0]), 2), (Places(0, 1, [2, 3], [3, 2]), 4)])
def test_below_three_changes_nothing_can_be_left_over(places: Places, columns: int) -> None:
    rng = np.random.default_rng(2)
    found = attribute(rng.random((30, columns)), places)
    assert (found.residual.estimate, found.residual.limits) == (0.0, None)


def test_one_change_is_the_paired_difference_of_both_ends() -> None:
    rng = np.random.default_rng(3)
    mean_TH = rng.random((30, 2))
    found = attribute(mean_TH, Places(0, 1, [1], [0]))
    assert found.shapley == (found.drop,)
    difference_T = np.concatenate([mean_TH[:, 1] - mean_TH[:, 0], [1.0, -1.0]])
    error = float(difference_T.std()) / 32**0.5
    assert found.drop.high is not None
    assert found.drop.high - float(difference_T.mean()) == pytest.approx(2.0395134 * error, rel=1e-6)  # t, 31 df


def test_cells_that_are_missing_leave_the_values_and_widen_the_limits() -> None:
    rng = np.random.default_rng(4)
    whole_TH = np.round(rng.random((60, 4)))
    holes_TH = whole_TH.copy()
    holes_TH[:15, 2] = np.nan
    places = Places(0, 1, [2, 3], [3, 2])
    whole, holes = attribute(whole_TH, places), attribute(holes_TH, places)
    assert holes.shapley[0].estimate == pytest.approx(whole.shapley[0].estimate, abs=0.06)
    assert whole.shapley[0].limits is not None
    assert holes.shapley[0].limits is not None
    low, high = zip(whole.shapley[0].limits, holes.shapley[0].limits, strict=True)
    assert high[1] - low[1] > high[0] - low[0]


def test_a_harness_without_any_verdict_leaves_only_what_needs_it_unknown() -> None:
    mean_TH = np.zeros((30, 8))
    mean_TH[:, 2] = np.nan
    found = attribute(mean_TH, Places(0, 1, [2, 3, 4], [5, 6, 7]))
    assert values(found) == [None, 0.0, 0.0]
    assert (found.residual.estimate, found.drop.estimate) == (None, 0.0)
    nothing = attribute(np.full((3, 2), np.nan), Places(0, 1, [1], [0]))
    assert (nothing.drop.estimate, nothing.tasks) == (None, 0)


def test_below_twenty_tasks_there_are_no_limits() -> None:
    few = attribute(np.array([[1.0, 0.0]] * 19), Places(0, 1, [1], [0]))
    assert (few.shapley[0].estimate, few.shapley[0].limits, few.p_adjusted) == (-1.0, None, (None,))
    assert attribute(np.array([[1.0, 0.0]] * 20), Places(0, 1, [1], [0])).shapley[0].limits is not None


def test_p_values_are_adjusted_for_the_number_of_changes() -> None:
    rng = np.random.default_rng(5)
    mean_TH = np.column_stack([np.ones(40), *(rng.random(40) < 0.8 for _ in range(7))]).astype(float)
    three = attribute(mean_TH, Places(0, 1, [2, 3, 4], [5, 6, 7])).p_adjusted
    alone = [attribute(mean_TH, Places(0, 1, [2 + i], [5 + i])).p_adjusted[0] for i in range(3)]
    assert all(p is not None for p in alone)
    least = min(p for p in alone if p is not None)
    assert min(p for p in three if p is not None) == pytest.approx(min(1.0, 3 * least))


def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    rng = np.random.default_rng(6)
    chance_H = np.array([0.8, 0.5, 0.7, 0.75, 0.8, 0.6, 0.55, 0.5])  # canonical, worst, three added, three reverted
    places = Places(0, 1, [2, 3, 4], [5, 6, 7])
    true = np.array([((0.7 - 0.8) + (0.5 - 0.6)) / 2, ((0.75 - 0.8) + (0.5 - 0.55)) / 2, 0.0])
    held = 0
    for _ in range(200):
        draws_TH = (rng.random((60, 8)) < chance_H).astype(float)
        for value, truth in zip(attribute(draws_TH, places).shapley, true, strict=True):
            assert value.limits is not None
            held += value.limits[0] <= truth <= value.limits[1]
    assert held / 600 >= 0.93

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from harness_eval.stats.estimate import Array
from harness_eval.stats.shapley import attribute

CHANGES = 4


def score_of(rng: np.random.Generator, order: int) -> dict[frozenset[int], float]:
    """A random function of sets of changes without interactions above `order`."""
    sets = [frozenset(s) for size in range(order + 1) for s in combinations(range(CHANGES), size)]
    parts = {s: rng.normal(0, 0.1) for s in sets}
    everything = [frozenset(s) for size in range(CHANGES + 1) for s in combinations(range(CHANGES), size)]
    return {s: sum(value for part, value in parts.items() if part <= s) for s in everything}


def shapley_by_enumeration(score: dict[frozenset[int], float]) -> Array:
    value = np.zeros(CHANGES)
    orders = list(permutations(range(CHANGES)))
    for order in orders:
        for at, change in enumerate(order):
            value[change] += score[frozenset(order[: at + 1])] - score[frozenset(order[:at])]
    return value / len(orders)


def tables(scores: list[dict[frozenset[int], float]]) -> tuple[Array, Array, Array, Array]:
    whole = frozenset(range(CHANGES))
    return (
        np.array([score[frozenset()] for score in scores]),
        np.array([score[whole] for score in scores]),
        np.array([[score[frozenset({i})] for i in range(CHANGES)] for score in scores]),
        np.array([[score[whole - {i}] for i in range(CHANGES)] for score in scores]),
    )


def test_adding_and_reverting_single_changes_is_exact_with_two_way_interactions() -> None:
    rng = np.random.default_rng(0)
    scores = [score_of(rng, 2) for _ in range(25)]
    found = attribute(*tables(scores))
    expected = np.mean([shapley_by_enumeration(score) for score in scores], axis=0)
    np.testing.assert_allclose([e.estimate for e in found.shapley], expected, atol=1e-12)
    assert found.residual.estimate == pytest.approx(0, abs=1e-12)


def test_values_sum_to_the_whole_drop_and_the_residual() -> None:
    rng = np.random.default_rng(1)
    canonical, worst, added, reverted = tables([score_of(rng, 4) for _ in range(25)])
    found = attribute(canonical, worst, added, reverted)
    total = sum(e.estimate for e in found.shapley if e.estimate is not None)
    assert found.residual.estimate is not None
    assert total - found.residual.estimate == pytest.approx(float((worst - canonical).mean()))
    assert abs(found.residual.estimate) > 1e-3


def test_a_change_that_only_matters_together_with_another_shows_an_interaction() -> None:
    canonical, added = np.ones(30), np.ones((30, 2))
    found = attribute(canonical, np.zeros(30), added, np.ones((30, 2)))
    assert [e.estimate for e in found.shapley] == [-0.5, -0.5]
    assert [e.estimate for e in found.interaction] == [-1, -1]


def test_tasks_with_a_missing_value_are_left_out() -> None:
    canonical = np.ones(30)
    canonical[:10] = np.nan
    found = attribute(canonical, np.zeros(30), np.zeros((30, 1)), np.ones((30, 1)))
    assert found.shapley[0].estimate == -1
    assert found.shapley[0].limits is not None
    with pytest.raises(ValueError, match="no task"):
        attribute(np.full(3, np.nan), np.ones(3), np.ones((3, 1)), np.ones((3, 1)))


def test_below_twenty_tasks_there_are_no_limits() -> None:
    assert attribute(np.ones(19), np.zeros(19), np.zeros((19, 1)), np.ones((19, 1))).shapley[0].limits is None

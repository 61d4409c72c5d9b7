from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.floor import ceiling, lower_limits, one_sided_wilson
from harness_eval.stats.intervals import normal_quantile, wilson
from tests.stats.tables import REFERENCE, coin_flips, study


def test_lower_limits_of_the_reference_table() -> None:
    found = [one_sided_wilson(column_T, normal_quantile(0.95))[0] for column_T in REFERENCE.T]
    assert found == pytest.approx([0.545764, 0.587221, 0.413142, 0.184535, 0.610447], abs=1e-6)


def test_a_harness_with_too_few_tasks_has_no_floor() -> None:
    table = coin_flips(0, (30, 2))
    table[:15, 1] = np.nan
    floors = lower_limits(table)
    assert floors[0] is not None
    assert floors[1] is None


def test_constant_harnesses_count_each_task_once() -> None:
    z = normal_quantile(0.95)
    assert lower_limits(np.array([[1.0, 0.0]] * 25)) == [pytest.approx(wilson(1, 25, z)[0]), 0.0]


def test_the_ceiling_of_a_dead_harness_is_wilsons() -> None:
    found = ceiling(np.zeros((30, 1)), [0], np.random.default_rng(0))
    assert found == pytest.approx(wilson(0, 30, normal_quantile(0.95))[1])


def test_the_ceiling_holds_in_most_studies() -> None:
    held = 0
    for seed in range(40):
        table = study(np.zeros(8), 60, seed)
        found = ceiling(table, list(range(8)), np.random.default_rng(seed))
        assert found is not None
        held += found >= 0.5
    assert held >= 34


def test_the_floor_holds_in_most_studies() -> None:
    held = 0
    for seed in range(40):
        floors = [floor for floor in lower_limits(study(np.zeros(8), 60, seed)) if floor is not None]
        held += min(floors) <= 0.5
    assert held >= 37


def test_no_candidates_means_no_ceiling() -> None:
    assert ceiling(coin_flips(0, (30, 3)), [], np.random.default_rng(0)) is None

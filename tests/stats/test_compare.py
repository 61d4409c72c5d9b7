from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.compare import compare
from tests.stats.tables import coin_flips, study


def test_a_run_compared_with_itself_has_not_moved() -> None:
    table = study(np.zeros(5), 80, 1)
    found = compare(table, table, 0)
    assert found.mean.estimate == pytest.approx(0, abs=1e-12)
    assert found.worst.limits is not None
    assert found.worst.limits[0] < 0 < found.worst.limits[1]
    assert all(p == 1 for p in found.p_adjusted)
    assert found.spread_before == found.spread_after


def test_one_harness_that_broke_is_the_one_that_moved() -> None:
    before = study(np.full(5, 2.0), 80, 1)
    after = before.copy()
    after[:, 3] = 0
    found = compare(before, after, 0)
    assert found.worst.limits is not None
    assert found.worst.limits[1] < 0
    assert [p is not None and p < 0.05 for p in found.p_adjusted] == [False, False, False, True, False]


def test_cells_missing_on_one_side_are_ignored_on_both() -> None:
    before = coin_flips(1, (60, 3))
    after = before.copy()
    before[:30, 0] = np.nan
    after[30:, 0] = np.nan
    found = compare(before, after, 0)
    assert found.harnesses[0].estimate is None
    assert found.harnesses[1].estimate == 0


def test_runs_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="do not match"):
        compare(np.ones((3, 2)), np.ones((3, 3)), 0)


def test_small_runs_have_points_without_limits() -> None:
    found = compare(coin_flips(1, (10, 4)), coin_flips(2, (10, 4)), 0)
    assert found.mean.estimate is not None
    assert found.mean.limits is None
    assert found.worst.limits is None


def test_runs_without_a_common_cell_are_unknown() -> None:
    found = compare(np.full((30, 2), np.nan), np.ones((30, 2)), 0)
    assert found.mean.estimate is None
    assert found.worst.estimate is None

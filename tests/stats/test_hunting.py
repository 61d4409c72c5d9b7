from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.hunting import block_ends, predicted_effects, trials, worse_half


@pytest.mark.parametrize(
    ("tasks", "harnesses", "ends"),
    [
        (377, 32, (20, 54, 112, 210, 377)),  # each 1.7 times as long as the one before
        (377, 31, (20, 54, 112, 210, 377)),
        (100, 32, (20, 40, 60, 80, 100)),  # no room to grow
        (30, 32, (30,)),
        (200, 1, (200,)),
        (3, 0, (3,)),
    ],
)
def test_blocks_grow_as_far_as_the_tasks_allow(tasks: int, harnesses: int, ends: tuple[int, ...]) -> None:
    assert block_ends(tasks, harnesses) == ends


def test_no_block_is_shorter_than_twenty_tasks_where_there_are_several() -> None:
    for tasks in range(40, 700, 7):
        ends = block_ends(tasks, 31)
        assert ends[-1] == tasks
        assert np.diff([0, *ends]).min() >= 20


def test_the_bill_is_that_of_the_harnesses_that_stand_in_each_block() -> None:
    assert trials((20, 40, 60), 5) == 20 * 5 + 20 * 3 + 20 * 2


def test_the_worse_half_stays_and_of_an_odd_number_the_middle() -> None:
    table = np.tile([0.9, 0.2, 0.5, 0.1, 0.7], (4, 1))
    assert worse_half(table, range(5)) == (1, 2, 3)
    assert worse_half(table, (0, 4)) == (4,)
    assert worse_half(table, (4,)) == (4,)


def test_a_lost_cell_on_a_hard_task_does_not_flatter() -> None:
    # the second passes the easy task as the first does, and was lost on the hard one that the first failed
    table = np.array([[1.0, 1.0], [0.0, np.nan], [1.0, 0.0], [0.0, np.nan]])
    assert worse_half(table, range(2)) == (1,)


def test_what_has_no_verdict_at_all_is_dropped_unless_nothing_has() -> None:
    table = np.array([[0.9, np.nan, 0.4]])
    assert worse_half(table, range(3)) == (2,)
    assert worse_half(np.full((2, 2), np.nan), range(2)) == (0, 1)


def test_effects_are_recovered_where_they_are_well_known() -> None:
    has = np.array([[True, False], [False, True], [True, True]])
    found = predicted_effects(has, np.array([-0.3, -0.1, -0.4]), np.full(3, 1e-6))
    assert found == pytest.approx([-0.3, -0.1], abs=0.01)


def test_what_is_mostly_noise_is_shrunk_and_levels_that_overlap_share_an_effect() -> None:
    noisy = predicted_effects(np.array([[True], [True]]), np.array([-0.3, 0.28]), np.full(2, 0.09))
    assert abs(noisy[0]) < 0.01
    same = predicted_effects(np.ones((3, 2), dtype=bool), np.full(3, -0.4), np.full(3, 1e-6))
    assert same[0] == pytest.approx(same[1])
    assert same.sum() == pytest.approx(-0.4, abs=0.06)

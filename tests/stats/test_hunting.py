from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.hunting import block_ends, trials, worse_half


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

"""A sample of `benchmarks/hunting.py`: what it counts as right, and the limits it states."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import hunting, hunting_predicted
from harness_eval.stats.hunting import block_ends, worse_half


def test_it_halves_as_the_package_does_on_the_whole_table() -> None:
    rng = np.random.default_rng(3)
    for tasks in (20, 60, 130):
        passed = (rng.random((tasks, hunting.HARNESSES)) < rng.random(hunting.HARNESSES)).astype(float)
        standing = tuple(range(1, hunting.HARNESSES))
        for end in block_ends(tasks, len(standing)):
            standing = worse_half(passed[:end], standing)
        named = (0, *standing)
        assert hunting.hunted(passed) == named[int(passed[:, named].mean(axis=0).argmin())]


def test_what_is_needed_lies_between_the_amounts_and_has_limits() -> None:
    assert hunting.needed(np.array([0.5, 0.9, 1.0]), (10, 20, 30)) == pytest.approx(25)
    assert np.isnan(hunting.needed(np.array([0.5, 0.9]), (10, 20)))
    right = np.ones((400, 2))
    right[:30, 0] = 0  # 92.5 % are right at the first amount
    found = hunting.certain(right, (10, 20))
    assert found is not None
    assert (found[0], found[1].value) == (20, 1)
    assert hunting.certain(right[:20], (10, 20)) is None  # so few repetitions are certain of nothing


def test_both_ways_are_right_more_often_with_more_tasks() -> None:
    right = hunting.simulate("broken", 12)
    assert right.uniform_RK[:, -1].mean() == right.hunt_RK[:, -1].mean() == 1
    row = hunting.row("broken", right, np.random.default_rng(0))
    assert row.ratio.low <= row.ratio.value <= row.ratio.high
    assert "## How often the name is right" in "\n".join(hunting.page([row], {"broken": right}))


def test_the_page_says_how_often_a_prediction_is_lower_and_each_interval_holds() -> None:
    told = hunting_predicted.page(1, tasks=(40,))
    assert [line.split(" | ")[0] for line in told if "; " in line and line.startswith("| pec")] == ["| peculiar; tasks"]
    assert sum(line.startswith(tuple(f"| {figure} |" for figure in hunting_predicted.FIGURES)) for line in told) == 7
    assert sum(line.startswith("| 0.") for line in told) == len(hunting_predicted.PECULIAR)

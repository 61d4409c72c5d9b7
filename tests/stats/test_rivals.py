"""An interaction that the design hides does not accuse axes that have no part in it."""

from __future__ import annotations

import numpy as np
from pydoe import get_orthogonal_array

from harness_eval.stats.contrast_coding import code_levels
from harness_eval.stats.effects import AxisEffects, axis_effects
from harness_eval.stats.estimate import Array
from harness_eval.stats.rivals import rivals

AXES = "abcd"
ROWS = np.asarray(get_orthogonal_array("L9(3^4)"), dtype=int)
LEVELS = [{axis: str(level) for axis, level in zip(AXES, row, strict=True)} for row in ROWS]
CANONICAL = dict.fromkeys(AXES, "0")


def found(chance_H: Array, tasks: int = 60) -> tuple[set[str], AxisEffects]:
    """The axes that stand out, when a harness solves a task with this chance."""
    draws = np.random.default_rng(5).random((tasks, 1))  # the luck of a task is shared, as its difficulty would be
    effects = axis_effects((draws < chance_H).astype(np.float64), LEVELS, CANONICAL)
    return {one.axis for one in effects.axes if one.p_adjusted is not None and one.p_adjusted < 0.05}, effects


def test_every_interaction_is_hidden_where_main_effects_fill_the_design() -> None:
    assert [rival.other for rival in rivals(code_levels(LEVELS, CANONICAL), "a")] == ["b", "c", "d"]


def test_no_interaction_is_hidden_where_each_change_stands_alone() -> None:
    alone = [CANONICAL, *(CANONICAL | {axis: level} for axis in AXES for level in "12")]
    assert list(rivals(code_levels(alone, CANONICAL), "a")) == []


def test_an_interaction_leaves_the_leading_axis_alone_in_doubtless_light() -> None:
    a, b = ROWS[:, 0], ROWS[:, 1]
    out, effects = found(np.where(a == 2, 0.1, np.where((a == 1) & (b == 1), 0.3, 0.95)))
    assert out == {"a"}
    assert "one interaction, hidden by the design, may be all that stands out on b, c, d" in effects.notes
    assert {one.axis for one in effects.levels if one.p_adjusted is not None and one.p_adjusted < 0.05} == {"a"}


def test_two_axes_that_add_up_both_stand_out() -> None:
    a, c = ROWS[:, 0], ROWS[:, 2]
    out, effects = found(0.95 - 0.5 * (a == 2) - 0.4 * (c == 1))
    assert out == {"a", "c"}
    assert not any("interaction, hidden" in note for note in effects.notes)

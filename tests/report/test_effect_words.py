"""What the axes do, in words."""

from __future__ import annotations

import pytest

from harness_eval.report.effect_words import cause
from harness_eval.types import Json


def _section(p_level: float, p_axis: float, effect: float = -0.4) -> dict[str, Json]:
    return {
        "axes": [
            {
                "axis": "thinking",
                "level": "drop",
                "effect": effect,
                "low": effect - 0.2,
                "high": effect + 0.2,
                "p_adjusted": p_level,
                "detectable": 0.093,
                "reason": None,
            }
        ],
        "shares": [{"axis": "thinking", "share": 0.8, "p_adjusted": p_axis, "reason": None}],
        "worst": {"reason": None},
        "spread": {"p_equal": 0.001},
    }


def test_a_level_that_stands_out_is_the_cause() -> None:
    (said,) = cause(_section(0.01, 0.02))
    assert said.startswith("The level thinking = drop changes the score by −40.0 pp")
    assert "explains 80.0 %" in said


def test_where_no_level_stands_out_by_itself_an_axis_that_does_is_named_with_its_first_level() -> None:
    (said,) = cause(_section(0.06, 0.04))
    assert said.startswith("The axis thinking makes a difference: it explains 80.0 % (joint p 0.04)")
    assert "Most of it is thinking = drop, −40.0 pp [−60.0, −20.0], p 0.06 by itself." in said


@pytest.mark.parametrize("effect", [-0.4, 0.4])
def test_where_neither_stands_out_nothing_is_accused(effect: float) -> None:
    assert cause(_section(0.06, 0.06, effect)) == [
        "No single level of an axis stands out as the cause (detectable from 9.3 pp)."
    ]

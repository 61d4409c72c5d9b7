"""What the axes do, in words."""

from __future__ import annotations

import pytest

from harness_eval.report.effect_words import cause, detectable_phrase, joint_sentence, share_beside_levels
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


def _several(*levels: str, p: float = 0.02) -> dict[str, Json]:
    section = _section(0.01, 0.34)
    section["axes"] = [
        {**section["axes"][0], "axis": "truncation", "level": level, "effect": -0.35 + 0.01 * place, "p_adjusted": p}
        for place, level in enumerate(levels)
    ] + [{**section["axes"][0], "p_adjusted": 0.5}]
    section["shares"] = [{**section["shares"][0], "axis": "truncation"}, *section["shares"]]
    return section


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (
            ("middle(cap=2500)", "tail(cap=2500)", "head(cap=2500)"),
            (
                "Three levels of truncation, all with cap=2500, cost 33.0 to 35.0 pp each: "
                "middle (−35.0 pp [−60.0, −20.0]), tail and head."
            ),
        ),
        (
            ("middle(cap=2500)", "tail(cap=9000)"),
            (
                "Two levels of truncation cost 34.0 to 35.0 pp each: "
                "middle(cap=2500) (−35.0 pp [−60.0, −20.0]) and tail(cap=9000)."
            ),
        ),
        (
            ("middle(cap=9,lines=2)", "silent(lines=2)"),
            (
                "Two levels of truncation, all with lines=2, cost 34.0 to 35.0 pp each: "
                "middle(cap=9) (−35.0 pp [−60.0, −20.0]) and silent."
            ),
        ),
    ],
)
def test_several_levels_of_one_axis_are_named_together_with_what_they_share(levels: tuple[str, ...], said: str) -> None:
    assert cause(_several(*levels)) == [said]


def test_of_many_levels_of_one_axis_the_first_are_named() -> None:
    (said,) = cause(_several(*(f"level-{number}" for number in range(12))))
    assert said.startswith("12 levels of truncation cost 24.0 to 35.0 pp each: level-0 (")
    assert said.endswith("level-5 and 6 more.")


def test_levels_of_another_axis_that_cost_are_counted_apart() -> None:
    section = _several("middle(cap=2500)", "tail(cap=2500)")
    section["axes"][-1]["p_adjusted"] = 0.03
    (said,) = cause(section)
    assert said.startswith("Two levels of truncation")
    assert said.endswith("tail. 1 other level costs something too.")


def test_the_joint_test_stands_beside_a_share_only_where_no_level_stands_out_by_itself() -> None:
    section = _several("middle(cap=2500)")
    assert [share_beside_levels(one, section) for one in section["shares"]] == ["80.0 %", "80.0 % (joint p 0.34)"]
    assert joint_sentence(section).endswith("small p of one level: truncation 0.34, thinking 0.34.")
    undecided = _several("middle(cap=2500)", p=0.06)
    assert share_beside_levels(undecided["shares"][0], undecided) == "80.0 % (joint p 0.34)"


def test_what_no_difference_of_scores_can_reach_is_not_called_detectable() -> None:
    assert detectable_phrase([0.2, None, 0.35]) == "detectable from 35.0 pp"
    assert detectable_phrase([0.2, 1.3]) == "even 100 pp could have been missed"

"""What unsolved trials have in common."""

from __future__ import annotations

import pytest

from harness_eval.report.common import in_common
from harness_eval.report.diagnosis_words import common_sentence
from harness_eval.report.outcomes import Outcome
from harness_eval.report.recorded import outcome_of
from harness_eval.types import Json

LEVELS = {"canonical": {"truncation": "middle"}, "h1": {"truncation": "tail"}}


def _trials(number: int, harness: str, score: float | None, *acted: str) -> list[Outcome]:
    names = {"task": "t", "harness": harness, "endpoint": "e", "repeat": 0}
    return [outcome_of({**names, "score": score, "acted": list(acted)})] * number


def _effects(p: float, effect: float = -0.3) -> dict[str, Json]:
    return {"axes": [{"axis": "truncation", "level": "tail", "effect": effect, "p_adjusted": p}]}


OUTCOMES = [
    *_trials(9, "h1", 0.0, "truncation"),
    *_trials(3, "canonical", 0.5, "truncation"),
    *_trials(2, "h1", 1.0, "truncation"),
    *_trials(2, "h1", 1.0),
    *_trials(6, "canonical", 1.0, "truncation"),
    *_trials(4, "h1", None, "truncation"),
]


def test_a_level_that_costs_and_acted_in_most_unsolved_trials_is_counted_in_both() -> None:
    found = in_common(OUTCOMES, LEVELS, _effects(0.01))
    assert found == [
        {
            "axis": "truncation",
            "levels": ["tail"],
            "unsolved": {"met": 9, "trials": 12},
            "solved": {"met": 2, "trials": 10},
        }
    ]
    said = "In 9 of 12 unsolved trials truncation had acted at a level that costs, against 2 of 10 solved ones."
    assert common_sentence({"in_common": found}) == said


@pytest.mark.parametrize(
    ("effects", "outcomes"),
    [
        (_effects(0.2), OUTCOMES),  # it may be noise
        (_effects(0.01, 0.3), OUTCOMES),  # it helps
        (_effects(0.01), [*OUTCOMES, *_trials(40, "h1", 1.0, "truncation")]),  # as frequent in solved trials
        (_effects(0.01), _trials(9, "h1", 0.0, "truncation")),  # nothing to compare with
    ],
)
def test_what_does_not_stand_out_is_not_called_common(effects: dict[str, Json], outcomes: list[Outcome]) -> None:
    assert in_common(outcomes, LEVELS, effects) == []
    assert common_sentence({"in_common": []}) == ""

"""The configuration that a hunt has not run and that its effects predict to be the worst."""

from __future__ import annotations

from itertools import combinations

import pytest

from harness_eval.config import parse
from harness_eval.family import Family
from harness_eval.predicting import Predicted, predict

FAMILY = parse(
    Family,
    {
        "name": "small",
        "axes": {"thinking": ["keep", "drop"], "errors": ["explain", "terse"], "shell": ["fresh", "persistent"]},
    },
    "small",
)


def section(**effects: float) -> dict[str, object]:
    """A report of canonical, and of a harness for each axis and each two axes but thinking with errors."""
    levels = {axis: each[1].label for axis, each in FAMILY.axes.items()}
    sets = [(axis,) for axis in effects] + [pair for pair in combinations(effects, 2) if "shell" in pair]
    rows = [
        {
            "canonical": False,
            "estimate": 0.8 + sum(effects[axis] for axis in chosen),
            "low": 0.79 + sum(effects[axis] for axis in chosen),
            "high": 0.81 + sum(effects[axis] for axis in chosen),
            "tasks": 100,
            "differs": {axis: levels[axis] for axis in chosen},
        }
        for chosen in sets
    ]
    return {"canonical": {"estimate": 0.8}, "harnesses": rows}


COSTLY = {"thinking": -0.3, "errors": -0.2, "shell": 0.1}


def test_the_lowest_sum_of_effects_is_predicted() -> None:
    found = predict(FAMILY, section(**COSTLY), set())
    assert isinstance(found, Predicted)
    assert found.differs == {"thinking": "drop", "errors": "terse"}
    assert found.expected == pytest.approx(0.3, abs=0.02)


def test_what_was_run_is_not_predicted_but_the_next_lowest() -> None:
    first = predict(FAMILY, section(**COSTLY), set())
    assert isinstance(first, Predicted)
    second = predict(FAMILY, section(**COSTLY), {first.harness.id})
    assert isinstance(second, Predicted)
    assert second.differs == {"thinking": "drop", "errors": "terse", "shell": "persistent"}
    assert second.expected == pytest.approx(0.4, abs=0.02)


def test_a_level_that_no_harness_has_is_not_considered() -> None:
    found = predict(FAMILY, section(thinking=-0.3, shell=0.1), set())
    assert isinstance(found, Predicted)
    assert found.differs == {"thinking": "drop"}


def test_where_all_was_run_nothing_is_left() -> None:
    seen: set[str] = set()
    while isinstance(found := predict(FAMILY, section(**COSTLY), seen), Predicted):
        seen.add(found.harness.id)
    assert len(seen) == 8
    assert found == "every possible configuration of the levels that were run was run itself"


def test_why_nothing_is_predicted_is_said() -> None:
    known = section(**COSTLY)
    rows = known["harnesses"]
    assert isinstance(rows, list)
    assert "no score to predict from" in str(predict(FAMILY, {**known, "canonical": {"estimate": None}}, set()))
    assert "only 2 harnesses beside the canonical one" in str(predict(FAMILY, {**known, "harnesses": rows[:2]}, set()))
    alike = [{**row, "differs": {}} for row in rows]
    assert "no axis of the family varies" in str(predict(FAMILY, {**known, "harnesses": alike}, set()))
    elsewhere = [{**row, "differs": {"prompt": "short"}} for row in rows]
    assert "no axis of the family varies" in str(predict(FAMILY, {**known, "harnesses": elsewhere}, set()))

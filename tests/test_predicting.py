"""The configuration that a hunt has not run and that its effects predict to be the worst."""

from __future__ import annotations

import pytest

from harness_eval.config import parse
from harness_eval.family import Family
from harness_eval.predicting import predict

FAMILY = parse(
    Family,
    {
        "name": "small",
        "axes": {"thinking": ["keep", "drop"], "errors": ["explain", "terse"], "shell": ["fresh", "persistent"]},
    },
    "small",
)


def section(**effects: tuple[float | None, float | None, float | None]) -> dict[str, object]:
    levels = {axis: each[1].label for axis, each in FAMILY.axes.items()}
    rows = [
        {"axis": axis, "level": levels[axis], "effect": effect, "low": low, "high": high}
        for axis, (effect, low, high) in effects.items()
    ]
    return {"canonical": {"estimate": 0.8}, "axes": rows}


COSTLY = {"thinking": (-0.3, -0.32, -0.28), "errors": (-0.2, -0.22, -0.18), "shell": (0.1, 0.08, 0.12)}


def test_the_lowest_sum_of_effects_is_predicted() -> None:
    found = predict(FAMILY, section(**COSTLY), set())
    assert found is not None
    assert found.differs == {"thinking": "drop", "errors": "terse"}
    assert found.expected == pytest.approx(0.3, abs=0.01)


def test_what_was_run_is_not_predicted_but_the_next_lowest() -> None:
    first = predict(FAMILY, section(**COSTLY), set())
    assert first is not None
    second = predict(FAMILY, section(**COSTLY), {first.harness.id})
    assert second is not None
    assert second.differs == {"thinking": "drop", "errors": "terse", "shell": "persistent"}
    assert second.expected == pytest.approx(0.4, abs=0.01)


def test_an_effect_that_is_noise_adds_nothing() -> None:
    noise = {**COSTLY, "errors": (-0.02, -0.2, 0.16)}
    found = predict(FAMILY, section(**noise), set())
    assert found is not None
    assert found.differs == {"thinking": "drop"}


def test_a_level_of_unknown_effect_is_not_considered() -> None:
    found = predict(FAMILY, section(**{**COSTLY, "errors": (None, None, None)}), set())
    assert found is not None
    assert found.differs == {"thinking": "drop"}


def test_where_all_was_run_nothing_is_left() -> None:
    seen: set[str] = set()
    while (found := predict(FAMILY, section(**COSTLY), seen)) is not None:
        seen.add(found.harness.id)
    assert len(seen) == 8

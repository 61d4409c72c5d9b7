"""Axes that no study varied and that differ all the same."""

from __future__ import annotations

import pytest

from harness_eval.report.follows import followed, followed_in, follows_phrase

NATIVE = {"protocol": "native", "thinking": "keep", "results": "tool-message"}
TEXT = {"protocol": "json-text", "thinking": "keep", "results": "user-message"}
XML = {"protocol": "xml", "thinking": "drop", "results": "user-message"}
DROPPED = {"protocol": "native", "thinking": "drop", "results": "tool-message"}


@pytest.mark.parametrize(
    ("levels", "found"),
    [
        ([NATIVE, TEXT, XML, DROPPED], {"results": "protocol"}),
        ([NATIVE, XML], {"results": ""}),  # both axes would explain it
        ([NATIVE, DROPPED], {}),
    ],
)
def test_the_one_axis_that_decides_an_other_is_found(levels: list[dict[str, str]], found: dict[str, str]) -> None:
    assert followed(levels, ["protocol", "thinking"]) == found


def test_a_study_that_does_not_say_what_it_varied_ties_nothing() -> None:
    harnesses = [{"name": "a", "labels": NATIVE}, {"name": "b", "labels": TEXT}]
    assert followed_in({"harnesses": harnesses}) == {}
    assert followed_in({"harnesses": harnesses, "axes": ["protocol"]}) == {"results": "protocol"}


def test_an_external_harness_unties_nothing() -> None:
    harnesses = [{"name": "a", "labels": NATIVE}, {"name": "b", "labels": TEXT}, {"name": "c", "labels": {}}]
    assert followed_in({"harnesses": harnesses, "axes": ["protocol"]}) == {"results": "protocol"}


def test_what_decides_a_level_is_said_where_it_is_known() -> None:
    assert [follows_phrase("protocol"), follows_phrase("")] == ["follows protocol", "not varied by itself"]

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.axes import levels, make_level
from harness_eval.axes.tool import find_problem
from harness_eval.harness import make_harness
from harness_eval.reference.results import Result, unframed
from harness_eval.types import Observation

FRAMES = list(levels("results"))
TEXTS = ["port=1\n  indented", "[empty]", '{"a": 1}', "<b>x</b>", "Result: fine\nmore", "first\n\nlast"]


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("frame", FRAMES)
def test_every_frame_comes_off_without_touching_what_is_inside(frame: str, text: str, failed: bool) -> None:
    level: Any = make_level("results", frame)
    result = unframed(level.frame("bash", Observation(text, len(text), failed)))
    assert result == Result(text, None if frame == "tool-message" else failed)


@pytest.mark.parametrize("errors", levels("errors"))
@pytest.mark.parametrize("frame", FRAMES)
def test_a_bad_call_is_known_as_refused_in_every_wording_and_frame(frame: str, errors: str) -> None:
    harness = make_harness({"name": "x", "errors": errors, "toolset": "pascal-case"}, "x")
    level: Any = make_level("results", frame)
    for name, arguments in (("Fly", {}), ("Read", {}), ("Read", {"path": "a"}), ("Read", {"file_path": 3})):
        problem = find_problem(harness.tools, name, arguments)
        assert problem is not None
        said = harness.errors.word(problem.text, harness.tools)
        assert unframed(level.frame(name, Observation(said, len(said), True))).refused


@pytest.mark.parametrize("text", ["x: not found\n[exit code 1]", "error: 3 lines\n" * 60, "no error at all", ""])
def test_a_command_that_ran_is_not_refused_whatever_it_printed(text: str) -> None:
    assert not Result(text, failed="exit code" in text or None).refused


@pytest.mark.parametrize(
    "text",
    [
        "conf/app.ini: the text to replace does not occur in the file",
        "conf/app.ini: the text to replace occurs 2 times; give more of its surroundings",
        "a patch starts with '*** Begin Patch' and ends with '*** End Patch'",
        "the old text was found 2 times\n[exit code 1]",
        "app.ini: no such file",
        "Error: Edit is not available in this environment; use another tool",
    ],
)
def test_an_edit_that_did_not_happen_is_known_from_what_is_said(text: str) -> None:
    assert Result(text).in_trouble


@pytest.mark.parametrize("text", ["edited src/errors.py", "wrote answer.txt", "patched a.py", "[no output]", "Done."])
def test_an_edit_that_happened_raises_no_doubt(text: str) -> None:
    assert not Result(text).in_trouble


@pytest.mark.parametrize("name", ["middle", "head", "tail", "fifth-head"])
@pytest.mark.parametrize("notice", ["marker", "advice"])
def test_a_notice_that_something_is_left_out_is_seen(name: str, notice: str) -> None:
    level: Any = make_level("truncation", {"level": name, "cap": 100, "notice": notice})
    assert Result(level.cut("line of output\n" * 50)).cut


def test_a_silent_cut_and_the_word_alone_are_no_notice() -> None:
    level: Any = make_level("truncation", "silent")
    assert not Result(level.cut("x" * 20_000)).cut
    assert not Result("the table was truncated by hand\nomitted: 3").cut


def test_line_numbers_come_off_only_where_every_line_has_one() -> None:
    assert Result("     1\ta\n     2\t\n    10\tb: c").lines == "a\n\nb: c"
    assert Result("1: a\n2: b").lines == "a\nb"
    assert Result("1: a\nb").lines == "1: a\nb"


def test_a_refusal_that_names_the_right_parameter_is_understood() -> None:
    said = "Error: parameter 'command' is not accepted by this version of the tool; pass it as 'command_line'"
    assert Result(said, failed=True).renamed == ("command", "command_line")
    assert Result("Error: parameter 'mode' must be a string (one of 'a', 'b')", failed=True).renamed is None

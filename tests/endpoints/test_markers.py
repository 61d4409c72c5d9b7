"""End markers and reasoning tags that a server left in the text."""

from __future__ import annotations

import pytest

from harness_eval.endpoints.markers import inline_thinking, leaked_thinking, with_inline, without_terminator


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("42<|close|>message<|sep|>", "42"),
        ("42<|close|>response<|sep|><|close|>message<|sep|>\n", "42"),
        ("42<|close|> message <|sep|>", "42"),
        ("42<|im_end|>", "42"),
        ("42\n<|endoftext|>\n", "42\n"),
        ("42<｜end▁of▁sentence｜>", "42"),
        ("42[EOS]", "42"),
        ("<|im_end|>", ""),
    ],
)
def test_an_end_marker_at_the_very_end_is_taken_out(text: str, left: str) -> None:
    assert without_terminator(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "<|im_end|> is how a message ends.",
        "A message ends with `<|close|>message<|sep|>`",
        "```\n<|im_end|>\n```",
        "<|open|>tools<|sep|>",
        "<|close|>tools<|sep|>",
        "<|tool_calls_section_end|>",
    ],
)
def test_any_other_markup_is_left_alone(text: str) -> None:
    assert without_terminator(text) == text


def test_a_text_of_nothing_but_end_markers_is_read_in_no_time() -> None:
    assert without_terminator("<|im_end|>" * 400_000).startswith("<|im_end|>")


@pytest.mark.parametrize(
    ("text", "thinking", "left"),
    [
        ("Plan.\n</think>\nThe answer is 12.", "Plan.", "The answer is 12."),
        ("Plan.</think>12", "Plan.", "12"),
        ("</think>\n\n12", "", "12"),
        ("Plan.\n</think>", "Plan.", ""),
        ("Plan.\n◁/think▷12", "Plan.", "12"),
        ("Plan.<|close|>think<|sep|>12", "Plan.", "12"),
        ("<think>\nPlan without an end.", "Plan without an end.", ""),
        ("<think>", "", ""),
        ("a</think>b</think>c", "a", "b</think>c"),
    ],
)
def test_a_lone_tag_parts_reasoning_from_text(text: str, thinking: str, left: str) -> None:
    assert leaked_thinking(text) == (thinking, left)


@pytest.mark.parametrize(
    "text",
    [
        "12",
        "Close the block with `</think>` and go on.",
        "The </think> tag ends it.",
        'It ends with "</think>".',
        "```\n</think>\n```\nis how it ends.",
        "```\n<think>plan</think>\n```",
        "Templates write <think>plan</think> first.",
        "Open with <think> and write.",
        "</thinking> is another tag",
    ],
)
def test_a_tag_that_is_quoted_or_has_its_partner_is_left_alone(text: str) -> None:
    assert leaked_thinking(text) is None


def test_reasoning_inside_the_content_is_taken_apart_and_put_together_to_the_letter() -> None:
    text = "<think>Run the tests.\n</think>\n\nChecking."
    parts = inline_thinking(text)
    assert parts == ("Run the tests.\n", "\n\nChecking.")
    assert with_inline(*parts) == text
    assert with_inline("hm", None) == "<think>hm</think>"
    assert with_inline("hm", [{"type": "text", "text": "x"}])[0] == {"type": "text", "text": "<think>hm</think>"}


@pytest.mark.parametrize("text", ["", "x <think>a</think>", "<think>a", "a</think>"])
def test_only_a_whole_pair_at_the_beginning_is_inlined_reasoning(text: str) -> None:
    assert inline_thinking(text) is None

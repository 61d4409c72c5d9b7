"""Replies from chunks and bodies: text, reasoning, usage, errors."""

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.endpoints.reply import ReplyAssembler, read_usage
from harness_eval.types import Usage

from .server import chunk


def assembler(*chunks: Any) -> ReplyAssembler:
    made = ReplyAssembler()
    for each in chunks:
        made.add(each)
    return made


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 3}, Usage(9, 4, 0, 3)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 3}, Usage(9, 4, 0, 3)),
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}},
            Usage(9, 4, 0, 3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 2}},
            Usage(9, 4, 2, 0),
        ),
        ({"prompt_tokens": 9, "completion_tokens": None, "prompt_tokens_details": None}, Usage(9)),
        (None, Usage()),
        ([], Usage()),
        ({"prompt_tokens": "9", "completion_tokens": -1}, Usage()),
    ],
)
def test_usage_is_found_wherever_a_server_keeps_it(usage: Any, expected: Usage) -> None:
    assert read_usage(usage) == expected


def test_usage_may_stand_in_a_choice_early_late_or_be_followed_by_zeros() -> None:
    counts = {"prompt_tokens": 9, "completion_tokens": 4}
    in_choice = chunk({}, "stop")
    in_choice["choices"][0]["usage"] = counts
    zeros = {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}
    early = chunk({"content": "x"}, usage=counts)
    growing = chunk({"content": "x"}, usage={"prompt_tokens": 9, "completion_tokens": 1})
    for chunks in (
        (in_choice,),
        (early, zeros),
        (growing, early),
        (chunk({}, "stop"), {"choices": [], "usage": counts}),
    ):
        assert assembler(*chunks).reply().usage == Usage(9, 4)


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_is_read_under_either_name_and_the_name_is_kept(key: str) -> None:
    reply = assembler(chunk({key: "2+2 "}), chunk({key: "is 4."}), chunk({"content": "4"})).reply()
    assert (reply.thinking, reply.reasoning_key, reply.text) == ("2+2 is 4.", key, "4")


def test_reasoning_details_are_joined() -> None:
    parts = [{"type": "reasoning.text", "text": "Run "}, {"type": "reasoning.text", "text": "tests."}]
    reply = assembler({"choices": [{"message": {"content": "ok", "reasoning_details": parts}}]}).reply()
    assert (reply.thinking, reply.reasoning_key) == ("Run tests.", "reasoning_details")


def test_absent_empty_and_present_reasoning_are_three_different_things() -> None:
    assert assembler(chunk({"content": "4", "reasoning_content": None})).reply().thinking is None
    assert assembler(chunk({"content": "4", "reasoning_content": ""})).reply().thinking == ""
    assert assembler(chunk({"content": "4", "reasoning_content": ""})).reply().reasoning_key == "reasoning_content"
    assert assembler(chunk({"content": "4"})).reply().reasoning_key == ""


def test_of_two_reasoning_keys_the_one_with_text_counts_and_none_counts_twice() -> None:
    empty = assembler(chunk({"reasoning_content": "", "reasoning": "why"})).reply()
    assert (empty.thinking, empty.reasoning_key) == ("why", "reasoning")
    both = assembler(chunk({"reasoning": "why", "reasoning_details": [{"text": "why"}]})).reply()
    assert (both.thinking, both.reasoning_key) == ("why", "reasoning")


def test_content_in_typed_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert assembler({"choices": [{"message": {"content": parts}}]}).reply().text == "ab"


def test_a_finish_reason_beside_the_last_text_is_not_lost() -> None:
    reply = assembler(chunk({"content": "Done"}), chunk({"content": "."}, "stop")).reply()
    assert (reply.text, reply.finish_reason) == ("Done.", "stop")


def test_an_unknown_finish_reason_is_kept_as_it_came() -> None:
    assert assembler(chunk({}, "stop_163586")).reply().finish_reason == "stop_163586"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "x"}},
        {"error": "x", "choices": None},
        {"object": "error", "message": "x"},
        {"type": "error", "error": {"message": "x"}},
        {"choices": [{"index": 0, "error": {"message": "x"}, "finish_reason": "error"}]},
    ],
)
def test_an_error_inside_a_success_is_seen(body: dict[str, Any]) -> None:
    assert assembler(body).error


@pytest.mark.parametrize("body", [None, [], "x", {}, {"choices": "x"}, {"choices": [None]}, {"error": None}])
def test_nonsense_is_neither_a_choice_nor_an_error(body: Any) -> None:
    made = assembler(body)
    assert (made.choices, made.error) == (0, None)


COUNTS = {"prompt_tokens": 9, "completion_tokens": 4}


def oddities(*chunks: Any) -> tuple[str, ...]:
    return assembler(*chunks, chunk({}, "stop", usage=COUNTS)).reply().oddities


def test_a_plain_reply_has_no_oddity() -> None:
    assert oddities(chunk({"content": "4", "reasoning_content": "2+2"})) == ()
    call = {"index": 0, "id": "a", "function": {"name": "run", "arguments": "{}"}}
    assert oddities(chunk({"tool_calls": [call]})) == ()


@pytest.mark.parametrize(
    ("delta", "label"),
    [
        ({"content": "4", "reasoning": "2+2"}, "ok.reasoning_field_alias"),
        ({"content": "4", "reasoning_details": [{"text": "2+2"}]}, "ok.reasoning_details"),
        ({"content": "<think>2+2</think>4"}, "ok.reasoning_details"),
        ({"content": "2+2</think>4"}, "serving.think_tag_leak"),
        ({"content": "4<|im_end|>"}, "serving.terminator_leak"),
        ({"tool_calls": [{"id": "a", "function": {"name": "run", "arguments": "{}"}}]}, "serving.index_missing"),
    ],
)
def test_what_is_put_right_is_an_oddity(delta: dict[str, Any], label: str) -> None:
    assert oddities(chunk(delta)) == (label,)


def test_two_calls_with_one_id_are_kept_apart_and_noticed() -> None:
    calls = [{"id": "d", "function": {"name": "run", "arguments": f'{{"x": {n}}}'}} for n in (1, 2)]
    body = {"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}], "usage": COUNTS}
    reply = assembler(body).reply()
    assert (len(reply.calls), reply.oddities) == (2, ("serving.duplicate_id_in_turn",))


@pytest.mark.parametrize(
    "chunks",
    [
        (chunk({"content": "x"}), chunk({}, "stop")),
        (chunk({"content": "x"}, usage=None), chunk({}, "stop", usage=None)),
        (chunk({"content": "x"}), chunk({}, "stop", usage={"prompt_tokens": 0, "completion_tokens": 0})),
        (chunk({"content": "x"}, usage=COUNTS), chunk({}, "stop")),
        (chunk({"content": "x"}), chunk({}, "stop", usage={"prompt_tokens": 9, "completion_tokens": 0})),
    ],
    ids=["absent", "null", "zero", "early", "half"],
)
def test_usage_that_does_not_count_the_whole_reply_is_noticed(chunks: tuple[Any, ...]) -> None:
    assert assembler(*chunks).reply().oddities == ("ok.usage_missing",)


@pytest.mark.parametrize("late", [chunk({}, "stop", usage=COUNTS), {"choices": [], "usage": COUNTS}])
def test_usage_that_comes_with_or_after_the_end_is_whole(late: Any) -> None:
    assert assembler(chunk({"content": "x"}, "stop"), late).reply().oddities == ()


def test_markup_in_arguments_and_in_the_middle_of_a_text_is_never_touched() -> None:
    text, arguments = "a <|im_end|> b </think> c", '{"cmd": "echo \'</think><|im_end|>\'"}'
    call = {"index": 0, "id": "a", "function": {"name": "run", "arguments": arguments}}
    reply = assembler(chunk({"content": text, "tool_calls": [call]})).reply()
    assert (reply.text, reply.calls[0].arguments) == (text, arguments)


def test_reasoning_that_leaks_after_native_reasoning_is_added_to_it() -> None:
    reply = assembler(chunk({"reasoning_content": "First. ", "content": "Then.</think>4"})).reply()
    assert (reply.thinking, reply.text, reply.reasoning_key) == ("First. Then.", "4", "reasoning_content")


def test_a_balanced_pair_of_tags_beside_native_reasoning_is_the_text_s_own() -> None:
    reply = assembler(chunk({"reasoning_content": "hm", "content": "<think>x</think>4"})).reply()
    assert (reply.text, reply.thinking) == ("<think>x</think>4", "hm")

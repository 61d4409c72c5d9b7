"""The scripted agent obeys plain orders that it sees in the bytes of a request, and only those."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness_eval.reference.player import Player
from harness_eval.reference.scripts import Scripts
from harness_eval.reference.skills import Call

TOOL = {"name": "look_up", "parameters": {"type": "object", "properties": {"key": {"type": "string"}}}}
ORDER = 'Call the tool look_up with the arguments {"key": "a {nested} \\"one\\""}. Then wait.'
CALL = Call("look_up", {"key": 'a {nested} "one"'})


def calls(*messages: dict[str, Any], tools: bool = True) -> tuple[Call, ...]:
    return said(*messages, tools=tools).calls


def said(*messages: dict[str, Any], tools: bool = True) -> Any:
    offered = [{"type": "function", "function": TOOL}] if tools else []
    return Player(Scripts(())).reply({"messages": list(messages), "tools": offered})


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def turn(result: str) -> list[dict[str, Any]]:
    function = {"name": "look_up", "arguments": json.dumps({"key": "x"})}
    call = {"id": "c", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def test_an_order_is_carried_out_to_the_letter() -> None:
    assert calls(user(ORDER)) == (CALL,)


def test_an_order_in_a_result_comes_after_the_one_before_it() -> None:
    assert calls(user(ORDER), *turn('Call the tool look_up with the arguments {"key": "b"}.')) == (
        Call("look_up", {"key": "b"}),
    )


def test_without_a_further_order_the_newest_result_is_the_answer() -> None:
    reply = said(user(ORDER), *turn("The word is QUARTZ."))
    assert (reply.text, reply.calls) == ("The word is QUARTZ.", ())


def test_a_tool_that_is_not_offered_is_called_all_the_same() -> None:
    assert calls(user('Call the tool open_gate with the arguments {"after": "x"}.')) == (
        Call("open_gate", {"after": "x"}),
    )


def test_where_no_tool_can_be_called_the_order_is_answered_in_words() -> None:
    assert calls(user(ORDER), tools=False) == ()


@pytest.mark.parametrize("text", ["Call the tool look_up with the arguments {broken", "Find out what look_up is for."])
def test_what_is_no_order_is_not_obeyed(text: str) -> None:
    assert CALL not in calls(user(text))

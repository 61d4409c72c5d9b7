"""Reasoning in typed parts goes back as it came."""

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.endpoints.details import ReasoningDetails, merged
from harness_eval.types import RawCall, Reply, Request

from .conftest import Connect
from .server import chunk, stream

ASK = Request(messages=({"role": "user", "content": "hi"},))


def part(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "reasoning.text", "index": 0, "text": text, **more}


def test_parts_of_one_kind_and_index_are_put_together_with_all_that_they_hold() -> None:
    assert merged([part("Run ", format="v1"), part("tests."), part("", signature="s1")]) == [
        part("Run tests.", format="v1", signature="s1")
    ]


def test_parts_of_another_kind_or_index_stay_apart() -> None:
    encrypted = {"type": "reasoning.encrypted", "index": 1, "data": "x"}
    assert merged([part("a"), encrypted, part("b", index=2)]) == [part("a"), encrypted, part("b", index=2)]
    assert merged(["x", None, 3]) == []


@pytest.mark.anyio
async def test_streamed_parts_go_back_with_their_signature(connect: Connect) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "run", "arguments": "{}"}}
    endpoint, server = await connect(
        stream(
            chunk({"reasoning_details": [part("Run ", id="r1")]}),
            chunk({"reasoning_details": [part("tests.", signature="s1")]}),
            chunk({"tool_calls": [call]}, "tool_calls"),
        )
    )
    reply = await endpoint.complete(ASK)
    assert (reply.thinking, reply.reasoning_key) == ("Run tests.", "reasoning_details")
    message = {"role": "assistant", "content": "", "reasoning_content": "Run tests.", "tool_calls": [{"id": "a"}]}
    await endpoint.complete(Request(messages=(message, {**message, "reasoning_content": "Else."})))
    same, other = (sent["reasoning_details"] for sent in server.received[1].body["messages"])
    assert same == [part("Run tests.", id="r1", signature="s1")]
    assert other == [{"type": "reasoning.text", "text": "Else."}]


def test_what_was_remembered_longest_ago_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_eval.endpoints.details._MOST", 2)
    known = ReasoningDetails()
    for number in range(3):
        known.remember(Reply(thinking=str(number), calls=(RawCall("a", "run", "{}"),)), [part("x", n=number)])
    found = [known.of({"tool_calls": [{"id": "a"}]}, str(number))[0].get("n") for number in range(3)]
    assert found == [None, 1, 2]

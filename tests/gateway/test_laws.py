"""What holds for all three wires: a conversation that a harness sends back means the same on each of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.gateway.chat import Chat
from harness_eval.gateway.messages import Messages
from harness_eval.gateway.responses import Responses
from harness_eval.gateway.wires import Asked, Wire
from harness_eval.types import Message, RawCall, Reply, Request

WIRES: list[Wire] = [Chat(), Responses(), Messages()]
ASKED = Asked(Request(()), "m", streamed=False)

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
values = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | words | st.lists(words, max_size=2)
arguments = st.dictionaries(words, values, max_size=3).map(lambda each: json.dumps(each, ensure_ascii=False))


@st.composite
def turns(draw: st.DrawFn) -> tuple[Reply, tuple[str, ...], str]:
    """A reply, the results of its calls, and what the user says then; ids come again in each turn."""
    made = [RawCall(f"call_{at}", "bash", draw(arguments)) for at in range(draw(st.integers(0, 3)))]
    thinking = draw(st.none() | st.just("") | words)
    text = draw(words if not made and thinking is None else st.just("") | words)
    results = tuple(draw(words) for _ in made)
    note = draw(st.just("") | words) if made else draw(words)
    return Reply(text, thinking, tuple(made), "tool_calls" if made else "stop"), results, note


conversations = st.lists(turns(), max_size=4)


def meant(said: list[tuple[Reply, tuple[str, ...], str]]) -> list[Message]:
    """The conversation in the dialect of this package."""
    messages: list[Message] = [{"role": "system", "content": "be good"}, {"role": "user", "content": "go"}]
    for reply, results, note in said:
        message: Message = {"role": "assistant", "content": reply.text}
        if reply.thinking is not None:
            message["reasoning_content"] = reply.thinking
        if reply.calls:
            functions = [{"name": call.name, "arguments": call.arguments} for call in reply.calls]
            ids = [call.id for call in reply.calls]
            made = zip(ids, functions, strict=True)
            message["tool_calls"] = [{"id": each, "type": "function", "function": inner} for each, inner in made]
        messages.append(message)
        answered = zip(reply.calls, results, strict=True)
        messages += [{"role": "tool", "tool_call_id": call.id, "content": result} for call, result in answered]
        messages += [{"role": "user", "content": note}] if note else []
    return messages


def echoed(wire: Wire, said: list[tuple[Reply, tuple[str, ...], str]]) -> dict[str, Any]:
    """The body of the next request, with each reply as the wire wrote it."""
    sent: list[Any] = [{"role": "user", "content": "go"}]
    for reply, results, note in said:
        whole = wire.whole(reply, ASKED)
        answered = [(call.id, result) for call, result in zip(reply.calls, results, strict=True)]
        told = [{"role": "user", "content": note}] if note else []
        if wire.name == "chat":
            tools = [{"role": "tool", "tool_call_id": made, "content": result} for made, result in answered]
            sent += [whole["choices"][0]["message"], *tools, *told]
        elif wire.name == "responses":
            outputs = [{"type": "function_call_output", "call_id": made, "output": out} for made, out in answered]
            sent += [*whole["output"], *outputs, *told]
        else:
            blocks = [{"type": "tool_result", "tool_use_id": made, "content": result} for made, result in answered]
            blocks += [{"type": "text", "text": note}] if note else []
            sent += [{"role": "assistant", "content": whole["content"]}, {"role": "user", "content": blocks}]
    return {
        "chat": {"model": "m", "messages": [{"role": "system", "content": "be good"}, *sent]},
        "responses": {"model": "m", "instructions": "be good", "input": sent},
        "messages": {"model": "m", "max_tokens": 9, "system": "be good", "messages": sent},
    }[wire.name]


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
@settings(max_examples=60, deadline=None)
@given(conversations)
def test_a_conversation_that_is_sent_back_means_what_was_said(
    wire: Wire, said: list[tuple[Reply, tuple[str, ...], str]]
) -> None:
    asked = wire.read(json.loads(json.dumps(echoed(wire, said))))
    assert list(asked.request.messages) == meant(said)
    assert asked.untranslated == ()


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
@settings(max_examples=60, deadline=None)
@given(turns().map(lambda turn: turn[0]))
def test_the_pieces_of_a_streamed_reply_are_those_of_the_whole_one(wire: Wire, reply: Reply) -> None:
    data = [
        json.loads(line.removeprefix(b"data: "))
        for event in wire.events(reply, ASKED)
        for line in event.splitlines()
        if line.startswith(b"data: {")
    ]
    found: dict[str, str] = dict.fromkeys(("text", "thinking", "arguments"), "")
    names = {"content": "text", "reasoning_content": "thinking", "text": "text", "thinking": "thinking"}
    for each in data:
        delta = each.get("delta", {}) if wire.name != "chat" else each["choices"][0]["delta"]
        if wire.name == "responses" and "delta" in each:
            kind = each["type"].split(".")[1]
            found[{"output_text": "text", "reasoning_summary_text": "thinking"}.get(kind, "arguments")] += delta
        elif wire.name != "responses":
            calls = [call["function"].get("arguments", "") for call in delta.get("tool_calls", ())]
            found["arguments"] += "".join(calls) + delta.get("partial_json", "")
            for key in names.keys() & delta.keys():
                found[names[key]] += delta[key]
    assert found["text"] == reply.text
    assert found["thinking"] == (reply.thinking or "")
    assert found["arguments"] == "".join(call.arguments for call in reply.calls)


_KEYS = (
    *("content", "type", "text", "name", "function", "custom", "arguments", "id", "call_id", "tool_call_id", "role"),
    *("tool_use_id", "tool_calls", "reasoning", "reasoning_content", "output", "summary", "source", "image_url"),
    *("is_error", "thinking", "encrypted_content", "namespace", "tools", "format", "action", "input"),
)
_KINDS = (
    *("user", "assistant", "tool", "system", "developer", "text", "image", "tool_use", "tool_result", "thinking"),
    *("message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "local_shell_call"),
    *("function", "custom", "namespace", "input_image"),
)
leaves = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(_KINDS)
bodies = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=5),
    max_leaves=8,
)
items = st.lists(st.dictionaries(st.sampled_from(("role", "type", *_KEYS)), bodies, max_size=4), max_size=2)


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
@settings(max_examples=100, deadline=None)
@given(items, bodies)
def test_whatever_is_sent_is_read_or_refused_in_words(wire: Wire, said: list[Any], rest: Any) -> None:
    body = {"model": "m", "messages": said or rest, "input": said or rest, "tools": rest, "system": rest}
    try:
        asked = wire.read(body)
    except ValueError:
        return
    assert all(message["role"] in ("system", "user", "assistant", "tool") for message in asked.request.messages)

"""The makers' own clients against the gateway: whole replies and streamed ones are what their models say."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types import Message
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from harness_eval.gateway.door import Door
from harness_eval.types import RawCall, Reply
from tests.gateway.front import CUT, PARAMETERS, REPLY, WHOLE, gateway

pytestmark = pytest.mark.anyio

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "go"}],
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": PARAMETERS}}],
}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "input": "go",
    "tools": [
        {"type": "function", "name": "bash", "parameters": PARAMETERS, "strict": False},
        {"type": "custom", "name": "apply_patch", "description": "Edit files."},
    ],
}
MESSAGES: dict[str, Any] = {
    "model": "m",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "go"}],
    "tools": [{"name": "bash", "input_schema": PARAMETERS}],
}


def maker(door: Door) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key=door.key, base_url=f"{door.base_url}/trial-3/v1", max_retries=0)


async def test_a_chat_client_reads_a_whole_reply_with_reasoning_calls_and_usage() -> None:
    async with gateway(REPLY) as door, maker(door) as client:
        got = await client.chat.completions.create(**CHAT)
    ChatCompletion.model_validate(got.model_dump())
    message = got.choices[0].message
    assert (message.content, message.model_extra) == (REPLY.text, {"reasoning_content": REPLY.thinking})
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    assert calls == [(call.id, call.name, call.arguments) for call in REPLY.calls]
    assert (got.choices[0].finish_reason, got.model) == ("tool_calls", "m")
    usage = got.usage
    assert usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (100, 20, 120)
    assert usage.prompt_tokens_details
    assert usage.prompt_tokens_details.cached_tokens == 40


async def test_a_chat_client_puts_the_same_reply_together_from_a_stream() -> None:
    async with gateway(REPLY) as door, maker(door) as client:
        stream = await client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True})
        chunks = [chunk async for chunk in stream]
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk.model_dump())
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == REPLY.text
    assert "".join((delta.model_extra or {}).get("reasoning_content", "") for delta in deltas) == REPLY.thinking
    calls: dict[int, list[str]] = {}
    for piece in (call for delta in deltas for call in delta.tool_calls or ()):
        calls.setdefault(piece.index, []).append((piece.function and piece.function.arguments) or "")
    assert ["".join(pieces) for pieces in calls.values()] == [call.arguments for call in REPLY.calls]
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 120


async def test_a_stream_that_does_not_ask_for_usage_gets_none() -> None:
    async with gateway(REPLY) as door, maker(door) as client:
        chunks = [chunk async for chunk in await client.chat.completions.create(**CHAT, stream=True)]
    assert all(chunk.usage is None for chunk in chunks)


async def test_a_responses_client_reads_a_whole_reply() -> None:
    async with gateway(REPLY) as door, maker(door) as client:
        got = await client.responses.create(**RESPONSES)
    Response.model_validate(got.model_dump())
    assert [item.type for item in got.output] == ["reasoning", "message", "function_call", "function_call"]
    assert got.output_text == REPLY.text
    first, *_, last = got.output
    assert first.type == "reasoning"
    assert first.summary[0].text == REPLY.thinking
    assert last.type == "function_call"
    assert (last.call_id, last.arguments) == ("call_b", CUT)
    assert got.usage
    assert (got.usage.input_tokens, got.usage.input_tokens_details.cached_tokens) == (100, 40)
    assert got.usage.output_tokens_details.reasoning_tokens == 5


async def test_a_responses_stream_goes_from_created_to_completed_and_ends_in_the_whole_reply() -> None:
    free = RawCall("call_c", "apply_patch", json.dumps({"input": "*** Begin Patch\n"}))
    reply = Reply(REPLY.text, REPLY.thinking, (*REPLY.calls, free), "tool_calls", REPLY.usage)
    async with gateway(reply) as door, maker(door) as client:
        whole = await client.responses.create(**RESPONSES)
        events = [event async for event in await client.responses.create(**RESPONSES, stream=True)]
    for event in events:
        EVENT.validate_python(event.model_dump())
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = list(dict.fromkeys(event.type.removeprefix("response.") for event in events))
    assert kinds[:3] == ["created", "in_progress", "output_item.added"]
    assert events[-1].type == "response.completed"
    assert events[-1].response.output == whole.output
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert done == whole.output
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == REPLY.text
    assert done[-1].model_dump()["input"] == "*** Begin Patch\n"


async def test_a_reply_that_was_cut_off_is_an_incomplete_response() -> None:
    async with gateway(Reply("half of it", finish_reason="length")) as door, maker(door) as client:
        whole = await client.responses.create(**RESPONSES)
        events = [event async for event in await client.responses.create(**RESPONSES, stream=True)]
    assert whole.status == "incomplete"
    assert whole.incomplete_details
    assert whole.incomplete_details.reason == "max_output_tokens"
    assert events[-1].type == "response.incomplete"


async def test_a_messages_client_reads_a_whole_reply() -> None:
    async with gateway(WHOLE) as door, anthropic.AsyncAnthropic(api_key=door.key, base_url=door.base_url) as client:
        got = await client.messages.create(**MESSAGES)
        counted = await client.messages.count_tokens(model="m", messages=MESSAGES["messages"])
    Message.model_validate(got.model_dump())
    thinking, text, call = got.content
    assert (thinking.type, text.type, call.type) == ("thinking", "text", "tool_use")
    assert (thinking.thinking, text.text, call.input) == (REPLY.thinking, REPLY.text, {"command": "ls"})
    assert got.stop_reason == "tool_use"
    assert (got.usage.input_tokens, got.usage.cache_read_input_tokens, got.usage.output_tokens) == (60, 40, 20)
    assert counted.input_tokens > 0


async def test_a_messages_stream_is_put_together_to_the_whole_reply_by_the_client() -> None:
    async with gateway(WHOLE) as door, anthropic.AsyncAnthropic(api_key=door.key, base_url=door.base_url) as client:
        whole = await client.messages.create(**MESSAGES)
        async with client.messages.stream(**MESSAGES) as stream:
            kinds = [event.type async for event in stream]
            final = await stream.get_final_message()
    assert [block.model_dump() for block in final.content] == [block.model_dump() for block in whole.content]
    assert (final.stop_reason, final.usage.output_tokens) == (whole.stop_reason, 20)
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")


async def test_unreadable_arguments_reach_a_messages_client_in_pieces_as_they_are() -> None:
    async with gateway(REPLY) as door, anthropic.AsyncAnthropic(api_key=door.key, base_url=door.base_url) as client:
        events = [event async for event in await client.messages.create(**MESSAGES, stream=True)]
        whole = await client.messages.create(**MESSAGES)
    deltas = [event for event in events if event.type == "content_block_delta" and event.index == 3]
    assert "".join(event.delta.partial_json for event in deltas) == CUT
    assert whole.content[-1].model_dump()["input"] == {"unreadable_input": CUT}
    assert [bool(each.asked.untranslated) for each in door.exchanges] == [False, True]


async def test_the_clients_raise_their_own_errors() -> None:
    async with gateway() as door:
        async with openai.AsyncOpenAI(api_key="sk-other", base_url=f"{door.base_url}/v1") as client:
            with pytest.raises(openai.AuthenticationError):
                await client.chat.completions.create(**CHAT)
            with pytest.raises(openai.AuthenticationError):
                await client.models.list()
        async with anthropic.AsyncAnthropic(api_key="sk-other", base_url=door.base_url) as other:
            with pytest.raises(anthropic.AuthenticationError):
                await other.messages.create(**MESSAGES)
        async with maker(door) as client:
            with pytest.raises(openai.BadRequestError, match="previous_response_id"):
                await client.responses.create(**RESPONSES, previous_response_id="resp_1")
            assert [model.id async for model in client.models.list()] == ["scripted"]
    assert sum(door.turned_away.values()) == 3

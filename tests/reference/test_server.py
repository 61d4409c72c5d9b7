from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from harness_eval.harness import make_harness
from harness_eval.reference.server import ReferenceConfig, listening
from harness_eval.reference.wire import MODEL
from harness_eval.types import View

from .conversation import INSTRUCTION, LOG, tools_of

pytestmark = pytest.mark.anyio

TASK = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": INSTRUCTION}]
DONE = [
    *TASK,
    {
        "role": "assistant",
        "content": "Step 1 of 5: I read the log.",
        "reasoning_content": "First the log.",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": LOG},
]


class Client:
    def __init__(self, base_url: str, session: aiohttp.ClientSession) -> None:
        self.base_url = base_url
        self.session = session

    async def post(self, path: str, body: Any, status: int = 200) -> Any:
        data = body if isinstance(body, bytes) else json.dumps({"model": MODEL, **body}).encode()
        async with self.session.post(f"{self.base_url}/{path}", data=data) as response:
            assert response.status == status
            return await response.json()

    async def chunks(self, path: str, body: dict[str, Any]) -> list[Any]:
        data = json.dumps({"model": MODEL, "stream": True, **body}).encode()
        async with self.session.post(f"{self.base_url}/{path}", data=data) as response:
            assert response.content_type == "text/event-stream"
            frames = (await response.text()).strip().split("\n\n")
        assert frames.pop() == "data: [DONE]"
        return [json.loads(frame.removeprefix("data: ")) for frame in frames]


@pytest.fixture
async def client(suite: Path) -> AsyncIterator[Client]:
    async with listening(ReferenceConfig((suite,))) as base_url, aiohttp.ClientSession() as session:
        yield Client(base_url, session)


def native(messages: list[Any] = TASK, **more: Any) -> dict[str, Any]:
    return {"messages": messages, "tools": tools_of({}), "seed": 3, **more}


async def test_it_says_which_model_it_is_and_that_it_is_none(client: Client) -> None:
    async with client.session.get(f"{client.base_url}/models") as response:
        assert [model["id"] for model in (await response.json())["data"]] == [MODEL]
    body = await client.post("chat/completions", native())
    assert body["model"] == MODEL
    assert "not-a-language-model" in body["system_fingerprint"]


async def test_a_native_call_comes_with_text_and_reasoning(client: Client) -> None:
    (choice,) = (await client.post("chat/completions", native()))["choices"]
    message = choice["message"]
    assert (choice["finish_reason"], message["role"]) == ("tool_calls", "assistant")
    assert message["content"] == "Step 1 of 5: I read the log."
    assert len(message["reasoning_content"]) > len(message["content"])
    (call,) = message["tool_calls"]
    assert (call["type"], call["function"]["name"]) == ("function", "bash")
    assert json.loads(call["function"]["arguments"]) == {"command": "cat app.log"}


async def test_a_stream_adds_up_to_the_whole_reply(client: Client) -> None:
    whole = await client.post("chat/completions", native())
    chunks = await client.chunks("chat/completions", native(stream_options={"include_usage": True}))
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    message = whole["choices"][0]["message"]
    assert "".join(delta.get("content") or "" for delta in deltas) == message["content"]
    assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == message["reasoning_content"]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert {call["index"] for call in calls} == {0}
    assert calls[0]["id"] == message["tool_calls"][0]["id"]
    assert "".join(c["function"]["arguments"] for c in calls) == message["tool_calls"][0]["function"]["arguments"]
    assert [c["finish_reason"] for chunk in chunks for c in chunk["choices"]][-1] == "tool_calls"
    assert (chunks[-1]["choices"], chunks[-1]["usage"]) == ([], whole["usage"])
    assert {chunk["id"] for chunk in chunks} == {whole["id"]}


async def test_a_stream_holds_usage_only_where_it_is_asked_for(client: Client) -> None:
    assert not any("usage" in chunk for chunk in await client.chunks("chat/completions", native()))


async def test_tokens_are_counted_from_the_bytes_of_request_and_reply(client: Client) -> None:
    usage = (await client.post("chat/completions", native(DONE)))["usage"]
    bare = [{k: v for k, v in message.items() if k != "reasoning_content"} for message in DONE]
    without_thinking = (await client.post("chat/completions", native(bare)))["usage"]
    assert usage["prompt_tokens"] > without_thinking["prompt_tokens"] > len(LOG) / 4
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert 0 < usage["completion_tokens_details"]["reasoning_tokens"] < usage["completion_tokens"]


async def test_equal_bytes_get_equal_bytes(client: Client) -> None:
    first, second = [await client.post("chat/completions", native(DONE)) for _ in range(2)]
    assert first == second
    other = await client.post("chat/completions", native(DONE, seed=4))
    assert other["id"] != first["id"]


async def test_a_result_moves_the_plan_on(client: Client) -> None:
    message = (await client.post("chat/completions", native(DONE)))["choices"][0]["message"]
    assert message["content"].startswith('Step 2 of 5 (port="8101", host="db7"): I read the file.')


async def test_thinking_is_read_under_either_key(client: Client, suite: Path) -> None:
    moved = [{("reasoning" if k == "reasoning_content" else k): v for k, v in message.items()} for message in DONE]
    config = ReferenceConfig((suite,), {"needs-thinking": 1.0})
    async with listening(config) as base_url:
        coupled = Client(base_url, client.session)
        for messages in (DONE, moved):
            assert (await coupled.post("chat/completions", native(messages)))["choices"][0]["message"]["tool_calls"]
        bare = [{k: v for k, v in message.items() if k != "reasoning_content"} for message in DONE]
        assert "tool_calls" not in (await coupled.post("chat/completions", native(bare)))["choices"][0]["message"]


async def test_a_completion_goes_on_after_the_prompt(client: Client) -> None:
    harness = make_harness({"name": "x", "protocol": "worked-completion"}, "x")
    request = harness.encode(View(harness.system, INSTRUCTION))
    body = {"prompt": request.prompt, "stop": ["\n"], "seed": 1}
    whole = await client.post("completions", body)
    assert whole["choices"][0]["text"] == "cat app.log # Step 1 of 5: I read the log."
    chunks = await client.chunks("completions", {**body, "stream_options": {"include_usage": True}})
    assert "".join(c["text"] for chunk in chunks for c in chunk["choices"]) == whole["choices"][0]["text"]
    assert chunks[-1]["usage"] == whole["usage"]


async def test_stop_words_and_token_limits_are_kept(client: Client) -> None:
    stopped = await client.post("chat/completions", native(stop=["of 5"]))
    assert stopped["choices"][0]["message"]["content"] == "Step 1 "
    (choice,) = (await client.post("chat/completions", native(max_tokens=10)))["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("length", "")
    assert len(choice["message"]["reasoning_content"]) == 40
    assert "tool_calls" not in choice["message"]


async def test_an_unknown_task_gets_one_sentence(client: Client) -> None:
    messages = [{"role": "user", "content": "Write a poem about the sea."}]
    (choice,) = (await client.post("chat/completions", native(messages)))["choices"]
    assert choice["finish_reason"] == "stop"
    assert re.fullmatch(r"I am a scripted agent and have no plan for this task, [^.]*\.", choice["message"]["content"])


@pytest.mark.parametrize(
    ("prompt", "choice"), [("Call the tool bash.", "auto"), ("Say hello.", "required"), ("Use `bash` once.", None)]
)
async def test_a_probe_that_asks_for_a_call_gets_one(client: Client, prompt: str, choice: str | None) -> None:
    body = native([{"role": "user", "content": prompt}], tool_choice=choice)
    (call,) = (await client.post("chat/completions", body))["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "bash"
    assert list(json.loads(call["function"]["arguments"])) == ["command"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"messages": []}, "not empty"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role is one of"),
        ({"messages": [*TASK, {"role": "assistant", "content": ""}]}, "needs content or tool calls"),
        ({"messages": DONE[:-1]}, "has no answer"),
        ({"messages": [*TASK, DONE[-1]]}, "no open tool call"),
        ({"messages": [*DONE[:-1], TASK[1], DONE[-1]]}, "has no answer"),
        (
            {"messages": [*TASK, {**DONE[2], "tool_calls": [{"id": "a", "function": {"arguments": "{"}}]}]},
            "must be JSON",
        ),
    ],
)
async def test_what_a_strict_server_refuses_is_refused(client: Client, body: dict[str, Any], said: str) -> None:
    assert said in (await client.post("chat/completions", body, status=400))["error"]["message"]


async def test_bodies_that_are_no_request_are_refused(client: Client) -> None:
    for path in ("chat/completions", "completions"):
        assert "JSON" in (await client.post(path, b"{nonsense", status=400))["error"]["message"]
    assert "prompt" in (await client.post("completions", {"prompt": ""}, status=400))["error"]["message"]


async def test_another_model_is_not_found(client: Client) -> None:
    error = (await client.post("chat/completions", native(model="kimi"), status=404))["error"]
    assert error["code"] == "model_not_found"
    assert MODEL in error["message"]

"""A provider behind litellm, here its OpenAI dialect on a local server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.endpoints.litellm import LiteLLMEndpoint
from harness_eval.errors import ContextOverflow, EndpointDown, EndpointFailure, HarnessFailure
from harness_eval.types import RawCall, Request

from .server import Answer, ScriptedServer, chunk, refused, stream, whole

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Accessing the 'model_.*:DeprecationWarning"),  # litellm's own use of pydantic
]

ASK = Request(messages=({"role": "user", "content": "hi"},), seed=3)
SECRET = "fake-0f4c9a77d1e2b6"

Connect = Callable[..., Awaitable[tuple[LiteLLMEndpoint, ScriptedServer]]]


@pytest.fixture
async def connect(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connect]:
    monkeypatch.setenv("FAKE_KEY", SECRET)
    opened: list[tuple[LiteLLMEndpoint, ScriptedServer]] = []

    async def connected(*answers: Answer, **options: Any) -> tuple[LiteLLMEndpoint, ScriptedServer]:
        server = ScriptedServer(answers)
        await server.start()
        settings = {"name": "lite", "kind": "litellm", "model": "openai/m", "base_url": server.url, "retries": 1}
        settings |= {"api_key_env": "FAKE_KEY", "backoff_seconds": 0.001, **options}
        settings["base_url"] = settings["base_url"] or f"http://127.0.0.1:{server.port}"
        endpoint = open_endpoint(EndpointConfig.model_validate(settings))
        assert isinstance(endpoint, LiteLLMEndpoint)
        opened.append((endpoint, server))
        return endpoint, server

    yield connected
    for endpoint, server in opened:
        await endpoint.close()
        await server.stop()


CALLS = stream(
    chunk({"role": "assistant", "reasoning_content": "Look."}),
    chunk({"content": "I look."}),
    chunk({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "run", "arguments": ""}}]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"cmd":"ls"}'}}]}),
    chunk({}, "tool_calls"),
    {**chunk(), "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}},
)


async def test_a_streamed_tool_call_becomes_one_reply(connect: Connect) -> None:
    endpoint, server = await connect(CALLS, reasoning_effort="low", max_tokens=50)
    reply = await endpoint.complete(ASK)
    assert (reply.text, reply.thinking) == ("I look.", "Look.")
    assert reply.calls == (RawCall("a", "run", '{"cmd":"ls"}'),)
    assert reply.finish_reason == "tool_calls"
    assert (reply.usage.prompt, reply.usage.completion) == (9, 4)
    sent = server.received[0]
    assert sent.headers["authorization"] == f"Bearer {SECRET}"
    assert (sent.body["model"], sent.body["seed"], sent.body["stream"]) == ("m", 3, True)
    assert (sent.body["reasoning_effort"], sent.body["max_completion_tokens"]) == ("low", 50)


async def test_a_reply_can_be_asked_for_in_one_piece(connect: Connect) -> None:
    message = {"role": "assistant", "content": "4", "reasoning_content": "2+2"}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    endpoint, server = await connect(whole(body), stream=False)
    reply = await endpoint.complete(ASK)
    assert (reply.text, reply.thinking, reply.finish_reason) == ("4", "2+2", "stop")
    assert not server.received[0].body.get("stream")


async def test_the_completions_wire_is_refused_with_a_way_out(connect: Connect) -> None:
    endpoint, server = await connect(CALLS)
    with pytest.raises(HarnessFailure, match="needs an endpoint of kind openai"):
        await endpoint.complete(Request(messages=(), wire="completions", prompt="$ "))
    assert server.received == []


async def test_closing_releases_the_connections_and_an_endpoint_opened_later_works(connect: Connect) -> None:
    first, server = await connect(CALLS)
    await first.complete(ASK)
    await first.close()
    await server.abandoned()
    second = LiteLLMEndpoint(first.config)
    assert (await second.complete(ASK)).text == "I look."
    assert len(server.received) == 2
    await second.close()


async def test_a_passing_refusal_is_retried_here_and_not_by_litellm(connect: Connect) -> None:
    endpoint, server = await connect(refused(503, "busy"), CALLS)
    assert len((await endpoint.complete(ASK)).faults) == 1
    assert len(server.received) == 2


REFUSALS = {
    "key": (refused(401, f"bad key {SECRET}"), EndpointDown, "infra.access_refused"),
    "quota": (refused(429, f"no {SECRET}", "exceeded_current_quota_error"), EndpointDown, "infra.quota_exhausted"),
    "overflow": (
        refused(400, f"This model's maximum context length is 8192 tokens. {SECRET}"),
        ContextOverflow,
        "limit.context_overflow",
    ),
    "bad request": (refused(400, f"unknown field {SECRET}"), HarnessFailure, "harness.param_rejected"),
    "schema": (
        refused(400, "tools.function.parameters is not a valid moonshot flavored json schema"),
        HarnessFailure,
        "harness.schema_rejected",
    ),
    "reasoning": (
        refused(400, "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"),
        HarnessFailure,
        "harness.reasoning_dropped",
    ),
    "server error": (refused(500, f"broken {SECRET}"), EndpointFailure, "infra.overloaded"),
    "throttling": (refused(429, f"slow down {SECRET}", "rate_limit_error"), EndpointFailure, "infra.rate_limited"),
    "overload": (refused(429, "busy", "engine_overloaded_error"), EndpointFailure, "infra.overloaded"),
    "outer limit": (refused(504, "upstream timeout after 120s"), EndpointFailure, "infra.deadline"),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_refusals_mean_the_same_as_without_litellm_and_hold_no_key(connect: Connect, name: str) -> None:
    answer, kind, label = REFUSALS[name]
    endpoint, server = await connect(answer, retries=0)
    with pytest.raises(kind) as caught:
        await endpoint.complete(ASK)
    assert len(server.received) == 1
    assert caught.value.label == label
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None


async def test_nothing_listening_takes_the_endpoint_down(connect: Connect) -> None:
    endpoint, server = await connect(CALLS)
    await server.stop()
    with pytest.raises(EndpointDown, match=f"nothing answers at {server.url}"):
        await endpoint.complete(ASK)


async def test_k3_on_bedrock_gets_its_switch_and_its_limit_and_no_sampling(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "fake")
    monkeypatch.setenv("AWS_REGION_NAME", "us-east-1")
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Look."}}},
        {"text": "I look."},
        {"toolUse": {"toolUseId": "bash_0", "name": "bash", "input": {"command": "ls"}}},
    ]
    usage = {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13, "cacheReadInputTokens": 3}
    said = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use", "usage": usage}
    endpoint, server = await connect(
        whole({**said, "metrics": {"latencyMs": 1}}),
        model="bedrock/moonshotai.kimi-k3",
        profile="kimi-k3-bedrock",
        api_key_env=None,
        base_url=None,
        stream=False,
        thinking=True,
        max_tokens=50,
        extra_body={"note": 1},
    )
    reply = await endpoint.complete(ASK)
    assert (reply.text, reply.thinking, reply.finish_reason) == ("I look.", "Look.", "tool_calls")
    assert reply.calls == (RawCall("bash_0", "bash", '{"command": "ls"}'),)
    assert (reply.usage.completion, reply.usage.cached) == (4, 3)
    sent = server.received[0]
    assert sent.path == "/model/moonshotai.kimi-k3/converse"
    assert sent.body["inferenceConfig"] == {"maxTokens": 50}
    assert sent.body["additionalModelRequestFields"] == {"thinking": {"type": "enabled"}, "note": 1}


async def test_no_redirect_is_followed(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_HEADER", SECRET)
    _, elsewhere = await connect(CALLS)
    moved = whole("moved", 307, Location=f"http://localhost:{elsewhere.port}/v1/chat/completions?token=abcdefgh")
    endpoint, _ = await connect(moved, headers_env={"X-Secret": "FAKE_HEADER"})
    with pytest.raises(EndpointDown, match=rf"redirects to http://localhost:{elsewhere.port}; give") as caught:
        await endpoint.complete(ASK)
    assert elsewhere.received == []
    assert caught.value.label == "infra.address_unknown"

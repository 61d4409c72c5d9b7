"""Request bodies, with the quirks of each kind of server."""

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.endpoints.body import request_body
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.profiles import PROFILES, SAMPLING
from harness_eval.types import Request

TOOL = {"type": "function", "function": {"name": "run", "parameters": {"type": "object", "properties": {"x": {}}}}}
HISTORY = (
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [{"id": "a"}]},
    {"role": "tool", "tool_call_id": "a", "content": "ok"},
)


def body(request: Request, key: str = "reasoning_content", **options: Any) -> dict[str, Any]:
    config = EndpointConfig.model_validate({"name": "k", "model": "m", "base_url": "http://h/v1", **options})
    return request_body(request, config, key)


def test_a_plain_server_gets_messages_and_tools_as_they_are() -> None:
    made = body(Request(messages=HISTORY, tools=(TOOL,)))
    assert made == {"model": "m", "messages": list(HISTORY), "tools": [TOOL]}


def test_parallel_calls_are_mentioned_only_to_forbid_them() -> None:
    assert body(Request(messages=HISTORY, tools=(TOOL,), parallel=False))["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in body(Request(messages=HISTORY, parallel=False))


def test_a_request_s_own_token_limit_wins_over_the_configured_one() -> None:
    assert body(Request(messages=()), max_tokens=100)["max_completion_tokens"] == 100
    assert body(Request(messages=(), max_tokens=7), max_tokens=100)["max_completion_tokens"] == 7


@pytest.mark.parametrize(
    ("key", "value"), [("reasoning", "hm"), ("reasoning_details", [{"type": "reasoning.text", "text": "hm"}])]
)
def test_earlier_reasoning_is_renamed_without_touching_the_record(key: str, value: Any) -> None:
    message = body(Request(messages=HISTORY), key)["messages"][1]
    assert message[key] == value
    assert "reasoning_content" not in message
    assert HISTORY[1]["reasoning_content"] == "hm"


def test_empty_reasoning_is_sent_as_empty_and_absent_reasoning_not_at_all() -> None:
    messages = ({"role": "assistant", "content": "a", "reasoning_content": ""}, {"role": "assistant", "content": "a"})
    made = body(Request(messages=messages), "reasoning")["messages"]
    assert made == [{"role": "assistant", "content": "a", "reasoning": ""}, {"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"profile": "kimi-k3", "reasoning_effort": "max"}, {"reasoning_effort": "max"}),
        ({"profile": "kimi-k3", "thinking": False}, {"thinking": {"type": "disabled"}}),
        (
            {"profile": "kimi-k3-vllm", "reasoning_effort": "low", "thinking": True},
            {"chat_template_kwargs": {"thinking": True, "thinking_effort": "low"}},
        ),
        (
            {"profile": "qwen", "thinking": True},
            {"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
        ),
        ({"profile": "qwen-hosted", "thinking": False}, {"enable_thinking": False}),
        ({"profile": "glm", "thinking": True}, {"thinking": {"type": "enabled", "clear_thinking": False}}),
        ({"profile": "minimax"}, {"reasoning_split": True}),
        ({"profile": "openrouter", "reasoning_effort": "high"}, {"reasoning": {"effort": "high"}}),
        (
            {"extra_body": {"provider": {"only": ["x"]}}, "reasoning_effort": "odd"},
            {"provider": {"only": ["x"]}, "reasoning_effort": "odd"},
        ),
    ],
)
def test_thinking_is_switched_where_each_server_has_its_switch(
    options: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert body(Request(messages=()), **options) == {"model": "m", "messages": [], **expected}


def test_an_assistant_message_without_content_gets_an_empty_one_where_the_server_insists() -> None:
    made = body(Request(messages=HISTORY), profile="kimi-k3")["messages"]
    assert made[1] == {**HISTORY[1], "content": ""}
    assert body(Request(messages=HISTORY))["messages"][1]["content"] is None


def test_schemas_are_made_plain_where_the_server_insists() -> None:
    made = body(Request(messages=(), tools=(TOOL,)), profile="kimi-k3")["tools"][0]["function"]["parameters"]
    assert made["properties"]["x"] == {"type": "string"}


@pytest.mark.parametrize("profile", PROFILES)
def test_no_profile_sends_sampling_parameters_or_a_tool_choice(profile: str) -> None:
    made = body(Request(messages=HISTORY, tools=(TOOL,), seed=1, stop=("x",)), profile=profile)
    assert not set(made) & {*SAMPLING, "tool_choice"}

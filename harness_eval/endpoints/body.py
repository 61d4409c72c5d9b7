"""The JSON body of a request, with the quirks of its server applied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness_eval.endpoints.details import ReasoningDetails
from harness_eval.endpoints.markers import INLINE, with_inline
from harness_eval.endpoints.profiles import Profile
from harness_eval.endpoints.schemas import plain_schema
from harness_eval.types import Json, Message, Request

if TYPE_CHECKING:
    from harness_eval.endpoints.config import EndpointConfig


def request_body(
    request: Request, config: EndpointConfig, reasoning_key: str, details: ReasoningDetails | None = None
) -> dict[str, Json]:
    """The body to send, without the switch for streaming; earlier reasoning goes under `reasoning_key`.

    `details` has the parts in which reasoning came, for servers that want them back.

    Sampling parameters and `tool_choice` are never sent: servers disagree about both, and defaults are what is judged.
    """
    profile = config.quirks
    body: dict[str, Json] = {"model": config.model}
    limit = request.max_tokens or config.max_tokens
    if request.wire == "completions":
        body["prompt"] = request.prompt
        body |= {"max_tokens": limit} if limit else {}
    else:
        known = details or ReasoningDetails()
        body["messages"] = [_message(message, profile, reasoning_key, known) for message in request.messages]
        body |= {profile.limit_key: limit} if limit else {}
        if request.tools:
            body["tools"] = [_tool(tool, profile) for tool in request.tools]
            body |= {} if request.parallel else {"parallel_tool_calls": False}
        body = _merged(body, _thinking(config, profile))
    body |= {"stop": list(request.stop)} if request.stop else {}
    body |= {} if request.seed is None else {"seed": request.seed}
    return _merged(body, config.extra_body)


def _message(message: Message, profile: Profile, reasoning_key: str, details: ReasoningDetails) -> Message:
    changed: Message = {}
    if profile.fill_content and message.get("role") == "assistant" and message.get("content") is None:
        changed["content"] = ""
    thinking = message.get("reasoning_content")
    if thinking == "" and profile.blank_reasoning:
        thinking = changed["reasoning_content"] = profile.blank_reasoning
    if thinking is None or reasoning_key == "reasoning_content":
        return {**message, **changed} if changed else message
    if reasoning_key == INLINE:
        changed["content"] = with_inline(thinking, message.get("content"))
    else:
        in_parts = reasoning_key == "reasoning_details"
        changed[reasoning_key] = details.of(message, thinking) if in_parts else thinking
    return {key: value for key, value in {**message, **changed}.items() if key != "reasoning_content"}


def _tool(tool: dict[str, Json], profile: Profile) -> dict[str, Json]:
    function = tool.get("function")
    if not profile.plain_schemas or not isinstance(function, dict) or not isinstance(function.get("parameters"), dict):
        return tool
    return {**tool, "function": {**function, "parameters": plain_schema(function["parameters"])}}


def _thinking(config: EndpointConfig, profile: Profile) -> dict[str, Json]:
    body: dict[str, Json] = dict(profile.always)
    if config.thinking is not None:
        body = _merged(body, profile.thinking_on if config.thinking else profile.thinking_off)
    if config.reasoning_effort:
        effort: Json = config.reasoning_effort
        for key in reversed(profile.effort_path):
            effort = {key: effort}
        body = _merged(body, effort)
    return body


def _merged(body: dict[str, Json], more: Mapping[str, Json]) -> dict[str, Json]:
    """Both, nested objects merged; `more` wins."""
    result = dict(body)
    for key, value in more.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), dict)
        result[key] = _merged(result[key], value) if both else value
    return result

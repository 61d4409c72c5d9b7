"""Requests that a strict server refuses with 400, and the limits of what a reply may use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

from harness_eval.reference.faults.base import Answer, Asked, Fault, as_json
from harness_eval.reference.wire import Spoken, limit_of
from harness_eval.types import Json, Message

_SOME = 0.25
_GROWN = 2  # turns after which the window is full
_WINDOW = 4096  # tokens, as the refusals tell it
_NAME = re.compile(r"[a-z][a-z0-9_]{2,63}")
_ID = re.compile(r"[A-Za-z0-9_-]+")
_UNSUPPORTED = ("parallel_tool_calls", "stop", "temperature", "top_p", "presence_penalty", "frequency_penalty")


class ContextOverflow(Fault):
    """400 because the prompt is longer than the window, in the words of several servers, once a dialogue has grown."""

    shows: ClassVar = ("limit.context_overflow",)
    usual: ClassVar = _SOME

    def refuses(self, asked: Asked) -> Answer | None:
        """One of those wordings, from the third turn on."""
        size = _WINDOW + len(asked.data) // 4
        wordings = (
            f"This model's maximum context length is {_WINDOW} tokens. However, your prompt contains {size} tokens.",
            f"Invalid request: Your request exceeded model token limit: {_WINDOW} (requested: {size})",
            f"The input ({size} tokens) is longer than the model's context length ({_WINDOW} tokens).",
            f"prompt is too long: {size} tokens > {_WINDOW} maximum",
            f"Range of input length should be [1, {_WINDOW}]",
        )
        return _refused(asked.pick(wordings)) if asked.own_turns >= _GROWN else None


class SchemaRejected(Fault):
    """400 for a tool in whose schema an object stands inside of another value, as in a list of todo items."""

    shows: ClassVar = ("harness.schema_rejected",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal, with the tool and the path."""
        name, path = next(nested_objects(asked), ("", ""))
        plain, flavoured = "Invalid schema for function", "is not a valid moonshot flavored json schema, details:"
        wordings = (
            f"{plain} '{name}': in context {path}, 'additionalProperties' is required to be false.",
            f"tools.function.parameters {flavoured} <At path '{path}': nested objects are not supported>",
        )
        return _refused(asked.pick(wordings)) if name else None


class CrashOnSchema(Fault):
    """500 for every request with a tool in whose schema an object stands inside of another value."""

    shows: ClassVar = ("serving.crash_on_schema",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The server's last words."""
        crashed = any(nested_objects(asked))
        body = {"error": {"message": "EngineCore died", "type": "InternalServerError"}}
        return as_json(body, 500) if crashed else None


class ToolNameRejected(Fault):
    """400 for tool names with capital letters, dashes, or fewer than three characters."""

    shows: ClassVar = ("harness.tool_name_rejected",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal, with the number of the first such tool."""
        names = [str(function.get("name")) for function in asked.functions]
        wrong = next((at for at, name in enumerate(names) if not _NAME.fullmatch(name)), None)
        said = f"string does not match pattern. Expected a string that matches the pattern '^{_NAME.pattern}$'."
        return None if wrong is None else _refused(f"Invalid 'tools[{wrong}].function.name': {said}")


class ParamRejected(Fault):
    """400 for stop sequences, for switching parallel calls off, and for any sampling parameter."""

    shows: ClassVar = ("harness.param_rejected",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal, with the first such parameter."""
        given = next((name for name in _UNSUPPORTED if name in asked.body), None)
        return _refused(f"Unsupported parameter: '{given}' is not supported with this model.") if given else None


class ReasoningRequired(Fault):
    """400 where an earlier message with tool calls has no reasoning, or an empty one."""

    shows: ClassVar = ("harness.reasoning_dropped",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal, with the place of the first such message."""
        bare = (at for at, m in enumerate(asked.messages) if m.get("tool_calls") and not has_reasoning(m))
        at = next(bare, None)
        said = "thinking is enabled but reasoning_content is missing in assistant tool call message at index"
        return None if at is None else _refused(f"{said} {at}")


class ReasoningForbidden(Fault):
    """400 where an earlier message has its reasoning."""

    shows: ClassVar = ("harness.reasoning_policy_mismatch",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal, with the place of the first such message."""
        at = next((at for at, message in enumerate(asked.messages) if has_reasoning(message)), None)
        said = "reasoning_content must not be part of the input; remove it from the messages"
        return None if at is None else _refused(f"messages[{at}]: {said}")


class ThinkingUnsigned(Fault):
    """400 where an earlier message has its reasoning, since it carries no signature of this server."""

    shows: ClassVar = ("harness.thinking_signature",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal, with the place of the first such message."""
        at = next((at for at, message in enumerate(asked.messages) if has_reasoning(message)), None)
        return None if at is None else _refused(f"messages.{at}.content.0: Invalid `signature` in `thinking` block")


class MessageOrder(Fault):
    """400 where the user speaks directly after a tool's result."""

    shows: ClassVar = ("harness.message_order",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal."""
        roles = [message.get("role") for message in asked.messages]
        wrong = ("tool", "user") in pairwise(roles)
        return _refused("Unexpected role 'user' after role 'tool'") if wrong else None


class EmptyMessageRefused(Fault):
    """No text stands beside tool calls, and 400 for earlier messages without a text."""

    shows: ClassVar = ("harness.empty_history_message",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal, with the place of the first such message."""
        own = ((at, m) for at, m in enumerate(asked.messages) if m.get("role") == "assistant")
        at = next((at for at, message in own if not message.get("content")), None)
        said = "with role 'assistant' must not be empty"
        return None if at is None else _refused(f"Invalid request: the message at position {at} {said}")

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Calls alone."""
        return replace(reply, text="") if reply.calls else reply


class IdCharset(Fault):
    """Ids hold dots and colons, and 400 for earlier calls with such ids."""

    shows: ClassVar = ("harness.id_charset",)

    def refuses(self, asked: Asked) -> Answer | None:
        """The refusal, with the place of the first such id."""
        ids = [(at, call.get("id")) for at, m in enumerate(asked.messages) for call in m.get("tool_calls") or ()]
        at = next((at for at, id_ in ids if not _ID.fullmatch(str(id_))), None)
        said = f"tool_calls.0.id: String should match pattern '^{_ID.pattern}$'"
        return None if at is None else _refused(f"messages.{at}.{said}")

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Ids of the template."""
        first = sum(len(message.get("tool_calls") or ()) for message in asked.messages)
        ids = (f"functions.{call.name}:{first + at}" for at, call in enumerate(reply.calls))
        return replace(reply, calls=tuple(replace(call, id=id_) for call, id_ in zip(reply.calls, ids, strict=True)))


class OutputCap(Fault):
    """The limit of the reply's tokens is reached in the middle of a call's arguments.

    Where the request states a limit, some replies name another finish reason, and the counts alone tell it.
    """

    shows: ClassVar = ("limit.output_tokens_in_call",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """The calls up to the middle of the last one's arguments."""
        if not reply.calls:
            return reply
        *others, last = reply.calls
        limit = limit_of(asked.body)
        cut = replace(last, arguments=last.arguments[: max(len(last.arguments) // 2, 1)])
        reason = "length" if limit is None else asked.pick(("length", "tool_calls"))
        used = limit or reply.completion_tokens
        return replace(reply, calls=(*others, cut), finish_reason=reason, completion_tokens=used)


class ReasoningEatsBudget(Fault):
    """The limit of the reply's tokens is reached before the reasoning ends."""

    shows: ClassVar = ("limit.output_tokens_reasoning",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Nothing but reasoning."""
        if not reply.thinking:
            return reply
        used = limit_of(asked.body) or reply.reasoning_tokens
        nothing = replace(reply, text="", calls=(), finish_reason="length")
        return replace(nothing, completion_tokens=used, reasoning_tokens=used)


def nested_objects(asked: Asked) -> Iterator[tuple[str, str]]:
    """The tool and the path of every schema of an object that stands inside of another value."""
    for function in asked.functions:
        parameters = function.get("parameters")
        if isinstance(parameters, dict):
            yield from ((str(function.get("name")), path) for path in _objects(parameters, ""))


def has_reasoning(message: Message) -> bool:
    """Whether a message carries reasoning that is not empty, under any key."""
    return any(message.get(key) for key in ("reasoning_content", "reasoning", "reasoning_details"))


def _objects(schema: dict[str, Json], path: str) -> Iterator[str]:
    if path and schema.get("type") == "object":
        yield path.removeprefix(".")
    inner = {f"properties.{name}": child for name, child in (schema.get("properties") or {}).items()}
    for name, child in {**inner, "items": schema.get("items")}.items():
        if isinstance(child, dict):
            yield from _objects(child, f"{path}.{name}")


def _refused(message: str) -> Answer:
    return as_json({"error": {"message": message, "type": "invalid_request_error"}}, 400)

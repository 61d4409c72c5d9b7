"""Anthropic messages: content in blocks, results as blocks of the user, reasoning as signed blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import ClassVar

from harness_eval.gateway import reading, writing
from harness_eval.gateway.messages_input import take_message, take_tools
from harness_eval.gateway.reading import Conversation
from harness_eval.gateway.wires import Asked, Refused, Wire, WireName
from harness_eval.types import Json, RawCall, Reply, Request

_KNOWN = {"model", "messages", "system", "tools", "tool_choice", "stop_sequences", "stream", "cache_control"}
_ERRORS: dict[Refused, tuple[int, str]] = {
    "overflow": (400, "invalid_request_error"),
    "invalid": (400, "invalid_request_error"),
    "unavailable": (529, "overloaded_error"),
    "down": (403, "permission_error"),
    "over-budget": (403, "permission_error"),
    "unauthorized": (401, "authentication_error"),
    "unknown": (404, "not_found_error"),
    "too-large": (413, "request_too_large"),
}
_STOPS = {"length": "max_tokens", "content_filter": "refusal"}


class Messages(Wire):
    """`/v1/messages`, with or without its betas."""

    name: ClassVar[WireName] = "messages"
    path: ClassVar[str] = "/v1/messages"
    alive: ClassVar[bytes] = writing.event({"type": "ping"}, "ping")

    def read(self, body: Mapping[str, Json]) -> Asked:
        """The request that a body means."""
        conversation = Conversation()
        model = reading.text_at(body, "model", "request")
        system = reading.joined(reading.parts_of(body.get("system"), conversation, "system"))
        if system:
            conversation.tell("system", system)
        given = reading.objects(body.get("messages"), "messages")
        if not given:
            raise ValueError("messages must not be empty")
        for place, message in enumerate(given):
            take_message(message, conversation, f"messages[{place}]")
        choice = body.get("tool_choice")
        tools = take_tools(body.get("tools"), conversation)
        settings = reading.settings_of(body, _KNOWN, conversation)
        stop = body.get("stop_sequences")
        request = Request(
            conversation.settle(),
            tools if reading.chosen(choice, conversation) else (),
            tuple(word for word in stop if isinstance(word, str) and word) if isinstance(stop, list) else (),
            parallel=not (isinstance(choice, Mapping) and choice.get("disable_parallel_tool_use") is True),
        )
        return Asked(request, model, bool(body.get("stream")), settings, conversation.untranslated)

    def whole(self, reply: Reply, asked: Asked) -> Json:
        """The body of a reply that is not streamed; arguments that are no object stand under `unreadable_input`."""
        content: list[Json] = [] if reply.thinking is None else [_thinking(reply.thinking, signed=True)]
        content += [{"type": "text", "text": reply.text, "citations": None}] if reply.text else []
        content += [_tool_use(call, _input(call)) for call in writing.calls_of(reply)]
        return {**_head(reply, asked), "content": content, "stop_reason": _ended(reply), "usage": _usage(reply)}

    def events(self, reply: Reply, asked: Asked) -> Iterator[bytes]:
        """From `message_start` to `message_stop`, with a ping where the API has one."""
        begun = {**_usage(reply), "output_tokens": min(1, reply.usage.completion)}
        opening = {**_head(reply, asked), "content": [], "stop_reason": None, "usage": begun}
        yield _event("message_start", message=opening)
        yield self.alive
        for place, (block, deltas) in enumerate(_blocks(reply)):
            yield _event("content_block_start", index=place, content_block=block)
            yield from (_event("content_block_delta", index=place, delta=delta) for delta in deltas)
            yield _event("content_block_stop", index=place)
        delta = {"stop_reason": _ended(reply), "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage=_usage(reply))
        yield _event("message_stop")

    def refusal(self, kind: Refused, message: str) -> tuple[int, Json]:
        """Status and body of an error."""
        status, error = _ERRORS[kind]
        if kind == "overflow":
            message = f"prompt is too long: {message}"
        return status, {"type": "error", "error": {"type": error, "message": message}, "request_id": None}

    def broken_off(self, kind: Refused, message: str) -> bytes:
        """An `error` event, after which the stream ends."""
        return writing.event(self.refusal(kind, message)[1], "error")

    def lost(self, reply: Reply, asked: Asked) -> tuple[str, ...]:
        """Arguments that are no object cannot be written into a reply that is not streamed."""
        broken = any(call.arguments.strip() and writing.object_of(call.arguments) is None for call in reply.calls)
        what = "unreadable arguments in a whole reply: they stand under unreadable_input"
        return (what,) if broken and not asked.streamed else ()


def _event(kind: str, **data: Json) -> bytes:
    return writing.event({"type": kind, **data}, kind)


def _head(reply: Reply, asked: Asked) -> dict[str, Json]:
    made = writing.made_id("msg_", reply)
    return {"id": made, "type": "message", "role": "assistant", "model": asked.model, "stop_sequence": None}


def _ended(reply: Reply) -> str:
    """The stop reason; a reply with calls waits for their results, whatever the server says of its end."""
    return _STOPS.get(reply.finish_reason) or ("tool_use" if reply.calls else "end_turn")


def _blocks(reply: Reply) -> Iterator[tuple[Json, list[Json]]]:
    """Each block as it begins, and what brings the rest of it."""
    if reply.thinking is not None:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in writing.pieces(reply.thinking)]
        signature = {"type": "signature_delta", "signature": _signature(reply.thinking)}
        yield _thinking("", signed=False), [*deltas, signature]
    if reply.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in writing.pieces(reply.text)]
        yield {"type": "text", "text": "", "citations": None}, deltas
    for call in writing.calls_of(reply):
        pieces = writing.pieces(call.arguments, 1)
        yield _tool_use(call, {}), [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _thinking(text: str, *, signed: bool) -> Json:
    return {"type": "thinking", "thinking": text, "signature": _signature(text) if signed else ""}


def _signature(thinking: str) -> str:
    """A word of ours that harnesses send back beside the reasoning; nothing is told by it."""
    return "harness-eval-" + hashlib.sha256(thinking.encode("utf-8", "replace")).hexdigest()


def _tool_use(call: RawCall, given: Json) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def _input(call: RawCall) -> Json:
    if not call.arguments.strip():
        return {}
    read = writing.object_of(call.arguments)
    return {"unreadable_input": call.arguments} if read is None else read


def _usage(reply: Reply) -> Json:
    usage = reply.usage
    return {
        "input_tokens": max(usage.prompt - usage.cached, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.completion,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }

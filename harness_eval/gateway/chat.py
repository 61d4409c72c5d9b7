"""OpenAI chat completions, the dialect that is also spoken on the other side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from harness_eval.gateway import reading, writing
from harness_eval.gateway.reading import Content, Conversation
from harness_eval.gateway.wires import Asked, Refused, Wire, WireName
from harness_eval.types import Json, Message, RawCall, Reply, Request

_KNOWN = {
    *("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stop", "stream"),
    *("response_format", "modalities", "n"),
}
_ERRORS: dict[Refused, tuple[int, str, str | None]] = {
    "overflow": (400, "invalid_request_error", "context_length_exceeded"),
    "invalid": (400, "invalid_request_error", None),
    "unavailable": (503, "server_error", "overloaded"),
    "down": (403, "permission_error", "endpoint_down"),
    "over-budget": (403, "permission_error", "budget_exhausted"),
    "unauthorized": (401, "invalid_request_error", "invalid_api_key"),
    "unknown": (404, "invalid_request_error", "unknown_url"),
    "too-large": (413, "invalid_request_error", "request_too_large"),
}


class Chat(Wire):
    """`/v1/chat/completions`. Earlier reasoning is read under `reasoning_content`, `reasoning` or
    `reasoning_details`, and written under the first of these names."""

    name: ClassVar[WireName] = "chat"
    path: ClassVar[str] = "/v1/chat/completions"

    def read(self, body: Mapping[str, Json]) -> Asked:
        """The request that a body means."""
        conversation = Conversation()
        model = reading.text_at(body, "model", "request")
        for place, message in enumerate(reading.objects(body.get("messages"), "messages")):
            _take(message, conversation, f"messages[{place}]")
        if not conversation.messages:
            raise ValueError("messages must not be empty")
        aliases: dict[str, Json] = {}
        tools = _tools(body, aliases, conversation)
        _note_shapes(body, conversation)
        settings = reading.settings_of(body, _KNOWN, conversation)
        may_call = reading.chosen(body.get("tool_choice"), conversation)
        request = Request(
            conversation.settle(),
            tools if may_call else (),
            stop_of(body.get("stop")),
            parallel=body.get("parallel_tool_calls") is not False,
        )
        return Asked(request, model, bool(body.get("stream")), settings, conversation.untranslated, aliases)

    def whole(self, reply: Reply, asked: Asked) -> Json:
        """The body of a reply that is not streamed."""
        message: Message = {"role": "assistant", "content": reply.text or (None if reply.calls else "")}
        if reply.thinking is not None:
            message["reasoning_content"] = reply.thinking
        if reply.calls:
            message["tool_calls"] = [_call(call, asked) for call in writing.calls_of(reply)]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _ended(reply)}
        return {**_head(reply, asked, "chat.completion"), "choices": [choice], "usage": _usage(reply)}

    def events(self, reply: Reply, asked: Asked) -> Iterator[bytes]:
        """The chunks of a streamed reply: reasoning, text, calls, the reason, and the usage where it is wanted."""
        head = _head(reply, asked, "chat.completion.chunk")

        def chunk(delta: Json, reason: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            return writing.event({**head, "choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        if reply.thinking is not None:
            yield from (chunk({"reasoning_content": piece}) for piece in writing.pieces(reply.thinking, 1))
        yield from (chunk({"content": piece}) for piece in writing.pieces(reply.text))
        for place, call in enumerate(writing.calls_of(reply)):
            yield from (chunk({"tool_calls": [{"index": place, **delta}]}) for delta in _deltas(call, asked))
        yield chunk({}, _ended(reply))
        options = asked.settings.get("stream_options")
        if isinstance(options, Mapping) and options.get("include_usage"):
            yield writing.event({**head, "choices": [], "usage": _usage(reply)})
        yield b"data: [DONE]\n\n"

    def refusal(self, kind: Refused, message: str) -> tuple[int, Json]:
        """Status and body of an error."""
        status, error, code = _ERRORS[kind]
        if kind == "overflow":
            message = f"This model's maximum context length is exceeded: please reduce the messages. ({message})"
        return status, {"error": {"message": message, "type": error, "param": None, "code": code}}

    def broken_off(self, kind: Refused, message: str) -> bytes:
        """The error as a chunk, and the end of the stream."""
        return writing.event(self.refusal(kind, message)[1]) + b"data: [DONE]\n\n"


def stop_of(stop: Json) -> tuple[str, ...]:
    """Stop sequences, given as one or as a list."""
    given = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    return tuple(word for word in given if isinstance(word, str) and word)


def _take(message: Mapping[str, Json], conversation: Conversation, where: str) -> None:
    role = reading.role_of(message, where, "assistant", "tool")
    content = _content(message, conversation, where)
    if role == "assistant":
        _take_reply(message, conversation, where)
    elif role == "tool":
        call_id = reading.text_at(message, "tool_call_id", where)
        conversation.messages.append({"role": "tool", "tool_call_id": call_id, "content": content})
    else:
        name, told = message.get("name"), {"role": role, "content": content}
        conversation.messages.append({**told, "name": name} if isinstance(name, str) and name else told)


def _content(message: Mapping[str, Json], conversation: Conversation, where: str) -> Content:
    """The content; several parts stay several, for that is what the server would have received."""
    parts = reading.parts_of(message.get("content"), conversation, f"{where}.content")
    several = isinstance(message.get("content"), list) and len(parts) > 1
    return parts if several else reading.joined(parts)


def _take_reply(message: Mapping[str, Json], conversation: Conversation, where: str) -> None:
    taken = conversation.begin()
    if message.get("content") is not None:
        taken["content"] = _content(message, conversation, where)
    thinking = _thinking(message)
    if thinking is not None:
        taken["reasoning_content"] = thinking
    if message.get("function_call"):
        conversation.leave_out("function_call, which tool_calls have replaced")
    calls = reading.objects(message.get("tool_calls") or [], f"{where}.tool_calls")
    if calls:
        taken["tool_calls"] = [_call_in(call, f"{where}.tool_calls[{place}]") for place, call in enumerate(calls)]


def _thinking(message: Mapping[str, Json]) -> str | None:
    for key in ("reasoning_content", "reasoning"):
        if isinstance(message.get(key), str):
            return str(message[key])
    details = message.get("reasoning_details")
    if not isinstance(details, list) or not details:
        return None
    texts = (part.get("text") or part.get("summary") for part in details if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _call_in(call: Mapping[str, Json], where: str) -> Json:
    """A call of the history; a text that is no JSON stays as it is, for the server to judge."""
    free = isinstance(call.get("custom"), Mapping)
    given = call.get("custom" if free else "function")
    if not isinstance(given, Mapping):
        raise ValueError(f"{where}.function must be an object")
    name = reading.text_at(given, "name", where)
    arguments = {"input": given.get("input")} if free else given.get("arguments", "")
    function = {"name": name, "arguments": reading.as_text(arguments)}
    return {"id": reading.text_at(call, "id", where), "type": "function", "function": function}


def _tools(
    body: Mapping[str, Json], aliases: dict[str, Json], conversation: Conversation
) -> tuple[dict[str, Json], ...]:
    tools: list[dict[str, Json]] = []
    for place, tool in enumerate(reading.objects(body.get("tools") or [], "tools")):
        kind, where = reading.kind_of(tool), f"tools[{place}]"
        given = tool.get(kind)
        if kind not in ("function", "custom"):
            conversation.leave_out(f"a tool of type {kind}")
        elif not isinstance(given, Mapping):
            raise ValueError(f"{where}.{kind} must be an object")
        elif kind == "custom":
            name = reading.text_at(given, "name", where)
            tools.append(reading.free_form(name, given))
            aliases[name] = {"type": "custom"}
        else:
            keys = (given.get(key) for key in ("description", "parameters", "strict"))
            tools.append(reading.function(reading.text_at(given, "name", where), *keys))
    return tuple(tools)


def _note_shapes(body: Mapping[str, Json], conversation: Conversation) -> None:
    """What asks for another kind of reply."""
    form, count = body.get("response_format"), body.get("n")
    if isinstance(form, Mapping) and form.get("type") != "text":
        conversation.leave_out(f"response_format {str(form.get('type'))[:60]}")
    if count not in (None, 1):
        conversation.leave_out("n: one choice is given")
    if body.get("modalities") not in (None, ["text"]):
        conversation.leave_out("modalities: text is given")


def _head(reply: Reply, asked: Asked, kind: str) -> dict[str, Json]:
    made = writing.made_id("chatcmpl-", reply)
    return {"id": made, "object": kind, "created": writing.now(), "model": asked.model}


def _ended(reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.calls else "stop")


def _is_free(call: RawCall, asked: Asked) -> bool:
    return call.name in asked.aliases


def _call(call: RawCall, asked: Asked) -> Json:
    if _is_free(call, asked):
        free = {"name": call.name, "input": reading.free_input(call.arguments)}
        return {"id": call.id, "type": "custom", "custom": free}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _deltas(call: RawCall, asked: Asked) -> Iterator[dict[str, Json]]:
    """A call in pieces: its head, then its arguments."""
    kind, key = ("custom", "input") if _is_free(call, asked) else ("function", "arguments")
    text = reading.free_input(call.arguments) if kind == "custom" else call.arguments
    yield {"id": call.id, "type": kind, kind: {"name": call.name, key: ""}}
    yield from ({kind: {key: piece}} for piece in writing.pieces(text))


def _usage(reply: Reply) -> Json:
    usage = reply.usage
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }

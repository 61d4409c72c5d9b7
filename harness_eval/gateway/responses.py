"""OpenAI responses: a reply is a list of items, and so is the history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from harness_eval.gateway import reading, writing
from harness_eval.gateway.reading import Conversation
from harness_eval.gateway.responses_input import take_item, take_tools
from harness_eval.gateway.responses_output import Emitted, items_of, streamed
from harness_eval.gateway.wires import Asked, Refused, Wire, WireName
from harness_eval.types import Json, Reply, Request

_KNOWN = {
    *("model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "stream"),
    *("previous_response_id", "conversation"),
}
_ERRORS: dict[Refused, tuple[int, str, str | None]] = {
    "overflow": (400, "invalid_request_error", "context_length_exceeded"),
    "invalid": (400, "invalid_request_error", None),
    "unavailable": (503, "server_error", "server_is_overloaded"),
    "down": (403, "permission_error", "endpoint_down"),
    "over-budget": (403, "permission_error", "budget_exhausted"),
    "unauthorized": (401, "invalid_request_error", "invalid_api_key"),
    "unknown": (404, "invalid_request_error", "unknown_url"),
    "too-large": (413, "invalid_request_error", "request_too_large"),
}


class Responses(Wire):
    """`/v1/responses`, without a memory: each request must bring the whole input.

    Reasoning is written as an item with a summary and, in words of ours, encrypted content; it is read from whichever
    of the two comes back.
    """

    name: ClassVar[WireName] = "responses"
    path: ClassVar[str] = "/v1/responses"
    in_stream: ClassVar[frozenset[Refused]] = frozenset({"overflow"})

    def read(self, body: Mapping[str, Json]) -> Asked:
        """The request that a body means."""
        for key in ("previous_response_id", "conversation"):
            if body.get(key) is not None:
                raise ValueError(f"{key}: no response is stored here, so the whole input must be sent each time")
        conversation, aliases = Conversation(), dict[str, Json]()
        model = reading.text_at(body, "model", "request")
        if isinstance(body.get("instructions"), str) and body["instructions"]:
            conversation.tell("system", body["instructions"])
        given = body.get("input")
        if isinstance(given, str):
            conversation.tell("user", given)
        else:
            for place, item in enumerate(reading.objects(given, "input")):
                take_item(item, conversation, f"input[{place}]")
        if not conversation.messages:
            raise ValueError("input must not be empty")
        tools = take_tools(body.get("tools"), aliases, conversation)
        settings = reading.settings_of(body, _KNOWN, conversation)
        _note_format(body.get("text"), conversation)
        may_call = reading.chosen(body.get("tool_choice"), conversation)
        parallel = body.get("parallel_tool_calls") is not False
        request = Request(conversation.settle(), tools if may_call else (), parallel=parallel)
        return Asked(request, model, bool(body.get("stream")), settings, conversation.untranslated, aliases)

    def whole(self, reply: Reply, asked: Asked) -> Json:
        """The body of a reply that is not streamed."""
        return {**_response(reply, asked), **_end(reply), "output": [item.done for item in items_of(reply, asked)]}

    def events(self, reply: Reply, asked: Asked) -> Iterator[bytes]:
        """From `response.created` to `response.completed`, with all events between them that the API has."""
        items = items_of(reply, asked)
        ended = "response.completed" if _end(reply)["status"] == "completed" else "response.incomplete"
        opening = {**_response(reply, asked), "status": "in_progress", "output": [], "usage": None}
        events: list[Emitted] = [(f"response.{kind}", {"response": opening}) for kind in ("created", "in_progress")]
        for place, item in enumerate(items):
            events += streamed(item, place)
        events.append((ended, {"response": self.whole(reply, asked)}))
        for number, (name, data) in enumerate(events):
            yield writing.event({"type": name, "sequence_number": number, **data}, name)

    def refusal(self, kind: Refused, message: str) -> tuple[int, Json]:
        """Status and body of an error."""
        status, error, code = _ERRORS[kind]
        return status, {"error": {"message": _worded(kind, message), "type": error, "param": None, "code": code}}

    def broken_off(self, kind: Refused, message: str) -> bytes:
        """`response.failed`, as the API says what it finds out once a stream has begun."""
        asked = Asked(Request(()), "", streamed=True)
        error = {"code": _ERRORS[kind][2] or "server_error", "message": _worded(kind, message)}
        failed = {**_response(Reply(), asked), "status": "failed", "error": error, "output": [], "usage": None}
        opening = {**failed, "status": "in_progress", "error": None}
        told = [("response.created", opening), ("response.failed", failed)]
        return b"".join(
            writing.event({"type": name, "sequence_number": number, "response": response}, name)
            for number, (name, response) in enumerate(told)
        )


def _worded(kind: Refused, message: str) -> str:
    if kind != "overflow":
        return message
    return f"Your input exceeds the context window of this model. Please adjust your input and try again. ({message})"


def _note_format(text: Json, conversation: Conversation) -> None:
    form = text.get("format") if isinstance(text, Mapping) else None
    if isinstance(form, Mapping) and form.get("type") != "text":
        conversation.leave_out(f"text.format {reading.kind_of(form)}")


def _response(reply: Reply, asked: Asked) -> dict[str, Json]:
    """The response object but for what came of it; what was asked of sampling is repeated as it came."""
    settings = asked.settings
    reasoning, text = settings.get("reasoning"), settings.get("text")
    return {
        "id": writing.made_id("resp_", reply),
        "object": "response",
        "created_at": writing.now(),
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": settings.get("max_output_tokens"),
        "metadata": {},
        "model": asked.model,
        "parallel_tool_calls": asked.request.parallel,
        "previous_response_id": None,
        "reasoning": reasoning if isinstance(reasoning, Mapping) else {"effort": None, "summary": None},
        "store": False,
        "temperature": settings.get("temperature", 1.0),
        "text": text if isinstance(text, Mapping) else {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": settings.get("top_p", 1.0),
        "truncation": "disabled",
        "user": None,
    }


def _end(reply: Reply) -> dict[str, Json]:
    usage = reply.usage
    told = {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    if reply.finish_reason in reasons:
        details = {"reason": reasons[reply.finish_reason]}
        return {"status": "incomplete", "incomplete_details": details, "usage": told}
    return {"status": "completed", "usage": told}

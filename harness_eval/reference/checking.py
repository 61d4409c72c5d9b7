"""What a strict server refuses with 400 or 404: so that a harness that sends nonsense is found out here first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from harness_eval.reference.wire import MODEL
from harness_eval.types import Json

_ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request is refused."""

    message: str
    status: int = 400
    code: str = "invalid_request_error"

    def body(self) -> dict[str, Json]:
        """The error object of this API."""
        return {"error": {"message": self.message, "type": self.code, "code": self.code}}


def problem_with(body: Mapping[str, Json], *, chat: bool = True) -> Problem | None:
    """The first thing that is wrong with a request, or None."""
    if not body:
        return Problem("the body is not a JSON object")
    if body.get("model") != MODEL:
        return Problem(f"the model {body.get('model')!r} does not exist; {MODEL} does", 404, "model_not_found")
    if not chat:
        prompt = body.get("prompt")
        return None if isinstance(prompt, str) and prompt else Problem("prompt must be a text")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return Problem("messages must be a list that is not empty")
    wrong = next(filter(None, (_wrong_message(message, at) for at, message in enumerate(messages))), None)
    wrong = wrong or _unpaired(messages)
    return Problem(wrong) if wrong else None


def _wrong_message(message: Json, at: int) -> str | None:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        return f"messages[{at}] must be an object whose role is one of {', '.join(_ROLES)}"
    calls = message.get("tool_calls") or []
    if message["role"] == "assistant" and not calls and not message.get("content"):
        return f"messages[{at}]: an assistant message needs content or tool calls"
    for call in calls:
        try:
            arguments = json.loads(call["function"]["arguments"])
        except (KeyError, TypeError, ValueError):
            return f"messages[{at}]: the arguments of a tool call must be JSON"
        if not isinstance(arguments, dict):
            return f"messages[{at}]: the arguments of a tool call must be a JSON object"
    return None


def _unpaired(messages: list[Json]) -> str | None:
    """Each call must be answered, in the messages directly after it, and each answer must belong to such a call."""
    open_calls: list[str] = []
    for at, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"messages[{at}]: no open tool call has the id {message.get('tool_call_id')!r}"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages[{at}]: the tool call {open_calls[0]!r} before it has no answer"
        open_calls = [str(call.get("id")) for call in message.get("tool_calls") or []]
    return None

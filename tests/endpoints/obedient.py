"""A served model that obeys plain orders and solves nothing, on a real socket; how it misbehaves is up to a test."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from .server import Answer, Received, ScriptedServer, chunk, stream, whole

_ORDER = re.compile(r"call the tool (\S+) with the arguments (\{.*?\})", re.IGNORECASE)
Body = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """What the model says to a request: each call is a pair of name and arguments, and has an id."""

    text: str = ""
    thinking: str | None = "I do what is asked."
    calls: tuple[tuple[str, str], ...] = ()
    ids: tuple[str, ...] = ()
    prompt: int = 0
    completion: int = 0


def obeyed(body: Body, number: int) -> Said:
    """The call that the newest message orders, or that message again."""
    newest = str(body["messages"][-1].get("content")) if "messages" in body else body["prompt"]
    order = _ORDER.search(newest)
    read = len(json.dumps([body.get("messages"), body.get("prompt"), body.get("tools")])) // 4
    if order is None:
        return Said(newest[:200], prompt=read, completion=60)
    return Said(calls=((order[1], order[2]),), ids=(f"call_{number:04d}x",), prompt=read, completion=40)


def _same(body: Body) -> Body:
    return body


def _as_meant(said: Said, body: Body) -> Said:
    del body
    return said


class ObedientServer(ScriptedServer):
    """`hear` is what of a request reaches the model, or a refusal; `say` is what is sent of what it says."""

    def __init__(
        self,
        hear: Callable[[Body], Body | Answer] = _same,
        say: Callable[[Said, Body], Said | Answer] = _as_meant,
    ) -> None:
        super().__init__()
        self.hear, self.say = hear, say

    def answer_to(self, received: Received) -> Answer:
        heard = self.hear(received.body)
        if isinstance(heard, Answer):
            return heard
        said = self.say(obeyed(heard, len(self.received)), received.body)
        return said if isinstance(said, Answer) else _written(said, received)


@asynccontextmanager
async def obedient(**ways: Any) -> AsyncIterator[ObedientServer]:
    """Such a server, until the context ends."""
    server = ObedientServer(**ways)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def _written(said: Said, received: Received) -> Answer:
    finish = "tool_calls" if said.calls else "stop"
    usage = {"prompt_tokens": said.prompt, "completion_tokens": said.completion} if said.prompt else None
    if received.path.endswith("/completions") and "chat" not in received.path:
        return whole({"choices": [{"index": 0, "text": said.text, "finish_reason": "stop"}], "usage": usage})
    calls = [
        {"index": n, "id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (id_, (name, arguments)) in enumerate(zip(said.ids, said.calls, strict=True))
    ]
    message: Body = {"role": "assistant", "content": said.text}
    message |= {"reasoning_content": said.thinking} if said.thinking is not None else {}
    message |= {"tool_calls": calls} if calls else {}
    if not received.body.get("stream"):
        return whole({"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage})
    return stream(chunk(message), chunk({}, finish), {"choices": [], "usage": usage})


def calls_in(body: Body) -> list[Body]:
    """The calls of a request's history."""
    return [call for message in body.get("messages", ()) for call in message.get("tool_calls", ())]


def without_reasoning(body: Body) -> Body:
    """A request as a server reads it whose template forgets earlier reasoning."""
    kept = [{k: v for k, v in m.items() if k != "reasoning_content"} for m in body.get("messages", ())]
    return {**body, "messages": kept} if kept else body


def silent(said: Said) -> Said:
    """The same, its calls lost."""
    return replace(said, calls=(), ids=())

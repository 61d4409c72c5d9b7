"""A gateway for tests: a scripted endpoint behind it, and who asks it over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from harness_eval.endpoints.base import Endpoint
from harness_eval.gateway.door import Door
from harness_eval.gateway.serving import opened
from harness_eval.types import Limits, RawCall, Reply, Request, Usage
from tests.doubles import Scripted

CUT = '{"command": "echo'
REPLY = Reply(
    "I look around.",
    "First I need to see " + "what there is, " * 40,
    (RawCall("call_a", "bash", '{"command": "ls"}'), RawCall("call_b", "bash", CUT)),
    "tool_calls",
    Usage(prompt=100, completion=20, reasoning=5, cached=40),
)
LIMITS = Limits()
WHOLE = Reply(REPLY.text, REPLY.thinking, REPLY.calls[:1], "tool_calls", REPLY.usage)
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
ASKS: dict[str, dict[str, Any]] = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "go"}]},
    "responses": {"model": "m", "input": "go"},
    "messages": {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "go"}]},
}


def always(answer: Reply | Exception) -> Callable[[Request], Reply | Exception]:
    return lambda _: answer


@asynccontextmanager
async def gateway(
    answer: Reply | Exception | Endpoint = WHOLE, limits: Limits | None = LIMITS, beat: float = 10.0
) -> AsyncIterator[Door]:
    endpoint = answer if isinstance(answer, Endpoint) else Scripted(always(answer))
    async with opened(endpoint, seed=7, limits=limits, where=0, beat=beat) as door:
        yield door


async def post(door: Door, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Status, and the body as JSON or, where it is a stream, as text."""
    given = headers or {"Authorization": f"Bearer {door.key}"}
    sent = {"data": body} if isinstance(body, bytes) else {"json": body}
    async with aiohttp.ClientSession() as session, session.post(door.base_url + path, headers=given, **sent) as answer:
        streamed = answer.content_type == "text/event-stream"
        return answer.status, await (answer.text() if streamed else answer.json())


async def ask(door: Door, wire: str, **more: Any) -> tuple[int, Any]:
    """The plainest request of a wire."""
    return await post(door, PATHS[wire], {**ASKS[wire], **more})

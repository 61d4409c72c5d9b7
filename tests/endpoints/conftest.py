from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.openai import OpenAIEndpoint

from .server import Answer, ScriptedServer

Connect = Callable[..., Awaitable[tuple[OpenAIEndpoint, ScriptedServer]]]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes an endpoint and the scripted server behind it; both are closed at the end of the test."""
    opened: list[tuple[OpenAIEndpoint, ScriptedServer]] = []

    async def connected(*answers: Answer, **options: Any) -> tuple[OpenAIEndpoint, ScriptedServer]:
        server = ScriptedServer(answers)
        await server.start()
        settings = {"name": "kimi", "model": "m", "base_url": server.url, "backoff_seconds": 0.001, **options}
        endpoint = OpenAIEndpoint(EndpointConfig.model_validate(settings))
        opened.append((endpoint, server))
        return endpoint, server

    yield connected
    for endpoint, server in opened:
        await endpoint.close()
        await server.stop()

"""The HTTP server in front of the scripted agent."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

from harness_eval.errors import ConfigError
from harness_eval.reference.answering import Answerer
from harness_eval.reference.couplings import make_couplings
from harness_eval.reference.faults import EVENT_STREAM, Answer, Draws, as_json, make_faults
from harness_eval.reference.player import Player
from harness_eval.reference.scripts import load_scripts
from harness_eval.reference.wire import MODEL

if TYPE_CHECKING:
    from aiohttp import web

_LARGEST_REQUEST = 256 * 2**20  # bytes


@dataclass(frozen=True, slots=True)
class ReferenceConfig:
    """What to serve, and where: folders of tasks, strengths of couplings and faults by name; port 0 is any free one.

    Raises:
        ConfigError: a fault is unknown or its strength outside of 0..1.
    """

    tasks: tuple[Path, ...]
    couplings: Mapping[str, float] = field(default_factory=dict)
    faults: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    host: str = "127.0.0.1"
    port: int = 0

    def __post_init__(self) -> None:
        make_faults(self.faults)

    def answerer(self) -> Answerer:
        """The agent behind its faults; errors as `player`."""
        return Answerer(self.player(), Draws(make_faults(self.faults), self.seed))

    def player(self) -> Player:
        """The agent that is served.

        Raises:
            ConfigError: a folder holds no plan, a plan is wrong, or a coupling is unknown.
        """
        return Player(load_scripts(self.tasks), make_couplings(self.couplings), self.seed)


@asynccontextmanager
async def listening(config: ReferenceConfig) -> AsyncIterator[str]:
    """Serve on this event loop (asyncio's) until the context ends; yields the base URL.

    Raises:
        ConfigError: as `ReferenceConfig.player`, or if the port cannot be had.
    """
    from aiohttp import web  # lazy: slow import

    app = web.Application(client_max_size=_LARGEST_REQUEST)
    handlers = _Handlers(config)
    app.router.add_get("/v1/models", handlers.models)
    app.router.add_post("/v1/chat/completions", handlers.chat)
    app.router.add_post("/v1/completions", handlers.completions)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await _start(web.TCPSite(runner, config.host, config.port), config)
        yield f"http://{config.host}:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def _start(site: web.TCPSite, config: ReferenceConfig) -> None:
    try:
        await site.start()
    except OSError as error:
        raise ConfigError(f"cannot listen on {config.host} port {config.port}: {error.strerror}") from error


class _Handlers:
    """One function a route."""

    def __init__(self, config: ReferenceConfig) -> None:
        self._answerer = config.answerer()

    async def models(self, request: web.Request) -> web.StreamResponse:
        """The one model that is served."""
        models = [{"id": MODEL, "object": "model", "owned_by": "harness-eval"}]
        return await _send(request, as_json({"object": "list", "data": models}))

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One chat completion, whole or streamed."""
        return await _send(request, self._answerer.answer(await request.read()))

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """One plain completion of a prompt, whole or streamed."""
        return await _send(request, self._answerer.answer(await request.read(), chat=False))


async def _send(request: web.Request, answer: Answer) -> web.StreamResponse:
    from aiohttp import web  # lazy: slow import

    response = web.StreamResponse(status=answer.status, headers={**answer.headers, "Content-Type": answer.content_type})
    if not answer.broken and answer.content_type != EVENT_STREAM:
        response.content_length = sum(map(len, answer.pieces))
    with contextlib.suppress(ConnectionResetError):  # a client that was cancelled is no error worth a traceback
        await anyio.sleep(answer.delay)
        if answer.pieces or not answer.broken:
            await response.prepare(request)
        for piece in answer.pieces:
            await response.write(piece)
            await anyio.lowlevel.checkpoint()  # so that pieces leave one by one
        await anyio.sleep(answer.silence)
        if answer.broken:
            _drop(request)
        else:
            await response.write_eof()
    return response


def _drop(request: web.Request) -> None:
    """End the connection without ending the response."""
    if request.transport is not None:
        request.transport.abort()

"""The HTTP server in front of the scripted agent."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from harness_eval.errors import ConfigError
from harness_eval.reference import wire
from harness_eval.reference.checking import problem_with
from harness_eval.reference.couplings import make_couplings
from harness_eval.reference.player import Player
from harness_eval.reference.scripts import load_scripts
from harness_eval.types import Json

if TYPE_CHECKING:
    from aiohttp import web

_LARGEST_REQUEST = 256 * 2**20  # bytes


@dataclass(frozen=True, slots=True)
class ReferenceConfig:
    """What to serve, and where: folders of tasks, strengths of couplings and faults by name; port 0 is any free one."""

    tasks: tuple[Path, ...]
    couplings: Mapping[str, float] = field(default_factory=dict)
    faults: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    host: str = "127.0.0.1"
    port: int = 0

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
    handlers = _Handlers(config.player())
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

    def __init__(self, player: Player) -> None:
        self._player = player

    async def models(self, request: web.Request) -> web.StreamResponse:
        """The one model that is served."""
        del request
        return _answer({"object": "list", "data": [{"id": wire.MODEL, "object": "model", "owned_by": "harness-eval"}]})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """One chat completion, whole or streamed."""
        body = _object(await request.read())
        problem = problem_with(body)
        if problem:
            return _answer(problem.body(), problem.status)
        reply = wire.spoken(self._player.reply(body), body)
        if body.get("stream"):
            return await _stream(request, wire.chunks(reply, with_usage=_wants_usage(body)))
        return _answer(wire.whole(reply))

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """One plain completion of a prompt, whole or streamed."""
        body = _object(await request.read())
        problem = problem_with(body, chat=False)
        if problem:
            return _answer(problem.body(), problem.status)
        reply = wire.spoken(self._player.complete(body), body)
        if body.get("stream"):
            return await _stream(request, wire.plain_chunks(reply, with_usage=_wants_usage(body)))
        return _answer(wire.plain(reply))


def _object(data: bytes) -> dict[str, Json]:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}


def _wants_usage(body: Mapping[str, Json]) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))


def _answer(body: Mapping[str, Json], status: int = 200) -> web.StreamResponse:
    from aiohttp import web  # lazy: slow import

    return web.Response(body=orjson.dumps(body), status=status, content_type="application/json")


async def _stream(request: web.Request, chunks: Iterator[dict[str, Json]]) -> web.StreamResponse:
    from aiohttp import web  # lazy: slow import

    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    frames = [b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks]
    with contextlib.suppress(ConnectionResetError):  # a client that was cancelled is no error worth a traceback
        await response.prepare(request)
        await response.write(b"".join([*frames, b"data: [DONE]\n\n"]))
        await response.write_eof()
    return response

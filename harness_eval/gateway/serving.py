"""The gateway's HTTP: on a Unix socket or on 127.0.0.1, three wires at whatever prefix, and what harnesses look for."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import ConfigError
from harness_eval.gateway.answering import Answering
from harness_eval.gateway.chat import Chat
from harness_eval.gateway.door import Door
from harness_eval.gateway.messages import Messages
from harness_eval.gateway.responses import Responses
from harness_eval.gateway.wires import Refused, Wire
from harness_eval.types import Limits, estimate_tokens

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"
BEAT = 10.0  # seconds after which a stream begins without a first event, and between two signs of life
_LARGEST_REQUEST = 64 << 20  # bytes; images are the most of what is that long
_ENDS: tuple[tuple[re.Pattern[str], Wire], ...] = tuple(
    (re.compile(rf"(?:/[^/]+)*?{path}/?"), wire)
    for path, wire in (
        (r"/chat/completions", Chat()),
        (r"/responses", Responses()),
        (r"/messages", Messages()),
    )
)
_COUNT = re.compile(r"(?:/[^/]+)*?/messages/count_tokens/?")
_ROOT = re.compile(r"(?:/[^/]+)?(?:/v1)?/?")
_MODELS = re.compile(r"(?:/[^/]+)*?/models(?:/.*)?")


@asynccontextmanager
async def opened(
    endpoint: Endpoint, *, seed: int | None, limits: Limits | None, where: Path | int, beat: float = BEAT
) -> AsyncIterator[Door]:
    """A gateway in front of an endpoint, until the context ends; what is under way then is cancelled.

    Args:
        endpoint: what answers; it is not closed.
        seed: goes with each request, in place of what the harness asks for.
        limits: those of one trial, or None: then nothing ends the gateway, whatever the endpoint does.
        where: the path of a Unix socket to make, which anybody may connect to, or a TCP port on 127.0.0.1, 0 for any.
        beat: seconds between two signs of life in a stream whose reply has not come.

    Raises:
        ConfigError: the socket cannot be made, or the port cannot be had.
    """
    from aiohttp import web  # lazy: slow import

    door = Door(endpoint, seed, limits)
    app = web.Application(client_max_size=_LARGEST_REQUEST)
    app.router.add_route("*", "/{anything:.*}", _Handlers(door, beat).handle)
    # A harness that hangs up must not leave the endpoint at work: its handler is cancelled.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handler_cancellation=True)
    await runner.setup()
    try:
        door.place = await _listen(runner, where)
        yield door
    finally:
        await runner.cleanup()
        if isinstance(where, Path):
            await anyio.Path(where).unlink(missing_ok=True)


async def _listen(runner: web.AppRunner, where: Path | int) -> str:
    from aiohttp import web  # lazy: slow import

    try:
        if isinstance(where, int):
            await web.TCPSite(runner, HOST, where).start()
            return f"http://{HOST}:{runner.addresses[0][1]}"
        await web.UnixSite(runner, where).start()
        await anyio.Path(where).chmod(0o666)  # whoever a box runs its commands as; the key is what admits
    except OSError as error:
        raise ConfigError(f"the gateway cannot listen on {where}: {error.strerror or error}") from error
    return str(where)


class _Handlers:
    """From a request's path to whoever answers it."""

    def __init__(self, door: Door, beat: float) -> None:
        self._door, self._beat = door, beat

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One request of whatever kind."""
        wire = next((wire for end, wire in _ENDS if end.fullmatch(request.path)), None)
        if request.method in ("GET", "HEAD") and not _MODELS.fullmatch(request.path):
            # Some harnesses look whether anybody is there before they ask.
            return _json({"ok": True}) if _ROOT.fullmatch(request.path) else self._refused(request, "unknown")
        if not self._door.admits(_key_in(request.headers)):
            return self._refused(request, "unauthorized")
        if request.method == "POST" and wire is not None:
            return await self._ask(request, wire)
        if request.method == "POST" and _COUNT.fullmatch(request.path):
            return await self._count(request)
        if request.method in ("GET", "HEAD"):
            return _json(_models(self._door.model))
        return self._refused(request, "unknown")

    async def _ask(self, request: web.Request, wire: Wire) -> web.StreamResponse:
        from aiohttp import web  # lazy: slow import

        if (request.content_length or 0) > _LARGEST_REQUEST:
            return self._refused(request, "too-large")
        try:
            data = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return self._refused(request, "too-large")
        return await Answering(request, wire, self._door, self._beat).run(data)

    async def _count(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import web  # lazy: slow import

        try:
            text = await request.text()
        except web.HTTPRequestEntityTooLarge:
            return self._refused(request, "too-large")
        return _json({"input_tokens": estimate_tokens(text)})

    def _refused(self, request: web.Request, kind: Refused) -> web.StreamResponse:
        """An error in the words of the wire that the harness seems to speak."""
        speaks_messages = "anthropic-version" in request.headers or "/messages" in request.path
        wire: Wire = Messages() if speaks_messages else Chat()
        status, body = wire.refusal(kind, _SAID[kind](request))
        self._door.turn_away(status, request.method, request.path)
        return _json(body, status)


_SAID: Mapping[str, Callable[[web.Request], str]] = {
    "unauthorized": lambda _: "the key is not that of this gateway",
    "too-large": lambda _: f"the request is longer than {_LARGEST_REQUEST} bytes",
    "unknown": lambda request: f"nothing answers {request.method} {request.path[:200]}",
}


def _key_in(headers: Mapping[str, str]) -> str:
    """The key, wherever one of the wires puts it."""
    kind, _, bearer = headers.get("Authorization", "").partition(" ")
    given = bearer.strip() if kind.lower() == "bearer" else ""
    return given or headers.get("x-api-key") or headers.get("api-key", "")


def _models(model: str) -> dict[str, object]:
    """One list in the shapes of both makers; `models` is where one of the harnesses looks."""
    one = {"id": model, "object": "model", "created": 0, "owned_by": "harness-eval"}
    one |= {"type": "model", "display_name": model, "created_at": "1970-01-01T00:00:00Z"}
    ends = {"has_more": False, "first_id": model, "last_id": model}
    return {"object": "list", "data": [one], **ends, "models": []}


def _json(body: object, status: int = 200) -> web.Response:
    from aiohttp import web  # lazy: slow import

    return web.json_response(body, status=status)

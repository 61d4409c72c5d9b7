"""The gateway's HTTP: on a Unix socket or on 127.0.0.1, three wires at whatever prefix, and what harnesses look for."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import ConfigError
from harness_eval.gateway.answering import Answering
from harness_eval.gateway.chat import Chat
from harness_eval.gateway.door import Door, Refusal
from harness_eval.gateway.messages import Messages
from harness_eval.gateway.responses import Responses
from harness_eval.gateway.wires import Refused, Wire
from harness_eval.types import Limits, estimate_tokens

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"
BEAT = 10.0  # seconds after which a stream begins without a first event, and between two signs of life
_LARGEST_REQUEST = 32 << 20  # bytes; images are the most of what is that long
_CONNECTIONS = 256  # at once; harnesses have a few, and processes of theirs as many again
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
    runner = web.ServerRunner(_server(_Handlers(door, beat).handle), shutdown_timeout=0.5)
    await runner.setup()
    try:
        door.place = await _listen(runner, where)
        yield door
    finally:
        with anyio.CancelScope(shield=True):  # or requests under way would outlive a trial that is cancelled
            await runner.cleanup()
            if isinstance(where, Path):
                await anyio.Path(where).unlink(missing_ok=True)


def _server(handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> web.Server:
    from aiohttp import http, web  # lazy: slow import

    class Server(web.Server):
        """Has so many connections and no more, since the descriptors of this process are those of all trials."""

        def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
            super().connection_made(handler, transport)
            if len(self.connections) > _CONNECTIONS:
                transport.abort()

    garbled = (http.HttpProcessingError, web.RequestPayloadError)

    def ours(record: logging.LogRecord) -> bool:
        """Whether this is no request that is none in the first place: a harness must not fill anybody's screen."""
        return not (record.exc_info and isinstance(record.exc_info[1], garbled))

    logger = logging.Logger("harness_eval.gateway")
    logger.parent = logging.getLogger()
    logger.addFilter(ours)
    # A harness that hangs up must not leave the endpoint at work: its handler is cancelled.
    return Server(handle, handler_cancellation=True, access_log=None, logger=logger)


async def _listen(runner: web.ServerRunner, where: Path | int) -> str:
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

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
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

    async def _ask(self, request: web.BaseRequest, wire: Wire) -> web.StreamResponse:
        try:
            data = await self._body(request)
        except Refusal as refusal:
            return self._refused(request, refusal.kind)
        return await Answering(request, wire, self._door, self._beat).run(data)

    async def _count(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            data = await self._body(request)
        except Refusal as refusal:
            return self._refused(request, refusal.kind)
        return _json({"input_tokens": estimate_tokens(data.decode("utf-8", "replace"))})

    async def _body(self, request: web.BaseRequest) -> bytes:
        """The body of a request, counted as it comes, so that many at once are no more than may come in all.

        Raises:
            Refusal: it is too long, there has been too much already, or it is not encoded as it says.
        """
        from aiohttp import web  # lazy: slow import

        data, length = bytearray(), request.content_length or 0
        try:
            while length <= _LARGEST_REQUEST and (piece := await request.content.readany()):
                self._door.weigh(len(piece))
                data += piece
                length = max(length, len(data))
        except web.RequestPayloadError as error:
            raise Refusal("invalid", "the body cannot be decoded") from error
        if length > _LARGEST_REQUEST:
            raise Refusal("too-large", "")
        return bytes(data)

    def _refused(self, request: web.BaseRequest, kind: Refused) -> web.StreamResponse:
        """An error in the words of the wire that the harness seems to speak."""
        speaks_messages = "anthropic-version" in request.headers or "/messages" in request.path
        wire: Wire = Messages() if speaks_messages else Chat()
        status, body = wire.refusal(kind, _SAID[kind](request))
        self._door.turn_away(status, request.method, request.path)
        return _json(body, status)


_SAID: Mapping[str, Callable[[web.BaseRequest], str]] = {
    "unauthorized": lambda _: "the key is not that of this gateway",
    "invalid": lambda _: "the body is not encoded as its headers say",
    "down": lambda _: "this trial has sent too much; do not try again",
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

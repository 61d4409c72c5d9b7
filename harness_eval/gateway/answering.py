"""One request of a harness from its bytes to the last byte of the reply, and what is kept of it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import anyio
import orjson

from harness_eval.diagnosis.arguments import is_too_deep
from harness_eval.endpoints.calls import mended
from harness_eval.gateway.door import Door, Refusal
from harness_eval.gateway.exchange import Exchange
from harness_eval.gateway.wires import Asked, Wire
from harness_eval.gateway.writing import dumped
from harness_eval.types import Json, Reply, Request

if TYPE_CHECKING:
    from aiohttp import web

_UNREAD = Asked(Request(()), "", streamed=False)
_STREAM = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
_HUNG_UP = 499  # what proxies write down for a client that did not wait
_FINAL = ("down", "over-budget")
_DEEPEST = 200  # levels of a body: what is written of it, with more around it, has room for 254


class Answering:
    """One request under way; `run` answers it, and the door keeps the exchange however that ends."""

    def __init__(self, request: web.BaseRequest, wire: Wire, door: Door, beat: float) -> None:
        self._request, self._wire, self._door, self._beat = request, wire, door, beat
        self._number, self._began = door.number(), door.now
        self._asked = _UNREAD
        self._reply: Reply | None = None
        self._status, self._refused = _HUNG_UP, "the harness hung up before the reply"
        self._delivered = False
        self._stream: web.StreamResponse | None = None

    async def run(self, data: bytes) -> web.StreamResponse:
        """The response, sent."""
        try:
            outcome = await self._outcome(data)
            if isinstance(outcome, Refusal):
                return await self._refuse(outcome)
            self._reply, self._status, self._refused = outcome, 200, ""
            if self._asked.streamed:
                return await self._send_stream(self._wire.events(outcome, self._asked))
            return await self._send_whole(200, self._wire.whole(outcome, self._asked))
        finally:
            self._door.keep(self._exchange(len(data)))

    async def _outcome(self, data: bytes) -> Reply | Refusal:
        """The endpoint's reply or why there is none; meanwhile a harness that streams gets signs of life."""
        async with anyio.create_task_group() as group:
            try:
                self._asked = self._wire.read(_body(data))
                if self._asked.streamed:
                    group.start_soon(self._stay_alive)
                outcome: Reply | Refusal = await self._door.reply(self._asked)
            except ValueError as error:
                outcome = self._door.misread(str(error))
            except Refusal as refusal:
                outcome = refusal
            group.cancel_scope.cancel()
        return outcome

    async def _stay_alive(self) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await anyio.sleep(self._beat)
                with anyio.CancelScope(shield=True):  # half an event would spoil the stream
                    await (await self._begun()).write(self._wire.alive)

    async def _refuse(self, refusal: Refusal) -> web.StreamResponse:
        self._refused = str(refusal)
        self._status, body = self._wire.refusal(refusal.kind, self._refused)
        if self._stream or (self._asked.streamed and refusal.kind in self._wire.in_stream):
            return await self._send_stream([self._wire.broken_off(refusal.kind, self._refused)])
        return await self._send_whole(self._status, body, final=refusal.kind in _FINAL)

    async def _send_whole(self, status: int, body: Json, *, final: bool = False) -> web.StreamResponse:
        from aiohttp import web  # lazy: slow import

        headers = {"x-should-retry": "false"} if final else {}  # which the makers' own clients obey
        whole = web.Response(body=dumped(body), status=status, content_type="application/json", headers=headers)
        with contextlib.suppress(ConnectionError):
            await whole.prepare(self._request)
            await whole.write_eof()
            self._delivered = True
        return whole

    async def _send_stream(self, events: Iterable[bytes]) -> web.StreamResponse:
        stream = await self._begun()
        with contextlib.suppress(ConnectionError):
            for event in events:
                await stream.write(event)
            await stream.write_eof()
            self._delivered = True
        return stream

    async def _begun(self) -> web.StreamResponse:
        """The response whose body is a stream, its head sent."""
        from aiohttp import web  # lazy: slow import

        if self._stream is None:
            self._stream = web.StreamResponse(headers=_STREAM)
            with contextlib.suppress(ConnectionError):
                await self._stream.prepare(self._request)
        return self._stream

    def _exchange(self, size: int) -> Exchange:
        lost = self._wire.lost(self._reply, self._asked) if self._reply else ()
        return Exchange(
            number=self._number,
            wire=self._wire.name,
            asked=dataclasses.replace(self._asked, untranslated=(*self._asked.untranslated, *lost)),
            began=self._began,
            seconds=self._door.now - self._began,
            bytes_in=size,
            reply=self._reply,
            status=self._status,
            refused=self._refused,
            delivered=self._delivered,
        )


def _body(data: bytes) -> dict[str, Json]:
    """The object that a body holds.

    Raises:
        ValueError: it holds none.
    """
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        body = _read_slowly(data)
    if not isinstance(body, dict):
        raise ValueError("the body must be a JSON object")
    if is_too_deep(body, _DEEPEST):
        raise ValueError("the body is nested too deeply")
    return body


def _read_slowly(data: bytes) -> Json:
    """JSON with the halves of characters in it, as a harness writes that cuts a text anywhere."""
    try:
        return orjson.loads(mended(json.dumps(json.loads(data), ensure_ascii=False)))
    except (ValueError, RecursionError):
        raise ValueError("the body is not JSON") from None

"""What a harness may send that no honest one does, over real HTTP: it is told so, and nobody else has to wait."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness_eval.gateway import door as doors
from harness_eval.gateway import serving
from harness_eval.gateway.messages import Messages
from harness_eval.gateway.responses import Responses
from harness_eval.gateway.serving import opened
from harness_eval.gateway.wires import Wire
from harness_eval.types import RawCall, Reply
from tests.doubles import Scripted
from tests.gateway.front import LIMITS, PATHS, WHOLE, always, ask, gateway, post

pytestmark = pytest.mark.anyio

by_wire = pytest.mark.parametrize("wire", PATHS)
COUNT = "/v1/messages/count_tokens"
WIRES: dict[str, Wire] = {"responses": Responses(), "messages": Messages()}


def nested(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


@by_wire
async def test_a_body_that_could_not_be_written_again_is_refused(wire: str) -> None:
    async with gateway() as door:
        deep = await ask(door, wire, reasoning=nested(250), stream=True)
        less = await ask(door, wire, reasoning={"effort": nested(150)}, text={"format": nested(150)})
    assert (deep[0], less[0]) == (400, 200)
    assert [exchange.delivered for exchange in door.exchanges] == [True, True]


@by_wire
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("value", ['"\\ud800"', "9" * 40, "[" * 280 + "]" * 280], ids=["half", "long", "deep"])
async def test_whatever_a_model_writes_into_arguments_arrives(wire: str, streamed: bool, value: str) -> None:
    reply = Reply(calls=(RawCall("a", "bash", f'{{"input": {value}}}'),))
    async with gateway(reply) as door:
        status, _ = await ask(door, wire, stream=streamed)
    assert (status, door.exchanges[0].delivered) == (200, True)


async def test_a_body_that_is_not_encoded_as_it_says_is_refused_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with gateway() as door:
            key = {"Authorization": f"Bearer {door.key}", "Content-Encoding": "gzip"}
            status, _ = await post(door, PATHS["chat"], b"{}", **key)
    assert (status, door.turned_away) == (400, {"400 POST /v1/chat/completions": 1})
    assert not caplog.records


async def test_tokens_are_counted_in_any_bytes() -> None:
    async with gateway() as door:
        kind = {"Authorization": f"Bearer {door.key}", "Content-Type": "text/plain; charset=nobody-knows"}
        status, counted = await post(door, COUNT, b"\xff\xfe and more", **kind)
    assert status == 200
    assert counted["input_tokens"] > 0


async def test_what_is_no_http_is_answered_without_a_word_on_our_side(caplog: pytest.LogCaptureFixture) -> None:
    async with gateway() as door:
        with caplog.at_level(logging.ERROR):
            for garbage in (b"\x16\x03\x01\x02\x00\x01\x00", b"PUSH /v1 HTTP/9\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n"):
                stream = await anyio.connect_tcp("127.0.0.1", int(door.place.rpartition(":")[2]))
                async with stream:
                    await stream.send(garbage)
                    assert b"400 Bad Request" in await stream.receive()
    assert not caplog.records


async def test_a_proxy_it_is_not() -> None:
    async with gateway() as door, await anyio.connect_tcp("127.0.0.1", int(door.place.rpartition(":")[2])) as stream:
        told = f"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {door.key}\r\n\r\n"
        await stream.send(told.encode())
        assert b"404 Not Found" in await stream.receive()
    assert sum(door.turned_away.values()) == 1


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("responses", [{"type": "function_call_output", "call_id": "c", "output": "x"}] * 20_000),
        ("responses", [{"type": "reasoning", "summary": [{"text": "x" * 50}]}] * 20_000),
        ("messages", [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}] * 20_000}]),
    ],
)
def test_reading_takes_no_longer_than_the_body_is_long(wire: str, body: Any) -> None:
    asked = WIRES[wire].read({"model": "m", "input" if wire == "responses" else "messages": body})
    assert asked.request.messages


async def test_requests_that_cannot_be_read_end_the_trial_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "_UNREADABLE", 3)
    async with gateway() as door:
        statuses = [(await post(door, PATHS["chat"], b"{}"))[0] for _ in range(3)]
        assert (statuses, door.ended.is_set()) == ([400] * 3, True)
    assert door.failure is not None
    assert (door.failure.owner, "3 requests that cannot be read" in str(door.failure)) == ("harness", True)


async def test_all_requests_together_may_have_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "_MOST_BYTES", 1000)
    async with gateway() as door:
        statuses = [(await ask(door, "chat", user="x" * 400))[0] for _ in range(3)]
        assert (statuses, door.ended.is_set()) == ([200, 200, 403], True)
    assert door.failure is not None
    assert door.failure.owner == "harness"


async def test_more_connections_than_anybody_needs_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_CONNECTIONS", 4)
    endpoint, socket = Scripted(always(WHOLE)), tmp_path / "gateway"
    async with opened(endpoint, seed=7, limits=LIMITS, where=socket):
        kept = [await asyncio.open_unix_connection(socket) for _ in range(4)]
        reader, writer = await asyncio.open_unix_connection(socket)
        assert await reader.read() == b""
        for _, each in (*kept, (reader, writer)):
            each.close()

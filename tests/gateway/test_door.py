"""Who gets in, what is refused in which words, and what is kept of it, over real HTTP."""

from __future__ import annotations

import contextlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest

from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.errors import ConfigError, ContextOverflow, EndpointDown, EndpointFailure, HarnessFailure
from harness_eval.gateway.door import Door
from harness_eval.gateway.serving import opened
from harness_eval.types import Limits, Reply, Request, StopReason, Usage
from tests.doubles import Scripted
from tests.endpoints.server import ScriptedServer, refused, whole
from tests.gateway.front import ASKS, LIMITS, PATHS, WHOLE, always, ask, gateway, post

pytestmark = pytest.mark.anyio

by_wire = pytest.mark.parametrize("wire", PATHS)
DONE = Reply("Done.", finish_reason="stop", usage=Usage(10, 5))


class Slow(Endpoint):
    """Answers only when it is told to; remembers that a request was given up."""

    name = model = "slow"

    def __init__(self, answer: Reply | Exception = DONE) -> None:
        self.answer, self.asked, self.may_answer, self.given_up = answer, anyio.Event(), anyio.Event(), anyio.Event()

    async def complete(self, request: Request) -> Reply:
        del request
        self.asked.set()
        try:
            await self.may_answer.wait()
        except BaseException:
            self.given_up.set()
            raise
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def close(self) -> None:
        return


@by_wire
async def test_any_prefix_works_with_the_version_or_without(wire: str) -> None:
    async with gateway() as door:
        short = PATHS[wire].removeprefix("/v1")
        found = [await post(door, path, ASKS[wire]) for path in (short, f"/trial/7/v1{short}", f"/v1{short}?beta=true")]
    assert [status for status, _ in found] == [200, 200, 200]


async def test_the_key_is_taken_from_wherever_a_wire_puts_it_and_any_other_is_counted() -> None:
    async with gateway() as door:
        for name, value in (("Authorization", f"Bearer {door.key}"), ("x-api-key", door.key), ("api-key", door.key)):
            assert (await post(door, PATHS["chat"], ASKS["chat"], **{name: value}))[0] == 200
        assert (await post(door, PATHS["chat"], ASKS["chat"], Authorization="Bearer sk-real"))[0] == 401
        status, body = await post(door, PATHS["messages"], ASKS["messages"], **{"x-api-key": "sk-ant"})
    assert (status, body["type"], body["error"]["type"]) == (401, "error", "authentication_error")
    assert door.turned_away == {"401 POST /v1/chat/completions": 1, "401 POST /v1/messages": 1}
    assert len(door.exchanges) == 3


async def test_probes_are_answered_and_unknown_paths_are_not_found() -> None:
    async with gateway() as door, aiohttp.ClientSession(headers={"x-api-key": door.key}) as session:
        found = {}
        for probe in ("HEAD /", "GET /v1", "GET /v1/models", "GET /x/models/m", "GET /a/b"):
            method, path = probe.split()
            async with session.request(method, door.base_url + path) as answer:
                found[method, path] = answer.status
        status, body = await post(door, "/api/event_logging/batch", {}, **{"x-api-key": door.key})
    assert list(found.values()) == [200, 200, 200, 200, 404]
    assert (status, body["error"]["type"]) == (404, "invalid_request_error")
    assert door.turned_away == {"404 GET /a/b": 1, "404 POST /api/event_logging/batch": 1}


@by_wire
@pytest.mark.parametrize("body", [b"{", b"[]", b'{"model": "m"}', b'{"a":' * 500 + b"1" + b"}" * 500])
async def test_a_body_that_cannot_be_read_is_invalid_and_kept_as_such(wire: str, body: bytes) -> None:
    async with gateway() as door:
        status, answer = await post(door, PATHS[wire], body)
    (exchange,) = door.exchanges
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
    assert (exchange.status, exchange.bytes_in, exchange.reply) == (400, len(body), None)
    assert exchange.refused in answer["error"]["message"]


async def test_half_a_character_does_not_make_a_body_unreadable() -> None:
    async with gateway() as door:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "cut \ud83d"}]}).encode()
        assert (await post(door, PATHS["chat"], body))[0] == 200
    assert door.exchanges[0].asked.request.messages[0]["content"] == "cut \ufffd"


async def test_a_request_that_is_too_long_is_not_even_read() -> None:
    async with gateway() as door:
        host, port = door.base_url.removeprefix("http://").split(":")
        async with await anyio.connect_tcp(host, int(port)) as stream:
            head = ("POST /v1/messages HTTP/1.1", "Host: x", f"x-api-key: {door.key}", "Content-Length: 999999999")
            await stream.send("\r\n".join([*head, "", ""]).encode())
            answer = await stream.receive()
    assert answer.startswith(b"HTTP/1.1 413")
    assert door.exchanges == []


@by_wire
async def test_an_endpoint_that_gave_no_reply_is_unavailable_once_and_then_down(wire: str) -> None:
    async with gateway(EndpointFailure("busy: nothing came")) as door:
        first = await ask(door, wire)
        second = await ask(door, wire)
        await door.ended.wait()
    assert (first[0], second[0]) == (529 if wire == "messages" else 503, 403)
    assert str(door.failure) == "busy: nothing came"
    assert door.stop is None


async def test_an_endpoint_that_is_down_ends_the_trial_and_clients_are_told_not_to_retry() -> None:
    async with gateway(EndpointDown("gone: the key is refused")) as door, aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {door.key}"}
        async with session.post(door.base_url + PATHS["chat"], json=ASKS["chat"], headers=headers) as answer:
            assert (answer.status, answer.headers["x-should-retry"]) == (403, "false")
        assert door.ended.is_set()


async def test_a_gateway_without_limits_survives_what_the_endpoint_does() -> None:
    answers: list[Any] = [EndpointDown("gone"), DONE]
    async with gateway(Scripted(lambda _: answers.pop(0)), limits=None) as door:
        assert [(await ask(door, "chat"))[0] for _ in range(2)] == [403, 200]
        assert not door.ended.is_set()


async def test_a_request_that_the_server_refuses_is_invalid_and_forgotten_when_a_better_one_comes() -> None:
    answers: list[Any] = [HarnessFailure("400: tools"), DONE, *[HarnessFailure("400: tools")] * 5]
    async with gateway(Scripted(lambda _: answers.pop(0))) as door:
        assert (await ask(door, "chat"))[0] == 400
        assert door.failure is not None
        assert (await ask(door, "chat"))[0] == 200
        assert (door.failure, door.ended.is_set()) == (None, False)
        assert [(await ask(door, "chat"))[0] for _ in range(6)] == [*[400] * 5, 403]
        assert door.ended.is_set()


@pytest.mark.parametrize(
    ("limits", "stop"), [(Limits(steps=2), StopReason.STEPS), (Limits(tokens=30), StopReason.TOKENS)]
)
async def test_beyond_a_limit_all_is_refused(limits: Limits, stop: StopReason) -> None:
    async with gateway(DONE, limits) as door:
        assert [(await ask(door, "chat"))[0] for _ in range(2)] == [200, 200]
        assert (door.stop, door.ended.is_set()) == (None, False)
        assert [(await ask(door, wire))[0] for wire in PATHS] == [403] * 3
        assert (door.stop, door.ended.is_set()) == (stop, True)
    assert door.usage == Usage(20, 10)


OVERFLOW = {"chat": "maximum context length", "messages": "prompt is too long", "responses": "context window"}


@by_wire
async def test_an_overflow_is_told_in_the_words_of_the_wire_and_ends_the_trial_only_if_nothing_helps(wire: str) -> None:
    async with gateway(ContextOverflow("too long")) as door:
        status, body = await ask(door, wire)
        assert (door.stop, door.ended.is_set()) == (StopReason.OVERFLOW, False)
        for _ in range(4):
            await ask(door, wire)
        assert (door.stop, door.ended.is_set()) == (StopReason.OVERFLOW, True)
    assert status == 400
    assert OVERFLOW[wire] in body["error"]["message"]


async def test_an_overflow_is_forgotten_by_a_harness_that_sends_less() -> None:
    answers: list[Any] = [ContextOverflow("too long"), DONE]
    async with gateway(Scripted(lambda _: answers.pop(0))) as door:
        assert [(await ask(door, "chat"))[0] for _ in range(2)] == [400, 200]
        assert (door.stop, door.ended.is_set()) == (None, False)


async def test_a_streamed_response_learns_of_an_overflow_inside_of_the_stream() -> None:
    async with gateway(ContextOverflow("too long")) as door:
        status, text = await ask(door, "responses", stream=True)
    last = json.loads(text.strip().rsplit("data: ", 1)[1])
    assert (status, last["type"]) == (200, "response.failed")
    assert last["response"]["error"]["code"] == "context_length_exceeded"


async def late(door: Door, wire: str, slow: Slow) -> tuple[bytes, str]:
    """The first sign of life in a stream, and all that comes once the endpoint answers."""
    given = {"json": {**ASKS[wire], "stream": True}, "headers": {"x-api-key": door.key}}
    async with aiohttp.request("POST", door.base_url + PATHS[wire], **given) as answer:
        sign = await answer.content.readuntil(b"\n\n")
        slow.may_answer.set()
        return sign, await answer.text()


@by_wire
async def test_a_stream_stays_alive_while_the_endpoint_is_at_work(wire: str) -> None:
    slow = Slow()
    async with gateway(slow, beat=0.02) as door:
        sign, rest = await late(door, wire, slow)
    assert sign == (b'event: ping\ndata: {"type":"ping"}\n\n' if wire == "messages" else b": waiting\n\n")
    assert "Done." in rest
    assert door.exchanges[0].delivered


@by_wire
async def test_a_failure_after_a_stream_has_begun_is_an_event(wire: str) -> None:
    slow = Slow(EndpointFailure("busy"))
    async with gateway(slow, beat=0.02) as door:
        _, rest = await late(door, wire, slow)
    named = {"chat": '"code":"overloaded"', "responses": "response.failed", "messages": "event: error"}
    assert named[wire] in rest
    assert door.exchanges[0].status in (503, 529)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_harness_that_hangs_up_leaves_no_endpoint_at_work(streamed: bool) -> None:
    slow, kept = Slow(), anyio.Event()
    async with gateway(slow) as door:
        keep = door.keep
        door.keep = lambda exchange: (keep(exchange), kept.set())
        async with anyio.create_task_group() as group:
            group.start_soon(partial(ask, door, "chat", stream=streamed))
            await slow.asked.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(10):
            await slow.given_up.wait()
            await kept.wait()
    (exchange,) = door.exchanges
    assert (exchange.delivered, exchange.reply, exchange.status) == (False, None, 499)
    assert exchange.asked.request.messages
    assert door.failure is None


async def test_a_trial_that_is_cancelled_leaves_no_endpoint_at_work(tmp_path: Path) -> None:
    slow, place = Slow(), tmp_path / "gateway"

    async def asked(door: Door) -> None:
        given = {"json": ASKS["chat"], "headers": {"x-api-key": door.key}}
        async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(place))) as session:
            with contextlib.suppress(aiohttp.ClientError):
                await session.post(f"http://gateway{PATHS['chat']}", **given)

    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as trial:
            async with opened(slow, seed=7, limits=LIMITS, where=place) as door:
                group.start_soon(asked, door)
                await slow.asked.wait()
                trial.cancel()
                await anyio.sleep_forever()
        left = (slow.given_up.is_set(), place.exists())
        group.cancel_scope.cancel()
    assert left == (True, False)


async def test_two_requests_of_one_trial_may_be_under_way_at_once() -> None:
    async with gateway(Scripted(always(DONE), together=2)) as door, anyio.create_task_group() as group:
        for wire in ("chat", "messages"):
            group.start_soon(ask, door, wire)
    assert sorted(exchange.number for exchange in door.exchanges) == [0, 1]


async def test_the_endpoint_gets_the_seed_of_the_trial_and_no_sampling() -> None:
    seen: list[Request] = []
    async with gateway(Scripted(lambda request: seen.append(request) or DONE)) as door:
        await ask(door, "chat", seed=1, temperature=0.5, max_tokens=3)
    assert (seen[0].seed, seen[0].max_tokens) == (7, None)
    assert door.exchanges[0].asked.settings == {"seed": 1, "temperature": 0.5, "max_tokens": 3}


async def test_a_gateway_on_a_socket_is_reached_by_it_alone_and_leaves_nothing(tmp_path: Path) -> None:
    where = tmp_path / "gateway.sock"
    async with opened(Scripted(always(WHOLE)), seed=1, limits=Limits(), where=where) as door:
        connector = aiohttp.UnixConnector(str(where))
        async with (
            aiohttp.ClientSession(connector=connector, headers={"api-key": door.key}) as session,
            session.post("http://gateway/v1/messages", json=ASKS["messages"]) as answer,
        ):
            assert answer.status == 200
        assert (door.base_url, where.stat().st_mode & 0o777) == ("", 0o666)
    assert not where.exists()


async def test_a_place_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the gateway cannot listen on"):
        async with opened(Scripted(), seed=1, limits=None, where=tmp_path / ("x" * 200)):
            pass


async def test_neither_key_is_in_what_is_kept_or_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REAL_KEY", "sk-real-0123456789")
    server = ScriptedServer()
    said = {"role": "assistant", "content": "your key is sk-real-0123456789"}
    server.answers = [
        whole({"choices": [{"message": said, "finish_reason": "stop"}]}),
        refused(401, "wrong key sk-real-0123456789"),
    ]
    await server.start()
    config = EndpointConfig(name="served", model="m", base_url=server.url, api_key_env="REAL_KEY", retries=0)
    endpoint = open_endpoint(config)
    try:
        async with gateway(endpoint) as door:
            told = [await ask(door, "chat"), await ask(door, "messages")]
    finally:
        await endpoint.close()
        await server.stop()
    assert [status for status, _ in told] == [200, 403]
    assert server.received[0].headers["authorization"] == "Bearer sk-real-0123456789"
    for text in (str(told), str(door.exchanges), str(door.failure)):
        assert "sk-real" not in text
        assert door.key not in text

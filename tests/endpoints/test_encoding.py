"""Compressed and endless bodies over real HTTP."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib

import pytest

from harness_eval.endpoints.encoding import PlainBody
from harness_eval.errors import EndpointFailure, HarnessEvalError
from harness_eval.types import Request

from .conftest import Connect
from .server import SAYS_HELLO, Answer, chunk, events

pytestmark = pytest.mark.anyio

ASK = Request(messages=({"role": "user", "content": "hi"},))
HELLO = events(chunk({"role": "assistant", "content": "hello"}), chunk({}, "stop"))
MANY = 64 << 20  # bytes


def encoded(body: bytes, encoding: str, status: int = 200) -> Answer:
    pieces = tuple(body[at : at + 50_000] for at in range(0, len(body), 50_000))
    return Answer(status, pieces, {"Content-Encoding": encoding, "Content-Type": "text/event-stream"})


def bomb(start: bytes = b"") -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    zeros = b"0" * (1 << 20)
    parts = [packer.compress(start), *(packer.compress(zeros) for _ in range(MANY >> 20)), packer.flush()]
    return b"".join(parts)


async def test_no_compression_is_asked_for(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO)
    await endpoint.complete(ASK)
    assert server.received[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(gzip.compress(HELLO), "gzip"), (zlib.compress(HELLO), "deflate"), (HELLO, "identity"), (HELLO, "")],
)
async def test_one_layer_of_compression_is_read_all_the_same(connect: Connect, body: bytes, encoding: str) -> None:
    endpoint, _ = await connect(encoded(body, encoding))
    assert (await endpoint.complete(ASK)).text == "hello"


async def test_a_compressed_refusal_is_read(connect: Connect) -> None:
    said = gzip.compress(b'{"error": {"message": "temperature must be 1"}}')
    endpoint, _ = await connect(encoded(said, "gzip", 400))
    with pytest.raises(HarnessEvalError, match="temperature must be 1"):
        await endpoint.complete(ASK)


@pytest.mark.parametrize("status", [400, 200])
@pytest.mark.parametrize("layers", [1, 2])
async def test_a_compressed_bomb_takes_little_memory(connect: Connect, status: int, layers: int) -> None:
    body = bomb(b"data: " if status == 200 else b"")
    answer = encoded(gzip.compress(body) if layers == 2 else body, ", ".join(["gzip"] * layers), status)
    endpoint, _ = await connect(SAYS_HELLO, answer, retries=0)
    await endpoint.complete(ASK)  # what is imported late is no part of the measure
    tracemalloc.start()
    try:
        with pytest.raises(HarnessEvalError) as caught:
            await endpoint.complete(ASK)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.label
    assert peak < 0.75 * MANY


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
async def test_a_reply_in_an_encoding_that_is_not_read_is_a_labelled_failure(connect: Connect, encoding: str) -> None:
    endpoint, _ = await connect(encoded(b"\x1f\x8b", encoding))
    with pytest.raises(EndpointFailure, match="which was not asked for") as caught:
        await endpoint.complete(ASK)
    assert caught.value.label == "infra.gateway"


async def test_a_reply_that_is_not_compressed_as_stated_is_a_labelled_failure(connect: Connect) -> None:
    endpoint, _ = await connect(encoded(HELLO, "gzip"), retries=0)
    with pytest.raises(EndpointFailure, match="BadEncoding") as caught:
        await endpoint.complete(ASK)
    assert caught.value.label == "infra.stream_truncated"


async def test_a_refusal_that_drips_ends_at_the_time_limit(connect: Connect) -> None:
    drips = Answer(400, (b"temperature ",) * 5000, pause=0.02)
    endpoint, _ = await connect(drips, timeout_seconds=0.2)
    with pytest.raises(HarnessEvalError, match="temperature"):
        await endpoint.complete(ASK)


def test_compressed_pieces_are_small() -> None:
    pieces = list(PlainBody("gzip").pieces(gzip.compress(bytes(1 << 20))))
    assert max(map(len, pieces)) <= 1 << 16
    assert b"".join(pieces) == bytes(1 << 20)


async def test_arguments_nested_too_deeply_for_the_fast_encoder_are_kept_or_malformed(connect: Connect) -> None:
    for depth in (500, 950):
        nested = '{"a":' * depth + "1" + "}" * depth
        call = {"index": 0, "id": "a", "function": {"name": "run", "arguments": "NESTED"}}
        frame = json.dumps(chunk({"tool_calls": [call]}, "tool_calls")).replace('"NESTED"', nested)
        endpoint, _ = await connect(encoded(events(frame), "identity"))
        reply = await endpoint.complete(ASK)
        assert reply.calls[0].name == "run"
        assert reply.calls[0].arguments.replace(" ", "") == nested or "nested too deeply" in reply.calls[0].arguments


@pytest.mark.parametrize("status", [200, 503])
async def test_a_key_that_is_named_as_an_encoding_reaches_no_exception(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    key = "a-key-of-mine\\" * 5
    monkeypatch.setenv("KEY", key)
    endpoint, _ = await connect(encoded(b"x", key, status), api_key_env="KEY", retries=0)
    with pytest.raises(EndpointFailure, match="not asked for") as caught:
        await endpoint.complete(ASK)
    assert "a-key" not in str(caught.value)

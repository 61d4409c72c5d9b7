from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.openai import OpenAIEndpoint
from harness_eval.endpoints.transport import Client, _Made
from harness_eval.errors import EndpointDown, EndpointFailure
from harness_eval.types import Request

from .conftest import Connect
from .server import Answer, ScriptedServer, chunk, events

pytestmark = pytest.mark.anyio
ASKED = Request(({"role": "user", "content": "hello"},))
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
SAID = Answer(chunks=(events(chunk({"content": "hi"}), chunk(finish="stop")),))


async def test_each_request_goes_out_as_the_openai_package_makes_it(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "a-key-of-mine")
    endpoint, server = await connect(SAID, api_key_env="KEY")
    for _ in range(2):
        await endpoint.complete(ASKED)
    first, second = (received.headers for received in server.received)
    assert first["authorization"] == "Bearer a-key-of-mine"
    assert first["user-agent"].startswith("AsyncOpenAI/Python")
    assert {**first, "content-length": ""} == {**second, "content-length": ""}


async def test_a_proxy_in_the_environment_stands_before_a_server_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = ScriptedServer([SAID])
    await proxy.start()
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("no_proxy", "")
    endpoint = OpenAIEndpoint(EndpointConfig(name="far", model="m", base_url="http://model.invalid/v1"))
    try:
        assert (await endpoint.complete(ASKED)).text == "hi"
    finally:
        await endpoint.close()
        await proxy.stop()
    assert proxy.received[0].path == "http://model.invalid/v1/chat/completions"


async def test_no_password_that_is_kept_for_other_programs_is_sent(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    endpoint, server = await connect(SAID)
    await endpoint.complete(ASKED)
    assert "authorization" not in server.received[0].headers


def slowly(words: list[str], pause: float) -> Answer:
    """These words, each in a chunk of its own."""
    pieces = events(*(chunk({"content": word}) for word in words), chunk(finish="stop")).split(b"\n\n")
    return Answer(chunks=tuple(piece + b"\n\n" for piece in pieces if piece), pause=pause)


async def test_a_slow_stream_that_is_left_alone_now_and_then_arrives_whole(connect: Connect) -> None:
    words = [f" word{number}" for number in range(40)]
    endpoint, _ = await connect(slowly(words, 0.005))
    assert (await endpoint.complete(ASKED)).text == "".join(words)


async def test_a_connection_serves_again_after_a_stream_that_was_left_alone(connect: Connect) -> None:
    endpoint, server = await connect(slowly([" word"] * 8, 0.008), SAID)
    assert (await endpoint.complete(ASKED)).text == " word" * 8
    assert (await endpoint.complete(ASKED)).text == "hi"
    assert server.connections == 1


async def test_a_connection_serves_again_after_a_refusal(connect: Connect) -> None:
    endpoint, server = await connect(Answer(503, (b"busy",)), SAID)
    assert (await endpoint.complete(ASKED)).text == "hi"
    assert server.connections == 1


def test_what_a_client_shows_of_itself_has_no_key() -> None:
    client = Client("http://127.0.0.1:1/v1", "open-sesame", {"X-Key": "open-sesame-too"}, 1.0)
    client._made["/chat"] = _Made("http://127.0.0.1:1/v1/chat", {"Authorization": "Bearer open-sesame"}, None)
    assert "open-sesame" not in repr(client)


async def ending_of(serve: Serve, words: str = "hello", scheme: str = "http", limit: float = 0.5) -> EndpointFailure:
    """How a request ends, with a short time limit, at a server that never comes to its answer."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    endpoint = OpenAIEndpoint(EndpointConfig(name="slow", model="m", base_url=url, timeout_seconds=limit, retries=0))
    try:
        async with asyncio.timeout(30):
            with pytest.raises(EndpointFailure) as caught:
                await endpoint.complete(Request(({"role": "user", "content": words},)))
    finally:
        await endpoint.close()
        server.close()
        await asyncio.sleep(0.3)  # the server notices
    return caught.value


@pytest.mark.parametrize("beginning", ["HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.1 200 OK\r\n"])
async def test_an_answer_whose_headers_never_end_meets_the_time_limit(beginning: str) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(beginning.encode())
        while not reader.at_eof():
            writer.write(beginning.encode() if "102" in beginning else b"X: y\r\n")
            await asyncio.sleep(0.1)
        writer.transport.abort()

    assert (await ending_of(drip)).label == "infra.deadline"


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_a_server_that_does_not_read_what_it_is_sent_meets_the_time_limit() -> None:
    over = asyncio.Event()

    async def read_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        await over.wait()
        writer.transport.abort()

    failure = await ending_of(read_nothing, "long " * (1 << 22))
    over.set()
    await asyncio.sleep(0.1)  # both ends notice
    assert failure.label == "infra.deadline"


async def test_a_server_that_does_not_encrypt_is_not_said_to_be_absent() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1 << 16)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    failure = await ending_of(refuse, scheme="https", limit=20.0)
    assert isinstance(failure, EndpointDown)
    assert "no encrypted connection is made at https://127.0.0.1" in str(failure)

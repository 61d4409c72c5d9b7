"""A scripted server on a real socket: it sends exactly the bytes it is told to, in the chunks it is told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One HTTP response. `cut` drops the connection before the body ends, `held` keeps it open after the body."""

    status: int = 200
    chunks: tuple[bytes, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    held: bool = False
    pause: float = 0.0  # seconds between chunks


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ScriptedServer:
    """Gives `answers` in order, the last one for ever; remembers what it received and how many came at once."""

    def __init__(self, answers: Sequence[Answer] = ()) -> None:
        self.answers = list(answers)
        self.received: list[Received] = []
        self.under_way = 0
        self.most_under_way = 0
        self.delay = 0.0
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._abandoned = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 24)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        await self._server.wait_closed()

    @property
    def connections(self) -> int:
        return len(self._writers)

    async def abandoned(self) -> None:
        """Returns once no client holds a connection; TimeoutError comes before clients drop idle ones themselves."""
        async with asyncio.timeout(10):
            await self._abandoned.wait()

    def answer_to(self, received: Received) -> Answer:
        """The next answer, whatever was asked."""
        del received
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self._abandoned.clear()
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            if not self._writers:
                self._abandoned.set()
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        start, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.received.append(Received(start.split()[1], headers, json.loads(body or b"{}")))
        answer = self.answer_to(self.received[-1])
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.delay)
            return await _send(writer, answer)
        finally:
            self.under_way -= 1


async def _send(writer: asyncio.StreamWriter, answer: Answer) -> bool:
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked", **answer.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {answer.status} Scripted\r\n{head}\r\n".encode())
    for chunk in answer.chunks:
        writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        await writer.drain()
        await asyncio.sleep(answer.pause)
    if answer.held:
        await asyncio.sleep(3600)
    if answer.cut:
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of a streamed chat completion."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def events(*payloads: dict[str, Any] | str, done: bool = True) -> bytes:
    """Payloads as server-sent events."""
    texts = [payload if isinstance(payload, str) else json.dumps(payload) for payload in payloads]
    return "".join(f"data: {text}\n\n" for text in [*texts, *(["[DONE]"] if done else [])]).encode()


def stream(*payloads: dict[str, Any] | str, done: bool = True) -> Answer:
    """A streamed answer."""
    return Answer(chunks=(events(*payloads, done=done),), headers={"Content-Type": "text/event-stream"})


def whole(body: Any, status: int = 200, **headers: str) -> Answer:
    """An answer in one JSON body, or in the text given."""
    data = body if isinstance(body, str) else json.dumps(body)
    return Answer(status=status, chunks=(data.encode(),), headers={k.replace("_", "-"): v for k, v in headers.items()})


def refused(status: int, message: str, kind: str = "error", **headers: str) -> Answer:
    """A refusal in the usual envelope."""
    return whole({"error": {"message": message, "type": kind}}, status, **headers)


SAYS_HELLO = stream(chunk({"role": "assistant", "content": "hello"}), chunk({}, "stop"))

"""An endpoint whose replies are instant: `TURNS` turns a trial, told from the request alone. Run as a process.

The first turns call the tool `bash`; the last one says that all is done. Under `/chunks/<number>` a reply is a stream
of so many chunks of text, sent at once; under `/apart/<number>` each chunk is sent by itself.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

TURNS = 10
_ASSISTANT = re.compile(rb'"role": ?"assistant"')
_STREAM = re.compile(rb'"stream": ?true')
_LENGTH = re.compile(rb"content-length: ?(\d+)", re.IGNORECASE)
_THOUGHT = "The next command shows whether the change before it holds, so that is what I run now. " * 2
_USAGE = {"prompt_tokens": 4200, "completion_tokens": 60, "total_tokens": 4260}
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n"
_JSON, _EVENTS = b"application/json", b"text/event-stream"


def message_of(turn: int, path: bytes) -> dict[str, Any]:
    """What the model says in a turn, 0 the first."""
    last = turn == TURNS - 1
    if path.startswith(b"/harbor"):  # its agent reads commands from a JSON text
        done = turn >= TURNS - 2  # it asks once more whether all is done
        commands = [] if done else [{"keystrokes": f"true {turn}\n", "duration": 0.0}]
        text = {"analysis": _THOUGHT, "plan": "", "commands": commands, "task_complete": done}
        return {"role": "assistant", "content": json.dumps(text)}
    if last and not path.startswith(b"/mini"):  # whose agent ends with a command
        return {"role": "assistant", "content": f"{_THOUGHT} All is done."}
    arguments = json.dumps({"command": f"true {turn}"})
    call = {"id": f"call_{turn}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    return {"role": "assistant", "content": _THOUGHT, "tool_calls": [call]}


def whole(turn: int, path: bytes) -> bytes:
    message = message_of(turn, path)
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return _body({"object": "chat.completion", "choices": [choice], "usage": _USAGE})


def streamed(turn: int, path: bytes) -> list[bytes]:
    """The same message as events: the role, the text, the call and its arguments, the end, the usage."""
    message = message_of(turn, path)
    calls = message.get("tool_calls", [])
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, {"content": message["content"]}]
    for call in calls:
        begun = {"index": 0, **call, "function": {"name": "bash", "arguments": ""}}
        rest = {"index": 0, "function": {"arguments": call["function"]["arguments"]}}
        deltas += [{"tool_calls": [begun]}, {"tool_calls": [rest]}]
    finish = "tool_calls" if calls else "stop"
    return _stream(deltas, finish)


def many(number: int) -> list[bytes]:
    return _stream([{"role": "assistant", "content": ""}, *({"content": f" word{at}"} for at in range(number))], "stop")


def _stream(deltas: list[dict[str, Any]], finish: str) -> list[bytes]:
    choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "logprobs": None, "finish_reason": finish})
    bodies = [_body({"object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
    bodies.append(_body({"object": "chat.completion.chunk", "choices": [], "usage": _USAGE}))
    return [*(b"data: %s\n\n" % body for body in bodies), b"data: [DONE]\n\n"]


def _body(said: dict[str, Any]) -> bytes:
    named = {"id": "chatcmpl-1", "created": 1760000000, "model": "scripted", "system_fingerprint": "fp_1"}
    return json.dumps({**named, **said}, separators=(",", ":")).encode()


class Scripted(asyncio.Protocol):
    """One connection; `requests` and `received` count requests and bytes of their bodies over all connections."""

    requests = received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.held = transport, bytearray()

    def data_received(self, data: bytes) -> None:
        self.held += data
        while (end := self.held.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.held[:end])
            found = _LENGTH.search(head)
            size = int(found[1]) if found else 0
            if len(self.held) < end + 4 + size:
                if b"100-continue" in head.lower():
                    self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                return
            body = bytes(self.held[end + 4 : end + 4 + size])
            del self.held[: end + 4 + size]
            self.answer(head.split(b" ", 2)[1], body)

    def answer(self, path: bytes, body: bytes) -> None:
        if path == b"/count":
            self.send(json.dumps([Scripted.requests, Scripted.received]).encode())
            return
        Scripted.requests += 1
        Scripted.received += len(body)
        if path.startswith((b"/chunks/", b"/apart/")):
            pieces = many(int(path.split(b"/")[2]))
            self.send_events(pieces if path.startswith(b"/apart/") else [b"".join(pieces)])
            return
        turn = len(_ASSISTANT.findall(body)) % TURNS
        if _STREAM.search(body):
            self.send_events([b"".join(streamed(turn, path))])
        else:
            self.send(whole(turn, path))

    def send(self, body: bytes) -> None:
        self.transport.write(_HEAD % _JSON + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def send_events(self, pieces: list[bytes]) -> None:
        framed = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces]
        self.transport.write(_HEAD % _EVENTS + b"Transfer-Encoding: chunked\r\n\r\n")
        if len(framed) == 1:
            self.transport.write(framed[0] + b"0\r\n\r\n")
        else:
            self.under_way = asyncio.ensure_future(self._apart(framed))

    async def _apart(self, framed: list[bytes]) -> None:
        for piece in framed:
            self.transport.write(piece)
            await asyncio.sleep(0.0005)
        self.transport.write(b"0\r\n\r\n")


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Scripted, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

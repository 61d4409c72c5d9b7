"""What the three wires have in common when they are written: ids, pieces, server-sent events."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator

import orjson

from harness_eval.types import Json, RawCall, Reply

_PIECE = 200  # characters of a streamed delta


def pieces(text: str, least: int = 0) -> Iterator[str]:
    """A text as it is streamed; an empty one has no piece, or with `least` 1 an empty one."""
    return (text[start : start + _PIECE] for start in range(0, max(least, len(text)), _PIECE))


def event(data: Json, name: str = "") -> bytes:
    """One server-sent event with its empty line."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + dumped(data) + b"\n\n"


def dumped(data: Json) -> bytes:
    """JSON of what a model may have written: numbers of any length, halves of characters, deep arguments."""
    try:
        return orjson.dumps(data)
    except TypeError:
        return json.dumps(data).encode()


def made_id(prefix: str, reply: Reply, place: int = 0) -> str:
    """An id for something in a reply, the same whenever it is written."""
    told = f"{place}\x1f{reply.text}\x1f{reply.thinking}\x1f{reply.calls}\x1f{reply.usage}"
    return prefix + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:24]


def calls_of(reply: Reply) -> list[RawCall]:
    """The calls, those without an id with one that is made."""
    return [
        call if call.id else RawCall(made_id("call_", reply, place), call.name, call.arguments)
        for place, call in enumerate(reply.calls)
    ]


def now() -> int:
    """Seconds since the epoch."""
    return int(time.time())


def object_of(arguments: str) -> dict[str, Json] | None:
    """A call's arguments, None where they are no JSON object."""
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None

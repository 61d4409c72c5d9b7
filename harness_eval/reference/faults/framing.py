"""Other ways to write the same reply: nothing is wrong with any of them, and a client must read them all alike."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import ClassVar

import orjson

from harness_eval.reference.faults.base import Answer, Asked, Chunk, Fault
from harness_eval.types import Json

_LARGEST_PIECE = 48  # bytes
_KEEP_ALIVES = (b": keep-alive\n\n", b"data:\n\n", b": ping\n", b"data: : GATEWAY PROCESSING\n\n")
_NOTHING: dict[str, Json] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class KeepAlives(Fault):
    """Comments, empty data, comments made data by a proxy and frames without choices stand between the chunks.

    A whole reply has white space before it.
    """

    def frames(self, frames: list[bytes], asked: Asked) -> list[bytes]:
        """A keep-alive of each kind before every frame in turn."""
        empty = b"data: " + orjson.dumps({"object": "chat.completion.chunk", "choices": []}) + b"\n\n"
        kinds = (*_KEEP_ALIVES, empty)
        mixed = [piece for at, frame in enumerate(frames) for piece in (kinds[at % len(kinds)], frame)]
        return [*kinds, *mixed]

    def sends(self, answer: Answer, asked: Asked) -> Answer:
        """White space, which JSON allows before a value."""
        return answer if asked.streamed else replace(answer, pieces=(b"\n \n", *answer.pieces))


class Crlf(Fault):
    """Lines of a stream end in carriage return and line feed."""

    def frames(self, frames: list[bytes], asked: Asked) -> list[bytes]:
        """JSON holds no bare line feed, so all of them are ends of lines."""
        return [frame.replace(b"\n", b"\r\n") for frame in frames]


class SplitFrames(Fault):
    """The body arrives in small pieces that end anywhere, inside characters of several bytes too."""

    def sends(self, answer: Answer, asked: Asked) -> Answer:
        """The same bytes in pieces of 1 to 48."""
        data, source, pieces = b"".join(answer.pieces), random.Random(asked.luck), list[bytes]()
        start = 0
        while start < len(data):
            end = start + source.randint(1, _LARGEST_PIECE)
            pieces.append(data[start:end])
            start = end
        return replace(answer, pieces=tuple(pieces))


class NoSpaceAfterData(Fault):
    """The field name of an event stream is followed by its value directly."""

    def frames(self, frames: list[bytes], asked: Asked) -> list[bytes]:
        """`data:` instead of `data: `."""
        return [b"data:" + frame.removeprefix(b"data: ") for frame in frames]


class NoDone(Fault):
    """A stream ends after the finish reason, without the end marker."""

    def frames(self, frames: list[bytes], asked: Asked) -> list[bytes]:
        """All but that one."""
        return [frame for frame in frames if frame.removeprefix(b"data:").strip() != b"[DONE]"]


class FinishWithLastText(Fault):
    """The finish reason comes in the chunk of the last piece, and not in one of its own."""

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The chunk that says why moved into the one before it."""
        at = next(at for at, chunk in enumerate(chunks) if finish_of(chunk))
        before = chunks[at - 1]
        joined = {**before, "choices": [{**before["choices"][0], "finish_reason": finish_of(chunks[at])}]}
        return [*chunks[: at - 1], joined, *chunks[at + 1 :]] if at else chunks


class OddFinishReason(Fault):
    """The finish reason is `stop` beside tool calls, or the number of the stop token."""

    def whole(self, body: Chunk, asked: Asked) -> Chunk:
        """Another word for the reason, unless it was a limit."""
        return self._renamed(body, asked)

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The same, where a chunk has one."""
        return [self._renamed(chunk, asked) for chunk in chunks]

    def _renamed(self, chunk: Chunk, asked: Asked) -> Chunk:
        if finish_of(chunk) not in ("stop", "tool_calls"):
            return chunk
        return {**chunk, "choices": [{**chunk["choices"][0], "finish_reason": asked.pick(("stop", "stop_163586"))}]}


class LateUsage(Fault):
    """Token counts come in a last frame without choices, after a null in every other."""

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """Nulls, and the counts alone."""
        bare = [
            {key: value for key, value in chunk.items() if key != "choices"} if chunk.get("usage") else chunk
            for chunk in chunks
        ]
        return [{"usage": None, **chunk} for chunk in bare]


class EarlyUsage(Fault):
    """Token counts come with the first chunk of a stream, and zeros with the last."""

    shows: ClassVar = ("ok.usage_missing",)

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The counts moved to the front."""
        *others, last = chunks
        if not last.get("usage") or not others:
            return chunks
        return [{**others[0], "usage": last["usage"]}, *others[1:], {**last, "usage": _NOTHING}]


class UsageInChoice(Fault):
    """Token counts stand inside the choice."""

    def whole(self, body: Chunk, asked: Asked) -> Chunk:
        """Moved from beside the choices into the first."""
        kept = {key: value for key, value in body.items() if key != "usage"}
        return {**kept, "choices": [{**body["choices"][0], "usage": body["usage"]}]}

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """Moved into the choice of the chunk that says why the reply ended."""
        usage = chunks[-1].get("usage")
        if not usage:
            return chunks
        return [
            {**chunk, "choices": [{**chunk["choices"][0], "usage": usage}]} if finish_of(chunk) else chunk
            for chunk in chunks[:-1]
        ]


class NoUsage(Fault):
    """Token counts are missing, null or zero, each for some of the requests."""

    shows: ClassVar = ("ok.usage_missing",)

    def whole(self, body: Chunk, asked: Asked) -> Chunk:
        """Whatever stands for no counts."""
        kept = {key: value for key, value in body.items() if key != "usage"}
        return {**kept, **asked.pick(({}, {"usage": None}, {"usage": _NOTHING}))}

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The same; a frame that held nothing else is left out."""
        return [self.whole(chunk, asked) if chunk.get("usage") else chunk for chunk in chunks]


def finish_of(chunk: Chunk) -> str:
    """Why the reply ended, where a chunk or body says it; else ""."""
    choices = chunk.get("choices") or [{}]
    return str(choices[0].get("finish_reason") or "")

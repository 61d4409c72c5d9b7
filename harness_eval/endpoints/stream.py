"""A response body read byte by byte: server-sent events, or a whole JSON body from a server that does not stream."""

from __future__ import annotations

import json

import orjson

from harness_eval.endpoints.reply import ReplyAssembler
from harness_eval.types import Json

_BOM = b"\xef\xbb\xbf"
_PLAIN = b"data: {"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


class BodyReader:
    """Takes a response body in any chunking and puts the reply together; how it is cut never changes the result.

    After `close`: `done` says whether `[DONE]` came, `streamed` whether the body was a stream of events, `frames` how
    many events could be read, `bad_frames` how many could not, `torn_frames` how many of these had begun as JSON, and
    `unread` is a body that is neither a JSON object nor events; `foreign` says that it is JSON all the same. Whoever
    feeds the reader sets `broken` to what ended the body before its time.
    """

    def __init__(self) -> None:
        self.assembler = ReplyAssembler()
        self.done = False
        self.streamed: bool | None = None
        self.frames = 0
        self.bad_frames = 0
        self.torn_frames = 0
        self.foreign = False
        self.broken = ""
        self.unread = b""
        self._buffer = bytearray()
        self._event: list[bytes] = []
        self._event_size = 0
        self._event_name = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self._buffer += data
        if self.streamed is None:
            self._look_at_start()
        if self.streamed and b"\n" in data:
            *events, rest = bytes(self._buffer).split(b"\n\n")
            for event in events:
                self._take_event(event)
            *lines, rest = rest.split(b"\n")
            for line in lines:
                self._take_line(line)
            self._buffer = bytearray(rest)

    def close(self) -> None:
        """The body has ended: read what is left."""
        if self.streamed:
            self._take_line(bytes(self._buffer))
            self._dispatch()
        elif body := bytes(self._buffer).strip():
            self._take_whole(body)
        self._buffer = bytearray()

    def add(self, chunk: dict[str, Json], streamed: bool) -> None:
        """Take what somebody else has read already: one chunk of a stream, or a whole body."""
        self.streamed = streamed
        self.frames += 1
        self.assembler.add(chunk)

    @property
    def held(self) -> int:
        """How many bytes wait to be read together."""
        return len(self._buffer) + self._event_size

    @property
    def ended(self) -> bool:
        """Whether the last word has come: the end marker or a finish reason."""
        return self.done or bool(self.assembler.finish_reason)

    @property
    def truncated(self) -> bool:
        """Whether a stream ended early."""
        return bool(self.streamed) and not self.ended

    def _look_at_start(self) -> None:
        start = bytes(self._buffer).removeprefix(_BOM).lstrip()
        if not start:
            self._buffer.clear()  # blank lines may come for long
        if start.startswith(_FIELDS):
            self.streamed = True
        elif start and not any(field.startswith(start) for field in (*_FIELDS, _BOM)):
            self.streamed = False

    def _take_event(self, event: bytes) -> None:
        """What stands before a blank line; one line of JSON, as nearly all events are, takes a short way."""
        if event.startswith(_PLAIN) and not (self._event or self._event_name or b"\n" in event or b"\r" in event):
            self._take_frame(event[len(_PLAIN) - 1 :], b"")
            return
        for line in event.split(b"\n"):
            self._take_line(line)
        self._take_line(b"")

    def _take_line(self, line: bytes) -> None:
        """One line without its newline; an empty one ends the event."""
        for part in line.removesuffix(b"\r").split(b"\r"):
            text = part.removeprefix(_BOM)
            if text.startswith(b"data:"):
                self._event.append(text[5:].strip())
                self._event_size += len(text)
            elif text.startswith(b"event:"):
                self._event_name = text[6:].strip()
            elif not text:
                self._dispatch()

    def _dispatch(self) -> None:
        lines, self._event = [line for line in self._event if line], []
        name, self._event_name, self._event_size = self._event_name, b"", 0
        if len(lines) > 1 and _parsed(b"\n".join(lines)) is not None:
            lines = [b"\n".join(lines)]
        # Several lines that are no JSON together: this server leaves out the blank line between events.
        for line in lines:
            self._take_frame(line, name)

    def _take_frame(self, frame: bytes, name: bytes) -> None:
        if self.done or frame == b"[DONE]":
            self.done = True  # what comes later is not read: how much of it is here depends on how the body was cut
            return
        chunk = _parsed(frame)
        if not isinstance(chunk, dict):
            self.bad_frames += 1
            self.torn_frames += frame.startswith((b"{", b"["))
            return
        self.frames += 1
        self.assembler.add({"error": chunk} if name == b"error" and "error" not in chunk else chunk)

    def _take_whole(self, body: bytes) -> None:
        content = _parsed(body.removeprefix(_BOM))
        if isinstance(content, dict):
            self.frames += 1
            self.assembler.add(content)
        else:
            self.unread, self.foreign = body, content is not None


def _parsed(frame: bytes) -> Json:
    """The JSON value, or None when it is none (a bare `null` carries nothing either)."""
    try:
        return orjson.loads(frame)
    except orjson.JSONDecodeError:
        pass
    try:
        # The strict parser refuses half a surrogate pair, which some proxies send when they cut text into chunks.
        return json.loads(frame)
    except (ValueError, RecursionError):
        return None

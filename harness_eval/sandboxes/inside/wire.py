"""How the two sides of a box talk, and how much of a command's output is kept.

A message is a length in four bytes, then its fields, each behind its own length in four bytes.
"""

from __future__ import annotations

import codecs

KEPT = 500_000  # characters of a command's output kept at its head, and as many at its tail


def pack(*fields: bytes) -> bytes:
    """A message of these fields, with its leading length."""
    body = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    return len(body).to_bytes(4, "big") + body


def unpack(body: bytes) -> list[bytes]:
    """The fields of a message without its leading length; a ValueError if it is no message."""
    fields, at = [], 0
    while at < len(body):
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        if end > len(body):
            raise ValueError("torn message")
        fields.append(body[at + 4 : end])
        at = end
    return fields


class Capture:
    """The text of a stream of bytes: all of it counted, the middle of a flood not kept."""

    def __init__(self) -> None:
        self.length = 0
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._head: list[str] = []
        self._tail: list[str] = []
        self._tail_length = 0

    def feed(self, data: bytes) -> bool:
        """Add the next bytes; False if there were none."""
        self._add(self._decode(data))
        return bool(data)

    def finish(self) -> None:
        """Add what stands for a character that was cut off at the end."""
        self._add(self._decode(b"", True))

    def _add(self, text: str) -> None:
        room = max(0, KEPT - self.length)
        self.length += len(text)
        if room:
            self._head.append(text[:room])
        if len(text) > room:
            self._tail.append(text[room:])
            self._tail_length += len(text) - room
        if self._tail_length > 2 * KEPT:
            self._tail = ["".join(self._tail)[-KEPT:]]
            self._tail_length = KEPT

    def text(self) -> str:
        """What was kept, with a line that says how many characters are missing where some are."""
        tail = "".join(self._tail)[-KEPT:]
        missing = self.length - KEPT - len(tail)
        gap = f"\n[... {missing} characters not kept ...]\n" if missing > 0 else ""
        return "".join(self._head) + gap + tail

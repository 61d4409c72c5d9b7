"""The connection to what serves a box, and what its end means."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable

import anyio

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes.base import Executed, UnfitState
from harness_eval.sandboxes.inside.wire import unpack

PATIENCE = 30.0  # seconds beyond a command's own limit after which a silent box counts as broken
_MESSAGE_LIMIT = 16 << 20  # bytes; a longer message is none
_HEADER = 8  # bytes before each piece of a container's attached output: its stream and its length
_USED_UP = "what commands left took all the memory of the box, so that it came to an end"
KILLED = 137  # the exit code of what a signal 9 has ended, as a shell says it
Starved = Callable[[], Awaitable[bool]]
"""Says of a box whose first process has ended whether its memory was used up."""


class Channel:
    """Messages over a non-blocking socket; `multiplexed` says that it is a container's attached streams."""

    def __init__(self, sock: socket.socket, multiplexed: bool = False) -> None:
        self._socket = sock
        self._multiplexed = multiplexed
        self._raw = bytearray()
        self._buffer = bytearray()

    def close(self) -> None:
        """End the connection, on which the supervisor ends too."""
        self._socket.close()

    def finish(self) -> None:
        """Say that nothing more will be sent."""
        self._socket.shutdown(socket.SHUT_WR)

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are; an OSError if the box is gone."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)

    async def receive(self) -> list[bytes]:
        """The next message. Cancelling loses nothing: what has come so far is kept.

        Raises:
            EOFError: if the box is gone; with whatever it wrote last.
            ValueError: if what came is no message.
        """
        await self._fill(4)
        size = int.from_bytes(self._buffer[:4], "big")
        if size > _MESSAGE_LIMIT:
            raise ValueError(bytes(self._buffer[:2000]).decode("utf-8", "replace"))
        await self._fill(4 + size)
        body = bytes(self._buffer[4 : 4 + size])
        del self._buffer[: 4 + size]
        return unpack(body)

    async def take(self) -> bytes:
        """Whatever has come, as it came; waits for something, and is empty at the end."""
        while not self._buffer and await self._more():
            continue
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    async def _fill(self, count: int) -> None:
        while len(self._buffer) < count:
            if not await self._more():
                raise EOFError(bytes(self._buffer[-2000:]).decode("utf-8", "replace"))

    async def _more(self) -> bool:
        """Put the next bytes into the buffer; False at the end."""
        while True:
            try:
                data = self._socket.recv(1 << 18)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
                continue
            except ConnectionResetError:  # the other side ended before it had read all
                data = b""
            if self._multiplexed:
                self._unwrap(data)
            else:
                self._buffer += data
            return bool(data)

    def _unwrap(self, data: bytes) -> None:
        self._raw += data
        while len(self._raw) >= _HEADER:
            end = _HEADER + int.from_bytes(self._raw[4:_HEADER], "big")
            if len(self._raw) < end:
                return
            self._buffer += self._raw[_HEADER:end]
            del self._raw[:end]


class Lifeline:
    """Requests to a box until it fails; then the reason, for good.

    That its memory was used up is no failure of the sandbox but the doing of what ran in the box (UnfitState).
    """

    def __init__(self, channel: Channel, starved: Starved | None) -> None:
        self._channel = channel
        self._starved = starved
        self._end: Callable[[], SandboxFailure | UnfitState] | None = None

    async def send(self, data: bytes) -> None:
        """Send a request. Raises SandboxFailure or UnfitState."""
        if self._end:
            raise self._end()
        try:
            with anyio.CancelScope(shield=True), anyio.fail_after(PATIENCE):
                await self._channel.send_bytes(data)
        except TimeoutError as error:
            raise self.broken("the box takes no request") from error
        except OSError as error:
            raise await self.gone(f"the box takes no request: {error}") from error

    def broken(self, reason: str) -> SandboxFailure:
        """What to raise of a box that does not do what it must."""
        self._end = lambda: SandboxFailure(reason)
        return SandboxFailure(reason)

    def silent(self, seconds: float) -> SandboxFailure:
        """What to raise of a box that has not answered for so long."""
        failure = self.broken(f"the box was silent for {seconds:g} s")
        failure.label = "sandbox.exec_hang"
        return failure

    async def gone(self, reason: str) -> SandboxFailure | UnfitState:
        """What to raise of a box whose connection has ended."""
        with anyio.CancelScope(shield=True):
            if self._starved and await self._starved():
                self._end = lambda: UnfitState(_USED_UP)
                return self._end()
        return self.broken(reason)


def killed_box() -> Executed:
    """What comes of a command in a box that has come to its end for want of memory."""
    said = f"[{_USED_UP}]\n"
    return Executed(said, KILLED, full_length=len(said))

"""A box in which the supervisor of `inside` runs, seen from outside: the same for every kind of sandbox."""

from __future__ import annotations

import errno
import os
import posixpath
import socket
import stat
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import anyio
from anyio import to_thread

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes.base import Executed, Sandbox
from harness_eval.sandboxes.inside import program
from harness_eval.sandboxes.inside.files import PIECE
from harness_eval.sandboxes.inside.wire import pack, unpack

PATIENCE = 30.0  # seconds beyond a command's own limit after which a silent box counts as broken
FILE_LIMIT = 64 << 20  # bytes of the largest file that is read out of a box
_MESSAGE_LIMIT = 16 << 20  # bytes; a longer message is none
_HEADER = 8  # bytes before each piece of a container's attached output: its stream and its length


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


def pieces(path: bytes, data: bytes, mode: bytes = b"") -> Iterator[list[bytes]]:
    """The fields of `put` requests for a file; its mode comes last, since it may forbid to write."""
    for at in range(0, max(1, len(data)), PIECE):
        last = at + PIECE >= len(data)
        yield [b"more" if at else b"file", path, mode if last else b"", data[at : at + PIECE]]


def entries(path: Path, place: bytes) -> Iterator[list[bytes]]:
    """The fields of `put` requests that make at `place` what is at `path`, without what is in it."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        yield [b"link", place, b"", os.fsencode(path.readlink())]
    elif stat.S_ISDIR(mode):
        yield [b"folder", place, b"", b""]
    elif stat.S_ISREG(mode):
        yield from pieces(place, path.read_bytes(), b"%o" % stat.S_IMODE(mode))


def batches(source: Path, target: str) -> Iterator[list[bytes]]:
    """The fields of `put` requests for a folder's content, many small files in one; links stay links."""
    batch = [b"folder", os.fsencode(target), b"", b""]
    for path in sorted(source.rglob("*")):
        place = os.fsencode(posixpath.join(target, path.relative_to(source).as_posix()))
        for entry in entries(path, place):
            batch += entry
            if sum(map(len, batch)) >= PIECE:
                yield batch
                batch = []
    yield batch


class SupervisedBox(Sandbox):
    """A box behind a channel. Requests queue up: a box does one thing at a time, as a shell does."""

    def __init__(self, channel: Channel, workdir: str, root: str = "", env: Mapping[str, str] | None = None) -> None:
        self._env = dict(env or {})  # the task's own variables: for commands alone, never for what starts the box
        self.workdir = root + workdir
        self.root = root
        self._channel = channel
        self._lock = anyio.Lock()
        self._broken = ""

    async def start(self, patience: float = PATIENCE) -> bytes:
        """Hand the supervisor over to the python3 that waits for it; its greeting, `ready`.

        Raises:
            SandboxFailure: if none comes, with what came instead.
        """
        with suppress(OSError), anyio.move_on_after(patience):  # if it is dead, what it said last comes with the reply
            await self._channel.send_bytes(program())
        return b" ".join(await self._reply(patience))

    async def run(
        self,
        command: str,
        *,
        timeout: float = 60.0,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Executed:
        """Run `command` with bash; see `Sandbox.run`. Cancelling kills what it started; the box stays usable."""
        pairs = [_encode(f"{name}={value}") for name, value in {**self._env, **(env or {})}.items()]
        async with self._lock:
            await self._send(b"run", _encode(command), self.locate(cwd or self.workdir), str(timeout).encode(), *pairs)
            try:
                fields = await self._reply(timeout + PATIENCE)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True), suppress(SandboxFailure):  # a broken box says so next time
                    await self._send(b"stop")
                    await self._reply(PATIENCE)
                raise
        _, code, output, length, held = fields
        return Executed(
            output.decode("utf-8", "replace"), int(code) if code else None, not code, int(length), held == b"held"
        )

    async def read(self, path: str) -> bytes:
        """The bytes of a file; see `Sandbox.read`."""
        data = bytearray()
        while True:
            piece, length = await self._exchange(b"read", self.locate(path), b"%d" % len(data), b"%d" % PIECE)
            data += piece
            if max(len(data), int(length)) > FILE_LIMIT:
                raise OSError(errno.EFBIG, f"larger than {FILE_LIMIT} bytes", path)
            if len(piece) < PIECE:
                return bytes(data)

    async def write(self, path: str, data: bytes) -> None:
        """Write a file; see `Sandbox.write`."""
        with anyio.CancelScope(shield=True):
            for piece in pieces(self.locate(path), data):
                await self.put(piece)

    async def upload(self, source: Path, target: str) -> None:
        """Copy a host folder's content into the box as its user; links are copied as links."""
        if not await to_thread.run_sync(source.is_dir):
            raise NotADirectoryError(f"{source} is no folder")
        content = batches(source, os.fsdecode(self.locate(target)))
        while (batch := await to_thread.run_sync(next, content, None)) is not None:
            await self.put(batch)

    async def contents(self, path: str, place: bytes, limit: int) -> AsyncIterator[list[bytes]]:
        """The fields that make at `place` what is in a folder, as `put` takes them; see `inside.files.tree`.

        Raises:
            OSError: there is more than `limit` bytes of it, or it is no folder, or too deep.
            SandboxFailure: the box is broken or gone.
        """
        request: tuple[bytes, ...] = (b"take", self.locate(path), place, b"%d" % limit)
        while fields := await self._exchange(*request):
            yield fields
            request = (b"take",)

    async def put(self, fields: list[bytes]) -> None:
        """Make files and folders as these fields say; the same errors as `write`."""
        await self._exchange(b"put", *fields)

    async def end_processes(self) -> None:
        """Kill all that commands have started and left running; see `Sandbox.end_processes`."""
        await self._exchange(b"end")

    def locate(self, path: str) -> bytes:
        """Where a path is for the supervisor: relative ones start at `workdir`, absolute ones at `root`."""
        place = posixpath.join(self.workdir, path)
        if place != self.root and not place.startswith(self.root + "/"):
            place = self.root + place
        return _encode(place)

    async def _exchange(self, *request: bytes) -> list[bytes]:
        """One short request and its reply, never cut in the middle; an OSError if the box's user may not do it."""
        async with self._lock:
            with anyio.CancelScope(shield=True):
                await self._send(*request)
                status, *fields = await self._reply(PATIENCE)
        if status == b"error":
            number, reason = int(fields[0]), fields[1].decode("utf-8", "replace")
            path = b"".join(request[2 if request[0] == b"put" else 1 :][:1])
            raise OSError(number, reason, path.decode("utf-8", "replace"))
        return fields

    async def _send(self, *request: bytes) -> None:
        if self._broken:
            raise SandboxFailure(self._broken)
        try:
            with anyio.CancelScope(shield=True), anyio.fail_after(PATIENCE):
                await self._channel.send_bytes(pack(*request))
        except (OSError, TimeoutError) as error:
            raise self._break(f"the box takes no request: {error or type(error).__name__}") from error

    async def _reply(self, patience: float) -> list[bytes]:
        try:
            with anyio.fail_after(patience):
                return await self._channel.receive()
        except TimeoutError as error:
            failure = self._break(f"the box was silent for {patience:g} s")
            failure.label = "sandbox.exec_hang"
            raise failure from error
        except (OSError, EOFError, ValueError) as error:
            raise self._break(f"the box is gone: {str(error).strip() or 'its first process ended'}") from error

    def _break(self, reason: str) -> SandboxFailure:
        self._broken = reason
        return SandboxFailure(reason)


def _encode(text: str) -> bytes:
    """As UTF-8; what a model wrote may hold half of a surrogate pair, which becomes a question mark."""
    return text.encode("utf-8", "replace")

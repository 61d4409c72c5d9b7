"""A box in which the supervisor of `inside` runs, seen from outside: the same for every kind of sandbox."""

from __future__ import annotations

import errno
import io
import os
import posixpath
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path

import anyio

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes.base import Executed, Sandbox, UnfitState
from harness_eval.sandboxes.channel import PATIENCE, Channel, Lifeline, Starved, killed_box
from harness_eval.sandboxes.inside import program
from harness_eval.sandboxes.inside.files import PIECE
from harness_eval.sandboxes.inside.wire import pack
from harness_eval.sandboxes.packing import contents, pieces

FILE_LIMIT = 64 << 20  # bytes of the largest file that is read out of a box


class SupervisedBox(Sandbox):
    """A box behind a channel. Requests queue up: a box does one thing at a time, as a shell does.

    Once its memory is used up, commands fail, and what is in it cannot be judged (UnfitState).
    """

    def __init__(
        self,
        channel: Channel,
        workdir: str,
        root: str = "",
        env: Mapping[str, str] | None = None,
        starved: Starved | None = None,
    ) -> None:
        self._env = dict(env or {})  # the task's own variables: for commands alone, never for what starts the box
        self.workdir = root + workdir
        self.root = root
        self._channel = channel
        self._line = Lifeline(channel, starved)
        self._lock = anyio.Lock()

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
            place = self.locate(cwd or self.workdir)
            try:
                await self._send(b"run", _encode(command), place, str(timeout).encode(), *pairs)
                fields = await self._reply(timeout + PATIENCE)
            except UnfitState:
                return killed_box()
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True), suppress(SandboxFailure, UnfitState):  # it will say so next time
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
            for piece in pieces(self.locate(path), io.BytesIO(data)):
                await self.put(piece)

    async def upload(self, source: Path, target: str) -> None:
        """Copy a host folder's content into the box as its user; links are copied as links."""
        async for batch in contents(source, os.fsdecode(self.locate(target))):
            await self.put(batch)

    async def contents(self, path: str, place: bytes, limit: int) -> AsyncIterator[list[bytes]]:
        """The fields that make at `place` what is in a folder, as `put` takes them; see `inside.files.tree`.

        Raises:
            OSError: there is more than `limit` bytes of it, or it is no folder, or too deep.
            UnfitState: the box came to its end for want of memory.
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
        path = b"".join(request[2 if request[0] == b"put" else 1 :][:1]).decode("utf-8", "replace")
        try:
            async with self._lock:
                with anyio.CancelScope(shield=True):
                    await self._send(*request)
                    status, *fields = await self._reply(PATIENCE)
        except UnfitState as error:
            if request[0] in (b"read", b"put"):
                raise OSError(errno.ENOMEM, str(error), path) from error
            raise
        if status == b"error":
            raise OSError(int(fields[0]), fields[1].decode("utf-8", "replace"), path)
        return fields

    async def _send(self, *request: bytes) -> None:
        await self._line.send(pack(*request))

    async def _reply(self, patience: float) -> list[bytes]:
        try:
            with anyio.fail_after(patience):
                return await self._channel.receive()
        except TimeoutError as error:
            raise self._line.silent(patience) from error
        except (OSError, EOFError, ValueError) as error:
            said = str(error).strip() or "its first process ended"
            raise await self._line.gone(f"the box is gone: {said}") from error


def _encode(text: str) -> bytes:
    """As UTF-8; what a model wrote may hold half of a surrogate pair, which becomes a question mark."""
    return text.encode("utf-8", "replace")

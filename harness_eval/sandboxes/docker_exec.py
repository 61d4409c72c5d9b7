"""A container without a python3 for the supervisor: each command is an exec of the engine's, which takes far longer.

What a command starts carries a mark in its environment, by which it is found when it has to be killed.
"""

from __future__ import annotations

import errno
import io
import itertools
import os
import posixpath
import socket
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes.base import Executed, Sandbox
from harness_eval.sandboxes.box import FILE_LIMIT, Channel
from harness_eval.sandboxes.docker_engine import engine, taken
from harness_eval.sandboxes.docker_images import USER
from harness_eval.sandboxes.inside.wire import Capture

if TYPE_CHECKING:
    from docker import APIClient

_LOOK = 0.25  # seconds between looks whether a command has ended whose output a background process holds open
_GRACE = 0.1  # seconds for which output is awaited after that
_LOOKS = 1000  # whether an exec has ended whose output has: the engine notices a little later
_MARK = "BOX_COMMAND"
_number = itertools.count(1)

# The exit codes of these are error numbers.
_READ = f"""[ -e "$1" ] || exit {errno.ENOENT}; [ -d "$1" ] && exit {errno.EISDIR}; [ -r "$1" ] || exit {errno.EACCES}
[ -f "$1" ] || exit {errno.EINVAL}; exec head -c {FILE_LIMIT + 1} "$1" """
_WRITE = f"""[ -d "$1" ] && exit {errno.EISDIR}; mkdir -p "$(dirname "$1")" || exit {errno.EACCES}
true >> "$1" || exit {errno.EACCES}; cat > "$1" || exit {errno.ENOSPC}"""
_UNPACK = f"""mkdir -p "$1" && tar -xf - -C "$1" || exit {errno.EACCES}"""
_KILL = r"""for place in /proc/[0-9]*; do
  if tr '\0' '\n' < "$place/environ" 2>/dev/null | grep -qx "$1"; then kill -9 "${place#/proc/}"; fi
done 2>/dev/null"""
_KILL_ALL = r"""for place in /proc/[0-9]*; do pid=${place#/proc/}
  if [ "$pid" != 1 ] && [ "$pid" != $$ ]; then kill -9 "$pid"; fi
done 2>/dev/null; true"""
_IN_FOLDER = """exec 2>&1; cd "$1" || exit 126; exec bash -c "$2" """  # two streams would lose their order


class ExecBox(Sandbox):
    """A running container, and execs in it."""

    def __init__(self, api: APIClient, container: str, workdir: str) -> None:
        self.workdir = workdir
        self._api = api
        self._container = container

    async def run(
        self,
        command: str,
        *,
        timeout: float = 60.0,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Executed:
        """Run `command` with bash; see `Sandbox.run`. A child that clears its environment escapes a time-out."""
        mark = str(next(_number))
        arguments = ["bash", "-c", _IN_FOLDER, "bash", self._locate(cwd or self.workdir), command]
        output, held, ended = Capture(), False, False
        running = await self._start(arguments, {**(env or {}), _MARK: mark})
        try:
            with anyio.move_on_after(timeout):
                held = await running.follow(output)
                ended = True
        finally:
            with anyio.CancelScope(shield=True):
                if not ended:
                    await self._do(_KILL, f"{_MARK}={mark}")
                code = await running.close()
        output.finish()
        return Executed(output.text(), code if ended else None, not ended, output.length, held)

    async def read(self, path: str) -> bytes:
        """The bytes of a file; see `Sandbox.read`."""
        data = await self._do(_READ, self._locate(path))
        if len(data) > FILE_LIMIT:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        return data

    async def write(self, path: str, data: bytes) -> None:
        """Write a file; see `Sandbox.write`."""
        await self._do(_WRITE, self._locate(path), data)

    async def upload(self, source: Path, target: str) -> None:
        """Copy a host folder's content into the box as its user."""
        await self._do(_UNPACK, self._locate(target), await to_thread.run_sync(_packed, source))

    async def end_processes(self) -> None:
        """Kill all that commands have started and left running; see `Sandbox.end_processes`."""
        await self._do(_KILL_ALL, "")

    def _locate(self, path: str) -> str:
        return posixpath.join(self.workdir, path)

    async def _do(self, script: str, path: str, data: bytes | None = None) -> bytes:
        """Run a script of ours on a path, with `data` as its input; its output, or the OSError it ended with."""
        with anyio.CancelScope(shield=True):
            arguments = ["sh", "-c", f"exec 2>/dev/null; {script}", "sh", path]
            running = await self._start(arguments, {}, stdin=data is not None)
            output = await running.feed(data)
            code = await running.close()
        if code:
            raise OSError(code, os.strerror(code), path)
        return output

    async def _start(self, arguments: Sequence[str], env: Mapping[str, str], stdin: bool = False) -> _Running:
        def start() -> _Running:
            made = self._api.exec_create(
                self._container, list(arguments), stdin=stdin, environment=dict(env), user=USER
            )["Id"]
            return _Running(self._api, made, taken(self._api.exec_start(made, socket=True)))

        with engine():
            return await to_thread.run_sync(start)


class _Running:
    """One exec under way."""

    def __init__(self, api: APIClient, identity: str, sock: socket.socket) -> None:
        self._api = api
        self._identity = identity
        self._channel = Channel(sock, multiplexed=True)

    async def follow(self, output: Capture) -> bool:
        """Collect output until the command has ended; whether a background process still holds the output open."""
        while True:
            with anyio.move_on_after(_LOOK):
                if not output.feed(await self._channel.take()):
                    return False
                continue
            if not (await self._inspect())["Running"]:
                break
        with anyio.move_on_after(_GRACE):
            while output.feed(await self._channel.take()):
                continue
            return False
        return True

    async def feed(self, data: bytes | None) -> bytes:
        """Give it its input, and take all its output."""
        if data is not None:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may end without reading
                await self._channel.send_bytes(data)
                self._channel.finish()
        output = bytearray()
        while part := await self._channel.take():
            output += part
        return bytes(output)

    async def close(self) -> int:
        """Let go of it once it has ended; its exit code."""
        self._channel.close()
        for _ in range(_LOOKS):
            state = await self._inspect()
            if not state["Running"]:
                return int(state["ExitCode"])
            await anyio.sleep(0.02)
        raise SandboxFailure("the Docker engine does not end a command")

    async def _inspect(self) -> dict[str, Any]:
        with engine():
            return await to_thread.run_sync(self._api.exec_inspect, self._identity)


def _packed(source: Path) -> bytes:
    """A folder's content as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(source.iterdir()):
            archive.add(path, path.name)
    return buffer.getvalue()

"""Starting the process of a box and ending it for sure."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager

import anyio
from anyio.lowlevel import RunVar

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes.channel import Channel

STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_limiter: RunVar[anyio.CapacityLimiter] = RunVar("boxes being started")
_PATIENCE = 10.0  # seconds that a box may take to end once its connection is closed


def clean_environment(home: str, extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of commands: nothing of the host's."""
    return {"PATH": STANDARD_PATH, "HOME": home, "LANG": "C.UTF-8", "TERM": "dumb", **extra}


def starting() -> anyio.CapacityLimiter:
    """Held while a box is started: of hundreds at once none would be there before nearly all are."""
    if (limiter := _limiter.get(None)) is None:
        _limiter.set(limiter := anyio.CapacityLimiter(2 * (os.cpu_count() or 1)))
    return limiter


@asynccontextmanager
async def launched(
    arguments: Sequence[str], env: Mapping[str, str], cwd: str
) -> AsyncIterator[tuple[Channel, subprocess.Popen[bytes]]]:
    """A process whose standard streams are one socket, and the channel to it; leaving waits until it has ended.

    The process is in a session of its own, so that Ctrl-C reaches us alone and we decide what ends when.

    Raises:
        SandboxFailure: it cannot be started.
    """
    try:
        process, sock = _spawn(arguments, env, cwd)
    except OSError as error:
        raise SandboxFailure(f"no box could be started: {error}") from error
    channel = Channel(sock)
    try:
        yield channel, process
    finally:
        with anyio.CancelScope(shield=True):
            try:
                channel.close()
            finally:
                await _ended(process)


def _spawn(arguments: Sequence[str], env: Mapping[str, str], cwd: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs, ExitStack() as undo:
        undo.callback(ours.close)
        end = theirs.fileno()
        process = subprocess.Popen(
            arguments, stdin=end, stdout=end, stderr=end, env=dict(env), cwd=cwd, start_new_session=True
        )
        undo.pop_all()
    ours.setblocking(False)
    return process, ours


async def _ended(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was told to end, without a thread; kill it when it takes too long."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # no descriptor is free: nothing to wait on, so it is not given the time
        process.kill()
        process.wait()
        return
    try:
        with anyio.move_on_after(_PATIENCE):
            await anyio.wait_readable(descriptor)
        if process.poll() is None:
            process.kill()
            await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)
    process.wait()

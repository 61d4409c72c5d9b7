"""A server in a process of its own, which ends with this one."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE
from typing import IO

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from harness_eval.errors import ConfigError

_END_SECONDS = 5.0
_TOLD = 400  # characters of what a quiet server said last
_TOLD_ELSEWHERE = "it says why on standard error"
_serving: dict[str, tuple[str, Process]] = {}  # by base URL: what runs there, and its process


@asynccontextmanager
async def child_server(what: str, arguments: Sequence[str], *, quiet: bool, patience: float) -> AsyncIterator[str]:
    """Run `python -m` with these arguments until the context ends; yields the base URL that it prints.

    That module prints one JSON line with `base_url` once it listens, and ends when its standard input closes. What a
    `quiet` one writes to standard error is kept from the terminal.

    Raises:
        ConfigError: `what` has not started within `patience` seconds.
    """
    with tempfile.TemporaryFile() as noise:
        process = await anyio.open_process(
            [sys.executable, "-m", *arguments],
            stdin=PIPE,
            stdout=PIPE,
            stderr=noise if quiet else None,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for us alone: trials under way must not lose their endpoint to it
        )
        try:
            base_url = await _base_url(process, patience)
            if base_url is None:
                raise ConfigError(f"{what} did not start; {_last_words(noise) if quiet else _TOLD_ELSEWHERE}")
            _serving[base_url] = what, process
            try:
                yield base_url
            finally:
                del _serving[base_url]
        finally:
            await _end(process)


async def death(base_url: str) -> str:
    """Wait until the process that serves there ends, and say how; for ever where it is none of `child_server`."""
    if base_url not in _serving:
        await anyio.sleep_forever()
    what, process = _serving[base_url]
    code = await process.wait()
    return f"the process of {what} {f'was ended by signal {-code}' if code < 0 else f'has ended with {code}'}"


def _environment() -> dict[str, str]:
    """This process's environment, in which the same copy of the package is found from any working directory."""
    package_parent = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (package_parent, known)))}


async def _base_url(process: Process, patience: float) -> str | None:
    assert process.stdout is not None, "the process is opened with a pipe"
    line = ""
    with anyio.move_on_after(patience):
        async for text in TextReceiveStream(process.stdout):
            line += text
            if "\n" in line:
                return str(json.loads(line)["base_url"])
    return None


def _last_words(noise: IO[bytes]) -> str:
    noise.seek(0)
    said = noise.read().decode(errors="replace").strip()
    return f"it said last: {said[-_TOLD:]}" if said else "it said nothing"


async def _end(process: Process) -> None:
    assert process.stdin is not None, "the process is opened with a pipe"
    with anyio.CancelScope(shield=True):
        await process.stdin.aclose()
        with anyio.move_on_after(_END_SECONDS):
            await process.wait()
        if process.returncode is None:
            process.kill()
        await process.aclose()

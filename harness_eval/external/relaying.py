"""The way from a harness in a box to its gateway: a socket in a folder that the box shares, and a relay to it."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness_eval.errors import ConfigError, SandboxFailure, last_words
from harness_eval.sandboxes import local, owner
from harness_eval.sandboxes.base import Sandbox

_PROGRAMS = Path(__file__).parent / "inside"
_LONGEST = 107  # bytes of a socket's path
_PATIENCE = 30.0  # seconds in which the relay must listen

_START = """port="${TMPDIR:-/tmp}/.relay"
( cd FOLDER; exec sh relay.sh SOCKET "$port" ) < /dev/null > "$port.said" 2>&1 &
for _ in $(seq 600); do
  if [ -s "$port" ]; then exec cat "$port"; fi
  sleep 0.05
done
tail -c 2000 "$port.said"
exit 1
"""


def require_short_paths() -> None:
    """Raise where a socket in a folder for temporary files would have too long a path.

    Raises:
        ConfigError: so it is.
    """
    folder = Path(tempfile.gettempdir()).resolve() / f"{local.PREFIX}{owner.token()}-12345678"
    spare = _LONGEST - len(os.fsencode(socket_in(folder)))
    if spare < 0:
        where = tempfile.gettempdir()
        raise ConfigError(
            f"TMPDIR: {where} is {-spare} bytes too long for a gateway's socket in it; name another folder"
        )


@contextmanager
def meeting_place() -> Iterator[Path]:
    """A folder for one trial that its box is to share: the relay is in it, and the gateway's socket will be.

    Its name is that of a local box, so that what a killed run leaves is swept as these are.

    Raises:
        SandboxFailure: it cannot be made.
    """
    _sweep()
    try:
        require_short_paths()
        folder = Path(tempfile.mkdtemp(prefix=f"{local.PREFIX}{owner.token()}-")).resolve()
    except (OSError, ConfigError) as error:
        raise SandboxFailure(f"no folder for a gateway could be made: {error}") from error
    try:
        folder.chmod(0o711)  # the box's user is nobody where we are root
        for name in ("relay.sh", "relay.py", "relay.js"):
            shutil.copyfile(_PROGRAMS / name, folder / name)
            (folder / name).chmod(0o644)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def _sweep() -> None:
    """Remove what dead runs left, once in this process."""
    local.sweep()


def socket_in(folder: Path) -> Path:
    """Where the gateway's socket is to be."""
    return folder / "gateway"


async def start_relay(sandbox: Sandbox, folder: Path, env: Mapping[str, str]) -> int:
    """Start the relay in a box that shares the folder; the port at which it listens there. It ends with the box.

    Raises:
        SandboxFailure: it does not start, with what it said; or the box is broken.
    """
    command = _START.replace("SOCKET", shlex.quote(str(socket_in(folder)))).replace("FOLDER", shlex.quote(str(folder)))
    started = await sandbox.run(command, timeout=_PATIENCE, env=env)
    if started.exit_code != 0 or not started.output.strip().isdigit():
        raise SandboxFailure(f"no relay to the gateway runs in the box: {last_words(started.output)}")
    return int(started.output)

"""Runs the solver's code where it cannot see the verifier: copies of its files, hidden inputs in, values out."""

import contextlib
import functools
import json
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workspace import content

BYTES, SECONDS = 4_000_000, 20  # what one run of the solver's code may write and take
LIMITS = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({BYTES}, {BYTES}))\n"


@functools.cache
def first_seen(name: str) -> bytes:
    """The bytes of a plain file before any of the solver's code ran here, whatever that does to it later."""
    return content(name)


def copied(names: Iterable[str]) -> str:
    """A folder with copies of these files of the working directory, open to the user who runs the solver's code."""
    os.umask(0)
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(first_seen(name))
    return str(folder)


def answers(program: str, asked: object, folder: str) -> Any:
    """What the solver's code makes of hidden inputs: the JSON in the last line that its process prints, else None.

    What it prints is not to be trusted, only to be compared; what is expected must lie neither in the folder nor in
    any other file that is not hidden from it.
    """
    command = [*shlex.split(os.environ.get("AS_SOLVER", "")), "python3", "-EsB", "-c", LIMITS + program]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as shown:
        given.write(json.dumps(asked).encode())
        given.seek(0)
        process = subprocess.Popen(
            command, cwd=folder, stdin=given, stdout=shown, stderr=subprocess.DEVNULL, start_new_session=True
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        shown.seek(0)
        try:
            return json.loads(shown.read().decode().splitlines()[-1])
        except (ValueError, IndexError, RecursionError):
            return None

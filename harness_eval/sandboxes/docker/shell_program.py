"""What a shell that serves as the first process of a box is told, and what comes back from it."""

from __future__ import annotations

import errno
import functools
import re
import secrets
from collections.abc import Callable
from pathlib import Path

from harness_eval.sandboxes.box import FILE_LIMIT

# The exit codes of these are error numbers.
READ = f"""[ -e "$1" ] || exit {errno.ENOENT}; [ -d "$1" ] && exit {errno.EISDIR}; [ -f "$1" ] || exit {errno.EINVAL}
[ -r "$1" ] || exit {errno.EACCES}; exec "$head" -c {FILE_LIMIT + 1} "$1" """
FOLDER = f"""above=$1; while [ ! -e "$above" ] && [ ! -L "$above" ] && [ -n "$above" ]; do above=${{above%/*}}; done
[ -e "$above/" ] || [ ! -L "$above" ] || exit {errno.EEXIST}
[ -d "$above/" ] || exit {errno.ENOTDIR}; mkdir -p "$1/" || exit {errno.EACCES}; """
_ABOVE = f'name=$1; set -- "${{1%/*}}"; {FOLDER}set -- "$name"; '
FILE = f"""{_ABOVE}[ ! -d "$1" ] || exit {errno.EISDIR}; [ ! -e "$1" ] || [ -f "$1" ] || exit {errno.EINVAL}
true >> "$1" || exit {errno.EACCES}; cat "$spool" """
LINK = f'goal=$2; {_ABOVE}ln -snf "$goal" "$1" || exit {errno.EACCES}'


@functools.cache
def program() -> str:
    """What the first process runs, without its comments."""
    text = (Path(__file__).parents[1] / "inside" / "loop.sh").read_text(encoding="utf-8")
    return re.sub(r"(?m)^#.*\n", "", text)


class Stream:
    """What comes for one job: its output, handed on as it comes, and the marks in it by their first word."""

    def __init__(self, keep: Callable[[bytes], object]) -> None:
        self.nonce = secrets.token_hex(16)
        self.marks: dict[str, list[str]] = {}
        self._mark = self.nonce.encode()
        self._keep = keep
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        self._buffer += data
        while (at := self._buffer.find(self._mark)) >= 0:
            end = self._buffer.find(b"\n", at)
            self._take(at)
            if end < 0:
                return
            word, *values = self._buffer[len(self._mark) : end - at].decode().split()
            self.marks[word] = values
            del self._buffer[: end - at + 1]
        self._take(max(0, len(self._buffer) - len(self._mark) + 1))

    def _take(self, count: int) -> None:
        self._keep(bytes(self._buffer[:count]))
        del self._buffer[:count]

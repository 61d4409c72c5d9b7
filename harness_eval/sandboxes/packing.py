"""What goes into a box, as the fields of `put` requests; see `inside.files`."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import AsyncIterator, Iterator
from importlib.util import source_from_cache
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread

from harness_eval.sandboxes.inside.files import PIECE


def pieces(path: bytes, content: BinaryIO, mode: bytes = b"") -> Iterator[list[bytes]]:
    """The fields for a file, read as they are asked for; its mode comes last, since it may forbid to write."""
    kind, data = b"file", content.read(PIECE)
    while following := content.read(PIECE):
        yield [kind, path, b"", data]
        kind, data = b"more", following
    yield [kind, path, mode, data]


async def contents(source: Path, target: str) -> AsyncIterator[list[bytes]]:
    """The fields for a folder's content, many small files at once, read while others are sent.

    Raises:
        NotADirectoryError: there is no such folder.
    """
    if not await to_thread.run_sync(source.is_dir):
        raise NotADirectoryError(f"{source} is no folder")
    found = batches(source, target)
    while (batch := await to_thread.run_sync(next, found, None)) is not None:
        yield batch


def batches(source: Path, target: str) -> Iterator[list[bytes]]:
    """See `contents`; links stay links, and what `is_compiled` stays behind."""
    batch = [b"folder", os.fsencode(target), b"", b""]
    size = 0
    for path in _kept(source):
        place = os.fsencode(posixpath.join(target, path.relative_to(source).as_posix()))
        for entry in _entries(path, place):
            batch += entry
            size += sum(map(len, entry))
            if size >= PIECE:
                yield batch
                batch, size = [], 0
    if batch:
        yield batch


def _kept(source: Path) -> Iterator[Path]:
    found = sorted(source.rglob("*"))
    compiled = {path for path in found if is_compiled(path)}
    return (path for path in found if compiled.isdisjoint((path, path.parent)))


def is_compiled(folder: Path) -> bool:
    """Whether a folder holds only what Python has made of the programs beside it.

    An installer compiles all that it installs, a suite's programs too; a task would be another one after that.
    """
    return folder.name == "__pycache__" and folder.is_dir() and all(map(_has_source, folder.iterdir()))


def _has_source(path: Path) -> bool:
    try:
        return Path(source_from_cache(path)).is_file()
    except ValueError:  # it is not named as Python names what it compiles
        return False


def _entries(path: Path, place: bytes) -> Iterator[list[bytes]]:
    """The fields that make at `place` what is at `path`, without what is in it."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        yield [b"link", place, b"", os.fsencode(path.readlink())]
    elif stat.S_ISDIR(mode):
        yield [b"folder", place, b"", b""]
    elif stat.S_ISREG(mode):
        with path.open("rb") as file:
            yield from pieces(place, file, b"%o" % stat.S_IMODE(mode))

"""Files and folders on their way into a box and out of it, as fields `kind path mode data`.

`kind` is `folder`, `link` (to `data`), `file`, or `more` of a file. `mode` is empty, or octal, or octal and the time of
the last change in nanoseconds; it comes with the last of a file, and once more for a folder when all in it is there.
"""

# pathlib would double the time this takes to start:
# ruff: noqa: PTH101, PTH103, PTH108, PTH115, PTH120, PTH123, PTH211

from __future__ import annotations

import errno
import os
import stat
from itertools import islice

TYPE_CHECKING = False  # as `typing` has it, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = 1 << 20  # bytes handed over at once, about
SLICE = 1 << 18  # the same where they are sent from within a box, whose memory may be used up
BLOCK = 4096  # bytes for which a name in a folder counts, beside its content: what it takes on most disks


def read_file(path: bytes, offset: int, size: int) -> tuple[bytes, int]:
    """`size` bytes of a regular file, fewer only at its end, and its length. Never waits for a pipe or a device."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(state.st_mode) else errno.EINVAL, "not a regular file")
        data = bytearray()
        while part := os.pread(descriptor, size - len(data), offset + len(data)):
            data += part
        return bytes(data), state.st_size
    finally:
        os.close(descriptor)


def put(kind: bytes, path: bytes, mode: bytes, data: bytes) -> None:
    """Make what the fields say, with the folders above it; a file that is there is written anew."""
    os.makedirs(path if kind == b"folder" else os.path.dirname(path), exist_ok=True)
    if kind == b"link":
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(data, path)
    elif kind in (b"file", b"more"):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644)
        with open(descriptor, "wb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a regular file")
            file.seek(0, os.SEEK_END if kind == b"more" else os.SEEK_SET)
            file.truncate()
            file.write(data)
    permissions, *changed = mode.split()[:2] or [b""]
    if permissions and kind != b"link":
        os.chmod(path, int(permissions, 8))
    if changed:
        os.utime(path, ns=(int(changed[0]), int(changed[0])), follow_symlinks=kind != b"link")


def tree(folder: bytes, place: bytes, limit: int) -> Iterator[list[bytes]]:
    """What is in a folder, as the fields that make it at `place`, about `SLICE` bytes of them at once.

    Nothing is handed over of a folder that is missing. Links stay links; pipes, sockets, devices, what is mounted in
    the folder, and what belongs to others and cannot be read are left out; several names of one file become several
    files. What its owner has closed is opened for reading, and closed again.

    An OSError if the folder is none, or its content is larger than `limit` bytes, or too deep to be named.
    """
    batch, size = [], 0
    for fields in entries(folder, place, limit) if os.path.lexists(folder) else ():
        batch += fields
        size += sum(map(len, fields))
        if size >= SLICE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def entries(folder: bytes, place: bytes, limit: int) -> Iterator[list[bytes]]:
    """See `tree`: the fields of one entry, or of one piece of it, after the other."""
    first = os.lstat(folder)
    if not stat.S_ISDIR(first.st_mode):
        raise OSError(errno.ENOTDIR, "it is no folder")
    room = limit
    stack: list[tuple[bytes, os.stat_result | None]] = [(b"", None)]
    while stack:
        name, left = stack.pop()
        path, goal = folder + name, place + name
        state = left or os.lstat(path)
        if left:
            permit(path, left, 0)
            yield [b"folder", goal, attributes(left), b""]
        elif stat.S_ISDIR(state.st_mode) and state.st_dev == first.st_dev:
            yield [b"folder", goal, b"", b""]
            names = names_in(path, state, room // BLOCK + 1)
            room -= BLOCK * len(names)
            stack.append((name, state))
            stack += [(name + b"/" + each, None) for each in names]
        elif stat.S_ISLNK(state.st_mode):
            yield [b"link", goal, attributes(state), os.readlink(path)]
        elif stat.S_ISREG(state.st_mode):
            room -= state.st_size
            if room >= 0:
                yield from pieces_of(path, goal, state)
        if room < 0:
            raise OSError(errno.EFBIG, f"larger than {limit >> 20} MB")


def attributes(state: os.stat_result) -> bytes:
    """Permissions and time of the last change, as the field `mode`."""
    return b"%o %d" % (stat.S_IMODE(state.st_mode), state.st_mtime_ns)


def permit(path: bytes, state: os.stat_result, more: int) -> None:
    """Set the permissions that the state says and `more`, where we own what is there."""
    wanted = stat.S_IMODE(state.st_mode) | more
    try:
        if stat.S_IMODE(os.lstat(path).st_mode) != wanted:
            os.chmod(path, wanted)
    except PermissionError:
        return


def names_in(path: bytes, state: os.stat_result, most: int) -> list[bytes]:
    """At most so many of the names in a folder, which stays open to its owner."""
    permit(path, state, 0o500)
    try:
        with os.scandir(path) as found:
            return [entry.name for entry in islice(found, most)]
    except PermissionError:
        return []


def pieces_of(path: bytes, goal: bytes, state: os.stat_result) -> Iterator[list[bytes]]:
    """The fields for a regular file of this state; none if it cannot be read."""
    permit(path, state, 0o400)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:
        return
    permit(path, state, 0)
    try:
        for at in range(0, max(1, state.st_size), SLICE):
            data = os.pread(descriptor, min(SLICE, state.st_size - at), at)
            mode = attributes(state) if at + SLICE >= state.st_size else b""
            yield [b"more" if at else b"file", goal, mode, data]
    finally:
        os.close(descriptor)

"""Folders of a user's own that a box sees: whether it can, and a hash over what is in them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from harness_eval.errors import ConfigError

_PASSED = frozenset({"__pycache__", ".git"})  # change without a change of what is run
_MOST_FILES = 100_000


def digest_of(folders: Sequence[Path], where: str) -> str:
    """A hash over names, contents and modes of all that is in these folders, whatever their own names.

    Raises:
        ConfigError: one is no folder, is too much of the machine, or cannot be read by a box's user; `where` says who
            wanted it.
    """
    whole = hashlib.sha256()
    for folder in folders:
        _check(folder, where)
        try:
            _add(whole, folder)
        except OSError as error:
            raise ConfigError(f"{where}: share: {error.filename}: {error.strerror}") from None
        except ValueError as error:
            raise ConfigError(f"{where}: share: {folder}: {error}") from None
    return whole.hexdigest()[:16]


def _add(whole: hashlib._Hash, folder: Path) -> None:
    found = 0
    for parent, folders, files in folder.walk() if hasattr(folder, "walk") else map(_as_path, os.walk(folder)):
        folders[:] = sorted(set(folders) - _PASSED)
        for name in sorted({*files, *(each for each in folders if (parent / each).is_symlink())}):
            found += 1
            if found > _MOST_FILES:
                raise ValueError(f"holds more than {_MOST_FILES} files: name the folder of the program alone")
            whole.update(_told(parent / name, folder))


def _told(path: Path, folder: Path) -> bytes:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        content = os.fsencode(path.readlink())
    else:
        content = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    head = f"{path.relative_to(folder)}\0{stat.S_IFMT(found.st_mode)}\0{found.st_mode & 0o100}\0"
    return head.encode("utf-8", "surrogateescape") + hashlib.sha256(content).digest()

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
_PLACES = ("/app", "/etc", "/home/agent", "/tmp", "/usr", "/var/tmp")  # noqa: S108  (boxes have their own)
_KERNELS = frozenset({"proc", "sys", "dev"})


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


def _check(folder: Path, where: str) -> None:
    if not folder.is_dir():
        raise ConfigError(f"{where}: share: {folder} is no folder")
    if any(Path(place).is_relative_to(folder) for place in _PLACES) or folder.parts[1] in _KERNELS:
        raise ConfigError(f"{where}: share: {folder} is too much of this machine: name the program's own folder")
    if os.geteuid() == 0:  # boxes run as nobody then
        closed = [each for each in (folder, *folder.parents) if not each.stat().st_mode & stat.S_IXOTH]
        if closed or not folder.stat().st_mode & stat.S_IROTH:
            shut = closed[-1] if closed else folder
            raise ConfigError(f"{where}: share: {shut} cannot be read by a box's user, who is nobody")


def _add(whole: hashlib._Hash, folder: Path) -> None:
    found = 0
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        folders[:] = sorted(set(folders) - _PASSED)
        for name in sorted([*files, *links]):
            found += 1
            if found > _MOST_FILES:
                raise ValueError(f"it holds more than {_MOST_FILES:,} files")
            whole.update(_told(Path(parent, name), folder))


def _told(path: Path, folder: Path) -> bytes:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        content = os.fsencode(path.readlink())
    else:
        content = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    head = f"{path.relative_to(folder)}\0{stat.S_IFMT(found.st_mode)}\0{found.st_mode & 0o100}\0"
    return head.encode("utf-8", "surrogateescape") + hashlib.sha256(content).digest()

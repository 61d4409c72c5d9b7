"""The files of a task's folder: which folders are tasks, and the one hash over all that is in them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness_eval.errors import ConfigError

_CACHES = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".git", ".DS_Store"}
_PARTS = ("instruction.md", "environment", "tests", "solution")


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn what the system refuses while a folder is read into a ConfigError that names the path."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{_shown(error.filename or folder)}: cannot be read ({error.strerror or error})") from error
    except RecursionError as error:
        raise ConfigError(f"{_shown(folder)}: its folders are nested too deep to be read") from error


def is_task(folder: Path) -> bool:
    """Whether it has the file that makes it a task, of this generation of the format or of the first."""
    return any((folder / name).is_file() for name in ("task.toml", "task.yaml"))


def looks_like_a_task(folder: Path) -> bool:
    """Whether it is a task, or has parts of one, so that its author should be told what is missing."""
    return is_task(folder) or any((folder / name).exists() for name in _PARTS)


def digest(folder: Path) -> str:
    """The SHA-256 over the paths and bytes of all files; for a link, over where it points. Caches are left out.

    Raises:
        ConfigError: something cannot be read, or is neither file, folder nor link; names it.
    """
    total = hashlib.sha256()
    with reading(folder):
        for name, path in sorted(_entries(folder, "")):
            total.update(os.fsencode(f"{name}\0") + _content(path).encode() + b"\n")
    return total.hexdigest()


def _entries(folder: Path, above: str) -> Iterator[tuple[str, Path]]:
    """All that is in a folder but folders, with its path from the task's folder. Links to folders are followed there
    alone: a suite may share its `tests`, and a loop of links must not be walked."""

    def refuse(error: OSError) -> None:
        raise error

    for place, folders, files in os.walk(folder, onerror=refuse):
        kept = [name for name in folders if name not in _CACHES]
        links = [name for name in kept if (Path(place) / name).is_symlink()]
        folders[:] = [name for name in kept if name not in links]
        for name in [*links, *files]:
            path = Path(place) / name
            relative = above + path.relative_to(folder).as_posix()
            if name not in _CACHES and not name.endswith(".pyc"):
                yield relative, path
            if name in links and not above and place == str(folder):
                yield from _entries(path.resolve(), f"{relative}/")


def _content(path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return hashlib.sha256(b"link to " + os.fsencode(path.readlink())).hexdigest()
    if not stat.S_ISREG(mode):
        raise ConfigError(f"{_shown(path)}: is neither a file, a folder nor a link; a task is made of these alone")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _shown(path: Path | str) -> str:
    """A path as text that can be printed, whatever bytes its name has."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")

"""Names of files from outside: which of them can stand in a folder, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

_LONGEST_PART = 255  # bytes, what file systems take
_LONGEST = 1000  # bytes of a path within a folder
_DEEPEST = 50  # folders one in the other


def wrong_name(names: Iterable[str]) -> str | None:
    """The first path that no file within a folder can have beside the others, and why, in words; None if all can."""
    met: dict[PurePosixPath, str] = {}
    for name in names:
        path = PurePosixPath(name)
        if reason := _wrong(name, path) or _clash(path, met):
            return f"{name[:60]!r} {reason}"
        met[path] = name
    folders = {folder: name for path, name in met.items() for folder in path.parents}
    both = next((path for path in met if path in folders), None)
    return f"{met[both][:60]!r} is a folder too, by {folders[both][:60]!r}" if both else None


def _clash(path: PurePosixPath, met: dict[PurePosixPath, str]) -> str | None:
    return f"is the same file as {met[path][:60]!r}" if path in met else None


def _wrong(name: str, path: PurePosixPath) -> str | None:
    try:
        parts = [part.encode() for part in path.parts]
    except UnicodeEncodeError:
        return "is no text in UTF-8"
    if not parts or path.is_absolute() or ".." in path.parts or "\0" in name:
        return "is no path of a file within a folder"
    if len(parts) > _DEEPEST:
        return f"is more than {_DEEPEST} folders deep"
    if max(map(len, parts)) > _LONGEST_PART or sum(map(len, parts)) + len(parts) > _LONGEST:
        return f"is too long: a part has at most {_LONGEST_PART} bytes, and all have {_LONGEST:,}"
    return None

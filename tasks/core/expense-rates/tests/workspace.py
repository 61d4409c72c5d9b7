"""What lies in the working directory itself: a link may lead to what the verifier hides, a pipe may never end."""

import hashlib
from pathlib import Path

LARGEST = 4_000_000  # bytes of a file that is looked at


def is_plain(name: str | Path) -> bool:
    """Whether it is a file of moderate size, and no link stands at it or on the way to it."""
    path = Path(name)
    try:
        here = path.is_file() and path.resolve() == Path.cwd().resolve() / path
        return here and path.stat().st_size <= LARGEST
    except (OSError, ValueError):
        return False


def content(name: str | Path) -> bytes:
    """The bytes of such a file; none for anything else."""
    try:
        return Path(name).read_bytes() if is_plain(name) else b""
    except OSError:
        return b""


def text(name: str | Path) -> str:
    """The text of such a file.

    Raises:
        AssertionError: it is no such file.
        ValueError: it is no UTF-8.
    """
    assert is_plain(name), f"{name} is no file of moderate size"
    return content(name).decode("utf-8")


def digest_of(name: str | Path) -> str:
    """The SHA-256 of such a file; that of nothing is another one than that of an empty file."""
    return hashlib.sha256(content(name)).hexdigest() if is_plain(name) else "no file"

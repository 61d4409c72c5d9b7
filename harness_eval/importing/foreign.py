"""Files and values that other programs wrote: of the shape that is expected, or nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from harness_eval.errors import ConfigError
from harness_eval.importing.cells import LARGEST
from harness_eval.types import Json


def regular(path: Path) -> Path:
    """The path itself, if it is that of a regular file: nothing else is read, since a pipe may never end.

    Raises:
        ConfigError: it is none.
    """
    if not path.exists():
        raise ConfigError(f"{path}: cannot be read: there is no such file")
    if not path.is_file():
        raise ConfigError(f"{path}: cannot be read: it is no regular file")
    return path


def read_bytes(path: Path) -> bytes:
    """What a regular file holds.

    Raises:
        ConfigError: it is no regular file, or cannot be read.
    """
    try:
        return regular(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None


def mapping(value: Json) -> Mapping[str, Json]:
    """An object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Json) -> list[Mapping[str, Json]]:
    """The members of a list as objects; anything else is an empty list."""
    return [mapping(each) for each in value] if isinstance(value, list) else []


def measured(value: Json) -> float | None:
    """Tokens, seconds or money; None where the value is no number that anybody could have measured."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return value if known and math.isfinite(value) and 0 <= value <= LARGEST else None


def counted(value: Json) -> int:
    """Tokens; 0 where they are unknown."""
    return int(measured(value) or 0)

"""Files of a report, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness_eval import recording
from harness_eval.errors import ConfigError
from harness_eval.types import Json


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate that a model wrote becomes a question mark."""
    return text.encode("utf-8", "replace")


def encode_json(data: Mapping[str, Json]) -> bytes:
    """JSON with indents, and the end of its last line."""
    return recording.dump(dict(data), pretty=True) + b"\n"


def fill(folder: Path, forms: Mapping[str, bytes]) -> None:
    """Put files of these names into a folder, which is made where it is missing.

    Raises:
        ConfigError: the folder cannot be made, or a file not written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be made: {error.strerror or error}") from None
    for name, content in forms.items():
        replace(folder / name, content)


def replace(path: Path, content: bytes) -> None:
    """Put a file in place as a whole.

    Raises:
        ConfigError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)

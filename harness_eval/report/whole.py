"""Files of a report, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from harness_eval.errors import ConfigError


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate that a model wrote becomes a question mark."""
    return text.encode("utf-8", "replace")


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

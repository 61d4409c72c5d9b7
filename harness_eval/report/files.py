"""The three files of a report."""

from __future__ import annotations

import os
from pathlib import Path

from harness_eval import recording
from harness_eval.errors import ConfigError
from harness_eval.report import embedded
from harness_eval.report.content import build
from harness_eval.report.markdown import markdown
from harness_eval.report.page import page
from harness_eval.types import Json


def write(folder: Path) -> dict[str, Json]:
    """Write report.md, report.html and report.json; each is replaced as a whole.

    Raises:
        ConfigError: if the folder holds no readable study.json, or cannot be written.
    """
    data = build(folder)
    forms = {"report.md": _encode(markdown(data)), "report.html": _encode(page(data, embedded.collect(folder, data)))}
    forms["report.json"] = recording.dump(data, pretty=True) + b"\n"
    for name, content in forms.items():
        _replace(folder / name, content)
    return data


def _encode(text: str) -> bytes:
    """UTF-8; a lone surrogate that a model wrote becomes a question mark."""
    return text.encode("utf-8", "replace")


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)

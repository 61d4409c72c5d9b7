"""Reports of a run, made again from its folder at any time: Markdown, HTML and JSON with the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness_eval.types import Json

__all__ = ["build", "summary_text", "write"]


def build(folder: Path) -> dict[str, Json]:
    """The content of report.json for a run's folder; proportions are 0..1, what is unknown is None.

    Raises:
        ConfigError: if the folder holds no readable study.json.
    """
    from harness_eval.report import content  # lazy: slow import

    return content.build(folder)


def write(folder: Path) -> dict[str, Json]:
    """Write report.md, report.html and report.json into the run's folder, each whole or not at all.

    Returns the content of report.json.

    Raises:
        ConfigError: if the folder holds no readable study.json, or cannot be written.
    """
    from harness_eval.report import files  # lazy: slow import

    return files.write(folder)


def summary_text(data: Mapping[str, Json]) -> str:
    """The content of report.json as plain text for a terminal."""
    from harness_eval.report import terminal  # lazy: slow import

    return terminal.summary_text(data)

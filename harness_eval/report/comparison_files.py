"""A comparison as Markdown, and the three files that hold it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness_eval.report.comparison_page import SPOKEN, page
from harness_eval.report.templating import filled_markdown
from harness_eval.report.whole import encode, encode_json, fill
from harness_eval.types import Json

FILES = ("comparison.md", "comparison.html", "comparison.json")


def markdown(data: Mapping[str, Json]) -> str:
    """The content of comparison.json as GitHub-flavoured Markdown that fits a comment on a pull request."""
    return filled_markdown("comparison.md.j2", data=data, **SPOKEN)


def write(data: Mapping[str, Json], folder: Path) -> None:
    """Write comparison.md, comparison.html and comparison.json; each is replaced as a whole.

    Raises:
        ConfigError: the folder cannot be written.
    """
    forms = (encode(markdown(data)), encode(page(data)), encode_json(data))
    fill(folder, dict(zip(FILES, forms, strict=True)))

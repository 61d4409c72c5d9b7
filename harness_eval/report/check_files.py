"""A check as Markdown and as a badge, and the files that hold all its forms."""

from __future__ import annotations

from pathlib import Path

from harness_eval.report import check_words as words
from harness_eval.report import wording
from harness_eval.report.check_junit import junit
from harness_eval.report.markdown import first_that_fits
from harness_eval.report.templating import filled_markdown
from harness_eval.report.whole import encode, encode_json, fill
from harness_eval.types import Json

FILES = ("check.json", "check.md", "junit.xml", "badge.json")
_ROWS = (25, 10, 4, 1)  # of a table, tried in turn until all fits
_CUT = "\n\n**Cut here**: the rest stands in check.json.\n"
_COLOURS = {"pass": "brightgreen", "fail": "red", "inconclusive": "yellow", "incomplete": "lightgrey"}


def markdown(data: words.Data) -> str:
    """The content of check.json as GitHub-flavoured Markdown that fits a job's summary and a comment."""
    sizes = (filled_markdown("check.md.j2", data=data, words=words, wording=wording, most=most) for most in _ROWS)
    return first_that_fits(sizes, _CUT)


def badge(data: words.Data) -> dict[str, Json]:
    """What the endpoint badge of shields.io reads: the verdict, with the change that it rests on where known."""
    change = words.briefly(data)
    return {
        "schemaVersion": 1,
        "label": "harness gate",
        "message": f"{data['verdict']}, {change}" if change else data["verdict"],
        "color": _COLOURS[data["verdict"]],
        "isError": data["verdict"] in ("fail", "incomplete"),
    }


def write(data: words.Data, folder: Path) -> None:
    """Write check.json, check.md, junit.xml and badge.json; each is replaced as a whole.

    Raises:
        ConfigError: the folder cannot be written.
    """
    forms = (encode_json(data), encode(markdown(data)), junit(data), encode_json(badge(data)))
    fill(folder, dict(zip(FILES, forms, strict=True)))

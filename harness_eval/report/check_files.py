"""A check as Markdown and as a badge, and the files that hold all its forms."""

from __future__ import annotations

import re
from pathlib import Path

from harness_eval import recording
from harness_eval.report import check_words as words
from harness_eval.report import wording
from harness_eval.report.check_junit import junit
from harness_eval.report.templating import as_markdown
from harness_eval.report.whole import encode, fill
from harness_eval.types import Json

FILES = ("check.json", "check.md", "junit.xml", "badge.json")
MOST_CHARACTERS = 60_000  # a comment on GitHub holds 65,536
_ROWS = (25, 10, 4, 1)  # of a table, tried in turn until all fits
_COLOURS = {"pass": "brightgreen", "fail": "red", "inconclusive": "yellow", "incomplete": "lightgrey"}


def markdown(data: words.Data) -> str:
    """The content of check.json as GitHub-flavoured Markdown that fits a job's summary and a comment."""
    template = as_markdown().get_template("check.md.j2")
    text = ""
    for most in _ROWS:
        text = re.sub(r"\n{3,}", "\n\n", template.render(data=data, words=words, wording=wording, most=most))
        if len(text) <= MOST_CHARACTERS:
            break
    return text


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
    whole, small = (recording.dump(content, pretty=True) + b"\n" for content in (dict(data), badge(data)))
    forms = (whole, encode(markdown(data)), junit(data), small)
    fill(folder, dict(zip(FILES, forms, strict=True)))

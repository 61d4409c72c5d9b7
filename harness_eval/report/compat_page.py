"""A compatibility matrix as one self-contained HTML page, in the look of the report."""

from __future__ import annotations

from harness_eval.report import compat_words, wording
from harness_eval.report.compat_grid import Data, grid, worst_first
from harness_eval.report.compat_sentences import sentences
from harness_eval.report.templating import as_html

_OPEN = 60  # cells, up to which all tables of details are open


def page(data: Data) -> str:
    """The content of compatibility.json as an HTML document that needs no script and loads nothing."""
    found = grid(data)
    used = {source: number for number, source in enumerate((one["id"] for one in data["sources"]), start=1)}
    return (
        as_html()
        .get_template("compat.html.j2")
        .render(
            data=data,
            grid=found,
            used=used,
            opened=len(data["cells"]) <= _OPEN,
            words=compat_words,
            wording=wording,
            sentences=sentences,
            worst_first=worst_first,
        )
    )

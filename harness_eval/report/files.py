"""The three files of a report."""

from __future__ import annotations

from pathlib import Path

from harness_eval.report import embedded, shell_name
from harness_eval.report.content import build
from harness_eval.report.markdown import markdown
from harness_eval.report.page import page
from harness_eval.report.whole import encode, encode_json, fill
from harness_eval.types import Json


def write(folder: Path) -> dict[str, Json]:
    """Write report.md, report.html and report.json; each is replaced as a whole.

    Raises:
        ConfigError: if the folder holds no readable study.json, or cannot be written.
    """
    data = build(folder)
    run = shell_name(folder.resolve().name)  # a path would say more of this machine than a reader needs
    whole_page = page(data, embedded.collect(folder, data), run)
    forms = {"report.md": encode(markdown(data, run)), "report.html": encode(whole_page)}
    fill(folder, forms | {"report.json": encode_json(data)})
    return data

"""The three files of a report."""

from __future__ import annotations

from pathlib import Path

from harness_eval import recording
from harness_eval.report import embedded
from harness_eval.report.content import build
from harness_eval.report.markdown import markdown
from harness_eval.report.page import page
from harness_eval.report.whole import encode, replace
from harness_eval.types import Json


def write(folder: Path) -> dict[str, Json]:
    """Write report.md, report.html and report.json; each is replaced as a whole.

    Raises:
        ConfigError: if the folder holds no readable study.json, or cannot be written.
    """
    data = build(folder)
    forms = {"report.md": encode(markdown(data)), "report.html": encode(page(data, embedded.collect(folder, data)))}
    forms["report.json"] = recording.dump(data, pretty=True) + b"\n"
    for name, content in forms.items():
        replace(folder / name, content)
    return data

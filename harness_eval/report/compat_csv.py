"""A compatibility matrix as comma-separated values: one line a cell, in columns that do not change."""

from __future__ import annotations

import csv
import io
import re

from harness_eval.errors import redact
from harness_eval.report.compat_grid import Data, Place, grid
from harness_eval.report.compat_words import link
from harness_eval.report.wording import one_line
from harness_eval.types import Json

COLUMNS = (
    *("model", "model_version", "serving", "scripted", "harness", "current_version", "measured_version", "canonical"),
    *("verdict", "reason", "stale", "flagged", "difference", "difference_low", "difference_high", "p"),
    *("score", "score_low", "score_high", "tasks", "common_tasks", "trials", "lost", "extra_tasks"),
    *("main_label", "main_label_owner", "main_label_trials", "measured", "sources", "evidence"),
)
_LONGEST = 1000  # characters of a text from outside
_ENDLESS = 10_000  # of them that are looked at
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")  # as it begins where a spreadsheet may run it


def table(data: Data) -> str:
    """Lines end as RFC 4180 says; proportions are 0..1, what is unknown is empty.

    A text from outside that a spreadsheet may take for a formula has an apostrophe before it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    names = {source["id"]: source["name"] for source in data["sources"]}
    found = grid(data)
    for place in found.places:
        if place.cell is not None:
            line = _line(place, [names.get(source, source) for source in place.cell["sources"]])
            writer.writerow([_field(line[column]) for column in COLUMNS])
    return out.getvalue()


def _line(place: Place, sources: list[str]) -> dict[str, Json]:
    cell: Data = place.cell or {}
    label = cell["main_label"] or {"label": None, "owner": None, "trials": None}
    return {
        "model": place.subject["model"],
        "model_version": place.subject["version"],
        "serving": place.subject["serving"],
        "scripted": place.subject["scripted"],
        "harness": place.harness["name"],
        "current_version": place.harness["version"],
        "measured_version": cell["version"],
        "canonical": place.kind == "canonical",
        "common_tasks": cell.get("pairs"),
        "sources": "; ".join(sources),
        "main_label": label["label"],
        "main_label_owner": label["owner"],
        "main_label_trials": label["trials"],
        "evidence": link(cell["evidence"]),
        **_figures("difference", cell["difference"]),
        **_figures("score", cell["rate"]),
        **{key: cell[key] for key in ("verdict", "reason", "stale", "flagged", "p", "measured")},
        **{key: cell[key] for key in ("tasks", "trials", "lost", "extra_tasks")},
    }


def _figures(name: str, found: Data) -> dict[str, Json]:
    return {name: found["estimate"], f"{name}_low": found["low"], f"{name}_high": found["high"]}


def _field(value: Json) -> str:
    """Numbers are ours; every text may come from outside."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    text = one_line(redact(value[:_ENDLESS]), _LONGEST)
    return f"'{text}" if _FORMULA.match(text) else text

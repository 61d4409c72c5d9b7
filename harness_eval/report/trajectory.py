"""A trial, or two of one task side by side, as an HTML fragment: no script, no style, everything escaped."""

from __future__ import annotations

from pathlib import Path

from harness_eval import store
from harness_eval.bundled import folder as bundled_folder
from harness_eval.store import Row
from harness_eval.types import Compaction, Json, Note, Step


def trial_html(folder: Path, row: Row) -> str:
    """One trial of a run step by step, as `<article class="trial">`; its styles are `trial.css`.

    Raises:
        ConfigError: its record is damaged.
    """
    return _render("trial.html.j2", {"trial": _told(folder, row)})


def pair_html(folder: Path, left: Row, right: Row) -> str:
    """Two trials of one task beside each other, as `<article class="trial pair">`.

    Raises:
        ConfigError: one of the records is damaged.
    """
    return _render("trial_pair.html.j2", {"sides": [_told(folder, left), _told(folder, right)]})


def _told(folder: Path, row: Row) -> dict[str, Json]:
    record = store.read_trajectory(folder, store.key_of(row))
    kinds = {Step: "step", Note: "note", Compaction: "compaction"}
    events = [(kinds[type(event)], event) for event in record.events] if record else []
    return {"row": row, "record": record, "events": events}


def _render(name: str, values: dict[str, Json]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # lazy: slow import

    environment = Environment(
        loader=FileSystemLoader(bundled_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name).render(values)

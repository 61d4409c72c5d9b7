"""The report as one self-contained HTML page: readable without a script, in light and dark, on paper and on a phone."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence

from harness_eval.bundled import folder
from harness_eval.report import effect_words, matrix, wording
from harness_eval.report.anchors import endpoint_anchor, harness_anchor
from harness_eval.report.content import sections_of
from harness_eval.report.embedded import Embedded
from harness_eval.report.figures import (
    BAD,
    INK,
    LEVELS_DRAWN,
    MARK,
    Row,
    Scale,
    both_forms,
    effect_colour,
    forest,
    in_percent,
)
from harness_eval.report.spoken import SPOKEN
from harness_eval.report.templating import as_html
from harness_eval.report.waterfall import waterfall
from harness_eval.types import Json

Section = Mapping[str, Json]


def page(data: Section, embedded: Sequence[Embedded] = (), run: str = "RUN") -> str:
    """The content of report.json as an HTML document, with the trajectories that were packed for its sections.

    `run` is the run's folder as a command line names it.
    """
    from markupsafe import Markup  # lazy: slow import

    sections = sections_of(data)
    packed = embedded or [Embedded() for _ in sections]
    drawn = [_drawings(section, place, packed[place]) for place, section in enumerate(sections)]
    script = (folder("templates") / "report.js").read_text()
    return (
        as_html()
        .get_template("report.html.j2")
        .render(
            data=data,
            run=run,
            sections=list(zip(sections, drawn, strict=True)),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            **SPOKEN,
        )
    )


def _drawings(section: Section, place: int, embedded: Embedded) -> dict[str, Json]:
    ranked = ranked_harnesses(section)
    drawn: dict[str, Json] = {"id": endpoint_anchor(place), "ranked": ranked, "forest": None, "effects": None}
    drawn["rows"] = {entry["harness"]: harness_anchor(place, entry["harness"]) for entry in ranked}
    rows = [_harness_row(entry, section) for entry in ranked if entry["estimate"] is not None]
    if rows:
        scale = Scale("score, percent of tasks", 0.0, 100.0, in_percent(section["canonical"]["estimate"]))
        drawn["forest"] = both_forms(forest, f"forest-{place}", rows, scale)
    levels = [row for row in section["axes"] if row["effect"] is not None][:LEVELS_DRAWN]
    if levels:
        rows = [_level_row(row) for row in levels]
        drawn["effects"] = both_forms(forest, f"effects-{place}", rows, _effect_scale(levels))
    refused = {entry["harness"] for entry in section["unsupported"]}
    shown = [entry["harness"] for entry in ranked if entry["harness"] not in refused]
    drawn["map"] = matrix.heat_map(section, shown, embedded)
    drawn["labels"] = matrix.labels(section, [entry["harness"] for entry in ranked])
    drawn["stops"] = _columns(section, "stops")
    drawn["drop"] = _drop(section, f"drop-{place}")
    drawn["contents"] = _contents(section, bool(drawn["map"]["judged"]))
    return drawn


def _drop(section: Section, name: str) -> dict[str, str] | None:
    """The waterfall of the trace; None without one, or while part of it is unknown."""
    from markupsafe import Markup  # lazy: slow import

    trace = section["trace"]
    drawn = {form: waterfall(name, trace, narrow=form == "narrow") for form in ("wide", "narrow") if trace}
    return {form: Markup(text) for form, text in drawn.items() if text is not None} or None


def _contents(section: Section, mapped: bool) -> list[tuple[str, str]]:
    """Anchor and name of the parts that a section has."""
    parts = [
        ("harnesses", "Harnesses", True),
        ("why", "Why", True),
        ("drop", "Worst drop", section["trace"] is not None),
        ("cells", "Task by task", mapped),
        ("external", "External harnesses", bool(section["externals"])),
        ("whose", "Who must act", True),
        ("lost", "Lost trials", True),
        ("health", "Endpoint", True),
        ("undone", "Not run", bool(section["unsupported"] or section["left_out"] or section["owed"])),
        ("ended", "Cost and tokens", True),
    ]
    return [(anchor, name) for anchor, name, there in parts if there]


def ranked_harnesses(section: Section) -> list[Section]:
    """The harnesses from the lowest score to the highest, those without a score last."""
    return sorted(section["harnesses"], key=lambda entry: (entry["estimate"] is None, entry["estimate"] or 0.0))


def _harness_row(entry: Section, section: Section) -> Row:
    members = section["worst"]["set"]
    separated = len(members) < section["n_harnesses"]
    colour = MARK if entry["canonical"] else BAD if separated and entry["harness"] in members else INK
    return _row(entry["harness"], entry, colour, wording.share(entry))


def _level_row(level: Section) -> Row:
    colour = effect_colour(level["effect"], level["p_adjusted"])
    told = effect_words.effect_phrase(level)
    return _row(effect_words.level_name(level), effect_words.effect_figures(level), colour, told)


def _row(label: str, values: Section, colour: str, said: str) -> Row:
    low, high = in_percent(values["low"]), in_percent(values["high"])
    return Row(label, 100 * values["estimate"], low, high, colour, said)


def _effect_scale(levels: Sequence[Section]) -> Scale:
    """A scale around zero that holds all intervals, in steps of five points."""
    ends = [value for row in levels for value in (row["effect"], row["low"], row["high"]) if value is not None]
    low, high = (5 * step for step in (math.floor(20 * min(0.0, *ends)), math.ceil(20 * max(0.0, *ends))))
    return Scale("effect on the score, percentage points", low - 1, high + 1, 0.0)


def _columns(section: Section, key: str) -> list[str]:
    """All names counted under `key` by any harness, the most frequent first."""
    totals: dict[str, int] = {}
    for entry in section["harnesses"]:
        for name, number in entry[key].items():
            totals[name] = totals.get(name, 0) + number
    return sorted(totals, key=lambda name: (-totals[name], name))

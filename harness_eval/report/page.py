"""The report as one self-contained HTML page: readable without a script, in light and dark, on paper and on a phone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from harness_eval.bundled import folder
from harness_eval.report import diagnosis_words, figures, findings, wording
from harness_eval.report.content import sections_of
from harness_eval.report.figures import BAD, GOOD, INK, MARK, MUTED, Row, Scale
from harness_eval.report.why import SIGNIFICANT
from harness_eval.types import Json

Section = Mapping[str, Json]

_LEVELS_DRAWN = 24
_TABLE_TASKS = 60  # above either size the table of cells becomes a picture
_TABLE_HARNESSES = 30


def page(data: Section) -> str:
    """The content of report.json as an HTML document."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # lazy: slow import

    environment = Environment(
        loader=FileSystemLoader(folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: _visible(value) if isinstance(value, str) else value,
    )
    template = environment.get_template("report.html.j2")
    sections = [(section, _drawings(section, place)) for place, section in enumerate(sections_of(data))]
    return template.render(data=data, sections=sections, findings=findings, diagnosis=diagnosis_words, wording=wording)


def _visible(text: str) -> str:
    """Text without control characters; markup that is already safe stays as it is."""
    return text if hasattr(text, "__html__") else wording.printable(text)


def _drawings(section: Section, place: int) -> dict[str, Json]:
    from markupsafe import Markup  # lazy: slow import

    ranked = ranked_harnesses(section)
    drawn: dict[str, Json] = {"id": f"endpoint-{place}", "ranked": ranked, "forest": None, "effects": None}
    rows = [_harness_row(entry, section) for entry in ranked if entry["estimate"] is not None]
    if rows:
        scale = Scale("score, percent of tasks", 0.0, 100.0, _percent(section["canonical"]["estimate"]))
        drawn["forest"] = _both(Markup, f"forest-{place}", rows, scale)
    levels = [row for row in section["axes"] if row["effect"] is not None][:_LEVELS_DRAWN]
    if levels:
        drawn["effects"] = _both(Markup, f"effects-{place}", [_level_row(row) for row in levels], _effect_scale(levels))
    drawn["map"] = _map(section, [entry["harness"] for entry in ranked if entry["verdict"] != "unsupported"])
    drawn["labels"] = _labels(section, [entry["harness"] for entry in ranked])
    drawn["stops"] = _columns(section, "stops")
    return drawn


def _both(markup: type[str], name: str, rows: Sequence[Row], scale: Scale) -> dict[str, str]:
    """The wide and the narrow form of one drawing; the page shows the one that fits."""
    return {form: markup(figures.forest(name, rows, scale, narrow=form == "narrow")) for form in ("wide", "narrow")}


def ranked_harnesses(section: Section) -> list[Section]:
    """The harnesses from the lowest score to the highest, those without a score last."""
    return sorted(section["harnesses"], key=lambda entry: (entry["estimate"] is None, entry["estimate"] or 0.0))


def _harness_row(entry: Section, section: Section) -> Row:
    members = section["worst"]["set"]
    separated = len(members) < section["n_harnesses"]
    colour = MARK if entry["canonical"] else BAD if separated and entry["harness"] in members else INK
    return _row(entry["harness"], entry, colour)


def _level_row(level: Section) -> Row:
    p = level["p_adjusted"]
    colour = MUTED if p is None or p >= SIGNIFICANT else BAD if level["effect"] < 0 else GOOD
    return _row(findings.level_name(level), findings.effect_figures(level), colour)


def _row(label: str, values: Section, colour: str) -> Row:
    low, high = _percent(values["low"]), _percent(values["high"])
    return Row(label, 100 * values["estimate"], low, high, colour)


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _effect_scale(levels: Sequence[Section]) -> Scale:
    """A scale around zero that holds all intervals, in steps of five points."""
    ends = [value for row in levels for value in (row["effect"], row["low"], row["high"]) if value is not None]
    low, high = (5 * step for step in (math.floor(20 * min(0.0, *ends)), math.ceil(20 * max(0.0, *ends))))
    return Scale("effect on the score, percentage points", low - 1, high + 1, 0.0)


def _map(section: Section, order: Sequence[str]) -> dict[str, Json]:
    """The cells, harnesses from worst to best and tasks from easiest to hardest, as a table or as a picture."""
    cells = section["cells"]
    by_name = dict(zip(cells["harnesses"], cells["score"], strict=True))
    rows = [by_name[name] for name in order]
    columns = range(len(cells["tasks"]))
    means = [_mean([row[column] for row in rows]) for column in columns]
    easiest = sorted(columns, key=lambda column: (means[column] is None, -(means[column] or 0.0), column))
    values = [[row[column] for column in easiest] for row in rows]
    small = len(easiest) <= _TABLE_TASKS and len(rows) <= _TABLE_HARNESSES
    judged = any(mean is not None for mean in means)
    return {
        "tasks": [cells["tasks"][column] for column in easiest],
        "means": [means[column] for column in easiest],
        "rows": list(zip(order, values, strict=True)),
        "small": small,
        "picture": figures.heat_map(values) if judged and not small else None,
    }


def _labels(section: Section, order: Sequence[str]) -> dict[str, Json]:
    """Labels by harness; a cell is the share of the harness's trials in four steps, None where it was not met."""
    run = {entry["harness"]: entry["judged"] + entry["lost"] for entry in section["harnesses"]}
    run |= {entry["harness"]: entry["run"] for entry in section["unsupported"] if entry["run"]}
    rows = []
    for row in section["labels"]:
        met = {harness: found["trials"] for harness, found in row["harnesses"].items()}
        cells = [_heat(met[name], run[name]) if name in met else None for name in order]
        rows.append((row["label"], row["effect"], cells))
    return {"harnesses": list(order), "rows": rows, "dense": len(order) > _TABLE_HARNESSES}


def _heat(trials: int, run: int) -> dict[str, int]:
    return {"trials": trials, "run": run, "step": max(1, math.ceil(4 * trials / max(run, trials)))}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _columns(section: Section, key: str) -> list[str]:
    """All names counted under `key` by any harness, the most frequent first."""
    totals: dict[str, int] = {}
    for entry in section["harnesses"]:
        for name, number in entry[key].items():
            totals[name] = totals.get(name, 0) + number
    return sorted(totals, key=lambda name: (-totals[name], name))

"""A comparison as one self-contained HTML page, in the look of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from harness_eval.report import comparison_details, comparison_words, effect_words, wording
from harness_eval.report.comparison_figures import Pair, Point, dumbbells, intervals
from harness_eval.report.figures import (
    BAD,
    GOOD,
    INK,
    LEVELS_DRAWN,
    MUTED,
    Row,
    Scale,
    both_forms,
    effect_colour,
    forest,
    in_percent,
)
from harness_eval.report.templating import as_html
from harness_eval.types import Json

Data = Mapping[str, Json]

SPOKEN = {  # by its templates
    "words": comparison_words,
    "details": comparison_details,
    "effect_words": effect_words,
    "wording": wording,
}
_COLOURS = {"better": GOOD, "narrower": GOOD, "worse": BAD, "wider": BAD, "no difference seen": MUTED}
_DRAWN = {"worst": "WORST", "mean": "MEAN", "canonical": "CANONICAL", "gap": "GAP", "spread": "SPREAD"}


def page(data: Data) -> str:
    """The content of comparison.json as an HTML document that needs no script and loads nothing."""
    return as_html().get_template("comparison.html.j2").render(data=data, drawn=_drawings(data), **SPOKEN)


def _drawings(data: Data) -> dict[str, dict[str, str] | None]:
    leading = [
        Pair(name, _point(data["figures"][key]["before"]), _point(data["figures"][key]["after"]), _dark(key, data))
        for key, name in _DRAWN.items()
        if data["figures"][key]["change"]["estimate"] is not None
    ]
    moved = [
        Pair(row["harness"], _point(row["before"]), _point(row["after"]), _COLOURS.get(row["verdict"], INK))
        for row in data["harnesses"]
        if row["change"]["estimate"] is not None
    ]
    levels = [_level_row(row) for row in data["levels"]["rows"] if row["change"]["estimate"] is not None]
    score = Scale("percent of tasks; of GAP and SPREAD percentage points", 0.0, 100.0)
    plain = Scale("plain mean over the common tasks, percent", 0.0, 100.0)
    shown = levels[:LEVELS_DRAWN]
    return {
        "leading": both_forms(intervals, "leading", leading, score) if leading else None,
        "harnesses": both_forms(dumbbells, "harnesses", moved, plain) if moved else None,
        "levels": both_forms(forest, "levels", shown, _around_zero(shown)) if shown else None,
    }


def _dark(key: str, data: Data) -> str:
    colour = _COLOURS.get(data["figures"][key]["verdict"], INK)
    return INK if colour == MUTED or (key == "gap" and comparison_words.levelled_down(data)) else colour


def _point(found: Data) -> Point:
    return Point(100 * found["estimate"], in_percent(found["low"]), in_percent(found["high"]))


def _level_row(level: Data) -> Row:
    found = level["change"]
    colour = effect_colour(found["estimate"], level["p_adjusted"])
    low, high = in_percent(found["low"]), in_percent(found["high"])
    return Row(effect_words.level_name(level), 100 * found["estimate"], low, high, colour)


def _around_zero(rows: Sequence[Row]) -> Scale:
    """A scale around zero that holds all intervals, in steps of five points."""
    ends = [value for row in rows for value in (row.estimate, row.low, row.high) if value is not None]
    low, high = 5 * math.floor(min(0.0, *ends) / 5), 5 * math.ceil(max(0.0, *ends) / 5)
    return Scale("change of the effect on the score, percentage points", low - 1.0, high + 1.0, 0.0)

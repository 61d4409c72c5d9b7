"""A comparison as one self-contained HTML page, in the look of the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from harness_eval.report import comparison_details, comparison_words, effect_words, wording
from harness_eval.report.comparison_figures import Pair, Point, dumbbells, intervals
from harness_eval.report.figures import BAD, GOOD, INK, MUTED, Row, Scale, forest
from harness_eval.report.templating import as_html
from harness_eval.types import Json

Data = Mapping[str, Json]

_LEVELS_DRAWN = 24
_COLOURS = {"better": GOOD, "narrower": GOOD, "worse": BAD, "wider": BAD, "no difference seen": MUTED}
_DRAWN = {"worst": "WORST", "mean": "MEAN", "canonical": "CANONICAL", "gap": "GAP", "spread": "SPREAD"}


def page(data: Data) -> str:
    """The content of comparison.json as an HTML document that needs no script and loads nothing."""
    spoken = {
        "words": comparison_words,
        "details": comparison_details,
        "effect_words": effect_words,
        "wording": wording,
    }
    return as_html().get_template("comparison.html.j2").render(data=data, drawn=_drawings(data), **spoken)


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
    shown = levels[:_LEVELS_DRAWN]
    return {
        "leading": _both(lambda narrow: intervals("leading", leading, score, narrow=narrow)) if leading else None,
        "harnesses": _both(lambda narrow: dumbbells("harnesses", moved, plain, narrow=narrow)) if moved else None,
        "levels": _both(lambda narrow: forest("levels", shown, _around_zero(shown), narrow=narrow)) if shown else None,
    }


def _both(draw: Callable[[bool], str]) -> dict[str, str]:
    """The wide and the narrow form of one drawing; the page shows the one that fits."""
    from markupsafe import Markup  # lazy: slow import

    return {"wide": Markup(draw(False)), "narrow": Markup(draw(True))}


def _dark(key: str, data: Data) -> str:
    colour = _COLOURS.get(data["figures"][key]["verdict"], INK)
    return INK if colour == MUTED or (key == "gap" and comparison_words.levelled_down(data)) else colour


def _point(found: Data) -> Point:
    return Point(100 * found["estimate"], _percent(found["low"]), _percent(found["high"]))


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _level_row(level: Data) -> Row:
    found = level["change"]
    sure = comparison_details.surely(level)
    colour = (BAD if found["estimate"] < 0 else GOOD) if sure else MUTED
    return Row(
        effect_words.level_name(level), 100 * found["estimate"], _percent(found["low"]), _percent(found["high"]), colour
    )


def _around_zero(rows: Sequence[Row]) -> Scale:
    """A scale around zero that holds all intervals, in steps of five points."""
    ends = [value for row in rows for value in (row.estimate, row.low, row.high) if value is not None]
    low, high = 5 * math.floor(min(0.0, *ends) / 5), 5 * math.ceil(max(0.0, *ends) / 5)
    return Scale("change of the effect on the score, percentage points", low - 1.0, high + 1.0, 0.0)

"""The drawing of a trace: from the canonical score down to the worst one, a bar a change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness_eval.report import figures, traced_words
from harness_eval.report.effect_words import level_name
from harness_eval.report.figures import BAD, MARK, MUTED, RULE, Scale, effect_colour, in_percent
from harness_eval.report.wording import one_line, percent, points
from harness_eval.types import Json

Section = Mapping[str, Json]

_THICK = 0.44  # of a bar, where rows are 1 apart
_LEAST = 0.0005  # a change of less has no bar that could be seen


@dataclass(frozen=True, slots=True)
class _Step:
    """A bar from `start` over `size`, in percent, with the limits of its end; without a size a point at `start`.

    `said` is its number beside it.
    """

    label: str
    start: float
    size: float | None
    low: float | None
    high: float | None
    colour: str
    said: str
    last: bool = False


def waterfall(name: str, trace: Section, *, narrow: bool = False) -> str | None:
    """Both ends as points and each change as a bar from where the one before ended, as inline SVG (class `figure`).

    None while a change or an end is unknown: the bars would not lead from one end to the other.
    """
    known = [trace["from"], trace["to"], trace["residual"], *({"estimate": row["effect"]} for row in trace["axes"])]
    if any(figure["estimate"] is None for figure in known):
        return None
    steps = _steps(trace)
    return figures.lines(name, steps, _scale(steps), _draw, narrow=narrow)


def _steps(trace: Section) -> list[_Step]:
    """The canonical end, the changes, what they leave over, and the worst end."""
    steps, at = [_end(trace["canonical"], trace["from"], MARK)], 100 * trace["from"]["estimate"]
    rows = [(_short(row), row["effect"], row, effect_colour(row["effect"], row["p_adjusted"])) for row in trace["axes"]]
    if traced_words.tests_what_is_left(trace):
        rows.append((traced_words.LEFT_OVER, trace["residual"]["estimate"], trace["residual"], MUTED))
    for label, size, limits, colour in rows:
        low, high = (None if limits[key] is None else at + 100 * limits[key] for key in ("low", "high"))
        seen = size if abs(size) >= _LEAST else 0.0
        steps.append(_Step(label, at, 100 * seen, low, high, colour, points(size, signed=True)))
        at += 100 * size
    return [*steps, replace(_end(trace["harness"], trace["to"], BAD), last=True)]


def _short(row: Section) -> str:
    """A change as a drawing has room for it: axes that change together without their levels."""
    return one_line(row["axis"]) if row["tied"] else level_name(row)


def _end(name: str, score: Section, colour: str) -> _Step:
    low, high = in_percent(score["low"]), in_percent(score["high"])
    return _Step(name, 100 * score["estimate"], None, low, high, colour, percent(score["estimate"]))


def _draw(axes: Any, place: int, step: _Step) -> None:
    end = step.start + (step.size or 0.0)
    if step.low is not None and step.high is not None:
        axes.plot([step.low, step.high], [place] * 2, color=step.colour, linewidth=1.6, solid_capstyle="round")
    if step.size is None:
        axes.plot([end], [place], "o", color=step.colour, markersize=5.2, clip_on=False)
    elif step.size:
        axes.barh(place, step.size, left=step.start, height=_THICK, color=step.colour, alpha=0.45, linewidth=0)
    else:
        axes.plot([end] * 2, [place - _THICK / 2, place + _THICK / 2], color=step.colour, linewidth=1.6)
    if not step.last:
        axes.plot([end] * 2, [place, place + 1], color=RULE, linewidth=1.0, zorder=0.5)


def _scale(steps: list[_Step]) -> Scale:
    """Tens of percent that hold every bar and limit; the line stands at the canonical score."""
    ends = [step.start + (step.size or 0.0) for step in steps]
    ends += [end for step in steps for end in (step.low, step.high) if end is not None]
    low, high = 10 * math.floor(min(ends) / 10), 10 * math.ceil(max(ends) / 10)
    return Scale("score, percent of tasks", low - 1, max(high, low + 10) + 1, steps[0].start)

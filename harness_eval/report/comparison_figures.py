"""The drawings of a comparison: each row shows one figure in the first run and in the second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness_eval.report.figures import INK, MUTED, Scale, lines

_LANE = 0.15  # rows from the middle of a row to each of its two intervals


@dataclass(frozen=True, slots=True)
class Point:
    """An estimate with its interval, in the unit of the axis."""

    estimate: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """One row: a label, the figure before and after, and the colour of the latter."""

    label: str
    before: Point
    after: Point
    colour: str = INK


def dumbbells(name: str, rows: Sequence[Pair], scale: Scale, *, narrow: bool = False) -> str:
    """A tick for the first run, a line, and a point for the second, one row each, as inline SVG."""
    return lines(name, rows, scale, _dumbbell, narrow=narrow)


def intervals(name: str, rows: Sequence[Pair], scale: Scale, *, narrow: bool = False) -> str:
    """Both runs with their intervals, the first above the second within a row, as inline SVG."""
    return lines(name, rows, scale, _intervals, narrow=narrow)


def _dumbbell(axes: Any, place: int, row: Pair) -> None:
    ends = [row.before.estimate, row.after.estimate]
    axes.plot(ends, [place] * 2, color=row.colour, linewidth=2.0, solid_capstyle="butt", clip_on=False)
    _tick(axes, row.before.estimate, place, row.colour)
    axes.plot(ends[1:], [place], "o", color=row.colour, markersize=6.0, clip_on=False, zorder=4)


def _intervals(axes: Any, place: int, row: Pair) -> None:
    for lane, point, colour in ((-_LANE, row.before, MUTED), (_LANE, row.after, row.colour)):
        if point.low is not None and point.high is not None:
            ends = [point.low, point.high]
            axes.plot(ends, [place + lane] * 2, color=colour, linewidth=1.6, solid_capstyle="round", clip_on=False)
    _tick(axes, row.before.estimate, place - _LANE, MUTED)
    axes.plot([row.after.estimate], [place + _LANE], "o", color=row.colour, markersize=5.2, clip_on=False, zorder=4)


def _tick(axes: Any, at: float, place: float, colour: str) -> None:
    axes.plot([at], [place], "|", color=colour, markersize=8.0, markeredgewidth=2.0, clip_on=False, zorder=3)

"""The drawings of a report: inline SVG that takes its colours and its font from the page around it.

Colours are drawn as placeholders and then replaced by the page's CSS variables, so that one drawing serves light, dark
and print. Every drawing is decorated with a description; its numbers stand in a table beside it.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from harness_eval.report.why import significant
from harness_eval.report.wording import one_line

# Placeholder -> CSS variable. The values only have to be unique and unlikely.
_COLOURS = ("ink", "muted", "rule", "mark", "good", "bad")
INK, MUTED, RULE, MARK, GOOD, BAD = (f"#{place:02x}0203" for place in range(1, 1 + len(_COLOURS)))
_VARIABLES = {f"#{place:02x}0203": f"var(--{name})" for place, name in enumerate(_COLOURS, start=1)}
UNSOLVED, MISSING = (190, 74, 48), (140, 148, 156)  # red, green, blue
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "text.parse_math": False,
}
_ROW_INCHES = 0.27
_FOOT_INCHES = 0.45
_CHARACTER_INCHES = 0.078  # of the widest usual font
_LABEL_LENGTH = 34
LEVELS_DRAWN = 24  # of a drawing of effects
_DENSE = 32  # rows, above which they stand closer in the wide form


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a forest plot: a label, an estimate with its interval (same unit as the axis), and a colour."""

    label: str
    estimate: float
    low: float | None
    high: float | None
    colour: str = INK
    said: str = ""  # the numbers in words, at the right of the wide form


class Labelled(Protocol):
    """What every row has, whatever is drawn in it."""

    @property
    def label(self) -> str:
        """What stands beside it, or above it."""

    @property
    def colour(self) -> str:
        """Of the label."""


AnyRow = TypeVar("AnyRow", bound=Labelled)


@dataclass(frozen=True, slots=True)
class Scale:
    """The horizontal axis: its caption, its range, and the value at which a reference line stands (None: no line)."""

    caption: str
    low: float
    high: float
    reference: float | None = None


def forest(name: str, rows: Sequence[Row], scale: Scale, *, narrow: bool = False) -> str:
    """Points with intervals, one row each from top to bottom, as inline SVG; `lines` says more."""
    return lines(name, rows, scale, _draw, narrow=narrow)


def lines(
    name: str, rows: Sequence[AnyRow], scale: Scale, draw: Callable[[Any, int, AnyRow], None], *, narrow: bool = False
) -> str:
    """Rows with their labels beside a common scale, each drawn by `draw(axes, place, row)`, as inline SVG.

    `name` makes the element ids unique within a page (class `figure`). The narrow form writes each label above its
    row, so that it can be read at the width of a telephone.
    """
    from matplotlib import rc_context  # lazy: slow import
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # lazy: slow import
    from matplotlib.figure import Figure  # lazy: slow import

    dense = len(rows) > _DENSE
    width, pitch = (3.5, 1.75 * _ROW_INCHES) if narrow else (8.6, _ROW_INCHES * (0.75 if dense else 1))
    height = len(rows) * pitch + _FOOT_INCHES
    longest = max((len(one_line(row.label, _LABEL_LENGTH)) for row in rows), default=0)
    gutter = 0.02 if narrow else (0.25 + _CHARACTER_INCHES * longest) / width
    said = "" if narrow else max((getattr(row, "said", "") for row in rows), key=len, default="")
    right = (0.2 + _CHARACTER_INCHES * len(said)) / width if said else 0.03
    with rc_context(_SETTINGS | {"font.size": 8.0 if dense and not narrow else 9.0}):
        figure = Figure(figsize=(width, height))
        FigureCanvasSVG(figure)
        axes = figure.add_axes((gutter, _FOOT_INCHES / height, 1 - right - gutter, 1 - _FOOT_INCHES / height))
        _frame(axes, scale, len(rows))
        for place, row in enumerate(rows):
            draw(axes, place, row)
            _label(axes, place, row, above=narrow)
            if said:
                _say(axes, place, getattr(row, "said", ""))
        return _inline(figure, f"{name}-narrow" if narrow else name)


def both_forms(draw: Callable[..., str], name: str, rows: Sequence[AnyRow], scale: Scale) -> dict[str, str]:
    """The wide and the narrow form of one drawing; the page shows the one that fits."""
    from markupsafe import Markup  # lazy: slow import

    return {form: Markup(draw(name, rows, scale, narrow=form == "narrow")) for form in ("wide", "narrow")}


def in_percent(value: float | None) -> float | None:
    """A proportion in the unit of the scales."""
    return None if value is None else 100 * value


def effect_colour(effect: float, p_adjusted: float | None) -> str:
    """What costs and what gains, as far as it stands out from noise."""
    return MUTED if not significant(p_adjusted) else BAD if effect < 0 else GOOD


def _frame(axes: Any, scale: Scale, count: int) -> None:
    axes.set_facecolor("none")
    axes.set_xlim(scale.low, scale.high)
    axes.set_ylim(count - 0.4, -0.7)
    axes.set_yticks([])
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(RULE)
    axes.tick_params(axis="x", colors=MUTED, length=3, width=0.8, labelsize=8)
    axes.set_xlabel(scale.caption, color=MUTED, fontsize=8)
    axes.xaxis.grid(visible=True, color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    if scale.reference is not None:
        axes.axvline(scale.reference, color=MARK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)


def _draw(axes: Any, place: int, row: Row) -> None:
    if row.low is not None and row.high is not None:
        ends = [row.low, row.high]
        axes.plot(ends, [place] * 2, color=row.colour, linewidth=1.6, solid_capstyle="round", clip_on=False)
    axes.plot([row.estimate], [place], "o", color=row.colour, markersize=5.2, clip_on=False)


def _say(axes: Any, place: int, said: str) -> None:
    """Numbers at the right of a row."""
    across = axes.get_yaxis_transform()
    how = {"xycoords": across, "textcoords": "offset points", "va": "center", "color": MUTED, "annotation_clip": False}
    axes.annotate(said, (1.0, float(place)), xytext=(10, 0), **how)


def _label(axes: Any, place: int, row: Labelled, *, above: bool) -> None:
    if above:
        at, offset, align = (0.0, place - 0.42), (0, 0), "left"
    else:
        at, offset, align = (0.0, float(place)), (-8, 0), "right"
    axes.annotate(
        one_line(row.label, _LABEL_LENGTH),
        at,
        xytext=offset,
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        ha=align,
        va="center",
        color=row.colour,
        annotation_clip=False,
    )


def _inline(figure: Any, name: str) -> str:
    """The figure as an SVG element for an HTML page: no prolog, no namespaces, ids of its own, colours of the page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<style[^>]*>.*?</style>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"font-family: [^;\"]*;? ?", "", text)
    text = text.replace("xlink:href", "href").replace(' id="', f' id="{name}-')
    text = text.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    for placeholder, variable in _VARIABLES.items():
        text = text.replace(placeholder, variable)
    view = re.search(r'viewBox="([^"]+)"', text)
    body = text[text.index(">") + 1 :].strip()
    box = view.group(1) if view else "0 0 1 1"
    return f'<svg class="figure" viewBox="{box}" aria-hidden="true" focusable="false">{body}'


def heat_map(values: Sequence[Sequence[float | None]]) -> str:
    """A picture with one pixel a cell, rows as given, as the text of a data address.

    A pixel covers the page's colour of what was solved the more, the less of the cell was solved (scores are 0..1), so
    that one picture serves light and dark; a cell without a value is grey.
    """
    import numpy  # lazy: slow import
    from matplotlib.image import imsave  # lazy: slow import

    score = numpy.array([[numpy.nan if value is None else value for value in row] for row in values], dtype=float)
    known = ~numpy.isnan(score)
    colours = numpy.where(known[..., None], UNSOLVED, MISSING)
    cover = numpy.where(known, 1 - numpy.where(known, score, 0.0), 1.0)
    pixels = numpy.concatenate([colours, 255.0 * cover[..., None]], axis=2).round().astype(numpy.uint8)
    buffer = io.BytesIO()
    imsave(buffer, pixels, format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()

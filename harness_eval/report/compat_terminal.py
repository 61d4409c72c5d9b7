"""A compatibility matrix as plain text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from harness_eval.report import compat_words as words
from harness_eval.report.columns import WIDTH, cut, inert, wrapped
from harness_eval.report.compat_grid import ORDER, Data, Grid, Place, grid, worst_first
from harness_eval.report.compat_sentences import sentences
from harness_eval.report.wording import one_line

_HEAD = 30  # characters of the names at the side
_COLUMN = 19  # characters of a place at least
_LINES = 40  # of the matrix
_MODELS = 10
_NOTES = 6
_SHOWN = 4  # harnesses of a model


def compat_text(data: Data) -> str:
    """The content of compatibility.json as plain text for a terminal."""
    found = grid(data)
    lines = [line for sentence in sentences(found, data) for line in textwrap.wrap(sentence, WIDTH)]
    lines += ["", *_matrix(found), *_models(found)]
    lines += wrapped("MEASURED", words.facts(data))
    for place, note in enumerate(data["notes"][:_NOTES]):
        lines += wrapped("" if place else "NOTES", words.told(note))
    return "\n".join(inert(cut(line)) for line in lines) + "\n"


def _matrix(found: Grid) -> list[str]:
    """The matrix itself, where it has room: models down the side, else harnesses."""
    for lines, of_model in ((found.rows, True), (found.columns, False)):
        if lines and lines[0] and _HEAD + len(lines[0]) * _COLUMN <= WIDTH and len(lines) <= _LINES:
            return _drawn(lines, of_model)
    return []


def _drawn(lines: Sequence[Sequence[Place]], of_model: bool) -> list[str]:
    width = min(2 * _COLUMN, (WIDTH - _HEAD) // len(lines[0]))
    top = [one_line(_side(place, not of_model), width - 2) for place in lines[0]]
    drawn = [" " * _HEAD + _row(top, width)]
    for line in lines:
        name = one_line(_side(line[0], of_model), _HEAD - 2)
        drawn.append(f"{name:{_HEAD}}{_row([_place(place) for place in line], width)}")
    key = "points to canonical, of canonical itself the score · ° stale · * stands out from noise over the whole matrix"
    return [*(line.rstrip() for line in drawn), key, ""]


def _side(place: Place, of_model: bool) -> str:
    return words.subject_title(place.subject) if of_model else words.name(place.harness["name"])


def _row(fields: Sequence[str], width: int) -> str:
    return "".join(f"{field:{width}}" for field in fields)


def _place(place: Place) -> str:
    if place.cell is None:
        return "· not tried"
    marks = ("°" if place.cell["stale"] else "") + ("*" if place.cell["flagged"] else "")
    figure = words.short_figure(place)
    return one_line(f"{words.symbol(place)} {words.word(place)}{f' {figure}' if figure else ''}{marks}", _COLUMN - 1)


def _models(found: Grid) -> Iterator[str]:
    """What is not compatible, model by model."""
    for row in found.rows[:_MODELS]:
        yield from _model(row)
    if len(found.rows) > _MODELS:
        yield f"{len(found.rows) - _MODELS} more models in the report (--out)"
        yield ""


def _model(row: Sequence[Place]) -> Iterator[str]:
    if not row:
        return
    yield f"{words.subject_title(row[0].subject)}: {words.counts_phrase(row)}"
    bad = [place for place in worst_first(row) if place.kind in ORDER and place.kind != "compatible"]
    for place in bad[:_SHOWN]:
        harness = one_line(words.name(place.harness["name"]), 28)
        yield f"  {harness:<30}{words.symbol(place)} {words.whole_phrase(place)}"
    if len(bad) > _SHOWN:
        yield f"  and {len(bad) - _SHOWN} more"
    yield ""

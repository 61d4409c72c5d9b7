"""A compatibility matrix as Markdown that fits a README or a comment on a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_eval.report import compat_grid, compat_words, wording
from harness_eval.report.compat_grid import Data, Grid, Place, grid, worst_first
from harness_eval.report.compat_sentences import sentences
from harness_eval.report.markdown import MOST_CHARACTERS, first_that_fits
from harness_eval.report.templating import Ready, filled_markdown, name, prose

_WIDEST = 8  # columns of a table that can be read on a page
_CUT = "\n\n**Cut here**: the JSON beside this holds all of it.\n"
_SHORTEST = 130  # characters of a line in the table of numbers
_NAMED = 4  # harnesses of one verdict on a line


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is shown: cells in the table of numbers, lines of the matrix, and names and links in it."""

    cells: int
    lines: int
    named: int = _NAMED
    signs: bool = True
    linked: bool = True


def markdown(data: Data, title: str | None = "Compatibility") -> str:
    """The content of compatibility.json as GitHub-flavoured Markdown below 60,000 characters.

    The table of all numbers is cut first, with a sentence that says so; then links in the matrix, then the matrix.
    """
    found = grid(data)
    sizes = _tried(found, len(data["cells"]))
    return first_that_fits((_rendered(data, found, each, title) for each in sizes), _CUT)


def _tried(found: Grid, cells: int) -> list[Sizes]:
    lines = _lines(found)
    most = min(cells, MOST_CHARACTERS // _SHORTEST)
    tried = [Sizes(most >> halved, lines) for halved in range(most.bit_length() + 1)]
    tried += [Sizes(0, lines, linked=False), Sizes(0, lines, signs=False, linked=False)]
    tried += [Sizes(0, lines >> halved, 1, False, False) for halved in range(lines.bit_length())]
    return tried


def _wide(found: Grid) -> bool:
    return found.across > _WIDEST


def _lines(found: Grid) -> int:
    """How many lines the matrix has."""
    return len(found.subjects if _wide(found) else found.lines)


def _rendered(data: Data, found: Grid, sizes: Sizes, title: str | None) -> str:
    cells = worst_first(found.places)
    return filled_markdown(
        "compat.md.j2",
        data=data,
        grid=found,
        title=title,
        sizes=sizes,
        wide=_wide(found),
        missing=_lines(found) - sizes.lines,
        ready=Ready,
        cells=cells[: sizes.cells],
        hidden=len(cells) - sizes.cells,
        words=compat_words,
        sentences=sentences,
        wording=wording,
        order=compat_grid.ORDER,
        linked=_linked,
        marks=_marks,
        matrix_cell=_matrix_cell,
        named=_named,
    )


def _linked(text: str, address: str | None) -> Ready:
    """Our own words as a link, where there is an address."""
    target = compat_words.link(address)
    return Ready(f"[{prose(text)}]({target})" if target else prose(text))


def _marks(place: Place) -> str:
    """What stands behind a verdict: that it is stale, that it stands out."""
    cell = place.cell or {}
    parts = [compat_words.FLAG] if cell.get("flagged") else []
    return "".join(f" {part}" for part in [*parts, *([compat_words.STALE] if cell.get("stale") else [])])


def _matrix_cell(place: Place, linked: bool) -> Ready:
    """A place of the matrix: sign, word, marks, difference."""
    said = f"{compat_words.symbol(place)} {compat_words.word(place)}"
    address = place.cell["evidence"] if place.cell is not None and linked else None
    figure = compat_words.figure_phrase(place)
    return Ready(f"{_linked(said, address)}{_marks(place)}" + (f"<br>{prose(figure)}" if figure else ""))


def _named(row: Sequence[Place], kind: str, most: int) -> Ready:
    """How many harnesses of a row have a verdict, the first of them by name."""
    found = worst_first([place for place in row if place.kind == kind])
    if not found or kind == "compatible":
        return Ready(len(found) or "")
    shown = ", ".join(f"{name(compat_words.name(place.harness['name']))}{_marks(place)}" for place in found[:most])
    return Ready(f"{len(found)}: {shown}" + (f" and {len(found) - most} more" if len(found) > most else ""))

"""What commands share: the `--json` flag, results on stdout, everything else on stderr."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, TypeAlias

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness_eval import recording
from harness_eval.report.columns import inert
from harness_eval.report.wording import printable
from harness_eval.types import Json

_MARK = re.compile(r"#(?=#\w*\[)")  # begins a command in the logs of some CI systems; in JSON it stands in texts alone
JsonFlag: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON on stdout; everything else on stderr.")]


def say(text: str) -> None:
    """A line for the reader that is no result; what it quotes can steer neither a terminal nor a CI system."""
    print(inert(printable(text, keep="\n")), file=sys.stderr, flush=True)


def print_json(value: Json) -> None:
    """A value as indented JSON on stdout."""
    print(_MARK.sub(r"\\u0023", recording.dump(value, pretty=True).decode()), flush=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows as a plain table on stdout; None is shown as a dash, and what steers terminals as blanks.

    In a terminal long cells are folded; a file or pipe gets one line a row, in columns, as long as it is.
    """
    if not sys.stdout.isatty():
        _print_lines(columns, rows)
        return
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text("-" if cell is None else printable(cell, keep="\n")) for cell in row))
    out().print(table)


def _print_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    lines = [list(columns), *map(texts_of, rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for texts in lines:
        print_line(texts, widths)


def texts_of(row: Sequence[object]) -> list[str]:
    """The cells of a row as they stand in one line; None as a dash."""
    return ["-" if cell is None else printable(cell) for cell in row]


def print_line(texts: Sequence[str], widths: Sequence[int]) -> None:
    """One line of a table on stdout; a text that is longer than its column takes the room that it needs."""
    sized = (set_cell_size(text, max(width, cell_len(text))) for text, width in zip(texts, widths, strict=True))
    print("  ".join(sized).rstrip())


def out() -> Console:
    """The console of stdout; into a file or pipe it writes no colours, and wide lines rather than folded ones."""
    return Console(soft_wrap=False, highlight=False, width=None if sys.stdout.isatty() else 200)

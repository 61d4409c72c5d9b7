"""Lines of a terminal: a column of names, the text beside it, and how wide they may be."""

from __future__ import annotations

import re
import textwrap

NAME = 12  # characters of the column in which a line is named
WIDTH = 110
_WIDEST = 140  # of a line that is not wrapped
# As the logs of GitHub, Azure and TeamCity are read for commands.
_COMMAND = re.compile(r"(?m)^([^\S\n]*:)(?=:)|#(?=#\w*\[)")


def wrapped(name: str, text: str, *, hyphens: bool = True) -> list[str]:
    """A named paragraph: the name in its column, the text beside it; `hyphens` are places to break at."""
    lines = textwrap.wrap(text, WIDTH - NAME, break_on_hyphens=hyphens)
    return [f"{'' if place else name:{NAME}}{line}" for place, line in enumerate(lines)]


def cut(line: str, most: int = _WIDEST) -> str:
    """A line with what is too long for its place left out at its end."""
    return line if len(line) <= most else f"{line[: most - 1]}…"


def inert(text: str) -> str:
    """Text of which no CI system takes a line for a command of its own, whatever names stand in it."""
    return _COMMAND.sub(lambda found: f"{found.group()} ", text)

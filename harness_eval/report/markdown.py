"""The report as Markdown that fits a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness_eval.report.content import sections_of
from harness_eval.report.spoken import SPOKEN
from harness_eval.report.templating import filled_markdown
from harness_eval.types import Json

MOST_CHARACTERS = 60_000  # a comment on GitHub holds 65,536
_ROWS = (12, 8, 4, 2, 1)  # of a table, tried in turn until all fits
_CUT = "\n\n**Cut here**: the rest stands in report.html.\n"


def markdown(data: Mapping[str, Json], run: str = "RUN") -> str:
    """The content of report.json as GitHub-flavoured Markdown that fits a comment.

    Of long tables the first rows are shown, and how many more there are; of very many endpoints the first.
    `run` is the run's folder as a command line names it.
    """
    every = sections_of(data)
    sizes = [(most, len(every)) for most in _ROWS]
    sizes += [(_ROWS[-1], len(every) >> halved) for halved in range(1, len(every).bit_length())]
    return first_that_fits((_rendered(data, run, most, every[:shown]) for most, shown in sizes), _CUT)


def first_that_fits(texts: Iterable[str], cut: str) -> str:
    """The first text that fits a comment; where none does, the last one as far as it fits, and then `cut`."""
    text = ""
    for text in texts:
        if len(text) < MOST_CHARACTERS:
            return text
    return text[: MOST_CHARACTERS - len(cut) - 1].rpartition("\n")[0] + cut


def _rendered(data: Mapping[str, Json], run: str, most: int, sections: Sequence[Mapping[str, Json]]) -> str:
    every = sections_of(data)
    return filled_markdown(
        "report.md.j2",
        data=data,
        run=run,
        sections=sections,
        every=every,
        several=len(every) > 1,
        missing=len(every) - len(sections),
        most=most,
        **SPOKEN,
    )

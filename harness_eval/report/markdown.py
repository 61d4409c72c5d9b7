"""The report as Markdown that fits a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from harness_eval.bundled import folder
from harness_eval.diagnosis.labels import LABELS
from harness_eval.report import (
    designed,
    diagnosis_words,
    effect_words,
    findings,
    overview,
    spending,
    traced_words,
    undone,
    wording,
)
from harness_eval.report.content import sections_of
from harness_eval.types import Json

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CHARACTERS = 60_000  # a comment on GitHub holds 65,536
_ROWS = (12, 8, 4, 2, 1)  # of a table, tried in turn until all fits
_NAME = 120  # characters of a name from outside
_CUT = "\n\n**Cut here**: the rest stands in report.html.\n"
_PLAIN = re.compile(r"[\w .,:;/=+()@#%*-]*")
_MARKUP = re.compile(r"[|`*_\\~@#]|<(?=\S)|&(?=\S)|\[(?=[^\]]*\]\()|\](?=\()")
_IDENTIFIER = re.compile(r"(?<![\w.&;-])[a-z][a-z0-9]*(?:[._][a-z0-9]+)+(?![\w-])|(?<![\w-])--[a-z][a-z-]+")
_SPECIAL = re.compile(r"[^\w .,:;/=+%'-]", re.ASCII)


def name(text: object) -> str:
    """Text from outside as code on one line: it can break no table, be no markup and call nobody."""
    line = wording.one_line(text, _NAME)
    if line and _PLAIN.fullmatch(line):
        return f"`{line}`"
    return f"<code>{_SPECIAL.sub(lambda found: f'&#{ord(found.group())};', line)}</code>"


def prose(value: object) -> str:
    """Our own words with foreign names among them: entities for whatever Markdown or HTML would read as markup.

    Names of checks and labels become code, which needs no entities.
    """
    text, done = wording.printable(value), 0
    parts: list[str] = []
    for found in _IDENTIFIER.finditer(text):
        parts += [_escaped(text[done : found.start()]), _code(found.group())]
        done = found.end()
    return "".join([*parts, _escaped(text[done:])])


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: f"&#{ord(found.group())};", text)


def _code(identifier: str) -> str:
    known = "_" in identifier or identifier.startswith("--") or identifier in LABELS
    return f"`{identifier}`" if known else _escaped(identifier)


def markdown(data: Mapping[str, Json], run: str = "RUN") -> str:
    """The content of report.json as GitHub-flavoured Markdown that fits a comment.

    Of long tables the first rows are shown, and how many more there are; of very many endpoints the first.
    `run` is the run's folder as a command line names it.
    """
    every = sections_of(data)
    sizes = [(most, len(every)) for most in _ROWS]
    sizes += [(_ROWS[-1], len(every) >> halved) for halved in range(1, len(every).bit_length())]
    for most, shown in sizes:
        text = _rendered(data, run, most, every[:shown])
        if len(text) <= MOST_CHARACTERS:
            return text
    return text[: MOST_CHARACTERS - len(_CUT)].rpartition("\n")[0] + _CUT


def _rendered(data: Mapping[str, Json], run: str, most: int, sections: Sequence[Mapping[str, Json]]) -> str:
    every = sections_of(data)
    text = (
        _environment()
        .get_template("report.md.j2")
        .render(
            data=data,
            run=run,
            sections=sections,
            every=every,
            several=len(every) > 1,
            missing=len(every) - len(sections),
            most=most,
            designed=designed,
            effect_words=effect_words,
            findings=findings,
            diagnosis=diagnosis_words,
            overview=overview,
            traced=traced_words,
            spending=spending,
            undone=undone,
            wording=wording,
        )
    )
    return re.sub(r"\n{3,}", "\n\n", text)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # lazy: slow import

    environment = Environment(
        loader=FileSystemLoader(folder("templates")),
        autoescape=False,  # this is Markdown: `finalize` escapes every expression instead
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Ready) else prose(value),
    )
    environment.filters["name"] = lambda text: Ready(name(text))
    environment.tests["left_out"] = undone.is_left_out
    return environment


class Ready(str):
    """Markdown that needs no further escaping."""

    __slots__ = ()

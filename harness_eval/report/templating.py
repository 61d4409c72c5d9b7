"""How templates are filled, as HTML or as Markdown: whatever comes from outside is escaped, in both."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from harness_eval.bundled import folder
from harness_eval.diagnosis.labels import LABELS
from harness_eval.report import undone, wording

if TYPE_CHECKING:
    from jinja2 import Environment

_NAME = 120  # characters of a name from outside
_PLAIN = re.compile(r"[\w .,:;/=+()@#%*-]*")
_MARKUP = re.compile(r"[|`*_\\~@#]|<(?=\S)|&(?=\S)|\[(?=[^\]]*\]\()|\](?=\()")
_IDENTIFIER = re.compile(r"(?<![\w.&;-])[a-z][a-z0-9]*(?:[._][a-z0-9]+)+(?![\w-])|(?<![\w-])--[a-z][a-z-]+")
_SPECIAL = re.compile(r"[^\w .,:;/=+%'-]", re.ASCII)


@cache
def as_html(shown: Callable[[str], str] = wording.printable) -> Environment:
    """HTML; `shown` makes of text that is no markup of ours what a reader is shown, before it is escaped."""
    return _environment(
        autoescape=True,
        finalize=lambda value: shown(value) if isinstance(value, str) and not hasattr(value, "__html__") else value,
    )


@cache
def as_markdown() -> Environment:
    """Markdown; every expression is escaped that is not marked as ready."""
    environment = _environment(
        autoescape=False,  # this is Markdown: `finalize` escapes every expression instead
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Ready) else prose(value),
    )
    environment.filters["name"] = lambda text: Ready(name(text))
    return environment


def filled_markdown(template: str, **values: Any) -> str:
    """A template as Markdown, in which no two empty lines follow one another."""
    return re.sub(r"\n{3,}", "\n\n", as_markdown().get_template(template).render(**values))


def _environment(**settings: Any) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # lazy: slow import

    environment = Environment(
        loader=FileSystemLoader(folder("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **settings,
    )
    environment.tests["left_out"] = undone.is_left_out
    return environment


class Ready(str):
    """Markdown that needs no further escaping."""

    __slots__ = ()


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

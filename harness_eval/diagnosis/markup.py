"""What readers of calls in text share: the call that is found, searching in linear time, and values written as text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness_eval.types import Json

Written = tuple[str, Mapping[str, Json] | None]
"""A call as it is written: its name ("" where none can be read) and its arguments (None where they cannot be read)."""

_DECODER = json.JSONDecoder()
_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_NAMED = re.compile(r'"(?:name|tool|tool_name)"\s{0,9}:\s{0,9}"([^"\n]{1,100})"')
_MOST_BAD = 100
_TEXTUAL = frozenset({"true", "string", "str"})


@dataclass(frozen=True, slots=True)
class Leak:
    """A call that stands in a text: what could be read of it, and where it is (`text[start:end]`, wrappers included).

    `name` is "" where none can be read, `arguments` None where they cannot. `complete` says that the block is closed
    and was read as a whole. A value is text where the markup says nothing of types. `variant` names a peculiarity.
    """

    name: str
    arguments: Mapping[str, Json] | None
    complete: bool
    start: int
    end: int
    dialect: str
    variant: str = ""


class Scan:
    """A text that is searched forwards: each search goes on where the last one for the same pattern ended.

    A model that degenerates may open a block a million times and never close it; to look for the end again from each
    opening would take a time quadratic in the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.bad_json = 0
        self._known: dict[re.Pattern[str], tuple[int, re.Match[str] | None]] = {}

    def find(self, pattern: re.Pattern[str], position: int) -> re.Match[str] | None:
        """The first match at or after a position."""
        since, match = self._known.get(pattern, (len(self.text) + 1, None))
        if since <= position and (match is None or match.start() >= position):
            return match
        match = pattern.search(self.text, position)
        self._known[pattern] = (position, match)
        return match

    def block(self, opening: re.Pattern[str], closing: re.Pattern[str], position: int) -> tuple[str, int, bool]:
        """The text of a block that was opened before a position, where it ends, and whether it was closed."""
        end, again = self.find(closing, position), self.find(opening, position)
        if end is not None and (again is None or end.start() < again.start()):
            return self.text[position : end.start()], end.end(), True
        stop = len(self.text) if again is None else again.start()
        return self.text[position:stop], stop, False


def json_calls(scan: Scan, position: int) -> tuple[list[Written], int, bool]:
    """Calls written as one JSON object or as a list of them, where they end, and whether the JSON is whole."""
    try:
        # The error counts the lines before it, which takes a time linear in the text: only so many are paid for.
        value, end = _DECODER.raw_decode(scan.text, position) if scan.bad_json < _MOST_BAD else (None, position)
    except (ValueError, RecursionError):
        value, end = None, position
    if value is None:
        scan.bad_json += 1
        named = _NAMED.search(scan.text, position, position + 400)
        return [(named[1] if named else "", None)], position, False
    entries = value if isinstance(value, list) else [value]
    return [call_in(entry) for entry in entries if isinstance(entry, dict) and entry], end, True


def call_in(value: Mapping[str, Json]) -> Written:
    """Name and arguments of a call that is written as an object; an object without a name is its arguments."""
    inner = value["function"] if isinstance(value.get("function"), dict) else value
    name = next((inner[key] for key in _NAME_KEYS if isinstance(inner.get(key), str) and inner[key]), None)
    if name is None:
        return "", value
    given: Json = next((inner[key] for key in _ARGUMENT_KEYS if key in inner), {})
    return name, json_object(given) if isinstance(given, str) else given if isinstance(given, dict) else None


def json_object(text: str) -> dict[str, Json] | None:
    """The object that a text is, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parameters(body: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> dict[str, Json] | None:
    """The values between pairs of tags, by the group `key` of the opening one; None if one of them cannot be read.

    A group `kind` that says that the value is no text makes it JSON; without one, a line break at either end of the
    value belongs to the tags.
    """
    values: dict[str, Json] = {}
    tags = list(opening.finditer(body))
    for number, tag in enumerate(tags):
        inner = body[tag.end() : tags[number + 1].start() if number + 1 < len(tags) else len(body)]
        ends = list(closing.finditer(inner))
        text = inner[: ends[-1].start()] if ends else inner
        kind = (tag.groupdict().get("kind") or "").lower()
        if not kind:
            values[tag["key"].strip()] = text.removeprefix("\n").removesuffix("\n")
            continue
        try:
            values[tag["key"].strip()] = text if kind in _TEXTUAL else json.loads(text)
        except (ValueError, RecursionError):
            return None
    return values


def arguments_in(body: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> dict[str, Json] | None:
    """The arguments in the body of a call: one JSON object, or a pair of tags for each parameter."""
    return json_object(body) if body.lstrip().startswith("{") else parameters(body, opening, closing)

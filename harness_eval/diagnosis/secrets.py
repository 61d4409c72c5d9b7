"""What a recorded exchange holds that must not be told: in its headers, its URL, and wherever a name says so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from harness_eval.types import Json

# Most headers hold nothing secret, and their values may well stand in a text: what is one shows by name or by look.
_NAME = re.compile(r"auth|key|token|secret|cookie|session|passw|credential|signature", re.IGNORECASE)
_NO_SECRET = re.compile(r"tokens\b|tokeni[sz]|cache[-_]?key|author\b", re.IGNORECASE)
_LOOK = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.=+/~-]{16,}")
_SHORTEST_IN_HEADER = 4
_SHORTEST = 8  # elsewhere a name says less, and a short value may be a word of the text
_MOST_NODES = 20_000
_OF_THE_DIALOGUE = frozenset(
    {"messages", "tools", "functions", "schema", "schemas", "input", "prompt", "response_format"}
)


def header_secrets(headers: Mapping[str, str]) -> Iterator[str]:
    """The values of headers, and their parts, that are secret by name or by look."""
    for key, value in headers.items():
        for part in _parts(value):
            if len(part) >= _SHORTEST_IN_HEADER and (_NAME.search(key) or _LOOK.fullmatch(part)):
                yield part


def secrets_in(value: Json) -> Iterator[str]:
    """The values under a name such as `api_key` at any depth, and in the query of a URL; not those of the dialogue."""
    pending: list[tuple[str, Json]] = [("", value)]
    for _ in range(_MOST_NODES):
        if not pending:
            return
        name, inner = pending.pop()
        if isinstance(inner, str):
            yield from _in_text(name, inner)
        elif isinstance(inner, Mapping):
            pending += [(str(key), each) for key, each in inner.items() if key not in _OF_THE_DIALOGUE]
            pending += [(str(inner["name"]), inner["value"])] if {"name", "value"} <= inner.keys() else []
        elif isinstance(inner, list):
            pair = len(inner) == 2 and isinstance(inner[0], str)  # headers may be a list of pairs
            pending += [(inner[0], inner[1])] if pair and _NAME.search(inner[0]) else []
            pending += [(name, each) for each in inner]


def _in_text(name: str, text: str) -> Iterator[str]:
    if _NAME.search(name) and not _NO_SECRET.search(name):
        yield from (part for part in _parts(text) if len(part) >= _SHORTEST)
    if "://" not in text[:12] and "?" not in text:
        return
    try:
        url = urlsplit(text)
        asked = parse_qsl(url.query)
    except ValueError:
        return
    yield from (value for key, value in asked if _NAME.search(key) and len(value) >= _SHORTEST_IN_HEADER)
    raw = [part.partition("=") for part in url.query.split("&")]
    yield from (value for key, _, value in raw if _NAME.search(key) and len(value) >= _SHORTEST_IN_HEADER)
    if url.password:
        yield url.password


def _parts(text: str) -> set[str]:
    return {text, *re.split(r"[\s;,]+", text)}

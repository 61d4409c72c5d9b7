"""What a request offered to the model and told it, as far as a recorded body, or a part of one, says so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness_eval.diagnosis.speech import tells_to_stop
from harness_eval.types import Json

_SHAPES = ("function", "custom", "toolSpec")
_GROUPS = ("function_declarations", "functionDeclarations")
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


@dataclass(frozen=True, slots=True)
class Offer:
    """The side of the harness in one exchange.

    `names` holds the tools that were offered, None where the body does not say, or not in a way that can be read.
    `schemas` has their parameters as JSON Schema, under "" what holds for any tool; `strict` those whose schema the
    server promised to enforce. `choice` is the tool choice: "", none, auto, required, or a tool's name. `limit` is the
    cap on tokens. `empty` says that the body lists no tool, `withdrawn` that the model was told so, or that nothing
    else was recorded; `whole` that the body has what a request needs, save perhaps tools.
    """

    names: frozenset[str] | None = None
    schemas: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    strict: frozenset[str] = frozenset()
    choice: str = ""
    limit: int | None = None
    empty: bool = False
    withdrawn: bool = False
    whole: bool = False
    request: Mapping[str, Json] = field(default_factory=dict)

    def schema(self, name: str) -> Mapping[str, Json] | None:
        """The parameters of a tool, where they are known."""
        return self.schemas.get(name, self.schemas.get(""))

    def is_strict(self, name: str) -> bool:
        """Whether the arguments of a tool were to be enforced."""
        return name in self.strict or "" in self.strict

    def prompt(self) -> str:
        """What the harness told the model about its work: system messages, and what it says about its tools."""
        return "\n".join([*_system(self.request), *_descriptions(self.request)])

    def said_before(self) -> Iterator[str]:
        """The texts from which the model can have learnt how to write: all but the results of its calls."""
        yield self.prompt()
        asked = False
        for message in messages_of(self.request):
            role = message.get("role")
            if role == "assistant" or (role == "user" and not asked):
                yield text_of(message)
            asked = asked or role == "user"


def offer_in(request: Mapping[str, Json] | None) -> Offer:
    """What this body offers; nothing is known where there is none."""
    if request is None:
        return Offer()
    schemas, strict = dict(_listed(request)), set(_strict(request))
    whole = "model" in request and "messages" in request
    listed = [request[key] for key in ("tools", "functions") if key in request]
    if isinstance(request.get("schema"), Mapping):
        schemas[""] = request["schema"]
        strict |= {""} if request.get("strict") else set()
    entries = _entries(request)
    named = [_names_of(entry) for entry in entries]
    names = frozenset(name for each in named for name in each) | {name for name in schemas if name}
    empty = not names and not any(listed)
    withdrawn = empty and bool(listed) and (request.keys() <= {"tools", "functions"} or _told_to_stop(request))
    known = withdrawn or (bool(names) and all(named) and not any(map(_is_hosted, entries)))
    return Offer(
        names=names if known else None,
        schemas=schemas,
        strict=frozenset(strict),
        choice=_choice(request.get("tool_choice")),
        limit=_limit(request),
        empty=empty,
        withdrawn=withdrawn,
        whole=whole,
        request=request,
    )


def messages_of(request: Mapping[str, Json] | None) -> list[Mapping[str, Json]]:
    """The messages of a body that can be read as such."""
    found = request.get("messages") if request else None
    return [message for message in found if isinstance(message, Mapping)] if isinstance(found, list) else []


def text_of(message: Mapping[str, Json]) -> str:
    """The text of a message, whose content is a string or a list of parts."""
    return _text(message.get("content"))


def _text(content: Json) -> str:
    if isinstance(content, list):
        return "\n".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _system(request: Mapping[str, Json]) -> Iterator[str]:
    yield _text(request.get("system") or request.get("instructions"))
    for message in messages_of(request):
        if message.get("role") in ("system", "developer"):
            yield text_of(message)


def _entries(request: Mapping[str, Json]) -> list[Json]:
    tools = request.get("tools") or request.get("functions")
    return tools if isinstance(tools, list) else []


def _functions(request: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    for entry in _entries(request):
        if isinstance(entry, Mapping):
            inner = entry.get("function")
            yield inner if isinstance(inner, Mapping) else entry


def _names_of(entry: Json) -> list[str]:
    """The names of the tools in an entry of the list, in the shapes of several APIs."""
    if not isinstance(entry, Mapping):
        return [entry] if isinstance(entry, str) and entry else []
    inner = [entry, *(entry.get(key) for key in _SHAPES)]
    groups = [each for key in _GROUPS for each in _list(entry.get(key))]
    names = [each.get("name") for each in (*inner, *groups) if isinstance(each, Mapping)]
    return [name for name in names if isinstance(name, str) and name]


def _is_hosted(entry: Json) -> bool:
    """Whether an entry stands for tools that a server has, under any name."""
    return isinstance(entry, Mapping) and entry.get("type") == "mcp"


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _told_to_stop(request: Mapping[str, Json]) -> bool:
    """Whether what came after the model's last message says that no call is wanted any more."""
    messages = messages_of(request)
    last = max((place for place, each in enumerate(messages) if each.get("role") == "assistant"), default=None)
    after = [] if last is None else messages[last + 1 :]
    return any(tells_to_stop(text_of(each)) for each in after if each.get("role") != "tool")


def _listed(request: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The schemas of the tools; a bare list of keys stands for parameters that are all required, of any type."""
    for function in _functions(request):
        schema = function.get("parameters", function.get("input_schema"))
        if isinstance(function.get("name"), str) and isinstance(schema, Mapping):
            yield str(function["name"]), schema
    brief = request.get("schemas")
    for name, keys in brief.items() if isinstance(brief, Mapping) else ():
        if isinstance(keys, Mapping):
            yield str(name), keys
        elif isinstance(keys, list):
            yield str(name), {"type": "object", "properties": {str(key): {} for key in keys}, "required": keys}


def _strict(request: Mapping[str, Json]) -> Iterator[str]:
    return (str(function.get("name")) for function in _functions(request) if function.get("strict") is True)


def _descriptions(request: Mapping[str, Json]) -> Iterator[str]:
    return (_text(function.get("description")) for function in _functions(request))


def _choice(choice: Json) -> str:
    if isinstance(choice, Mapping):
        inner = choice.get("function")
        named = inner.get("name") if isinstance(inner, Mapping) else choice.get("name")
        choice = named or choice.get("type")
    return "required" if choice == "any" else choice if isinstance(choice, str) else ""


def _limit(request: Mapping[str, Json]) -> int | None:
    given = [request.get(key) for key in _LIMITS]
    return min((value for value in given if type(value) is int and value > 0), default=None)


def line_at(text: str, position: int, longest: int = 120) -> str:
    """The line of a text that a position is in, cut to so many characters."""
    start, end = text.rfind("\n", 0, position) + 1, text.find("\n", position)
    return re.sub(r"\s+", " ", text[start : end if end >= 0 else len(text)]).strip()[:longest]

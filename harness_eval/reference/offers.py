"""The tools that a request offers, natively or described in the system prompt in one of five notations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from xml.sax.saxutils import unescape

from harness_eval.types import Json

_PLAIN_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "any[]": "array",
    "Record<string, any>": "object",
}
_TYPESCRIPT_TOOL = re.compile(
    r"(?P<doc>(?:^[ \t]*//[^\n]*\n)*)^[ \t]*type (?P<name>[\w-]+) = \(_: \{\n(?P<body>.*?)^[ \t]*\}\) => \w+;",
    re.MULTILINE | re.DOTALL,
)
_PYTHON_TOOL = re.compile(
    r'^def (?P<name>\w+)\((?P<signature>[^\n]*)\) -> [^\n]+:\n\s+"""(?P<doc>.*?)"""', re.MULTILINE | re.DOTALL
)
_XML_TOOL = re.compile(
    r"<tool>\s*<name>(?P<name>[^<]*)</name>\s*<description>(?P<doc>[^<]*)</description>(?P<body>.*?)</tool>", re.DOTALL
)
_XML_PARAMETER = re.compile(
    r'<parameter name="(?P<name>[^"]*)" type="(?P<type>[^"]*)" required="(?P<required>[^"]*)">'
    r"(?P<doc>[^<]*)</parameter>"
)
_PROSE_TOOL = re.compile(r"^The tool (?P<name>[\w-]+)\. (?P<doc>[^\n]*)(?P<body>(?:\n- [^\n]*)*)", re.MULTILINE)
_PROSE_PARAMETER = re.compile(r"^- (?P<name>\S+) \((?P<type>\w+), (?P<required>[^)]*)\): (?P<doc>.*)$", re.MULTILINE)
_ONE_OF = re.compile(r"\bOne of: ([^.]+)\.")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as far as it is described; `type` is JSON Schema's word, `item` the type of a list's elements.

    `fields` are those of an object or of each element, `obliged` the required ones, `states` what `status` may be.
    """

    name: str
    description: str = ""
    type: str = "string"
    required: bool = True
    choices: tuple[str, ...] = ()
    item: str = ""
    fields: tuple[str, ...] = ()
    obliged: tuple[str, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as far as it is described."""

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()


def native_offers(tools: Json) -> tuple[Offer, ...]:
    """The tools of a request's `tools` field; what is no function is left out."""
    wanted = tools if isinstance(tools, list) else []
    return tuple(_from_schema(tool["function"]) for tool in wanted if isinstance(tool, dict) and "function" in tool)


@lru_cache(maxsize=512)
def described_offers(system: str) -> tuple[Offer, ...]:
    """The tools that a system prompt describes, in whichever notation it does."""
    return next((found for read in _NOTATIONS if (found := tuple(read(system)))), ())


def _from_schema(function: Mapping[str, Json]) -> Offer:
    schema = function.get("parameters") or function.get("input_schema") or {}
    required = schema.get("required") or ()
    parameters = tuple(
        Parameter(
            name,
            str(each.get("description", "")),
            _kind(each.get("type")),
            name in required,
            tuple(map(str, each.get("enum") or ())),
            str((each.get("items") or {}).get("type", "")),
            *_inner(each if each.get("properties") else each.get("items") or {}),
        )
        for name, each in (schema.get("properties") or {}).items()
    )
    return Offer(str(function.get("name", "")), str(function.get("description", "")), parameters)


def _kind(kind: Json) -> str:
    """The type of a value; of several the first."""
    return str(next(iter(kind), "string")) if isinstance(kind, list) else str(kind or "string")


def _inner(schema: Mapping[str, Json]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The fields of an object, which of them are required, and the choices of its `status`."""
    fields = schema.get("properties") or {}
    status = fields.get("status") or {}
    return tuple(fields), tuple(schema.get("required") or ()), tuple(map(str, status.get("enum") or ()))


def _json_lines(system: str) -> Iterator[Offer]:
    for line in system.splitlines():
        if not line.startswith("{"):
            continue
        try:
            value = json.loads(line)
        except ValueError:
            continue
        function = value.get("function", value)
        if "name" in function and ("parameters" in function or "input_schema" in function):
            yield _from_schema(function)


def _typescript(system: str) -> Iterator[Offer]:
    for tool in _TYPESCRIPT_TOOL.finditer(system):
        parameters, doc = [], ""
        for line in map(str.strip, tool["body"].splitlines()):
            if line.startswith("//"):
                doc = f"{doc} {line[2:].strip()}".strip()
            elif match := re.match(r"([\w-]+)(\??): (.+);$", line):
                choices = tuple(re.findall(r'"([^"]*)"', match[3]))
                kind = "string" if choices else _PLAIN_TYPES.get(match[3], match[3])
                parameters.append(Parameter(match[1], doc, kind, not match[2], choices))
                doc = ""
        said = " ".join(line.strip().removeprefix("//").strip() for line in tool["doc"].splitlines())
        yield Offer(tool["name"], said, tuple(parameters))


def _python(system: str) -> Iterator[Offer]:
    for tool in _PYTHON_TOOL.finditer(system):
        said, _, arguments = tool["doc"].partition("\n\n    Args:\n")
        docs = dict(re.findall(r"^\s+(\w+): (.*)$", arguments, re.MULTILINE))
        parameters = tuple(
            _worded(name, docs.get(name, ""), kind, not default)
            for name, kind, default in re.findall(r"(\w+): (\w+(?:\[[^\]]*\])?)( = [^,]+)?", tool["signature"])
        )
        yield Offer(tool["name"], said.strip(), parameters)


def _xml(system: str) -> Iterator[Offer]:
    for tool in _XML_TOOL.finditer(system):
        parameters = tuple(
            _worded(each["name"], unescape(each["doc"]), each["type"], each["required"] == "true")
            for each in _XML_PARAMETER.finditer(tool["body"])
        )
        yield Offer(tool["name"], unescape(tool["doc"]), parameters)


def _prose(system: str) -> Iterator[Offer]:
    for tool in _PROSE_TOOL.finditer(system):
        parameters = tuple(
            _worded(each["name"], each["doc"], each["type"], each["required"] == "required")
            for each in _PROSE_PARAMETER.finditer(tool["body"])
        )
        yield Offer(tool["name"], tool["doc"].strip(), parameters)


def _worded(name: str, doc: str, kind: str, required: bool) -> Parameter:
    """A parameter whose allowed values, if it has any, are listed in its description."""
    listed = _ONE_OF.search(doc)
    choices = tuple(listed[1].split(", ")) if listed else ()
    return Parameter(name, doc, _PLAIN_TYPES.get(kind, kind), required, choices)


_NOTATIONS: tuple[Callable[[str], Iterator[Offer]], ...] = (_json_lines, _typescript, _python, _xml, _prose)

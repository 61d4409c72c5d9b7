"""Whether arguments keep to a JSON Schema: the part of the standard that tools use, first violation only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from harness_eval.types import Json

Schema = Mapping[str, Json]
Kind = Literal["missing", "unknown", "encoded", "type", "value"]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
_BOUNDS: Mapping[str, Callable[[Json, Json], bool]] = {
    "minimum": lambda value, bound: not _is_number(value) or value >= bound,
    "maximum": lambda value, bound: not _is_number(value) or value <= bound,
    "exclusiveMinimum": lambda value, bound: not _is_number(value) or value > bound,
    "exclusiveMaximum": lambda value, bound: not _is_number(value) or value < bound,
    "minLength": lambda value, bound: not isinstance(value, str) or len(value) >= bound,
    "maxLength": lambda value, bound: not isinstance(value, str) or len(value) <= bound,
    "minItems": lambda value, bound: not isinstance(value, list) or len(value) >= bound,
    "maxItems": lambda value, bound: not isinstance(value, list) or len(value) <= bound,
}
_DEEPEST = 16
_MOST_NODES = 5000  # of a schema that refers to itself in several places there would be no end
_LONGEST_SEARCHED = 10_000


@dataclass(frozen=True, slots=True)
class Violation:
    """What breaks a schema: its kind, the key or path where it does, and how."""

    kind: Kind
    at: str
    text: str


def violations(arguments: Mapping[str, Json], schema: Schema) -> tuple[Violation, ...]:
    """What is wrong with the arguments of a call, the keys themselves first.

    A key that the schema does not name counts as unknown wherever the schema names any; whether that matters is for
    the caller to say. An optional argument that is null counts as left out.
    """
    return tuple(_Check(schema).object(arguments, schema, "", 0))


def names_in(schema: Schema) -> tuple[str, ...]:
    """The keys that a schema names, at its root and in its branches."""
    branches = [each for word in ("allOf", "anyOf", "oneOf") for each in _list(schema.get(word))]
    properties = (_object(_object(each).get("properties")) for each in (schema, *branches))
    return tuple(dict.fromkeys(str(key) for each in properties for key in each))


class _Check:
    """One value against one schema, whose references lead into `root`."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.nodes = 0

    def object(self, value: Mapping[str, Json], schema: Schema, path: str, depth: int) -> Iterator[Violation]:
        """The keys of an object, then its values, then the branches of its schema."""
        schema = self.resolved(schema)
        properties = _object(schema.get("properties"))
        required = [key for key in _list(schema.get("required")) if isinstance(key, str)]
        more = schema.get("additionalProperties")
        closed = bool(properties) and (not path or more is False) and not isinstance(more, dict)
        for key in required:
            if key not in value:
                yield Violation("missing", f"{path}{key}", f"{path}{key} is missing")
        for key, inner in value.items():
            if key not in properties:
                yield from [Violation("unknown", f"{path}{key}", f"{path}{key} is unknown")] if closed else ()
            elif inner is not None or key in required:
                yield from self.value(inner, _object(properties[key]), f"{path}{key}", depth + 1)
        yield from self.branches(value, schema, path, depth)

    def value(self, value: Json, schema: Schema, path: str, depth: int) -> Iterator[Violation]:
        """A value: its type, its bounds, and what is inside of it."""
        self.nodes += 1
        if depth > _DEEPEST or self.nodes > _MOST_NODES:
            return
        schema = self.resolved(schema)
        types = _types(schema)
        if types and not any(_TYPES[name](value) for name in types):
            encoded = isinstance(value, str) and any(_is_encoded(value, name) for name in types)
            text = f"{path} is {_name_of(value)} {_short(value)} where {' or '.join(types)} is wanted"
            yield Violation("encoded" if encoded else "type", path, text)
            return
        if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
            yield Violation("type", path, f"{path} is {_short(value)}, which is none of its choices")
        if problem := _out_of_bounds(value, schema):
            yield Violation("value", path, f"{path} is {_short(value)} against {problem}")
        if isinstance(value, dict):
            yield from self.object(value, schema, f"{path}.", depth)
            return
        yield from self.branches(value, schema, path, depth)
        items = schema.get("items")
        for number, item in enumerate(value if isinstance(value, list) and isinstance(items, dict) else ()):
            yield from self.value(item, _object(items), f"{path}.{number}", depth + 1)

    def branches(self, value: Json, schema: Schema, path: str, depth: int) -> Iterator[Violation]:
        """What breaks `allOf`, and `anyOf` and `oneOf` where no branch fits."""
        for branch in _list(schema.get("allOf")):
            yield from self.branch(value, _object(branch), path, depth + 1)
        for word in ("anyOf", "oneOf"):
            met = [list(self.branch(value, _object(each), path, depth + 1)) for each in _list(schema.get(word))]
            if met and all(met):
                kinds = {violation.kind for each in met for violation in each}
                kind: Kind = "encoded" if "encoded" in kinds else "missing" if kinds == {"missing"} else "type"
                first = met[0][0]
                yield Violation(kind, first.at if kind == "missing" else path.rstrip("."), first.text)

    def branch(self, value: Json, schema: Schema, path: str, depth: int) -> Iterator[Violation]:
        """A value against one branch; the other branches may know keys that this one does not."""
        self.nodes += 1
        if depth > _DEEPEST or self.nodes > _MOST_NODES:
            return
        schema = self.resolved(schema)
        if not isinstance(value, Mapping):
            yield from self.value(value, schema, path, depth)
        elif (types := _types(schema)) and "object" not in types:
            yield Violation("type", path.rstrip("."), f"{path.rstrip('.')} is an object where {types[0]} is wanted")
        else:
            yield from self.object(value, {**schema, "additionalProperties": {}}, path, depth)

    def resolved(self, schema: Schema) -> Schema:
        """The schema with what it refers to."""
        for _ in range(_DEEPEST):
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#"):
                return schema
            found: Json = self.root
            for part in filter(None, reference[1:].split("/")):
                found = _object(found).get(part.replace("~1", "/").replace("~0", "~"))
            schema = {**_object(found), **{key: value for key, value in schema.items() if key != "$ref"}}
        return {}


def _types(schema: Schema) -> list[str]:
    given = schema.get("type")
    names = given if isinstance(given, list) else [given]
    known = [name for name in names if isinstance(name, str) and name in _TYPES]
    return [*known, "null"] if known and schema.get("nullable") is True else known


def _out_of_bounds(value: Json, schema: Schema) -> str:
    for word, holds in _BOUNDS.items():
        bound = schema.get(word)
        if _is_number(bound) and not holds(value, bound):
            return f"{word} {bound}"
    if "const" in schema and value != schema["const"]:
        return f"const {_short(schema['const'])}"
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and isinstance(value, str) and not _matches(pattern, value):
        return f"pattern {pattern[:40]}"
    return ""


def _matches(pattern: str, value: str) -> bool:
    # Only what cannot take a time exponential in the value: a repetition inside a repetition is not looked at.
    if re.search(r"[*+}]\)?[*+{]|\([^)]*[*+|][^)]*\)[*+{]", pattern) or len(value) > _LONGEST_SEARCHED:
        return True
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True


def _is_encoded(value: str, kind: str) -> bool:
    if kind not in ("array", "object"):
        return False
    try:
        return _TYPES[kind](json.loads(value))
    except (ValueError, RecursionError):
        return False


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _name_of(value: Json) -> str:
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,20}(\.\d{1,20})?", value):
        return "numeric string"
    return next((name for name, fits in _TYPES.items() if fits(value)), "value")


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str) if not isinstance(value, str) else repr(value[:60])
    return text[:60]

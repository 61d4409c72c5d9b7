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
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
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
_DEEPEST = 24
_LONGEST_SEARCHED = 10_000


@dataclass(frozen=True, slots=True)
class Violation:
    """What breaks a schema: its kind, the key or path where it does, and how."""

    kind: Kind
    at: str
    text: str


def violations(arguments: Mapping[str, Json], schema: Schema) -> Iterator[Violation]:
    """What is wrong with the arguments of a call, the keys themselves first.

    A key that the schema does not name counts as unknown wherever the schema names any; whether that matters is for
    the caller to say. An optional argument that is null counts as left out.
    """
    root, schema = schema, _resolved(schema, schema)
    properties = _object(schema.get("properties"))
    required = [key for key in schema.get("required") or () if isinstance(key, str)]
    for key in required:
        if key not in arguments:
            yield Violation("missing", key, f"{key!r} is missing")
    for key in arguments:
        if properties and key not in properties and not isinstance(schema.get("additionalProperties"), dict):
            yield Violation("unknown", key, f"{key!r} is unknown")
    for key, value in arguments.items():
        if key in properties and (value is not None or key in required):
            yield from _in_value(value, _object(properties[key]), root, key)
    yield from _in_branches(dict(arguments), schema, root, "")


def _in_value(value: Json, schema: Schema, root: Schema, path: str) -> Iterator[Violation]:
    if path.count(".") > _DEEPEST:
        return
    schema = _resolved(schema, root)
    types = _types(schema)
    if types and not any(_TYPES[name](value) for name in types):
        encoded = isinstance(value, str) and any(_is_encoded(value, name) for name in types)
        wanted, given = " or ".join(types), _name_of(value)
        text = f"{path} is {given} {_short(value)} where {wanted} is wanted"
        yield Violation("encoded" if encoded else "type", path, text)
        return
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        yield Violation("type", path, f"{path} is {_short(value)}, which is none of its choices")
    if problem := _out_of_bounds(value, schema):
        yield Violation("value", path, f"{path} is {_short(value)} against {problem}")
    yield from _in_branches(value, schema, root, path)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for number, item in enumerate(value):
            yield from _in_value(item, schema["items"], root, f"{path}.{number}")
    properties = _object(schema.get("properties"))
    if isinstance(value, dict) and properties and path:
        yield from _in_object(value, schema, root, path)


def _in_object(value: dict[str, Json], schema: Schema, root: Schema, path: str) -> Iterator[Violation]:
    properties = _object(schema.get("properties"))
    required = schema.get("required") or ()
    for key in required:
        if key not in value:
            yield Violation("missing", f"{path}.{key}", f"{path}.{key} is missing")
    for key, inner in value.items():
        if key in properties and (inner is not None or key in required):
            yield from _in_value(inner, _object(properties[key]), root, f"{path}.{key}")
        elif key not in properties and schema.get("additionalProperties") is False:
            yield Violation("unknown", f"{path}.{key}", f"{path}.{key} is unknown")


def _in_branches(value: Json, schema: Schema, root: Schema, path: str) -> Iterator[Violation]:
    """Violations of `allOf`, and of `anyOf` and `oneOf` where no branch fits."""
    if path.count(".") > _DEEPEST:
        return
    for branch in _list(schema.get("allOf")):
        yield from _in_branch(value, _object(branch), root, path)
    for word in ("anyOf", "oneOf"):
        branches = _list(schema.get(word))
        met = [list(_in_branch(value, _object(branch), root, path)) for branch in branches]
        if met and all(met):
            kinds = {violation.kind for each in met for violation in each}
            kind: Kind = "encoded" if "encoded" in kinds else "missing" if kinds == {"missing"} else "type"
            yield Violation(kind, path, f"{path or 'the arguments'}: {met[0][0].text}")


def _in_branch(value: Json, branch: Schema, root: Schema, path: str) -> Iterator[Violation]:
    branch = _resolved(branch, root)
    if not path and isinstance(value, dict):
        merged = {**branch, "additionalProperties": {}}  # the other branches have properties of their own
        yield from violations(value, merged)
        return
    yield from _in_value(value, branch, root, path or "value")


def _resolved(schema: Schema, root: Schema) -> Schema:
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        found: Json = root
        for part in reference[2:].split("/"):
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

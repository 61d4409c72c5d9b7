"""Tool schemas in the plain form that strict servers accept."""

from __future__ import annotations

from harness_eval.types import Json

_BY_CONTENT = (("properties", "object"), ("items", "array"))
_OF_VALUE = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def plain_schema(schema: dict[str, Json]) -> dict[str, Json]:
    """The same schema with every local `$ref` inlined, a `type` on every node, and an object at its root.

    A root `anyOf` becomes one object with the properties of all branches, required where all branches require them:
    what was valid stays valid. Recursive references end in an untyped object.
    """
    definitions = {
        f"#/{place}/{name}": node
        for place in ("$defs", "definitions")
        for name, node in (schema.get(place) or {}).items()
    }
    root = _plain(schema, definitions, ())
    for key in ("anyOf", "oneOf"):
        if branches := root.pop(key, None):
            root = _joined(root, branches)
    return {"properties": {}, **root, "type": "object"}


def _plain(node: Json, definitions: dict[str, Json], within: tuple[str, ...]) -> Json:
    if not isinstance(node, dict):
        return {"type": "string"} if node is True else node
    if "$ref" in node:
        return _resolved(node, definitions, within)
    plain = {key: value for key, value in node.items() if key not in ("$defs", "definitions", "$schema", "$id")}
    for key in ("properties", "patternProperties"):
        if isinstance(plain.get(key), dict):
            plain[key] = {name: _plain(child, definitions, within) for name, child in plain[key].items()}
    if isinstance(plain.get("items"), dict):
        plain["items"] = _plain(plain["items"], definitions, within)
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(plain.get(key), list):
            # The parent's type moves into the branches, which is where strict servers want it.
            type_ = {"type": plain.pop("type")} if "type" in plain else {}
            plain[key] = [{**type_, **_plain(branch, definitions, within)} for branch in plain[key]]
            return plain
    return plain if "type" in plain else {"type": _guess(plain), **plain}


def _resolved(node: dict[str, Json], definitions: dict[str, Json], within: tuple[str, ...]) -> Json:
    target = node["$ref"]
    if target in within or target not in definitions:
        return {"type": "object", **{key: value for key, value in node.items() if key == "description"}}
    beside = {key: value for key, value in node.items() if key not in ("$ref", "type")}
    return {**_plain(definitions[target], definitions, (*within, target)), **beside}


def _guess(node: dict[str, Json]) -> str:
    for key, type_ in _BY_CONTENT:
        if key in node:
            return type_
    values = node.get("enum") or [node.get("const", "")]
    return _OF_VALUE.get(type(values[0]), "string")


def _joined(root: dict[str, Json], branches: list[Json]) -> dict[str, Json]:
    properties = dict(root.get("properties") or {})
    for branch in branches:
        properties = {**(branch.get("properties") or {}), **properties}
    shared = set.intersection(*(set(branch.get("required") or ()) for branch in branches))
    required = sorted(shared | set(root.get("required") or ()))
    joined = {**root, "type": "object", "properties": properties}
    return {**joined, "required": required} if required else joined

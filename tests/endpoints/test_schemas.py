"""Tool schemas in the plain form that strict servers accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness_eval.endpoints.schemas import plain_schema


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    yield schema
    for child in (schema.get("properties") or {}).values():
        yield from nodes(child)
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(key) or ():
            yield from nodes(branch)
    if isinstance(schema.get("items"), dict):
        yield from nodes(schema["items"])


WILD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "v": {"type": "string", "description": "inner"},
        "node": {"properties": {"next": {"$ref": "#/$defs/node"}, "v": {"$ref": "#/$defs/v"}}},
    },
    "properties": {
        "a": {"$ref": "#/$defs/v", "type": "string", "description": "outer"},
        "list": {"items": {"$ref": "#/$defs/v"}},
        "mode": {"enum": ["x", "y"]},
        "count": {"const": 3},
        "any": {},
        "either": {"type": "string", "anyOf": [{"minLength": 1}, {"type": "null"}]},
        "tree": {"$ref": "#/$defs/node"},
    },
    "required": ["a"],
}


def test_every_node_has_a_type_and_no_reference_is_left() -> None:
    plain = plain_schema(WILD)
    for node in nodes(plain):
        assert "type" in node or {"anyOf", "oneOf", "allOf"} & set(node)
        assert not {"$ref", "$defs", "$schema"} & set(node)


def test_types_are_taken_from_what_a_node_holds() -> None:
    properties = plain_schema(WILD)["properties"]
    found = {name: properties[name].get("type") for name in ("list", "mode", "count", "any", "tree")}
    assert found == {"list": "array", "mode": "string", "count": "integer", "any": "string", "tree": "object"}


def test_what_stands_beside_a_reference_wins_over_what_it_names() -> None:
    assert plain_schema(WILD)["properties"]["a"] == {"type": "string", "description": "outer"}


def test_a_type_beside_any_of_moves_into_the_branches() -> None:
    assert plain_schema(WILD)["properties"]["either"] == {
        "anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]
    }


def test_a_root_any_of_becomes_one_object_that_allows_what_any_branch_allows() -> None:
    branches = [
        {"properties": {"url": {"type": "string"}, "n": {"type": "integer"}}, "required": ["url", "n"]},
        {"properties": {"text": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]},
    ]
    plain = plain_schema({"type": "object", "anyOf": branches})
    assert set(plain["properties"]) == {"url", "text", "n"}
    assert plain["required"] == ["n"]
    assert plain["type"] == "object"
    assert "anyOf" not in plain


@pytest.mark.parametrize("schema", [{}, {"type": "object"}])
def test_a_tool_without_parameters_still_has_an_object(schema: dict[str, Any]) -> None:
    assert plain_schema(schema) == {"type": "object", "properties": {}}


def test_a_plain_schema_stays_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "what to run"}},
        "required": ["command"],
        "additionalProperties": False,
    }
    assert plain_schema(schema) == schema

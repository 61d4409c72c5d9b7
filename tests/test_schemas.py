"""The published schemas: equal to the models, met by documents, open to what a later release may add."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from harness_eval import schemas
from harness_eval.bundled import folder
from tests.report import checks

CHANGED = """{name} is not what its model makes of it any more.
If documents only gained keys with a default, `make schemas` writes it anew. If a key went, was renamed, means something
else or takes other values, whoever reads documents by this schema breaks: give the document the next number (its
SCHEMA, and a schema file of its own beside this one) and say so in docs/schemas.md."""
SNAPSHOT: dict[str, Any] = {
    "schema": "harness-eval/baseline/1",
    "name": "main",
    "created": None,
    "seed": 1,
    "versions": {},
    "endpoint": {"name": "lab", "model": "small-8b", "settings": {"temperature": 0.2}},
    "canonical": "canonical",
    "tasks": [{"name": "one"}],
    "harnesses": [{"name": "canonical", "solved": ["1"]}],
}
MATRIX: dict[str, Any] = {
    "schema": "harness-eval/compatibility/1",
    "made": "2026-11-30T00:00:00Z",
    "made_by": "harness-eval 0.1.0",
    "margins": {},
    "subjects": [],
    "harnesses": [],
    "cells": [],
    "sources": [],
}
DOCUMENTS = {"check-1": checks.check(), "baseline-1": SNAPSHOT, "compatibility-1": MATRIX}
by_name = pytest.mark.parametrize("name", schemas.MODELS)


def published(name: str) -> Any:
    return json.loads(schemas.path_of(name, folder("schemas")).read_bytes())


def errors(name: str, document: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(published(name)).iter_errors(document)]


@by_name
def test_a_published_schema_is_what_its_model_makes(name: str) -> None:
    path = schemas.path_of(name, folder("schemas"))
    assert path.read_bytes() == schemas.encoded(name), CHANGED.format(name=path.name)


def test_every_published_schema_has_a_model() -> None:
    assert {path.name.partition(".")[0] for path in folder("schemas").glob("*.json")} == set(schemas.MODELS)


@by_name
def test_a_schema_is_one_of_its_dialect_and_says_what_it_is_of(name: str) -> None:
    found = published(name)
    jsonschema.Draft202012Validator.check_schema(found)
    assert found["$schema"] == schemas.DIALECT
    assert found["title"]
    assert found["description"]
    kind, number = name.split("-")
    assert found["properties"]["schema"]["const"] == f"harness-eval/{kind}/{number}"


@by_name
def test_documents_meet_their_schema(name: str) -> None:
    whole = schemas.MODELS[name].model_validate(DOCUMENTS[name]).model_dump(mode="json", by_alias=True)
    assert errors(name, DOCUMENTS[name]) == []
    assert errors(name, whole) == []


@pytest.mark.parametrize(
    "data", [checks.passing(), checks.undecided(), checks.incomplete(), checks.replayed(), checks.hostile("<\x00>")]
)
def test_checks_of_every_verdict_meet_their_schema(data: dict[str, Any]) -> None:
    assert errors("check-1", data) == []


@by_name
def test_a_document_of_another_number_or_without_one_is_refused(name: str) -> None:
    document = DOCUMENTS[name]
    kind = name.partition("-")[0]
    assert errors(name, document | {"schema": f"harness-eval/{kind}/2"})
    assert errors(name, {key: value for key, value in document.items() if key != "schema"})


@by_name
def test_keys_of_a_later_release_are_admitted_and_those_with_a_default_not_demanded(name: str) -> None:
    assert errors(name, DOCUMENTS[name] | {"of_a_later_release": 1}) == []
    without = {key: value for key, value in DOCUMENTS[name].items() if key != "notes"}
    assert errors(name, without) == []


def test_a_wrong_value_is_refused() -> None:
    assert errors("check-1", checks.check() | {"verdict": "perhaps"})
    assert errors("check-1", checks.check() | {"trials": {"most": 3}})
    assert errors("baseline-1", SNAPSHOT | {"tasks": "one"})

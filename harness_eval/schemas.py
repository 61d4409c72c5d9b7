"""The JSON schemas of what is written for others to read, made from the models: ``python -m harness_eval.schemas``.

A number holds for as long as documents only gain keys that a reader may leave aside; anything else takes a new one.
That is why a schema admits keys that it does not know, and demands none that has a default but `schema` itself.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel

from harness_eval.bundled import folder
from harness_eval.compat.document import Matrix
from harness_eval.gate.document import Check
from harness_eval.gate.kept import Snapshot
from harness_eval.report.whole import encode_json
from harness_eval.types import Json

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODELS: MappingProxyType[str, type[BaseModel]] = MappingProxyType(
    {"check-1": Check, "baseline-1": Snapshot, "compatibility-1": Matrix}
)
_TITLES = {
    "check-1": "What harness-eval check found (check.json)",
    "baseline-1": "A baseline of harness-eval check",
    "compatibility-1": "A compatibility matrix of harness-eval compat (compatibility.json)",
}


def schema(name: str) -> dict[str, Json]:
    """The schema of one of `MODELS`.

    Raises:
        KeyError: for any other name.
    """
    made: dict[str, Json] = _open(MODELS[name].model_json_schema(by_alias=True, mode="validation"))
    kind, _, number = name.rpartition("-")
    head = {"$schema": DIALECT, "$id": f"urn:harness-eval:{kind}:{number}", "title": _TITLES[name]}
    return head | made | {"required": ["schema", *made["required"]]}


def _open(part: Json) -> Json:
    """A part of a schema that admits further keys; titles that only repeat a key are left out."""
    if isinstance(part, list):
        return [_open(one) for one in part]
    if not isinstance(part, dict):
        return part
    closed = part.get("additionalProperties") is False
    left_out = {"title"} if isinstance(part.get("title"), str) else set()
    left_out |= {"additionalProperties"} if closed else set()
    return {key: _open(value) for key, value in part.items() if key not in left_out}


def path_of(name: str, inside: Path) -> Path:
    """The file of a schema in a folder."""
    return inside / f"{name}.schema.json"


def encoded(name: str) -> bytes:
    """A schema as its file holds it."""
    return encode_json(schema(name))


def main() -> None:
    """Write every schema into the folder `schemas`."""
    for name in MODELS:
        path_of(name, folder("schemas")).write_bytes(encoded(name))


if __name__ == "__main__":
    main()

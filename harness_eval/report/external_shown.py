"""What the lines of results.jsonl say of external harnesses: what the wire showed of each in each trial."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from harness_eval.external.facts import Facts
from harness_eval.types import Json


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="ignore", defer_build=True))
class Shown(Facts):
    """What one trial showed: the facts, and beside them the adapter, versions, exit code, and requests with another key
    than the trial's by what became of them."""

    adapter: str = ""
    version: str = ""
    version_found: str = ""
    exit_code: int | None = None
    last_words: str = ""
    turned_away: Mapping[str, int] | None = None


@cache
def _reader() -> TypeAdapter[Any]:
    return TypeAdapter(Shown)


def shown(row: Mapping[str, Json]) -> Shown | None:
    """What a trial showed; None where it is of no external harness, or of a version that says it otherwise."""
    told = row.get("external")
    if not isinstance(told, Mapping):
        return None
    try:
        found = _reader().validate_python(told)
    except ValidationError:
        return None
    return found if isinstance(found, Shown) else None

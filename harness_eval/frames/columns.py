"""The columns of every frame with their types, and rows that become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

from harness_eval.types import Json

AXIS = "axis."
_TRIAL = {"run": "category", "task": "category", "harness": "category", "endpoint": "category", "repeat": "Int64"}
_LEVELS = {"suite": "category", "difficulty": "category", "stresses": "category"}

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "trials": {
        **_TRIAL,
        "harness_id": "category",
        "solved": "boolean",
        "score": "Float64",
        "recovered": "Float64",
        "lost": "boolean",
        "lost_owner": "category",
        "lost_label": "category",
        "lost_message": "string",
        "cause": "category",
        "cause_owner": "category",
        "stop": "category",
        "cost": "Float64",
        "tokens": "Int64",
        "prompt_tokens": "Int64",
        "completion_tokens": "Int64",
        "reasoning_tokens": "Int64",
        "cached_tokens": "Int64",
        "seconds": "Float64",
        "steps": "Int64",
        "attempt": "Int64",
        "acted": "category",
        **_LEVELS,
    },
    "steps": {
        **_TRIAL,
        "step": "Int64",
        "text_length": "Int64",
        "thinking_length": "Int64",
        "calls": "Int64",
        "malformed": "Int64",
        "tools": "category",
        "failed": "Int64",
        "refused": "Int64",
        "shown_length": "Int64",
        "full_length": "Int64",
        "truncated": "boolean",
        "prompt_tokens": "Int64",
        "completion_tokens": "Int64",
        "seconds": "Float64",
        "finish_reason": "category",
        "compactions": "Int64",
        "warning": "string",
    },
    "labels": {**_TRIAL, "step": "Int64", "label": "category", "owner": "category", "effect": "category"},
    "harnesses": {
        "run": "category",
        "harness": "category",
        "harness_id": "category",
        "version": "string",
        "canonical": "boolean",
    },
    "tasks": {"run": "category", "task": "category", **_LEVELS, "digest": "string", "group": "category"},
}
"""The type of each column, by frame; columns `axis.NAME` are categories and come last."""


_NUMBERS: Mapping[str, tuple[tuple[type, ...], float]] = {
    "Int64": ((int,), 2**63),
    "Float64": ((int, float), float("inf")),
    "boolean": ((bool,), 2),
}
"""The types of the values of a column, and what they are below."""


class Columns:
    """Rows of one frame as they come; what a row does not say is missing."""

    def __init__(self, kind: str) -> None:
        self.types = dict(COLUMNS[kind])
        self.values: dict[str, list[Json]] = {name: [] for name in self.types}
        self.length = 0

    def append(self, row: Mapping[str, Json]) -> None:
        """Add a row."""
        for name in row.keys() - self.values.keys():
            self.types[name] = "category"
            self.values[name] = [None] * self.length
        for name, values in self.values.items():
            values.append(row.get(name))
        self.length += 1

    def extend(self, rows: Iterable[Mapping[str, Json]]) -> None:
        """Add rows."""
        for row in rows:
            self.append(row)

    def frame(self) -> Any:
        """All rows as a frame with the columns in their order."""
        import pandas  # lazy: slow import

        axes = sorted(name for name in self.types if name.startswith(AXIS))
        names = [*(name for name in self.types if not name.startswith(AXIS)), *axes]
        return pandas.DataFrame({name: series(self.values[name], self.types[name]) for name in names})


def series(values: Sequence[Json], kind: str) -> Any:
    """Values as a column of this type; the categories of texts are texts, also where there is none."""
    import pandas  # lazy: slow import

    fitting: Any = _texts(values) if kind in ("category", "string") else _numbers(values, kind)
    if kind == "category":
        texts = pandas.Index(sorted({value for value in fitting if value is not None}), dtype="str")
        return pandas.Series(pandas.Categorical(fitting, categories=texts))
    return pandas.Series(fitting, dtype=pandas.StringDtype() if kind == "string" else kind)


def _texts(values: Sequence[Json]) -> Sequence[str | None]:
    """Values as texts in UTF-8; a structure, which no run of ours writes there, is missing."""
    if set(map(type, values)) <= {str, NoneType} and all(map(str.isascii, filter(None, values))):
        return values
    return [_text(value) for value in values]


def _text(value: Json) -> str | None:
    if value is None or isinstance(value, list | dict):
        return None
    return str(value).encode("utf-8", "replace").decode()


def _numbers(values: Sequence[Json], kind: str) -> Sequence[Json]:
    """Values that a column of this type can hold; any other one is missing."""
    types, limit = _NUMBERS[kind]
    return [value if type(value) in types and -limit <= value < limit else None for value in values]

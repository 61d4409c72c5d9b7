"""What all shapes share: the keys of a mapping file that do not depend on the shape, and writing a task folder."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import ClassVar, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, model_validator

from harness_eval.types import Json

Row = Mapping[str, Json]
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
DOCKERFILE = "ARG BASE=python:3.12-bookworm\nFROM ${BASE}\nWORKDIR /app\nCOPY files/ /app/\n"
BARE_DOCKERFILE = "ARG BASE=python:3.12-bookworm\nFROM ${BASE}\nWORKDIR /app\n"
_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 120  # characters of a folder's name
_TOO_LARGE = 1e18  # for the integers of TOML


class UnusableRow(Exception):
    """Why a row cannot become a task."""


class Section(BaseModel):
    """A part of a mapping file; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Column(Section):
    """A value that each row has in a column of its own."""

    column: str


class Shape(Section):
    """The keys of every mapping file.

    The rows: `dataset` (a name of the Hugging Face hub, with `config`, `split` and `revision`) or `path` (JSONL, CSV or
    Parquet, relative to the mapping file); `where` keeps those whose columns have these values (or one of a list), and
    `limit` the first so many of them. The tasks: `name` of the suite (default: the file's), `difficulty` and `stresses`
    (fixed, or `{column: ...}`), `instruction` (a template with `{column}`), times in seconds, and in `environment` what
    that table of task.toml shall say beyond that there is no network.
    """

    verifier_seconds: ClassVar[float] = 600.0
    usual_ids: ClassVar[tuple[str, ...]] = ()  # columns that name rows where a mapping file says nothing

    shape: str
    dataset: str | None = None
    config: str | None = None
    split: str | None = None
    revision: str | None = None
    path: str | None = None
    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)
    where: dict[str, Json] = {}
    limit: PositiveInt | None = None
    difficulty: str | Column = "unknown"
    stresses: list[str] | Column = []
    instruction: str
    agent_timeout: PositiveFloat | None = None
    verifier_timeout: PositiveFloat | None = None
    environment: dict[str, Json] = {}

    @model_validator(mode="after")
    def _plain(self) -> Self:
        _require_plain(self.environment, "environment")
        _require_plain(self.where, "where", date, type(None))
        return self

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.dataset is None) == (self.path is None):
            raise ValueError("one of dataset and path says where the rows are")
        if self.path is not None and (self.config or self.split or self.revision):
            raise ValueError("config, split and revision belong to dataset; a file has none")
        return self

    @abstractmethod
    def own_columns(self) -> set[str]:
        """The columns that this shape reads."""

    @abstractmethod
    def identity(self, row: Row, number: int) -> str:
        """What names a row's task; raises UnusableRow."""

    @abstractmethod
    def write(self, row: Row, folder: Path, beside: Path) -> None:
        """Write the row's task into an empty folder; `beside` is the mapping file's. Raises UnusableRow."""

    def own_files(self, beside: Path) -> list[Path]:
        """The files beside the mapping file that go into the tasks; raises ConfigError if one is missing."""
        return []

    def used_columns(self) -> set[str]:
        """All columns that are read."""
        said = [each.column for each in (self.difficulty, self.stresses) if isinstance(each, Column)]
        return self.own_columns() | set(self.where) | set(PLACEHOLDER.findall(self.instruction)) | set(said)

    def folder_name(self, row: Row, number: int) -> str:
        """The name of a row's task folder."""
        return _NAME.sub("-", self.identity(row, number)).strip(".-")[:_LONGEST_NAME] or f"row-{number}"

    def task_toml(self, row: Row, **environment: Json) -> str:
        """The text of its task.toml."""
        difficulty = row[self.difficulty.column] if isinstance(self.difficulty, Column) else self.difficulty
        stresses = row[self.stresses.column] if isinstance(self.stresses, Column) else self.stresses
        stresses = [stresses] if isinstance(stresses, str) else [str(each) for each in stresses or []]
        tables: dict[str, dict[str, Json]] = {
            "metadata": {"difficulty": str(difficulty), "stresses": stresses},
            "agent": {"timeout_sec": self.agent_timeout},
            "verifier": {"timeout_sec": self.verifier_timeout or self.verifier_seconds},
            "environment": {"network_mode": "no-network", **environment, **self.environment},
        }
        lines = ['schema_version = "1.4"']
        for table, keys in tables.items():
            lines += ["", f"[{table}]"]
            lines += [f"{key} = {_toml(value)}" for key, value in keys.items() if value is not None]
        return "\n".join(lines) + "\n"


def filled(template: str, values: Row) -> str:
    """A template with each `{column}` replaced; other braces stay."""
    return PLACEHOLDER.sub(lambda found: str(values[found[1]]) if found[1] in values else found[0], template)


def text_of(row: Row, column: str) -> str:
    """The text in a column; raises UnusableRow where there is none."""
    value = row.get(column)
    text = "" if value is None else str(value)
    if not text.strip():
        raise UnusableRow(f"its column {column!r} is empty")
    return text


def scripted(name: str, text: str, *commands: str) -> dict[str, str]:
    """The plan by which the scripted agent writes a file and runs commands; none where its language would read the text
    otherwise."""
    if "${" in text:
        return {}
    steps: list[dict[str, Json]] = [{"say": "I look around.", "run": "ls -a"}]
    steps.append({"say": "I write it.", "create": {"path": name, "text": text}})
    steps += [{"say": "I go on.", "run": command} for command in commands]
    plan = {"done": "It is done.", "steps": steps}
    return {"solution/plan.yaml": yaml.safe_dump(plan, sort_keys=False, allow_unicode=True)}


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts by their paths within a folder; scripts can be executed."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace", newline="")
        path.chmod(0o755 if name.endswith(".sh") else 0o644)


def _require_plain(value: Json, key: str, *others: type) -> None:
    """Refuse what YAML knows and TOML or JSON does not, such as a date or infinity; raises ValueError."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _require_plain(inner, f"{key}.{name}", *others)
    elif isinstance(value, int | float) and not abs(value) < _TOO_LARGE:  # nor is what is no number
        raise ValueError(f"{key}: must be a number below {_TOO_LARGE:.0e}")
    elif not isinstance(value, (str, int, float, *others)):
        raise ValueError(f"{key}: must be a text, a number, true or false, not a {type(value).__name__}; try quotes")


def _toml(value: Json) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)

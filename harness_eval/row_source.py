"""Reading the rows of a data set, from a file or from the Hugging Face hub, with the library `datasets`."""

from __future__ import annotations

import csv
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from harness_eval.errors import BoundaryFailure, ConfigError, boundary, nearest
from harness_eval.shapes import Shape
from harness_eval.shapes.row import Row
from harness_eval.types import Json

NumberedRow: TypeAlias = tuple[int, Row]

_FORMATS = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}
_LARGEST = 2**31 - 1  # characters of a field
_PATIENCE = 5.0  # seconds in which the hub must take a connection


def read_rows(shape: Shape, mapping: Path) -> list[NumberedRow]:
    """The rows that a mapping means, with their numbers (from 1, before any is left out) and the columns it reads.

    Raises:
        ConfigError: the rows cannot be read, or have no such column; in one line.
    """
    where = f"{mapping}: {shape.path or shape.dataset}"
    local = shape.dataset is not None and (mapping.parent / shape.dataset).is_dir()
    if shape.dataset and not local and (reason := _unreachable()):
        raise ConfigError(
            f"{where}: the hub cannot be reached ({reason}); with HF_HUB_OFFLINE=1 a copy that is here already is used"
        )
    try:
        with boundary("task"), _quiet():
            table = _from_file(mapping.parent / shape.path) if shape.path else _from_hub(shape, mapping.parent)
            if missing := shape.used_columns() - set(table.column_names):
                name = min(missing)
                raise ConfigError(f"{where}: there is no column {name!r}; {nearest(name, table.column_names)}")
            read = shape.used_columns() | (set(shape.usual_ids) & set(table.column_names))
            return _chosen(shape, table.select_columns(sorted(read)))
    except BoundaryFailure as failure:
        if shape.path and (wrong := _wrong_line(mapping.parent / shape.path)):
            raise ConfigError(f"{where}: {wrong}") from failure
        raise ConfigError(f"{where}: cannot be read: {' '.join(str(failure).split())[:400]}") from failure


def _chosen(shape: Shape, table: Json) -> list[NumberedRow]:
    chosen: list[NumberedRow] = []
    for number, row in enumerate(table, start=1):
        if all(_fits(row[column], wanted) for column, wanted in shape.where.items()):
            chosen.append((number, row))
        if len(chosen) == shape.limit:
            break
    return chosen


def _fits(value: Json, wanted: Json) -> bool:
    choices = wanted if isinstance(wanted, list) else [wanted]
    return value in choices or str(value) in {str(choice) for choice in choices}


def _from_file(path: Path) -> Json:
    """All rows of a file, as a table of the library; a file of commas has texts alone."""
    import datasets  # lazy: slow import

    path = path.expanduser()
    kind = _FORMATS.get(path.suffix.lower())
    if kind is None:
        raise ConfigError(f"{path}: rows are read from files that end with {', '.join(_FORMATS)}")
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file")
    if kind == "csv":
        names, *rows = _of_commas(path)
        columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        return datasets.Dataset.from_dict(columns, datasets.Features(dict.fromkeys(names, datasets.Value("string"))))
    read = datasets.Dataset.from_json if kind == "json" else datasets.Dataset.from_parquet
    with tempfile.TemporaryDirectory() as scratch:
        return read(str(path), cache_dir=scratch, keep_in_memory=True)


def _of_commas(path: Path) -> list[list[str]]:
    """The names of the columns, then the rows; empty lines are none. The library would move the fields of a row that
    has one too many to the columns beside theirs."""
    usual = csv.field_size_limit(_LARGEST)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names, *rows = [row for row in csv.reader(file, strict=True) if row] or [[]]
    except csv.Error as error:
        raise ConfigError(f"{path}: is no file of commas: {error}") from error
    finally:
        csv.field_size_limit(usual)
    if len(set(names)) < len(names):
        raise ConfigError(f"{path}: two columns have the same name, or none")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise ConfigError(f"{path}: row {number} has {len(row)} fields, but there are {len(names)} columns")
    return [names, *rows]


def _wrong_line(path: Path) -> str | None:
    """Which line of a file of JSON lines is no object, and why; None where all are."""
    if path.suffix.lower() not in {".jsonl", ".ndjson"}:
        return None
    with path.expanduser().open("rb") as file:
        told = ((number, _no_object(line)) for number, line in enumerate(file, start=1) if line.strip())
        return next((f"line {number} is {wrong}" for number, wrong in told if wrong), None)


def _no_object(line: bytes) -> str | None:
    try:
        return None if isinstance(json.loads(line), dict) else "no JSON object"
    except json.JSONDecodeError as error:
        return f"not valid JSON: {error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:  # not UTF-8, or nested without end
        return f"not valid JSON: {error}"


def _from_hub(shape: Shape, beside: Path) -> Json:
    """One split of a data set of the hub, or of a folder that is laid out like one; its only one, if none is named."""
    import datasets  # lazy: slow import

    place = beside / str(shape.dataset)
    if place.is_dir():
        with tempfile.TemporaryDirectory() as scratch:
            options = {"cache_dir": scratch, "keep_in_memory": True}
            found = datasets.load_dataset(str(place), shape.config, split=shape.split, **options)
    else:
        found = datasets.load_dataset(shape.dataset, shape.config, split=shape.split, revision=shape.revision)
    if shape.split is None and len(found) > 1:
        raise ConfigError(f"{shape.dataset}: split: is required; {nearest('', found)}")
    return found if shape.split else next(iter(found.values()))


def _unreachable() -> str | None:
    """Why the hub cannot be reached, or None; not known behind a proxy, and no matter where HF_HUB_OFFLINE is set.

    Asked before the library is, which would try again for half a minute.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        return None
    if any(os.environ.get(name) for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")):
        return None
    address = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    port = address.port or (80 if address.scheme == "http" else 443)
    try:
        with socket.create_connection((address.hostname or "", port), timeout=_PATIENCE):
            return None
    except OSError as error:
        return f"{address.hostname}: {error.strerror or error}"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's progress bars and log lines off the terminal."""
    import datasets  # lazy: slow import

    bars = datasets.are_progress_bars_disabled()
    level = datasets.logging.get_verbosity()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)  # what it logs as an error it raises, too
    try:
        yield
    finally:
        datasets.logging.set_verbosity(level)
        if not bars:
            datasets.enable_progress_bars()

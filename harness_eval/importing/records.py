"""Tables of several formats as the same thing: named columns, and rows that know where they stand."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_eval import recording
from harness_eval.config import read_text
from harness_eval.errors import BoundaryFailure, ConfigError, boundary
from harness_eval.importing.cells import shown
from harness_eval.importing.foreign import regular
from harness_eval.types import Json

FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
_LOOKED_AT = 65536
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Record:
    """One row: where it stands (`table.csv: line 3`), and its values by column."""

    place: str
    cells: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a file in order, and its rows."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Record]


def read(path: Path) -> Table:
    """The table that a file holds.

    Raises:
        ConfigError: it cannot be read, is of no known format, or is empty; with the line where there is one.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ConfigError(f"{path}: a table is one of {', '.join(FORMATS)}")
    if suffix == ".parquet":
        return _parquet(path)
    text = _text(path)
    if not text.strip():
        raise ConfigError(f"{path.name}: is empty")
    if suffix in (".csv", ".tsv"):
        return _separated(path.name, text, "," if suffix == ".csv" else "\t")
    return _objects(path.name, list(_json(path.name, text, suffix == ".json")))


def _text(path: Path) -> str:
    """The file's text without the mark of its byte order, which spreadsheets write."""
    with regular(path).open("rb") as file:
        start = file.read(_LOOKED_AT)
    if start.startswith(_UTF_16):
        raise ConfigError(f"{path.name}: is text in UTF-16; save it as UTF-8")
    if b"\0" in start:
        raise ConfigError(f"{path.name}: holds zero bytes, so it is no text in UTF-8; save it as UTF-8")
    return read_text(path).removeprefix("\ufeff")


def _separated(name: str, text: str, separator: str) -> Table:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[Record] = []
    columns: list[str] = []
    try:
        for values in lines:
            place = f"{name}: line {lines.line_num}"
            if not any(value.strip() for value in values):
                continue
            if not columns:
                columns = _header(place, [value.strip() for value in values], separator)
            elif len(values) != len(columns):
                raise ConfigError(f"{place}: has {len(values)} values for {len(columns)} columns")
            else:
                rows.append(Record(place, dict(zip(columns, values, strict=True))))
    except csv.Error as error:
        raise ConfigError(f"{name}: line {lines.line_num}: is not to be read: {error}") from None
    return _filled(name, columns, rows)


def _header(place: str, columns: list[str], separator: str) -> list[str]:
    if len(columns) == 1:
        for other, what in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
            if other != separator and other in columns[0]:
                wanted = "commas" if separator == "," else "tabs"
                raise ConfigError(f"{place}: its columns are separated by {what}; save it with {wanted}")
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise ConfigError(f"{place}: column {shown(twice[0])} stands twice")
    return columns


def _json(name: str, text: str, whole: bool) -> Iterator[tuple[str, Json]]:
    """Each record with its place: the members of a list, or one a line."""
    if not whole:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"{name}: line {number}", _loaded(f"{name}: line {number}", line)
        return
    value = _loaded(name, text)
    if not isinstance(value, list):
        raise ConfigError(f"{name}: must hold a list of records, not {type(value).__name__}")
    for number, record in enumerate(value, start=1):
        yield f"{name}: record {number}", record


def _loaded(place: str, text: str) -> Json:
    try:
        return recording.load(text.encode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise ConfigError(f"{place}: is not JSON: {error}") from None


def _objects(name: str, found: Sequence[tuple[str, Json]]) -> Table:
    columns: dict[str, None] = {}
    for place, record in found:
        if not isinstance(record, dict):
            raise ConfigError(f"{place}: must be an object of columns and values, not {type(record).__name__}")
        columns.update(dict.fromkeys(str(column) for column in record))
    return _filled(name, list(columns), [Record(place, record) for place, record in found])


def _parquet(path: Path) -> Table:
    import pandas  # lazy: slow import

    regular(path)
    try:
        with boundary("task"):  # whatever a damaged file makes its reader say
            frame = pandas.read_parquet(path)
    except BoundaryFailure as error:
        raise ConfigError(f"{path.name}: is no parquet file: {error}") from None
    return _objects(
        path.name, [(f"{path.name}: row {number}", row) for number, row in enumerate(frame.to_dict("records"), 1)]
    )


def _filled(name: str, columns: Sequence[str], rows: Sequence[Record]) -> Table:
    if not rows:
        raise ConfigError(f"{name}: has no rows")
    return Table(name, columns, rows)

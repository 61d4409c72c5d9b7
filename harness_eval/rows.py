"""Tasks from the rows of a data set: a mapping file (YAML) names the rows, a shape, and which column is what.

    path: rows.jsonl            # or dataset: org/name of the Hugging Face hub, with config, split, revision
    shape: question             # or repair; see harness_eval/shapes
    columns: {question: prompt, answer: label}
    limit: 50

The rows become ordinary task folders: in the cache, by their content, or where the user wants them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import harness_eval
from harness_eval.cache import cache_folder
from harness_eval.config import parse, read_yaml
from harness_eval.errors import ConfigError, nearest
from harness_eval.row_source import NumberedRow, read_rows
from harness_eval.shapes import SHAPES, Shape, UnusableRow
from harness_eval.task_files import digest
from harness_eval.unfinished import settle, unfinished

_UNUSABLE = "unusable-rows.json"
_SHOWN = 3  # ids named in one message


@dataclass(frozen=True, slots=True)
class Unusable:
    """A row that cannot become a task; rows are counted from 1 in the order of the data set.

    `name` is what its task would be called: by its id, or by its number where it has none that can be read.
    """

    number: int
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Made:
    """The task folders that rows became, in the order of the rows, and the rows that became none.

    `kept` are those of the folders that stood there before, with the same content.
    """

    tasks: tuple[Path, ...]
    unusable: tuple[Unusable, ...]
    kept: frozenset[Path] = frozenset()


def is_mapping(name: str | Path) -> bool:
    """Whether a suite's name is that of a mapping file."""
    return str(name).endswith((".yaml", ".yml"))


def load_mapping(path: Path) -> Shape:
    """The mapping that a file holds.

    Raises:
        ConfigError: it is missing or wrong; names the key and the nearest valid choice.
    """
    data = read_yaml(path)
    shape = data.get("shape")
    if shape is None:
        raise ConfigError(f"{path}: shape: is required; {nearest('', SHAPES)}")
    if not isinstance(shape, str) or shape not in SHAPES:
        raise ConfigError(f"{path}: shape: {shape!r} is not known; {nearest(str(shape), SHAPES)}")
    return parse(SHAPES[shape], data, str(path))


def materialise(mapping: Path, out: Path) -> Made:
    """Write a task folder for each row to `out`, which may exist; folders that stand there are kept.

    Raises:
        ConfigError: the mapping file or its rows are wrong, two rows have one name, or a folder of such a name holds
            something else; then nothing is written.
    """
    shape = load_mapping(mapping)
    rows = _named(shape, mapping)
    with unfinished(out) as scratch:
        made = _write(shape, rows, mapping, scratch)
        places = {path: out / path.name for path in made.tasks}
        kept = {place for place in places.values() if place.exists() or place.is_symlink()}
        for path, place in places.items():
            if place in kept:
                _require_same(path, place)
        for path, place in places.items():
            if place not in kept and not settle(path, place):
                _require_same(path, place)
        return Made(tuple(places.values()), made.unusable, frozenset(kept))


def cached(mapping: Path) -> Made:
    """The task folders of a mapping file in the cache, made there unless they are: the same rows are the same folders.

    Raises:
        ConfigError: as `materialise`.
    """
    shape = load_mapping(mapping)
    rows = _named(shape, mapping)
    suite = shape.name or mapping.stem
    place = cache_folder() / "data-sets" / _key(shape, rows, mapping)
    if not place.is_dir():
        with unfinished(place.parent) as scratch:
            made = _write(shape, rows, mapping, scratch / "made" / suite)
            told = [astuple(each) for each in made.unusable]
            (scratch / "made" / _UNUSABLE).write_text(json.dumps(told), encoding="utf-8")
            settle(scratch / "made", place)
    known = [Unusable(*each) for each in json.loads((place / _UNUSABLE).read_text(encoding="utf-8"))]
    left_out = {each.number for each in known}
    tasks = tuple(place / suite / name for name, (number, _) in rows.items() if number not in left_out)
    return Made(tasks, tuple(known))


def _require_same(made: Path, place: Path) -> None:
    if not (place.is_dir() and digest(place) == digest(made)):
        raise ConfigError(f"{place}: holds something else than this row's task; remove it, or choose another --out")


def _named(shape: Shape, mapping: Path) -> dict[str, NumberedRow]:
    """The rows by the names of their tasks; one that has no name of its own is named by its number."""
    found: list[tuple[str, NumberedRow]] = []
    for number, row in read_rows(shape, mapping):
        try:
            found.append((shape.folder_name(row, number), (number, row)))
        except UnusableRow:
            found.append((f"row-{number}", (number, row)))
    if not found:
        raise ConfigError(f"{mapping}: no row is left; look at `where`")
    counted = Counter(name for name, _ in found)
    if twice := [name for name, times in counted.items() if times > 1]:
        numbers = [str(number) for name, (number, _) in found if name == twice[0]][:_SHOWN]
        raise ConfigError(
            f"{mapping}: {twice[0]!r} names several rows ({', '.join(numbers)}); each task needs its own"
            + ("; columns.id names another column, and null numbers the rows" if shape.usual_ids else "")
        )
    return dict(found)


def _write(shape: Shape, rows: dict[str, NumberedRow], mapping: Path, out: Path) -> Made:
    out.mkdir(parents=True, exist_ok=True)
    tasks, unusable = [], []
    for name, (number, row) in rows.items():
        try:
            shape.folder_name(row, number)
            shape.write(row, out / name, mapping.parent)
            tasks.append(out / name)
        except UnusableRow as reason:
            shutil.rmtree(out / name, ignore_errors=True)
            unusable.append(Unusable(number, name, str(reason)))
    return Made(tuple(tasks), tuple(unusable))


def _key(shape: Shape, rows: dict[str, NumberedRow], mapping: Path) -> str:
    """A hash over all that decides what the folders hold: the rows, the mapping, and the code that writes them."""
    total = hashlib.sha256()
    for part in (mapping.stem, shape.model_dump_json(), json.dumps(list(rows.items()), sort_keys=True, default=str)):
        total.update(f"{len(part)}\0{part}".encode("utf-8", "surrogatepass"))
    for path in [*shape.own_files(mapping.parent), *_code()]:
        total.update(path.read_bytes())
    return total.hexdigest()[:24]


def _code() -> Iterator[Path]:
    yield from sorted((Path(harness_eval.__file__).parent / "shapes").rglob("*.py"))

"""What kind of results a source holds, told by its files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness_eval import recording
from harness_eval.errors import ConfigError
from harness_eval.importing.foreign import read_bytes
from harness_eval.importing.records import FORMATS
from harness_eval.types import Json

TABLE, INSPECT, TERMINAL_BENCH = "table", "inspect", "terminal-bench"
RESULTS = ("result.json", "results.json")


def kind_of(sources: Sequence[Path]) -> str:
    """The kind that all sources are of.

    Raises:
        ConfigError: a source is missing or of no known kind, or they are of several.
    """
    kinds = {source: _kind(source) for source in sources}
    if len(set(kinds.values())) > 1:
        told = ", ".join(f"{source.name} ({kind})" for source, kind in kinds.items())
        raise ConfigError(f"sources are of different kinds: {told}; import them one by one")
    return next(iter(kinds.values()))


def _kind(source: Path) -> str:
    if not source.exists():
        raise ConfigError(f"{source}: cannot be read: there is no such file or folder")
    if source.is_dir():
        return _kind_of_folder(source)
    if source.suffix == ".eval":
        return INSPECT
    if source.suffix == ".json":
        return _kind_of_json(source)
    if source.suffix.lower() in FORMATS:
        return TABLE
    raise ConfigError(f"{source}: is no table ({', '.join(FORMATS)}), no Inspect log (.eval, .json) and no job folder")


def _kind_of_folder(folder: Path) -> str:
    if _files(folder, ("*.eval",)):
        return INSPECT
    if _files(folder, RESULTS):
        return TERMINAL_BENCH
    if any(_kind_of_json(path) == INSPECT for path in _files(folder, ("*.json",))):
        return INSPECT
    raise ConfigError(f"{folder}: holds no Inspect logs (*.eval, *.json) and no Terminal-Bench or Harbor results")


def _kind_of_json(path: Path) -> str:
    if path.name in RESULTS:
        return TERMINAL_BENCH
    return TABLE if log_in(path) is None else INSPECT


def log_in(path: Path) -> Mapping[str, Json] | None:
    """The log of Inspect that a JSON file holds; None where it holds something else."""
    value = recording.load_or_none(read_bytes(path))
    return value if isinstance(value, dict) and "eval" in value else None


def files(sources: Sequence[Path], patterns: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """Each source that is a file, and the files below each folder that match one of the patterns, in order of paths.

    Each with its source, and once only, also where sources overlap.
    """
    seen: set[str] = set()
    for source in sources:
        for path in _files(source, patterns) if source.is_dir() else [source]:
            place = os.path.realpath(path)
            if place not in seen:
                seen.add(place)
                yield source, path


def _files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()})

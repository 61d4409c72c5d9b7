"""harnesses.lock: what models receive from each harness, so that no change of it goes unseen.

A lock is a YAML file with version, id and wire hash of each harness, and where its file stands; beside it, in a folder
`wire`, stands what was hashed, to be read and compared. A wire that changes needs a new version of its harness.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, field_validator

from harness_eval.axes.description import Prose
from harness_eval.config import parse, parse_yaml, read_yaml
from harness_eval.dialogue import requests_of, wire_hash, wire_text
from harness_eval.errors import ConfigError
from harness_eval.harness import Harness, load_harness, named_harnesses
from harness_eval.revision import commit_of, text_at

_HEADING = "# Written by `harness-eval harness lock`: what a model receives from each harness. Do not edit.\n"


class Entry(BaseModel):
    """One harness as it was locked; `file` is relative to the lock, None for one that the package knows by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    id: str
    wire: str
    file: str | None = None

    def holds(self, other: Entry) -> bool:
        """Whether both say the same of what models receive."""
        return (self.version, self.id, self.wire) == (other.version, other.id, other.wire)


class _Lock(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    harnesses: dict[str, Entry] = {}

    @field_validator("harnesses")
    @classmethod
    def _plain(cls, value: dict[str, Entry]) -> dict[str, Entry]:
        for name in value:
            if "/" in name or "\0" in name:  # each name is that of a file under `wire`
                raise ValueError(f"{name!r} is no name of a harness")
        return value


@dataclass(frozen=True, slots=True)
class Locked:
    """A lock as it stands somewhere: its entries, and what reads the wire of one by name, "" where there is none."""

    entries: Mapping[str, Entry]
    wire: Callable[[str], str]
    where: str = "locked"


@dataclass(frozen=True, slots=True)
class Change:
    """A harness that is not as it was locked: both entries, None where it is new or gone, and the lines that differ."""

    name: str
    before: Entry | None
    after: Entry | None
    lines: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What happened, in words."""
        if self.before is None:
            return "not locked yet"
        if self.after is None:
            return "locked, but gone"
        return "has a new version" if self.before.version != self.after.version else "changed without a new version"

    @property
    def allowed(self) -> bool:
        """Whether locking anew is all that is needed: the harness is new, gone, or has a new version."""
        return self.before is None or self.after is None or self.before.version != self.after.version


def entry_of(harness: Harness) -> tuple[Entry, str]:
    """What would be locked of a harness, and its wire to read."""
    requests = requests_of(harness)
    return Entry(version=harness.version, id=harness.id, wire=wire_hash(requests)), wire_text(requests)


def read_lock(path: Path) -> dict[str, Entry]:
    """The entries of a lock file, none if there is no such file.

    Raises:
        ConfigError: if the file is no lock.
    """
    return parse(_Lock, read_yaml(path), str(path)).harnesses if path.exists() else {}


def locked_in(path: Path) -> Locked:
    """A lock file as it stands.

    Raises:
        ConfigError: if the file is no lock.
    """

    def wire(name: str) -> str:
        snapshot = path.parent / "wire" / f"{name}.txt"
        return snapshot.read_text(encoding="utf-8") if snapshot.exists() else ""

    return Locked(read_lock(path), wire)


def locked_at(path: Path, revision: str) -> Locked:
    """A lock file as it stood at a revision of its git repository.

    Raises:
        ConfigError: no repository, no such revision, or no lock in it.
    """
    place = path.resolve()
    commit = commit_of(place.parent, revision)
    where = f"{path} at {revision}"
    text = text_at(place.parent, commit, place.name)
    if text is None:
        raise ConfigError(f"{where}: there is no lock")
    entries = parse(_Lock, parse_yaml(text, where), where).harnesses
    return Locked(entries, lambda name: text_at(place.parent, commit, f"wire/{name}.txt") or "", revision)


def locked_harnesses(path: Path) -> list[Harness]:
    """The harnesses that a lock names as they are today, without those whose file is gone.

    Raises:
        ConfigError: if the file is no lock, or does not say where one of them stands.
    """
    known, found = named_harnesses(), []
    for name, entry in read_lock(path).items():
        if entry.file is None and name not in known:
            raise ConfigError(
                f"{path}: harnesses.{name}: does not say where its file stands; "
                f"lock it once more by name: harness lock FILE.yaml --file {path}"
            )
        place = path.parent / entry.file if entry.file else known[name]
        if place.is_file():
            found.append(load_harness(place))
    return found


def write_lock(
    path: Path, harnesses: Iterable[Harness], whole: bool = True, files: Mapping[str, Path] | None = None
) -> int:
    """Lock these harnesses and write the wires beside the file; returns how many stand in it then.

    `whole` says that they are all: others that stand in the file are removed, otherwise they are kept. `files` says
    where those stand that are files of their own, by name; others keep what the lock says of it.
    """
    folder = path.parent / "wire"
    folder.mkdir(parents=True, exist_ok=True)
    known = read_lock(path)
    entries = {} if whole else dict(known)
    placed = {name: _beside(path, file) for name, file in (files or {}).items()}
    for harness in sorted(harnesses, key=lambda each: each.name):
        entry, text = entry_of(harness)
        before = known[harness.name].file if harness.name in known else None
        entries[harness.name] = entry.model_copy(update={"file": placed.get(harness.name, before)})
        (folder / f"{harness.name}.txt").write_text(text, encoding="utf-8")
    for stale in set(folder.glob("*.txt")) - {folder / f"{name}.txt" for name in entries}:
        stale.unlink()
    held = {name: entry.model_dump(exclude_none=True) for name, entry in entries.items()}
    path.write_text(_HEADING + yaml.safe_dump({"harnesses": held}), encoding="utf-8")
    return len(entries)


def _beside(path: Path, file: Path) -> str:
    return Path(os.path.relpath(file.resolve(), path.parent.resolve())).as_posix()


def check_lock(path: Path, harnesses: Iterable[Harness], whole: bool = True) -> list[Change]:
    """How these harnesses differ from their lock; empty when all is as it was. `whole` says that they are all.

    Raises:
        ConfigError: if the file is no lock.
    """
    return changes_since(locked_in(path), harnesses, whole)


def changes_since(locked: Locked, harnesses: Iterable[Harness], whole: bool = True) -> list[Change]:
    """How these harnesses differ from a lock, wherever it stands; empty when all is as it was."""
    left = dict(locked.entries)
    changes = []
    for harness in harnesses:
        before = left.pop(harness.name, None)
        now, text = entry_of(harness)
        if before is None or not before.holds(now):
            lines = _differing(locked.wire(harness.name), text, locked.where, "now") if before else ()
            changes.append(Change(harness.name, before, now, lines))
    return changes + [Change(name, entry, None) for name, entry in left.items() if whole]


def differences(one: Harness, other: Harness) -> dict[str, tuple[str, ...]]:
    """What a reviewer must see of two harnesses: the axes that differ, then what models receive, as unified diffs."""
    axes = tuple(
        f"{axis}: {one.labels[axis]} -> {other.labels[axis]}"
        for axis in one.labels
        if one.levels[axis] != other.levels[axis]
    )
    result = {"axes": axes}
    for title, old, new in [
        ("system prompt", one.system, other.system),
        ("tools", _tools(one), _tools(other)),
        ("dialogue", wire_text(requests_of(one)), wire_text(requests_of(other))),
    ]:
        result[title] = _differing(old, new, one.name, other.name)
    return result


def _differing(old: str, new: str, before: str, after: str) -> tuple[str, ...]:
    return tuple(difflib.unified_diff(old.splitlines(), new.splitlines(), before, after, n=1, lineterm=""))


def _tools(harness: Harness) -> str:
    return Prose().render(harness.tools)

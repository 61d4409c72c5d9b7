"""harnesses.lock: what models receive from each harness, so that no change of it goes unseen.

A lock is a YAML file with version, id and wire hash of each harness; beside it, in a folder `wire`, stands what was
hashed, to be read and compared. A wire that changes needs a new version of its harness.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from harness_eval.axes.description import Prose
from harness_eval.config import parse, read_yaml
from harness_eval.dialogue import requests_of, wire_hash, wire_text
from harness_eval.harness import Harness

_HEADING = "# Written by `harness-eval harness lock`: what a model receives from each harness. Do not edit.\n"


class Entry(BaseModel):
    """One harness as it was locked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    id: str
    wire: str


class _Lock(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    harnesses: dict[str, Entry] = {}


@dataclass(frozen=True, slots=True)
class Change:
    """A harness whose lock does not fit any more: what kind of change, and the lines that differ."""

    name: str
    kind: str
    lines: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether locking anew is all that is needed: the harness is new, gone, or has a new version."""
        return self.kind != "changed without a new version"


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


def write_lock(path: Path, harnesses: Iterable[Harness], whole: bool = True) -> int:
    """Lock these harnesses and write the wires beside the file; returns how many stand in it then.

    `whole` says that they are all: others that stand in the file are removed, otherwise they are kept.
    """
    folder = path.parent / "wire"
    folder.mkdir(parents=True, exist_ok=True)
    entries = {} if whole else {name: entry.model_dump() for name, entry in read_lock(path).items()}
    for harness in sorted(harnesses, key=lambda each: each.name):
        entry, text = entry_of(harness)
        entries[harness.name] = entry.model_dump()
        (folder / f"{harness.name}.txt").write_text(text, encoding="utf-8")
    for stale in set(folder.glob("*.txt")) - {folder / f"{name}.txt" for name in entries}:
        stale.unlink()
    path.write_text(_HEADING + yaml.safe_dump({"harnesses": entries}), encoding="utf-8")
    return len(entries)


def check_lock(path: Path, harnesses: Iterable[Harness], whole: bool = True) -> list[Change]:
    """How these harnesses differ from their lock; empty when all is as it was. `whole` says that they are all.

    Raises:
        ConfigError: if the file is no lock.
    """
    locked = read_lock(path)
    changes = []
    for harness in harnesses:
        before = locked.pop(harness.name, None)
        now, text = entry_of(harness)
        if before is None:
            changes.append(Change(harness.name, "not locked yet"))
        elif before != now:
            changes.append(_change(path, harness.name, before, now, text))
    return changes + [Change(name, "locked, but gone") for name in locked if whole]


def _change(path: Path, name: str, before: Entry, now: Entry, text: str) -> Change:
    snapshot = path.parent / "wire" / f"{name}.txt"
    old = snapshot.read_text(encoding="utf-8").splitlines() if snapshot.exists() else []
    lines = tuple(difflib.unified_diff(old, text.splitlines(), "locked", "now", n=1, lineterm=""))
    kind = "has a new version" if before.version != now.version else "changed without a new version"
    return Change(name, kind, lines)


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
        diff = difflib.unified_diff(old.splitlines(), new.splitlines(), one.name, other.name, n=1, lineterm="")
        result[title] = tuple(diff)
    return result


def _tools(harness: Harness) -> str:
    return Prose().render(harness.tools)

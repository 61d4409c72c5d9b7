"""Which version of a harness a cell speaks of, and whether that is the current one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness_eval.bundled import folder
from harness_eval.errors import ConfigError, redact
from harness_eval.lock import read_lock
from harness_eval.report.comparison_pairing import differs
from harness_eval.report.wording import one_line
from harness_eval.types import Json

_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Measured:
    """A harness as it was measured; of an imported one neither version nor wire is known, and `id` hashes its table."""

    name: str
    version: str | None = None
    id: str | None = None
    wire: str | None = None

    @property
    def known(self) -> bool:
        """Whether anything says what a model received from it."""
        return self.version is not None or self.wire is not None

    @property
    def order(self) -> tuple[str, ...]:
        """Any order, the same each time."""
        return self.name, self.version or "", self.id or "", self.wire or ""


def measured(entry: Mapping[str, Json]) -> Measured:
    """A harness of study.json."""
    told = (entry.get(key) for key in ("version", "id", "wire"))
    version, own, wire = (None if value is None else one_line(redact(str(value)), _LENGTH) for value in told)
    return Measured(str(entry["name"]), version, own, wire)


@dataclass(frozen=True, slots=True)
class Current:
    """The harnesses as they are now, by name, and when those were last measured that no lock names."""

    by_name: Mapping[str, Measured]
    measured: Mapping[str, str]

    def stale(self, harness: Measured) -> str | None:
        """Why what was measured does not speak of the current harness; None where it does, or nothing is known."""
        now = self.by_name.get(harness.name)
        if now is None or now.known != harness.known:
            return None
        if differs(harness.version, now.version):
            return f"measured with version {_shown(harness.version)}, now {_shown(now.version)}"
        if differs(harness.id, now.id):
            return "measured with other levels than it has now (another id)"
        if differs(harness.wire, now.wire):
            return "what a model receives of it is not what it was"
        return None


def current(seen: Iterable[tuple[str, Measured]], lock: Path | None) -> Current:
    """The current harnesses: as the lock says where it knows the name, else as measured last; `seen` has when.

    Without a lock the bundled one, which knows the bundled harnesses.

    Raises:
        ConfigError: the file is missing, or no lock.
    """
    if lock is not None and not lock.is_file():
        raise ConfigError(f"--lock {lock}: no such file")
    newest: dict[str, tuple[tuple[bool, str, tuple[str, ...]], Measured]] = {}
    for when, harness in seen:
        rank = (harness.known, when, harness.order)
        if harness.name not in newest or rank > newest[harness.name][0]:
            newest[harness.name] = rank, harness
    found = {name: harness for name, (_, harness) in newest.items()}
    for name, entry in read_lock(lock or folder("harnesses") / "harnesses.lock").items():
        if name in found and found[name].known:
            found[name] = Measured(name, entry.version, entry.id, entry.wire)
    return Current(found, {name: when for name, ((_, when, _), harness) in newest.items() if found[name] == harness})


def _shown(version: str | None) -> str:
    return one_line(version or "", _LENGTH)

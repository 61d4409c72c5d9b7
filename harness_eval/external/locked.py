"""What the wire showed of external harnesses when they were last looked at, so that no change goes unseen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from harness_eval import bundled
from harness_eval.config import parse, read_yaml

_HEADING = "# Written by `harness-eval harness lock NAME`: what the wire shows of real harnesses. Do not edit.\n"
_WORDS = {"tools": "the tools it offers", "system": "its system prompt"}


class Seen(BaseModel):
    """One harness as it was seen: version, adapter, hashes of tools and system prompt, number and characters of these.

    `system` is a hash over what does not change from day to day or from place to place.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    id: str
    tools: str
    system: str
    tool_count: int = 0
    system_chars: int = 0


class _Lock(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    externals: dict[str, Seen] = {}


def lock_file() -> Path:
    """The package's own."""
    return bundled.folder("harnesses") / "external" / "externals.lock"


def read_seen(path: Path) -> dict[str, Seen]:
    """What a lock holds by name, nothing if there is no such file.

    Raises:
        ConfigError: if the file is no lock.
    """
    return parse(_Lock, read_yaml(path), str(path)).externals if path.exists() else {}


def write_seen(path: Path, seen: Mapping[str, Seen]) -> None:
    """Add or renew these entries."""
    entries = {**read_seen(path), **seen}
    data = {"externals": {name: entries[name].model_dump() for name in sorted(entries)}}
    path.write_text(_HEADING + yaml.safe_dump(data, sort_keys=True), encoding="utf-8")


def changes(before: Seen | None, now: Seen) -> Iterator[str]:
    """What changed since a harness was locked, each in words."""
    if before is None:
        yield "not locked yet"
        return
    if before.version != now.version:
        yield f"has a new version: {before.version} before, {now.version} now"
    same = "" if before.version != now.version else ", without a new version"
    if before.tools != now.tools:
        yield f"{_WORDS['tools']} changed ({before.tool_count} before, {now.tool_count} now){same}"
    if before.system != now.system:
        yield f"{_WORDS['system']} changed ({before.system_chars} characters before, {now.system_chars} now){same}"

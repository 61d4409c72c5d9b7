"""executor.json of a run's folder: over how many nodes each part of it was spread; no names of machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness_eval import recording
from harness_eval.types import Json

FILE = "executor.json"


def note(folder: Path, used: Mapping[str, Json]) -> None:
    """Add what one invocation, or one block of a hunt, has used.

    Raises:
        OSError: it cannot be written.
    """
    recording.write_whole(folder / FILE, recording.dump([*_used(folder), used], pretty=True))


def told(folder: Path) -> list[str]:
    """What a report says of it: a sentence, or nothing where all trials ran on one machine."""
    used = _used(folder)
    if not used:
        return []
    most = max(each["nodes"] for each in used)
    lost = sum(each["lost"] for each in used)
    what = f"{most} nodes" if most != 1 else "1 node"
    gone = f", {lost} of which {'was' if lost == 1 else 'were'} lost and their trials played elsewhere" if lost else ""
    return [f"Trials were played on a Ray cluster, at most on {what}{gone}."]


def _used(folder: Path) -> list[dict[str, Json]]:
    try:
        found = recording.load_or_none((folder / FILE).read_bytes())
    except OSError:
        return []
    each_sound = isinstance(found, list) and all(map(_is_sound, found))
    return list(found or ()) if each_sound else []


def _is_sound(entry: Json) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(key), int) for key in ("nodes", "lost"))

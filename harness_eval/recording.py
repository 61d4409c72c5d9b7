"""How records are written as bytes: JSON that survives whatever a model wrote, and one zstd frame a trajectory."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import orjson
import zstandard
from pydantic import TypeAdapter, ValidationError

from harness_eval.types import Compaction, Event, Json, Note, Result, Step, StopReason, Trajectory, TrialKey

TRAJECTORIES, WIRE = "trajectories", "wire"
"""The folders of a run in which its trials are, each with a file by `file_name`."""

_EVENTS: dict[str, type[Event]] = {"step": Step, "note": Note, "compaction": Compaction}
_LARGEST = 2**29  # bytes that a frame may unpack to: one that says more is damaged, or made to fill the memory
_LONG_NUMBER = re.compile(rb"\d{20}")  # the fast decoder would make a float of it
_NAMES = {kind: name for name, kind in _EVENTS.items()}


def dump(value: Json, pretty: bool = False) -> bytes:
    """A value as JSON: dataclasses as objects; whole numbers of any size and lone surrogates are kept."""
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_INDENT_2 if pretty else None)
    except TypeError:  # a model may write numbers and characters that the fast encoder refuses
        return json.dumps(value, default=_plain, indent=2 if pretty else None).encode()


def load(data: bytes) -> Json:
    """The value of a JSON text.

    Raises:
        ValueError: it is none.
    """
    if _LONG_NUMBER.search(data):
        return _load_slowly(data)
    try:
        return orjson.loads(data)
    except ValueError:
        return _load_slowly(data)  # what the slow encoder wrote


def _load_slowly(data: bytes) -> Json:
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def load_or_none(data: bytes) -> Json | None:
    """The value of a JSON text, or None if it is none."""
    try:
        return load(data)
    except ValueError:
        return None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, even if the machine stops.

    Raises:
        OSError: it cannot be written; it names a file.
    """
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        error.filename = error.filename or str(path)  # a full disk does not say where
        raise


def _plain(value: object) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def file_name(key: TrialKey) -> str:
    """Where a trial's frame is below the folder `trajectories`: readable, and unique through the hash at its end."""
    parts = (key.task, key.harness, key.endpoint, str(key.repeat))
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    readable = [re.sub(r"[^A-Za-z0-9_-]+", "-", part)[:40] for part in parts]
    return f"{readable[0]}/{'.'.join(readable[1:])}.{digest}.json.zst"


def pack(key: TrialKey, trajectory: Trajectory, extra: Mapping[str, Json]) -> bytes:
    """A trajectory, and whatever else was recorded about its trial, as one zstd frame of JSON."""
    record = {"key": key, **as_record(trajectory), "extra": extra}
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(dump(record))


def keep(folder: Path, result: Result) -> None:
    """Put the trajectory of a trial, and its wire log if it has one, in place below a run's folder.

    Raises:
        OSError: as `write_whole`.
    """
    name = file_name(result.key)
    if result.trajectory is not None:
        write_whole(folder / TRAJECTORIES / name, pack(result.key, result.trajectory, result.extra))
    if result.wire:
        (folder / WIRE).mkdir(exist_ok=True)
        lines = b"".join(dump(entry) + b"\n" for entry in result.wire)
        # Every request holds all that was said before, so what is the same lies far back.
        far = zstandard.ZstdCompressionParameters.from_level(3, enable_ldm=True, window_log=25)
        packed = zstandard.ZstdCompressor(compression_params=far).compress(lines)
        write_whole(folder / WIRE / name.replace(".json.", ".jsonl."), packed)


def wire_log(folder: Path, key: TrialKey) -> list[Json]:
    """The entries of a trial's wire log; none where there is none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged.
    """
    path = folder / WIRE / file_name(key).replace(".json.", ".jsonl.")
    if not path.is_file():
        return []
    return [load(line) for line in _unpacked(path.read_bytes()).splitlines()]


def as_record(trajectory: Trajectory) -> dict[str, Json]:
    """A trajectory as the object that its frame holds; each event says what it is under `event`."""
    events = [{"event": _NAMES[type(event)], **_plain(event)} for event in trajectory.events]
    return {"system": trajectory.system, "prompt": trajectory.prompt, "stop": trajectory.stop, "events": events}


def unpack(frame: bytes) -> Trajectory:
    """The trajectory of a frame.

    Raises:
        ValueError: the frame is damaged, or holds something else.
    """
    return from_record(_opened(frame))


def unpack_all(frame: bytes) -> tuple[Trajectory, dict[str, Json]]:
    """The trajectory of a frame, and whatever else it holds about its trial.

    Raises:
        ValueError: the frame is damaged, or holds something else.
    """
    record = _opened(frame)
    extra = record.get("extra")
    return from_record(record), extra if isinstance(extra, dict) else {}


def _unpacked(frame: bytes) -> bytes:
    try:
        size = zstandard.frame_content_size(frame)
        if size > _LARGEST:
            raise ValueError(f"it would unpack to {size:,} bytes")
        return zstandard.ZstdDecompressor().decompress(frame)
    except zstandard.ZstdError as error:
        raise ValueError(f"ZstdError: {error}") from error


def _opened(frame: bytes) -> dict[str, Json]:
    record = load(_unpacked(frame))
    if not isinstance(record, dict):
        raise ValueError("it holds no object")
    return record


def from_record(record: Mapping[str, Json]) -> Trajectory:
    """The trajectory of an object that `as_record` made.

    Raises:
        ValueError: the object is something else.
    """
    try:
        events = tuple(_event(event) for event in record["events"])
        stop = StopReason(record["stop"]) if record["stop"] else None
        return Trajectory(str(record["system"]), str(record["prompt"]), events, stop)
    except (ValidationError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {' '.join(str(error).split())}") from error


def _event(data: Mapping[str, Json]) -> Event:
    fields = {name: value for name, value in data.items() if name != "event"}
    return _adapter(data["event"]).validate_python(fields)


@cache
def _adapter(name: str) -> TypeAdapter[Event]:
    return TypeAdapter(_EVENTS[name])


def differences(old: Json, new: Json, ignored: Collection[str] = (), path: str = "") -> Iterator[str]:
    """Where two documents differ, each as `path: old, now new`; lists of named things are compared by name."""
    old, new = _by_name(old), _by_name(new)
    if not (isinstance(old, dict) and isinstance(new, dict)):
        if old != new:
            yield f"{path}: {_short(old)}, now {_short(new)}"
        return
    for key in [*old, *(key for key in new if key not in old)]:
        inner = f"{path}.{key}" if path else str(key)
        if inner in ignored:
            continue
        if key not in new or key not in old:
            yield f"{inner}: {'no longer there' if key in old else 'new'}"
        else:
            yield from differences(old[key], new[key], ignored, inner)


def _by_name(value: Json) -> Json:
    named = isinstance(value, list) and value and all(isinstance(each, dict) and "name" in each for each in value)
    return {each["name"]: each for each in value} if named else value


def _short(value: Json) -> str:
    text = dump(value).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."

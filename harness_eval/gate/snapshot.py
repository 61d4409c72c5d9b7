"""A snapshot taken of a run, read from a baseline's file, and written to one.

A snapshot is of one run: the best of several would make every later run look worse (a winner's curse).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness_eval import config, recording
from harness_eval.errors import ConfigError, nearest, redact
from harness_eval.gate.kept import NOT_RUN, SCHEMA, SOLVED, Snapshot, character
from harness_eval.report import comparison_pairing
from harness_eval.report.comparison_pairing import Side
from harness_eval.report.counts import grouped
from harness_eval.report.designed import order_of
from harness_eval.report.outcomes import Outcome, Table
from harness_eval.report.recorded import Recorded
from harness_eval.report.wording import one_line
from harness_eval.types import Json

_LARGEST = 16 << 20  # bytes of a baseline's file; a hundred times the largest that is sensible
_LONGEST_TEXT = 10_000  # characters; a repeat has one a task
_MOST_REPEATS = 1_000
_LONGEST_MESSAGE = 600
# Who is asked and how, what it costs, and what has a place of its own: not what decides which words come back.
_NO_SETTINGS = {"name", "model", "scripted", "base_url", "price", "api_key_env", "headers_env", "concurrency"}
_NO_SETTINGS |= {"timeout_seconds", "retries", "backoff_seconds"}

Entry = Mapping[str, Json]


def snapshot_of(folder: Path, endpoint: str | None = None) -> Snapshot:
    """The snapshot of a run's folder at one endpoint; None: the only one.

    Raises:
        ConfigError: no readable run, no endpoint of that name, or several and none was named.
    """
    return _taken(comparison_pairing.side(folder, endpoint))


def planned(study: Mapping[str, Json], endpoint: str) -> Snapshot:
    """The snapshot of a run of which no trial has ended yet, from what its study.json will be."""
    study = recording.load(recording.dump(study))
    entry = next(each for each in study["endpoints"] if each["name"] == endpoint)
    none = Table().latest()
    return _taken(Side(Path(str(study["name"])), Recorded(study, none, {}, 0, {}), entry, none, {}))


def read(path: Path) -> Snapshot:
    """The snapshot of a run's folder, of FOLDER:ENDPOINT, or of a baseline's file.

    Raises:
        ConfigError: there is none, or it cannot be read; in one line.
    """
    if path.suffix == ".json" and not path.exists():
        raise ConfigError(f"{path}: there is no such file; `harness-eval baseline RUN --out {path}` writes it")
    if path.is_dir() or not path.exists():
        return _taken(comparison_pairing.chosen(str(path), None))
    data = _parsed(path)
    schema = data.get("schema")
    if schema != SCHEMA:
        found = "no schema" if schema is None else f"the schema {one_line(schema, 60)!r}"
        raise ConfigError(f"{path}: has {found}; a baseline of this version has {SCHEMA!r}: make it anew")
    return _sound(data, path)


def _sound(data: Json, where: Path) -> Snapshot:
    """The snapshot that this object is; what it quotes in an error is cut."""
    try:
        return config.parse(Snapshot, data, str(where))
    except ConfigError as error:
        raise ConfigError(one_line(error, _LONGEST_MESSAGE)) from None


def _parsed(path: Path) -> dict[str, Json]:
    """The object in a regular file that is not too long."""
    if not path.is_file():
        raise ConfigError(f"{path}: cannot be read: it is no regular file")
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ConfigError(f"{path}: is no baseline: it has more than {_LARGEST:,} bytes")
    data = recording.load_or_none(content)
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: is no baseline: {'it is not JSON' if data is None else 'it must hold an object'}")
    if (longest := max(_lengths(data), default=0)) > _LONGEST_TEXT:
        raise ConfigError(f"{path}: is no baseline: it has a text of {longest:,} characters")
    return data


def _lengths(data: Json) -> Iterator[int]:
    """The lengths of all texts, keys included; without recursion, since a file may be nested as deeply as it likes."""
    left = [data]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield len(value)
        elif isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value


def write(snapshot: Snapshot, path: Path) -> int:
    """Write a baseline's file, whole or not at all, the same bytes for the same snapshot; how many they are.

    Raises:
        OSError: it cannot be written.
    """
    data = as_bytes(snapshot)
    recording.write_whole(path, data)
    return len(data)


def as_bytes(snapshot: Snapshot) -> bytes:
    """A snapshot as JSON with a line for each task and each repeat, so that versions of it can be compared."""
    return b"".join(_lines(snapshot.model_dump(mode="json", by_alias=True), 0)) + b"\n"


def _lines(value: Json, depth: int) -> list[bytes]:
    """JSON whose innermost objects, and whatever is no list or object, stand on a line each."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    nested = [each for each in inner if isinstance(each, dict | list)]
    if not inner or (isinstance(value, dict) and not nested and depth):
        return [recording.dump(value)]
    start, end, gap = b"\n" + b" " * (depth + 1), b"\n" + b" " * depth, b","
    keys = [recording.dump(key) + b": " for key in value] if isinstance(value, dict) else [b""] * len(inner)
    parts = [start + key + b"".join(_lines(each, depth + 1)) for key, each in zip(keys, inner, strict=True)]
    around = b"{}" if isinstance(value, dict) else b"[]"
    return [around[:1], gap.join(parts), end, around[1:]]


def _taken(side: Side) -> Snapshot:
    study, tasks = side.recorded.study, list(side.named("tasks").values())
    if study.get("replay"):
        raise ConfigError(f"{side.folder}: is a replay: its replies are those of another run, so name that one")
    sandbox = " on ".join(str(each) for each in (study.get("sandbox"), study.get("base_image")) if each)
    lost = Counter(outcome.owner for outcome in side.outcomes if not outcome.judged)
    data = {
        "schema": SCHEMA,
        "name": redact(str(study.get("name") or "unnamed study")),
        "created": study.get("created"),
        "seed": int(study.get("seed") or 0),
        "versions": dict(study.get("versions") or {}),
        "endpoint": _answering(side),
        "sandbox": sandbox or None,
        "recovery": study.get("recovery"),
        "order": order_of(study),
        "adaptive": bool(study.get("adaptive")),
        "limits": dict(study.get("limits") or {}),
        "canonical": study.get("canonical"),
        "tasks": [
            {**{key: task.get(key) for key in ("name", "digest", "group")}, "suite": str(task.get("suite") or "")}
            for task in tasks
        ],
        "harnesses": _harnesses(side, [task["name"] for task in tasks]),
        "lost": dict(sorted(lost.items())),
    }
    return _sound(data, side.folder)


def _answering(side: Side) -> dict[str, Json]:
    entry, probe = side.endpoint, side.recorded.probes.get(side.endpoint["name"])
    kept = {key: value for key, value in entry.items() if key not in _NO_SETTINGS and value not in (None, {}, [])}
    return {
        "name": entry["name"],
        "model": redact(str(entry.get("model") or entry["name"])),
        "scripted": bool(entry.get("scripted")),
        "settings": dict(sorted(kept.items())),
        "served_as": [redact(each) for each in probe.served] if probe else [],
    }


def _harnesses(side: Side, tasks: Sequence[str]) -> list[dict[str, Json]]:
    """The harnesses of a side with what became of their trials."""
    outcomes = grouped(side.outcomes)
    place = {name: number for number, name in enumerate(tasks)}
    return [_harness(side, entry, outcomes.get(name, ()), place) for name, entry in side.named("harnesses").items()]


def _harness(side: Side, entry: Entry, outcomes: Sequence[Outcome], place: Mapping[str, int]) -> dict[str, Json]:
    name, refused = entry["name"], side.refused.get(entry["name"])
    seen = [outcome.repeat for outcome in outcomes]
    planned = side.recorded.repeats(name)
    if planned > _MOST_REPEATS or (seen and not 0 <= min(seen) <= max(seen) < _MOST_REPEATS):
        raise ConfigError(f"{side.folder}: harness {one_line(name, 60)!r} has a repeat that no run has")
    repeats = 0 if refused else max(planned, 1 + max(seen, default=0))
    solved = [[NOT_RUN] * len(place) for _ in range(repeats)]
    labels: dict[str, list[list[str]]] = {}
    for outcome in () if refused else outcomes:
        at = place[outcome.task]
        solved[outcome.repeat][at] = character(outcome.score)
        for label in outcome.labels if outcome.judged else ():
            lines = labels.setdefault(label, [[NOT_RUN] * len(place) for _ in range(repeats)])
            lines[outcome.repeat][at] = SOLVED
    return {
        **{key: entry.get(key) for key in ("name", "id", "version", "wire")},
        "solved": ["".join(line) for line in solved],
        "labels": {label: ["".join(line) for line in labels[label]] for label in sorted(labels)},
        "refused": one_line(redact(str(refused["reason"])), 300) if refused else None,
    }


def only(snapshot: Snapshot, names: Sequence[str]) -> Snapshot:
    """A snapshot with some of its harnesses alone, by name, and its canonical one.

    Raises:
        ConfigError: it has none of that name.
    """
    known = [harness.name for harness in snapshot.harnesses]
    for name in names:
        if name not in known:
            raise ConfigError(f"--harness: the run has no harness {name!r}; {nearest(name, map(one_line, known))}")
    kept = [harness for harness in snapshot.harnesses if harness.name in {*names, snapshot.canonical}]
    return snapshot.model_copy(update={"harnesses": tuple(kept)})

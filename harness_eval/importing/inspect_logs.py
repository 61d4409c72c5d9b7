"""Logs of Inspect AI: .eval files (a zip of JSON documents, usually compressed with zstd) and .json files."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import zstandard

from harness_eval import recording
from harness_eval.errors import ConfigError, nearest
from harness_eval.importing.attempts import Attempt, Found, Wishes, distinct_names, lost, name_of, text_of
from harness_eval.importing.cells import blank, shown, whole
from harness_eval.importing.foreign import counted, mapping, mappings, measured, regular
from harness_eval.importing.inspect_dialogue import dialogue, stop_of
from harness_eval.importing.kinds import files, log_in
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json, Lost, Owner, Usage

_ZSTD = 93  # the number of that method in a zip, which Python's own reader does not know
_LARGEST, _LARGEST_LOG = 2**29, 2**32  # bytes of one document, and of all of a log, when they are unpacked
_LETTERS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
# Whose failure an error is: the deepest of these places in its traceback tells.
_PLACES: Sequence[tuple[re.Pattern[str], Owner]] = (
    (re.compile(r"inspect_ai/model/|/_?providers/|openai/|anthropic/|httpx|httpcore|google/genai"), "endpoint"),
    (re.compile(r"util/_sandbox|docker|SandboxEnvironment|k8s_sandbox"), "sandbox"),
    (re.compile(r"inspect_ai/scorer/|in score\b"), "task"),
)


# What reading a damaged archive raises; the last one is zipfile's for a version of the format that there is not.
_DAMAGE = (zipfile.BadZipFile, zstandard.ZstdError, zlib.error, struct.error, ValueError, OSError, NotImplementedError)


@dataclass(frozen=True, slots=True)
class _Log:
    """One log: its file's name, what it says of itself, and its samples."""

    name: str
    header: Mapping[str, Json]
    samples: Sequence[Mapping[str, Json]]

    @property
    def spec(self) -> Mapping[str, Json]:
        return mapping(self.header.get("eval"))


def read_logs(sources: Sequence[Path], wishes: Wishes) -> Found:
    """Samples times epochs of all logs. Of a log and its retry, the later one's sample counts.

    Raises:
        ConfigError: a log is damaged, or its scores are none in 0..1.
    """
    log_of = cache(_log)  # each file is read once
    for source in sources:
        if not source.is_dir() and source.suffix != ".eval" and log_of(source) is None:
            raise ConfigError(f"{source}: is no log of Inspect (.eval, or .json with a key eval)")
    logs = [log for _, path in files(sources, ("*.eval", "*.json")) if (log := log_of(path)) is not None]
    logs.sort(key=lambda log: (str(log.spec.get("created") or ""), log.name))
    agents = {id(log): _agent(log) for log in logs}
    names = distinct_names(agents.values())
    found: dict[tuple[str, str, int], Attempt] = {}
    for log in logs:
        name, arguments = agents[id(log)]
        harness = wishes.harness or names[name, text_of(arguments)]
        for sample in log.samples:
            where = f"{log.name}: sample {shown(sample.get('id'))}, epoch {one_line(sample.get('epoch'), 20)}"
            run = str(log.spec.get("task_id") or log.name)
            key = (run, name_of(sample.get("id"), f"{where}: id"), _epoch(sample, where))
            found[key] = _attempt(log, sample, where, replace(wishes, harness=harness))
    return Found(tuple(found.values()), tuple(_remarks(logs, wishes)))


def _epoch(sample: Mapping[str, Json], where: str) -> int:
    return whole(sample.get("epoch") or 1, f"{where}: epoch")


def _log(path: Path) -> _Log | None:
    """The log that a file holds; None where one in JSON holds something else."""
    if path.suffix != ".eval":
        log = log_in(path)
        return None if log is None else _Log(path.name, log, mappings(log.get("samples")))
    try:
        with zipfile.ZipFile(regular(path)) as archive:
            members = {info.filename: info for info in archive.infolist()}
        head = members.get("header.json") or members.get("_journal/start.json")
        if head is None:
            raise ConfigError(f"{path.name}: is no log of Inspect: it holds no header.json")
        inside = sorted(name for name in members if name.startswith("samples/") and name.endswith(".json"))
        size = sum(members[name].file_size for name in inside)
        if size > _LARGEST_LOG:
            raise ValueError(f"its samples say they have {size:,} bytes; at most {_LARGEST_LOG:,} are read")
        header = mapping(_member(path, head))
        return _Log(path.name, header, [mapping(_member(path, members[name])) for name in inside])
    except _DAMAGE as error:
        raise ConfigError(f"{path.name}: is damaged, or no log of Inspect: {error}") from None


def _member(path: Path, info: zipfile.ZipInfo) -> Json:
    """One document of an archive, whichever way it is compressed."""
    if info.file_size > _LARGEST:
        raise ValueError(f"{info.filename} says it has {info.file_size:,} bytes; at most {_LARGEST:,} are read")
    with path.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(30)  # the local header, whose last two numbers are the lengths of what follows it
        file.seek(sum(struct.unpack("<HH", header[26:30])), 1)
        data = file.read(min(info.compress_size, path.stat().st_size))
    if info.compress_type == _ZSTD:
        with zstandard.ZstdDecompressor().stream_reader(data) as stream:
            return recording.load(stream.read(info.file_size))
    if info.compress_type == zipfile.ZIP_DEFLATED:
        return recording.load(zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, info.file_size))
    if info.compress_type == zipfile.ZIP_STORED:
        return recording.load(data)
    raise ValueError(f"{info.filename} is compressed in a way that is not known ({info.compress_type})")


def _agent(log: _Log) -> tuple[str, Mapping[str, Json]]:
    """The harness of a log, with what tells two of one name apart.

    Its metadata's `harness` or `agent` says it; else the solver that was asked for; else the solvers of its plan, an
    agent by the name it was given.
    """
    said = mapping(log.header.get("metadata") or log.spec.get("metadata"))
    steps = mappings(mapping(log.header.get("plan")).get("steps"))
    arguments: dict[str, Json] = {}
    for step in steps:
        given = mapping(step.get("params_passed") or step.get("params"))
        arguments |= {key if key not in arguments else f"{step.get('solver')}.{key}": given[key] for key in given}
    own = arguments.get("name") if len(steps) == 1 else None
    planned = "+".join(str(step.get("solver")) for step in steps)
    name = said.get("harness") or said.get("agent") or own or log.spec.get("solver") or planned or "generate"
    return name_of(name, f"{log.name}: harness"), arguments


def _attempt(log: _Log, sample: Mapping[str, Json], where: str, wishes: Wishes) -> Attempt:
    spec, task = log.spec, str(log.spec.get("task") or "task")
    failure = _failure(sample)
    limit = str(mapping(sample.get("limit")).get("type") or "")
    score = None if failure else _score(log, sample, where, wishes, bool(limit))
    if failure is None and score is None:
        failure = Lost("task", "no score was recorded")
    usage = [mapping(each) for each in mapping(sample.get("model_usage")).values()]
    record = dialogue(sample, limit)
    return Attempt(
        wishes.model or name_of(spec.get("model"), f"{log.name}: eval.model"),
        wishes.harness or "",
        name_of(f"{task}:{sample.get('id')}", f"{where}: id"),
        repeat=_epoch(sample, where),
        score=score,
        failure=failure,
        stop=None if failure else stop_of(limit),
        usage=Usage(*(sum(counted(each.get(key)) for each in usage) for key in _COUNTED)),
        cost=_cost(usage),
        seconds=measured(sample.get("total_time")) or 0.0,
        steps=len(record.steps) if record else 0,
        trajectory=record,
        suite=task,
    )


_COUNTED = ("input_tokens", "output_tokens", "reasoning_tokens", "input_tokens_cache_read")


def _cost(usage: Sequence[Mapping[str, Json]]) -> float | None:
    known = [cost for each in usage if (cost := measured(each.get("total_cost"))) is not None]
    return float(sum(known)) if usage and len(known) == len(usage) else None


def _failure(sample: Mapping[str, Json]) -> Lost | None:
    """Why a sample has no verdict; the place in the traceback that is deepest says whose failure it was."""
    error = mapping(sample.get("error"))
    if sample.get("invalidation"):
        return Lost("task", "somebody declared the sample invalid")
    if not error:
        return None
    trace = str(error.get("traceback") or "")
    deepest = max(((max((m.start() for m in place.finditer(trace)), default=-1), owner) for place, owner in _PLACES))
    owner: Owner = deepest[1] if deepest[0] >= 0 else "harness"
    return lost(owner, str(error.get("message") or "an error"))


def _score(log: _Log, sample: Mapping[str, Json], where: str, wishes: Wishes, limited: bool) -> float | None:
    """The score that counts; None where there is none, but 0 where the sample ran into a limit."""
    scores = mapping(sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {}))
    if not scores:
        return 0.0 if limited else None
    name, _, key = (wishes.scorer or "").partition(".")
    if wishes.scorer in scores:
        name, key = wishes.scorer or "", ""
    name = name or next((each for each in _scorers(log) if each in scores), next(iter(scores)))
    if name not in scores:
        raise ConfigError(f"{where}: scorer {shown(name)}: no such score; {nearest(name, scores)}")
    value = mapping(scores[name]).get("value")
    if isinstance(value, dict):
        if key not in value:
            raise ConfigError(
                f"{where}: scorer {name} has several values; say --scorer {name}.KEY; {nearest(key, value)}"
            )
        value = value[key]
    return _number(value, f"{where}: scorer {name}")


def _number(value: Json, where: str) -> float | None:
    if blank(value):
        return None
    if isinstance(value, str) and value.strip().lower() in _LETTERS:
        return _LETTERS[value.strip().lower()]
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{where}: {shown(value)} is no score; choose another one with --scorer") from None
    if not 0 <= number <= 1:
        raise ConfigError(f"{where}: {shown(value)} is not in 0..1; choose another score with --scorer")
    return number


def _scorers(log: _Log) -> list[str]:
    return [str(each.get("name")) for each in mappings(log.spec.get("scorers"))]


def _remarks(logs: Sequence[_Log], wishes: Wishes) -> Iterator[str]:
    for log in logs:
        asked = counted(mapping(log.spec.get("dataset")).get("samples"))
        status = log.header.get("status") or "started"
        if status != "success":
            yield f"{log.name} ended with status {status}; {count(len(log.samples), 'sample')} of it counted"
        elif not log.samples and asked:
            yield f"{log.name} holds no samples"
    several = sorted({", ".join(names) for log in logs if len(names := _scorers(log)) > 1})
    if several and not wishes.scorer:
        yield f"of several scorers the first counts ({'; '.join(several)}); --scorer chooses another"

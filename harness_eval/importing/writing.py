"""Attempts as the folder of a run: study.json and results.jsonl, the same bytes whatever order they came in."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness_eval import __version__, recording, store
from harness_eval.errors import ConfigError, listed, nearest
from harness_eval.importing.attempts import Attempt, Found, Wishes, digest_of
from harness_eval.importing.spelling import alike, reconciled
from harness_eval.report.wording import one_line
from harness_eval.types import Json, Result, TrialKey, Verdict

_MOST_TRIALS = 2_000_000
_SOURCES_NAMED = 5
_SHOWN = 160  # characters of what differs
_EXPOSED = "whether a level acted in a trial is not recorded in what was imported: all count as exposed"

Levels = Mapping[str, Mapping[str, str]]  # harness -> axis -> level


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought, as counts."""

    folder: Path
    kind: str
    models: int
    harnesses: int
    tasks: int
    trials: int
    lost: int


def write(folder: Path, found: Found, kind: str, sources: Sequence[Path], wishes: Wishes) -> Imported:
    """Write the folder of a run, or find that it holds this very import.

    Raises:
        ConfigError: there is nothing to import, it contradicts itself, or the folder holds something else.
    """
    if not found.attempts:
        raise ConfigError(f"{_named(sources)}: holds no trial")
    if len(found.attempts) > _MOST_TRIALS:
        raise ConfigError(f"{_named(sources)}: holds {len(found.attempts):,} trials; at most {_MOST_TRIALS:,} are read")
    attempts, spelled = reconciled(found.attempts)
    found = replace(found, attempts=attempts, notes=(*found.notes, *spelled, *alike(attempts)))
    levels = _levels(found.attempts)
    if wishes.canonical is not None and wishes.canonical not in levels:
        raise ConfigError(f"--canonical {wishes.canonical}: no such harness; {nearest(wishes.canonical, levels)}")
    results = sorted(_results(found.attempts, levels), key=lambda result: result.key)
    study = {"name": _stem(sources), **_study(found, levels, wishes.canonical)}
    study["imported"] = {
        "kind": kind,
        "from": _named(sources),
        "trials": len(results),
        "digest": digest_of(list(map(store.row_of, results))),
    }
    _check_same(folder, study)
    with store.open_run(folder, study) as run:
        written = set(map(store.key_of, store.rows(folder)))  # of an import that was interrupted, or damaged since
        run.extend([result for result in results if result.key not in written])
    lost = sum(result.failure is not None for result in results)
    models, tasks = len(study["endpoints"]), len(study["tasks"])
    return Imported(folder, kind, models, len(levels), tasks, len(results), lost)


def _named(sources: Sequence[Path]) -> str:
    return listed(sorted(one_line(source.resolve().name) for source in sources), _SOURCES_NAMED)


def _stem(sources: Sequence[Path]) -> str:
    """What the study is called: as its first source, without characters that a name cannot have."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", min(source.resolve().stem for source in sources))
    return stem.strip("-.")[:80] or "imported"


def _check_same(folder: Path, study: Mapping[str, Json]) -> None:
    if not (folder / store.STUDY).exists():
        return
    if differing := next(recording.differences(store.read_study(folder), recording.load(recording.dump(study))), None):
        told = one_line(differing, _SHOWN)
        raise ConfigError(f"{folder}: holds another run; name another folder with --out. What differs: {told}")


def _levels(attempts: Iterable[Attempt]) -> Levels:
    """The levels of each harness, harnesses by name.

    Raises:
        ConfigError: a harness has two levels on one axis.
    """
    levels: dict[str, dict[str, str]] = defaultdict(dict)
    for attempt in attempts:
        known = levels[attempt.harness]
        for axis, level in attempt.levels.items():
            if known.setdefault(axis, level) != level:
                raise ConfigError(
                    f"axis:{axis}: harness {attempt.harness!r} has both {known[axis]!r} and {level!r}; "
                    "a harness has one level on each axis"
                )
    return {name: dict(sorted(levels[name].items())) for name in sorted(levels)}


def _repeats(attempts: Iterable[Attempt]) -> int | None:
    """How many trials each cell has; None where they differ."""
    numbers = set(Counter((each.model, each.harness, each.task) for each in attempts).values())
    return numbers.pop() if len(numbers) == 1 else None


def _suites(attempts: Iterable[Attempt]) -> dict[str, tuple[str, str]]:
    """The suite and the group of each task.

    Raises:
        ConfigError: a task is in two groups.
    """
    suites: dict[str, tuple[str, str]] = {}
    for attempt in attempts:
        suite, group = suites.setdefault(attempt.task, (attempt.suite, attempt.group))
        if group != attempt.group:
            raise ConfigError(f"group: task {attempt.task!r} is in both {group or 'none'!r} and {attempt.group!r}")
        suites[attempt.task] = (min(suite, attempt.suite), group)
    return suites


def _results(attempts: Iterable[Attempt], levels: Levels) -> Iterator[Result]:
    """Each attempt with its repeat: the source's own number, or its place among equals sorted by what happened."""
    cells: dict[tuple[str, str, str], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        cells[attempt.task, attempt.harness, attempt.model].append(attempt)
    for (task, harness, model), found in cells.items():
        ordered = sorted(found, key=_order)
        for repeat, attempt in enumerate(ordered):
            yield _result(TrialKey(task, harness, model, repeat), attempt, levels[harness])


def _order(attempt: Attempt) -> tuple[int, str]:
    record = (attempt.score, attempt.failure, attempt.stop, attempt.usage, attempt.cost, attempt.seconds)
    return attempt.repeat or 0, digest_of(record)


def _result(key: TrialKey, attempt: Attempt, levels: Mapping[str, str]) -> Result:
    return Result(
        key=key,
        harness_id=_harness_id(key.harness, levels),
        verdict=None if attempt.score is None else Verdict(attempt.score),
        failure=attempt.failure,
        trajectory=attempt.trajectory,
        acted=tuple(levels),
        usage=attempt.usage,
        cost=attempt.cost,
        seconds=attempt.seconds,
        extra={"stop": attempt.stop, "steps": attempt.steps},
    )


def _harness_id(name: str, levels: Mapping[str, str]) -> str:
    return digest_of({"imported": name, "levels": levels})


def _study(found: Found, levels: Levels, canonical: str | None) -> dict[str, Json]:
    """study.json: harnesses by name but the canonical one first, tasks and models by name."""
    suites = _suites(found.attempts)
    first = [canonical] if canonical else []
    harnesses = [*first, *(name for name in levels if name != canonical)]
    usual = levels[canonical] if canonical else {}
    axes = sorted({axis for each in levels.values() for axis in each})
    return {
        "seed": 0,
        "created": None,
        "versions": {"harness-eval": __version__},
        "endpoints": [{"name": name, "model": name} for name in sorted({each.model for each in found.attempts})],
        "tasks": [
            {"name": name, "suite": suite, "digest": None, "stresses": [], "difficulty": None, "group": group or None}
            for name, (suite, group) in sorted(suites.items())
        ],
        "harnesses": [
            {"name": name, "id": _harness_id(name, levels[name]), "version": None, "labels": levels[name], "spec": {}}
            for name in harnesses
        ],
        "canonical": canonical,
        "axes": [axis for axis in axes if any(each.get(axis) != usual.get(axis) for each in levels.values())],
        "repeats": _repeats(found.attempts),
        "planned": None,
        "unsupported": [],
        "notes": [*found.notes, *([_EXPOSED] if axes else [])],
    }

"""Names that sources spell in two ways."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness_eval.importing.attempts import Attempt

_MARKS = re.compile(r"[\W_]+")


def reconciled(attempts: Sequence[Attempt]) -> tuple[tuple[Attempt, ...], tuple[str, ...]]:
    """The attempts with one name for each task, and a remark for each that had two.

    Names that differ in capitals and punctuation alone are one task where no harness tried both with one model: the
    name that more trials have stands for it.
    """
    counts = Counter(attempt.task for attempt in attempts)
    tried: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for attempt in attempts:
        tried[attempt.task].add((attempt.model, attempt.harness))
    alike: dict[str, list[str]] = defaultdict(list)
    for task in sorted(counts, key=lambda name: (-counts[name], name)):
        alike[_MARKS.sub("-", task.casefold())].append(task)
    names = {other: first for first, *others in alike.values() for other in others if _apart(first, other, tried)}
    if not names:
        return tuple(attempts), ()
    told = tuple(
        f"{other!r} is taken for another spelling of the task {name!r}, since no harness tried both"
        for other, name in sorted(names.items())
    )
    return tuple(replace(attempt, task=names.get(attempt.task, attempt.task)) for attempt in attempts), told


def _apart(first: str, other: str, tried: Mapping[str, set[tuple[str, str]]]) -> bool:
    """Whether nobody tried both; whoever tried the other one then counts as having tried the first."""
    if tried[first] & tried[other]:
        return False
    tried[first].update(tried[other])
    return True


def alike(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """A remark for harnesses, and for models, whose names differ in capitals and punctuation alone: they stay apart."""
    told = []
    for what in ("harness", "model"):
        groups: dict[str, set[str]] = defaultdict(set)
        for name in {getattr(attempt, what) for attempt in attempts}:
            groups[_MARKS.sub("-", name.casefold())].add(name)
        for names in sorted(sorted(group) for group in groups.values() if len(group) > 1):
            plural = {"harness": "harnesses"}.get(what, f"{what}s")
            told.append(f"{', '.join(map(repr, names))} differ in spelling alone and count as {len(names)} {plural}")
    return tuple(told)

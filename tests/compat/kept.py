"""Runs with planted outcomes, written as a run writes them, and a recount of them that knows no statistics."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from harness_eval import store
from harness_eval.types import Lost, Result, TrialKey, Verdict

Outcome = Callable[[str, str, int], float | None]
Cell = dict[str, list[Fraction]]  # task -> scores of its judged trials


@dataclass
class Kept:
    """What a run was of; `outcome` gives score or None (lost) of task, harness and repeat."""

    outcome: Outcome
    harnesses: Mapping[str, str] = field(default_factory=lambda: {"ours": "1", "tight": "1", "loose": "1"})
    tasks: Mapping[str, str | None] = field(default_factory=lambda: {f"t{n:02d}": "d1" for n in range(60)})
    created: str | None = "2026-11-01T00:00:00+00:00"
    name: str = "kept"
    seed: int = 4
    repeats: int = 1
    canonical: str | None = "ours"
    endpoints: tuple[Mapping[str, Any], ...] = ({"name": "k3", "model": "kimi-k3", "base_url": "https://a.example/v1"},)
    groups: Mapping[str, str] = field(default_factory=dict)
    planned: int | None = None
    wires: Mapping[str, str] = field(default_factory=dict)


def write(folder: Path, kept: Kept) -> Path:
    """The folder of such a run."""
    study = {
        "name": kept.name,
        "created": kept.created,
        "seed": kept.seed,
        "endpoints": list(kept.endpoints),
        "tasks": [
            {"name": name, "suite": "s", "digest": digest, **({"group": kept.groups[name]} if kept.groups else {})}
            for name, digest in kept.tasks.items()
        ],
        "harnesses": [
            {
                "name": name,
                "id": f"id-{name}",
                "version": version,
                "wire": kept.wires.get(name, f"wire-{name}-{version}"),
                "labels": {},
            }
            for name, version in kept.harnesses.items()
        ],
        "canonical": kept.canonical,
        "repeats": kept.repeats,
        "planned": kept.planned,
    }
    with store.open_run(folder, study) as run:
        run.extend(
            [
                _result(TrialKey(task, harness, endpoint["name"], repeat), kept.outcome(task, harness, repeat))
                for endpoint in kept.endpoints
                for task in kept.tasks
                for harness in kept.harnesses
                for repeat in range(kept.repeats)
            ]
        )
    return folder


def _result(key: TrialKey, score: float | None) -> Result:
    if score is None:
        return Result(key, f"id-{key.harness}", failure=Lost("endpoint", "the server answered 503", "infra.overloaded"))
    labels = () if score >= 1 else ("model.wrong_answer",)
    return Result(key, f"id-{key.harness}", verdict=Verdict(score), labels=labels)


def recounted(folder: Path, harness: str, endpoint: str = "k3", leave_out: Iterable[str] = ()) -> Cell:
    """The scores of one harness as the lines of results.jsonl have them."""
    cell: Cell = {}
    for line in (folder / "results.jsonl").read_text().splitlines():
        row = json.loads(line)
        if (row["harness"], row["endpoint"]) == (harness, endpoint) and row["task"] not in set(leave_out):
            cell.setdefault(row["task"], []).extend([] if row["score"] is None else [Fraction(row["score"])])
    return {task: scores for task, scores in cell.items() if scores}


def pooled(*cells: Cell) -> Cell:
    """Repeats of several runs behind one another."""
    whole: Cell = {}
    for cell in cells:
        for task, scores in cell.items():
            whole.setdefault(task, []).extend(scores)
    return whole


def mean(scores: Iterable[Fraction]) -> Fraction:
    """The mean of at least one number."""
    listed = list(scores)
    return sum(listed, Fraction(0)) / len(listed)


def rate(cell: Cell) -> Fraction:
    """The mean over tasks of the means of their repeats."""
    return mean(map(mean, cell.values()))


def drop(cell: Cell, canonical: Cell) -> Fraction:
    """The mean difference on common tasks, with one pseudo-task of +1 and one of -1."""
    common = cell.keys() & canonical.keys()
    return sum((mean(cell[task]) - mean(canonical[task]) for task in common), Fraction(0)) / (len(common) + 2)


def by_hochberg(p: Iterable[float], share: float = 0.10) -> float:
    """The largest p that still stands out, by the rule as it was published; below all of them if none does."""
    ordered = sorted(p)
    named = [value for place, value in enumerate(ordered, 1) if value <= share * place / len(ordered)]
    return max(named, default=-1.0)

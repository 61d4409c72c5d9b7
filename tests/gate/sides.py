"""Sides of a check with planted trials, as small as a test needs them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from harness_eval.config import parse
from harness_eval.gate.kept import SCHEMA, Snapshot


def side(solved: Mapping[str, Sequence[str]] | Sequence[str], **changes: Any) -> Snapshot:
    """A snapshot whose harnesses have these repeats, or whose canonical one alone has; `changes` are other keys."""
    return parse(Snapshot, data(solved, **changes), "test")


def data(solved: Mapping[str, Sequence[str]] | Sequence[str], **changes: Any) -> dict[str, Any]:
    """The same as the object that a baseline's file holds."""
    harnesses = dict(solved) if isinstance(solved, Mapping) else {"canonical": solved}
    tasks = max(len(line) for lines in harnesses.values() for line in [*lines, ""])
    return {
        "schema": SCHEMA,
        "name": "nightly",
        "created": "2026-11-30T12:00:00+00:00",
        "seed": 0,
        "versions": {"harness-eval": "0.1.0"},
        "endpoint": {"name": "served", "model": "m", "settings": {"kind": "openai", "max_tokens": 100}},
        "sandbox": "bubblewrap",
        "recovery": "content",
        "limits": {"steps": 60, "seconds": 1800},
        "canonical": "canonical",
        "tasks": [{"name": f"task-{at:03d}", "suite": "core", "digest": f"{at:064x}"} for at in range(tasks)],
        "harnesses": [
            {"name": name, "id": f"id-{name}", "version": "1", "wire": f"wire-{name}", "solved": list(lines)}
            for name, lines in harnesses.items()
        ],
        **changes,
    }


def trials(rate: float, tasks: int, repeats: int, seed: int = 0) -> list[str]:
    """Repeats of tasks that are all solved this often."""
    dice = random.Random(f"{rate}:{seed}")
    return ["".join("1" if dice.random() < rate else "0" for _ in range(tasks)) for _ in range(repeats)]

"""Run folders with planted results, written the way a run writes them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

AXES = {
    "protocol": ("native", "json-text", "xml-function"),
    "truncation": ("middle", "tail(lines=50)", "silent"),
    "context": ("full", "window(steps=4)"),
    "planning": ("unplanned", "todo"),
}
OWNERS = ("endpoint", "sandbox", "task", "harness")


@dataclass
class Plan:
    """What to plant. `costs`: axis=level -> how much less likely a task is solved. `never`: axes that never act."""

    tasks: int = 60
    harnesses: int = 18
    repeats: int = 1
    endpoints: tuple[str, ...] = ("served",)
    scripted: bool = False
    costs: dict[str, float] = field(default_factory=dict)
    base: float = 0.8
    lost: float = 0.0
    stop_after: int | None = None
    never: tuple[str, ...] = ()
    canonical: str | None = "canonical"
    unsupported: tuple[tuple[str, str], ...] = ()
    names: dict[int, str] = field(default_factory=dict)
    labels: dict[int, dict[str, str]] = field(default_factory=dict)
    message: str = "the server answered 503"
    seed: int = 7
    labelled: bool = False  # rows that count turns and retries by label, and name the label of a failure
    mistakes: tuple[str, ...] = ("model.wrong_answer", "model.loop_identical_calls", "limit.context_overflow")
    oddities: dict[str, int] = field(default_factory=dict)  # label -> turns a trial
    retried: dict[str, int] = field(default_factory=dict)  # label -> failed requests a trial
    leaks: tuple[int, ...] = ()  # harnesses whose unsolved trials ended on a leaked call, and are solved if it counts
    aborts: dict[int, str] = field(default_factory=dict)  # harness -> label of its only trial
    probe: dict[str, Any] | None = None  # of the first endpoint
    again: int | None = None  # another seed of the outcomes, on tasks that are as easy as those of `seed`


def labels_of(number: int) -> dict[str, str]:
    """Levels of the harness with this number; number 0 is canonical, the others are drawn at random."""
    if number == 0:
        return {axis: levels[0] for axis, levels in AXES.items()}
    dice = random.Random(number)
    return {axis: dice.choice(levels) for axis, levels in AXES.items()}


def write_run(folder: Path, plan: Plan) -> Path:
    """The folder of a run with these planted results."""
    harnesses = [
        {
            "name": plan.names.get(number, "canonical" if number == 0 else f"random-{number:02d}"),
            "id": f"{number:012x}",
            "version": "1",
            "labels": labels_of(number) | plan.labels.get(number, {}),
            "spec": {},
        }
        for number in range(plan.harnesses)
    ]
    tasks = [f"task-{number:03d}" for number in range(plan.tasks)]
    study = {
        "name": "synthetic",
        "seed": plan.seed,
        "created": "2026-11-30T12:00:00+00:00",
        "versions": {"harness-eval": "0.1.0", "python": "3.11.2"},
        "endpoints": [
            {"name": name, "model": f"model-{name}", "base_url": "http://127.0.0.1:1/v1", "scripted": plan.scripted}
            for name in plan.endpoints
        ],
        "tasks": [
            {"name": name, "suite": "core", "digest": "d", "stresses": [], "difficulty": "easy"} for name in tasks
        ],
        "harnesses": harnesses,
        "canonical": plan.canonical,
        "design": {"kind": "random", "count": plan.harnesses},
        "family": "standard",
        "repeats": plan.repeats,
        "planned": plan.tasks * plan.harnesses * plan.repeats * len(plan.endpoints),
        "unsupported": [{"harness": name, "reason": reason} for name, reason in plan.unsupported],
        "notes": [],
        "sandbox": "bubblewrap",
        "limits": {"steps": 60, "tokens": 2_000_000, "seconds": 1800.0},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.json").write_text(json.dumps(study))
    if plan.probe is not None:
        (folder / "probe.json").write_text(json.dumps({"endpoints": {plan.endpoints[0]: plan.probe}}))
    lines = [json.dumps(row) for row in _rows(plan, harnesses, tasks)]
    (folder / "results.jsonl").write_text("".join(f"{line}\n" for line in lines[: plan.stop_after]))
    return folder


def _rows(plan: Plan, harnesses: list[dict[str, Any]], tasks: list[str]) -> list[dict[str, Any]]:
    dice = random.Random(plan.seed)
    ease = {task: dice.gauss(0, 0.25) for task in tasks}
    dice = dice if plan.again is None else random.Random(plan.again)
    rows = []
    for repeat in range(plan.repeats):
        for task in tasks:
            for number, harness in enumerate(harnesses):
                cost = sum(plan.costs.get(f"{axis}={level}", 0.0) for axis, level in harness["labels"].items())
                solved = dice.random() < plan.base + ease[task] - cost
                lost = dice.random() < plan.lost
                made = [
                    _row(plan, (task, harness, endpoint, repeat), solved, dice if lost else None)
                    for endpoint in plan.endpoints
                ]
                if number in plan.aborts and (task, repeat) != (tasks[0], 0):
                    continue
                rows += [_labelled(plan, number, row) for row in made] if plan.labelled else made
    return rows


def _labelled(plan: Plan, number: int, row: dict[str, Any]) -> dict[str, Any]:
    """The row as a newer version writes it: labels counted, failures labelled, leaked calls read in both ways."""
    row |= {"turns": {"ok.tool_call": 5, **plan.oddities}, "retried": plan.retried, "recovered": None}
    row["labels"] = [label for label in plan.oddities if label != "ok.tool_call"]
    if number in plan.aborts:
        row |= {"solved": None, "score": None, "stop": None}
        row["failure"] = {"owner": "harness", "message": "the server answered 400", "label": plan.aborts[number]}
    elif row["failure"]:
        row["failure"] |= {"label": "infra.overloaded" if row["failure"]["owner"] == "endpoint" else ""}
    elif number in plan.leaks and not row["solved"]:
        row["labels"] += ["undetermined.markup_leak"]
        row["turns"] = {**row["turns"], "undetermined.markup_leak": 1}
        row["recovered"] = {"score": 1.0, "solved": True}
    elif not row["solved"]:
        row["labels"] += [plan.mistakes[int(row["task"][-3:]) % len(plan.mistakes)]]
    return row


def _row(
    plan: Plan, key: tuple[str, dict[str, Any], str, int], solved: bool, lost: random.Random | None
) -> dict[str, Any]:
    task, harness, endpoint, repeat = key
    failure = {"owner": lost.choice(OWNERS), "message": plan.message} if lost else None
    return {
        "task": task,
        "harness": harness["name"],
        "harness_id": harness["id"],
        "endpoint": endpoint,
        "repeat": repeat,
        "solved": None if failure else solved,
        "score": None if failure else float(solved),
        "failure": failure,
        "stop": None if failure else "finished" if solved else "loop",
        "labels": [] if solved else ["repeated-call"],
        "usage": {"prompt": 4000, "completion": 600, "reasoning": 200, "cached": 1000},
        "cost": 0.0125,
        "seconds": 12.5,
        "acted": [axis for axis in AXES if axis not in plan.never],
        "steps": 5,
        "attempt": 1,
    }

"""The scripted agent against real harnesses, in real boxes, over real HTTP: what it cannot play, no model could."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from harness_eval.axes import Level, axes, levels, make_level
from harness_eval.bundled import folder
from harness_eval.diagnosis.labels import LABELS
from harness_eval.diagnosis.trial import labels_of, trial_findings, turns_of
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.openai import OpenAIEndpoint
from harness_eval.errors import ConfigError
from harness_eval.harness import Harness, canonical, load_harness, make_harness, named_harnesses
from harness_eval.reference.process import serve
from harness_eval.reference.server import ReferenceConfig
from harness_eval.reference.wire import MODEL
from harness_eval.task import Task, load_suite
from harness_eval.trial import hidden
from tests.doubles import played

pytestmark = pytest.mark.anyio

TASKS = {task.name: task for task in load_suite("core")}
SAMPLED = ("fix-off-by-one", "log-root-cause")  # edits and several goals; long output that every cap cuts
SMALL: dict[str, dict[str, Any]] = {
    "cap": {"cap": 1500},
    "preview": {"cap": 1500, "preview": 1000},
    "lines": {"lines": 20},
    "inject": {"window": 3000, "at": 0.6},
    "steps": {"steps": 2},
    "keep": {"keep": 1},
    "remind_after": {"remind_after": 2},
}
"""Parameters by a field that a level has: small enough that it acts on a task of a few turns."""


def small(axis: str, name: str) -> Level | None:
    """The level, made so that it acts on short tasks; None for one that cannot be had without choices of the user."""
    fields = levels(axis)[name].model_fields
    if any(field.is_required() for field in fields.values()):
        return None
    chosen = {key: value for field, values in SMALL.items() if field in fields for key, value in values.items()}
    return make_level(axis, {"level": name, **{key: value for key, value in chosen.items() if key in fields}})


LEVELS = [(axis, name) for axis in axes() for name in levels(axis) if small(axis, name)]


def drawn(axis: str, name: str) -> Harness:
    """A random possible harness that has this level, its other axes drawn in random order."""
    source = random.Random(f"{axis} {name}")
    wanted = small(axis, name)
    assert wanted is not None
    chosen = {axis: wanted}
    for other in source.sample([each for each in axes() if each != axis], len(axes()) - 1):
        for choice in source.sample(list(levels(other)), len(levels(other))):
            level = small(other, choice)
            if level and possible({**chosen, other: level}):
                chosen[other] = level
                break
    return make_harness({"name": f"drawn with {name}", **chosen}, "drawn")


def possible(chosen: dict[str, Level]) -> bool:
    try:
        make_harness({"name": "tried", **chosen}, "tried")
    except ConfigError:
        return False
    return True


@pytest.fixture(scope="module")
async def endpoint(anyio_backend: str) -> AsyncIterator[OpenAIEndpoint]:
    assert anyio_backend == "asyncio", "asked for so that it is there for the whole module"
    async with serve(ReferenceConfig((folder("tasks"),))) as base_url:
        endpoint = OpenAIEndpoint(EndpointConfig(name="reference", model=MODEL, base_url=base_url, scripted=True))
        yield endpoint
        await endpoint.close()


async def solves(endpoint: OpenAIEndpoint, harness: Harness, task: Task) -> None:
    """Let it play; it must solve the task, in at least three turns, end by itself, and be accused of nothing."""
    record, verdict = await played(endpoint, harness, task)
    assert len(record.steps) >= 3
    assert all(step.labels for step in record.steps)
    turns = turns_of(record, frozenset(tool.name for tool in harness.tools), hidden(harness, record))
    labels = labels_of(record, trial_findings(turns, record, verdict.solved))
    assert {LABELS[label].effect for label in labels} <= {"tolerated", "model_feedback"}, (harness.labels, labels)


@pytest.mark.parametrize("name", TASKS)
async def test_every_bundled_task_is_solved_under_the_canonical_harness(endpoint: OpenAIEndpoint, name: str) -> None:
    await solves(endpoint, canonical(), TASKS[name])


@pytest.mark.parametrize("name", TASKS)
async def test_no_plan_takes_a_silently_cut_value_for_the_whole(endpoint: OpenAIEndpoint, name: str) -> None:
    await solves(endpoint, make_harness({"name": "cutting", "faults": "truncated-result"}, "cutting"), TASKS[name])


@pytest.mark.parametrize(("axis", "name"), LEVELS, ids=lambda word: word)
async def test_a_task_is_solved_under_a_random_harness_with_any_level(
    endpoint: OpenAIEndpoint, axis: str, name: str
) -> None:
    await solves(endpoint, drawn(axis, name), TASKS[SAMPLED[LEVELS.index((axis, name)) % 2]])


@pytest.mark.parametrize("name", [name for name in named_harnesses() if name != "canonical"])
async def test_a_task_is_solved_under_every_preset(endpoint: OpenAIEndpoint, name: str) -> None:
    await solves(endpoint, load_harness(name), TASKS["fix-off-by-one"])

"""Laws over the plans of all bundled tasks, each played literally in a real box, whole and with observations cut."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness_eval.bundled import folder as bundled_folder
from harness_eval.judging import verify
from harness_eval.reference.plan import Plan, PlanStep, fill, load_plan
from harness_eval.sandboxes.base import Sandbox
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import load_task

pytestmark = pytest.mark.anyio

FOLDERS = sorted(path.parents[1] for path in bundled_folder("tasks").glob("*/*/solution/plan.yaml"))
EDGE = 700  # characters kept at each end where observations are cut
CORE = [folder for folder in FOLDERS if folder.parent.name == "core"]
EVERY_TASK = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
CORE_TASK = pytest.mark.parametrize("folder", CORE, ids=lambda folder: folder.name)


def plan_of(folder: Path) -> Plan:
    return load_plan(folder / "solution" / "plan.yaml")


async def observe(box: Sandbox, step: PlanStep, learned: Mapping[str, str]) -> str:
    """What the step brings, whole."""
    arguments = {name: fill(text, learned) for name, text in step.arguments.items()}
    if step.kind == "run":
        return (await box.run(arguments["command"])).output
    if step.kind == "read":
        return (await box.read(arguments["path"])).decode()
    text = arguments.get("text", "")
    if step.kind == "edit":
        before = (await box.read(arguments["path"])).decode()
        assert before.count(arguments["old"]) == 1, f"{step.say}: `old` does not occur exactly once"
        text = before.replace(arguments["old"], arguments["new"])
    await box.write(arguments["path"], text.encode())
    return f"wrote {arguments['path']}"


def cut(text: str) -> str:
    return text if len(text) <= 2 * EDGE else f"{text[:EDGE]}\n[cut]\n{text[-EDGE:]}"


def found(step: PlanStep, shown: str) -> dict[str, str]:
    matches = {name: re.search(pattern, shown, re.MULTILINE) for name, pattern in step.learn.items()}
    return {name: match[1] for name, match in matches.items() if match}


async def play(box: Sandbox, plan: Plan, *, whole: bool) -> None:
    """Work through the plan; what a cut hides has to come from `otherwise`."""
    learned: dict[str, str] = {}
    for step in plan.steps:
        output = await observe(box, step, learned)
        new = found(step, output if whole else cut(output))
        if set(new) != set(step.learn):
            assert not whole, f"{step.say}: {set(step.learn) - set(new)} cannot be learned from {output[-EDGE:]}"
            assert step.otherwise, f"{step.say}: the cut hides {set(step.learn) - set(new)}"
            narrow = (await box.run(fill(step.otherwise, learned))).output
            new |= found(step, cut(narrow))
        assert set(new) == set(step.learn), f"{step.say}: {set(step.learn) - set(new)} not learned"
        if whole and step.otherwise:
            narrow = (await box.run(fill(step.otherwise, learned))).output
            assert found(step, cut(narrow)) == new, f"{step.say}: `otherwise` does not show the same"
        learned |= new


@EVERY_TASK
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "cut"])
async def test_playing_a_plan_literally_solves_its_task(folder: Path, whole: bool) -> None:
    task = load_task(folder)
    async with LocalProvider().open(task.spec) as box:
        await play(box, plan_of(folder), whole=whole)
        verdict = await verify(task, box)
    assert verdict.solved, verdict.detail


@CORE_TASK
async def test_the_first_two_turns_of_a_plan_do_not_solve_its_task(folder: Path) -> None:
    task, plan = load_task(folder), plan_of(folder)
    async with LocalProvider().open(task.spec) as box:
        await play(box, Plan(plan.steps[:2], plan.done), whole=True)
        verdict = await verify(task, box)
    assert not verdict.solved


@CORE_TASK
def test_a_plan_is_as_long_as_its_task_and_depends_on_what_it_is_shown(folder: Path) -> None:
    plan = plan_of(folder)
    fewest, most = (8, 14) if "long-horizon" in load_task(folder).stresses else (3, 7)
    assert fewest <= len(plan.steps) <= most
    needed = [text for step in plan.steps for text in step.arguments.values() if "${" in text]
    assert needed or plan.steps[-1].learn


@EVERY_TASK
def test_what_a_plan_learns_cannot_be_learned_from_the_instruction(folder: Path) -> None:
    instruction = (folder / "instruction.md").read_text(encoding="utf-8")
    for step in plan_of(folder).steps:
        assert found(step, instruction) == {}, step.say


def test_enough_tasks_have_sub_goals_and_outputs_worth_cutting() -> None:
    with_goals = [folder.name for folder in FOLDERS if len(plan_of(folder).goals) >= 3]
    with_otherwise = [folder.name for folder in FOLDERS if any(step.otherwise for step in plan_of(folder).steps)]
    assert len(with_goals) >= 5
    assert len(with_otherwise) >= 8

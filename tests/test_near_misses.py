"""What is done to a solved task: spoiled in one thing it is not solved, done in another form it still is.

One file a task in `near_misses/`: `spoiled` and `right` are tables from what is done to the command that does it, run
in the working directory after the task's own solution. `$SOLUTION` is the folder of the solution.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.bundled import folder as bundled_folder
from harness_eval.config import read_yaml
from harness_eval.judging import judge
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import load_task
from harness_eval.types import Verdict

pytestmark = pytest.mark.anyio
FILES = sorted((Path(__file__).parent / "near_misses").glob("*.yaml"))
LISTING = "find . -type f -exec sha256sum {} + | sort; find . -printf '%m %p %l\\n' | sort"


def rows(kind: str) -> pytest.MarkDecorator:
    """One test for each row of this kind, named after the task and what is done to it."""
    tables = [(path.stem, what, command) for path in FILES for what, command in read_yaml(path)[kind].items()]
    values = [pytest.param(task, command, id=f"{task}: {what}") for task, what, command in tables]
    return pytest.mark.parametrize(("name", "command"), values)


async def after(name: str, command: str) -> Verdict:
    """The verdict when this is run after the task's own solution."""
    task, provider = load_task(bundled_folder("tasks") / "core" / name), LocalProvider()
    async with provider.open(task.spec) as box:
        await box.upload(task.folder / "solution", "/solution")
        solution = f"{box.root}/solution"
        solved = await box.run(f"bash {solution}/solve.sh", timeout=120)
        assert solved.exit_code == 0, solved.output
        before = await box.run(LISTING)
        changed = await box.run(f"set -e\n{command}", env={"SOLUTION": solution})
        assert changed.exit_code == 0, changed.output
        assert (await box.run(LISTING)).output != before.output, "the command changes nothing"
        return await judge(task, box, provider)


@rows("spoiled")
async def test_a_solution_with_one_thing_spoiled_is_not_solved(name: str, command: str) -> None:
    assert not (await after(name, command)).solved


@rows("right")
async def test_a_solution_that_differs_only_in_form_is_solved(name: str, command: str) -> None:
    verdict = await after(name, command)
    assert verdict.solved, verdict.detail

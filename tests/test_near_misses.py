"""What is done to a solved task: spoiled in one thing it is not solved, done in another form it still is.

One file a task in `near_misses/`: `spoiled` and `right` are tables from what is done to the command that does it, run
in the working directory after the task's own solution. `$SOLUTION` is the folder of the solution.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.config import read_yaml
from tests.solved import SolvedTask

pytestmark = pytest.mark.anyio
FILES = sorted((Path(__file__).parent / "near_misses").glob("*.yaml"))


def rows(kind: str) -> pytest.MarkDecorator:
    """One test for each row of this kind, named after the task and what is done to it."""
    tables = [(path.stem, what, command) for path in FILES for what, command in read_yaml(path)[kind].items()]
    values = [pytest.param(task, command, id=f"{task}: {what}") for task, what, command in tables]
    return pytest.mark.parametrize(("solved_task", "command"), values, indirect=["solved_task"], scope="module")


@rows("spoiled")
async def test_a_solution_with_one_thing_spoiled_is_not_solved(solved_task: SolvedTask, command: str) -> None:
    assert not (await solved_task.judged_after(f"set -e\n{command}")).solved


@rows("right")
async def test_a_solution_that_differs_only_in_form_is_solved(solved_task: SolvedTask, command: str) -> None:
    verdict = await solved_task.judged_after(f"set -e\n{command}")
    assert verdict.solved, verdict.detail

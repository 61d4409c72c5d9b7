"""Inspect AI: `eval` with its own loop over tools, a tool that says the same each time, its log on disk."""

from __future__ import annotations

from pathlib import Path

import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, tool
from measured import AT_ONCE, INSTRUCTION, OBSERVATION, measure


@tool
def bash() -> Tool:
    async def execute(command: str) -> str:
        """Run a command.

        Args:
            command: What to run.
        """
        del command
        return OBSERVATION

    return execute


def work(url: str, trials: int, folder: Path) -> None:
    samples = [Sample(input=INSTRUCTION, target="All is done", id=number) for number in range(1, trials + 1)]
    task = Task(dataset=samples, solver=[use_tools(bash()), generate()], scorer=includes())
    model = get_model("openai/scripted", base_url=url, api_key="none", responses_api=False, memoize=False)
    logs = inspect_ai.eval(
        task, model=model, log_dir=str(folder), display="none", max_samples=AT_ONCE, max_connections=AT_ONCE
    )
    assert logs[0].status == "success", logs[0].error
    assert logs[0].results is not None
    assert logs[0].results.scores[0].metrics["accuracy"].value == 1, logs[0].results


if __name__ == "__main__":
    measure(work)

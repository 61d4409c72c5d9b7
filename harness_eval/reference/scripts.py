"""The tasks that the scripted agent knows: for each its instruction, by which it is recognised, and its plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness_eval.errors import ConfigError
from harness_eval.reference.plan import Plan, load_plan


@dataclass(frozen=True, slots=True)
class Script:
    """One known task; `instruction` has every run of white space made one space."""

    task: str
    instruction: str
    plan: Plan


class Scripts:
    """All known tasks, read once."""

    def __init__(self, scripts: Iterable[Script]) -> None:
        # The longest first: one instruction may be contained in another.
        self._scripts = sorted(scripts, key=lambda script: -len(script.instruction))

    def __len__(self) -> int:
        return len(self._scripts)

    def find(self, prompt: str) -> Script | None:
        """The task whose whole instruction stands in this prompt, or None."""
        flat = _flat(prompt)
        return next((script for script in self._scripts if script.instruction in flat), None)


def load_scripts(folders: Iterable[Path]) -> Scripts:
    """All tasks with a plan in these folders, at whatever depth.

    Raises:
        ConfigError: a folder does not exist or holds no plan, or a plan is wrong.
    """
    scripts: dict[str, Script] = {}
    for folder in folders:
        plans = sorted(folder.rglob("solution/plan.yaml"))
        if not plans and (folder / "instruction.md").is_file():
            raise ConfigError(
                f"{folder.name}: has no solution/plan.yaml, so the scripted agent cannot play it; leave it out with "
                "--exclude, or choose others with --tasks"
            )
        if not plans:
            raise ConfigError(f"{folder}: holds no task with a plan (instruction.md and solution/plan.yaml)")
        for path in plans:
            task = path.parent.parent
            instruction = (task / "instruction.md").read_text(encoding="utf-8")
            scripts[str(task.resolve())] = Script(
                f"{task.parent.name}/{task.name}", _flat(instruction), load_plan(path)
            )
    return Scripts(scripts.values())


def _flat(text: str) -> str:
    return " ".join(text.split())

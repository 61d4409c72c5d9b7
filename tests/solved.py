"""Core tasks as their own solutions leave them: each is solved once in a process, and then copied."""

from __future__ import annotations

import atexit
import shutil
import stat
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from harness_eval.bundled import folder as bundled_folder
from harness_eval.judging import verify
from harness_eval.sandboxes.base import Sandbox
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import Task, load_task
from harness_eval.types import Verdict

_solved: dict[str, Path] = {}


@asynccontextmanager
async def solved(name: str) -> AsyncIterator[tuple[Task, Sandbox]]:
    """A local box whose working directory is that of the solved task, with the solution in its place."""
    task = load_task(bundled_folder("tasks") / "core" / name)
    if name not in _solved:
        _solved[name] = await _solve(task)
    async with LocalProvider().open(replace(task.spec, environment=None)) as box:
        _copy(_solved[name], Path(box.workdir))
        await box.upload(task.folder / "solution", "/solution")
        yield task, box


async def _solve(task: Task) -> Path:
    async with LocalProvider().open(task.spec) as box:
        await box.upload(task.folder / "solution", "/solution")
        ran = await box.run(f"bash {box.root}/solution/solve.sh", timeout=120)
        assert ran.exit_code == 0, ran.output
        kept = Path(tempfile.mkdtemp(prefix=f"solved-{task.name}-"))
        atexit.register(shutil.rmtree, kept, ignore_errors=True)
        _copy(Path(box.workdir), kept)
    return kept


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", f"{source}/.", str(target)], check=True)


async def judged_after(name: str, command: str) -> Verdict:
    """The verdict when this is run after the task's own solution; `$SOLUTION` is the folder of the solution."""
    async with solved(name) as (task, box):
        before = state(Path(box.workdir))
        changed = await box.run(command, env={"SOLUTION": f"{box.root}/solution"})
        assert changed.exit_code == 0, changed.output
        assert state(Path(box.workdir)) != before, "the command changes nothing"
        return await verify(task, box)


def state(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """What is in a folder, by path: modes, and what files hold or links point to."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in folder.rglob("*"):
        mode, name = path.lstat().st_mode, str(path.relative_to(folder))
        content = path.read_bytes() if stat.S_ISREG(mode) else str(path.readlink()) if stat.S_ISLNK(mode) else ""
        found[name] = mode, content
    return found

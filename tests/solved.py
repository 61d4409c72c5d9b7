"""Core tasks as their own solutions leave them: each is solved once in a process, and then copied."""

from __future__ import annotations

import atexit
import shutil
import stat
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import anyio

from harness_eval.bundled import folder as bundled_folder
from harness_eval.judging import verify
from harness_eval.sandboxes.base import Sandbox
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import Task, load_task
from harness_eval.types import Verdict

_solved: dict[str, Path] = {}


@dataclass(frozen=True, slots=True)
class SolvedTask:
    """A task in a local box with its solution beside it.

    `before` and `after` are copies of the working directory as the solution found and left it.
    """

    task: Task
    box: Sandbox
    before: Path
    after: Path

    def restore(self, folder: Path | None = None) -> None:
        """Make the working directory what the solution left, or what is in another folder."""
        command = 'find . -mindepth 1 -delete && cp -a "$0/." .'
        subprocess.run(["bash", "-c", command, folder or self.after], cwd=self.box.workdir, check=True)

    def written(self) -> list[str]:
        """The files that the solution has made or changed, without those in a repository's own folder."""
        before, after = left(self.before), left(self.after)
        files = [path for path, (mode, content) in after.items() if stat.S_ISREG(mode)]
        changed = [path for path in files if before.get(path, (0, None))[1] != after[path][1]]
        return sorted(path for path in changed if not {".git", "__pycache__"} & set(Path(path).parts))

    async def judged_after(self, command: str) -> Verdict:
        """The verdict when this is run after the task's own solution; `$SOLUTION` is the folder of the solution."""
        self.restore()
        changed = await self.box.run(command, env={"SOLUTION": f"{self.box.root}/solution"})
        assert changed.exit_code == 0, changed.output
        assert state(Path(self.box.workdir)) != left(self.after), "the command changes nothing"
        return await verify(self.task, self.box)


@asynccontextmanager
async def solved(name: str) -> AsyncIterator[SolvedTask]:
    """A core task by its name, solved."""
    task = load_task(bundled_folder("tasks") / "core" / name)
    if name not in _solved:
        _solved[name] = await _solve(task)
    async with LocalProvider().open(replace(task.spec, environment=None)) as box:
        await box.upload(task.folder / "solution", "/solution")
        yield SolvedTask(task, box, _solved[name] / "before", _solved[name] / "after")


async def _solve(task: Task) -> Path:
    kept = Path(tempfile.mkdtemp(prefix=f"solved-{task.name}-"))
    atexit.register(shutil.rmtree, kept, ignore_errors=True)
    async with LocalProvider().open(task.spec) as box:
        await anyio.run_process(["cp", "-a", box.workdir, str(kept / "before")])
        await box.upload(task.folder / "solution", "/solution")
        ran = await box.run(f"bash {box.root}/solution/solve.sh", timeout=120)
        assert ran.exit_code == 0, ran.output
        await anyio.run_process(["cp", "-a", box.workdir, str(kept / "after")])
    return kept


@cache
def left(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """The state of a copy that nothing changes."""
    return state(folder)


def state(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """What is in a folder, by path: modes, and what files hold or links point to."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in folder.rglob("*"):
        mode, name = path.lstat().st_mode, str(path.relative_to(folder))
        content = path.read_bytes() if stat.S_ISREG(mode) else str(path.readlink()) if stat.S_ISLNK(mode) else ""
        found[name] = mode, content
    return found

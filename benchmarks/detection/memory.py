"""What boxes answered, remembered: a box that was told the same things in the same order gives the same answers.

So most trials need no box at all: two harnesses that offer the same tool under two names send one command to it, and a
trial that ends early begins as a longer one did. An operation is known by its task, the kind of box and all operations
before it in the same box; reading a file changes nothing, so it is no part of what came before.
"""

from __future__ import annotations

import hashlib
import pickle
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_eval.sandboxes.base import BoxSpec, Executed, Sandbox, SandboxProvider, UnfitState
from harness_eval.task import Task
from harness_eval.types import Json


class NotRemembered(BaseException):
    """The box has never been told this; no failure of a trial, so no boundary may take it for one."""


@dataclass(slots=True)
class Memory:
    """A file of answers. `repeated` counts operations that were really done again, `differing` those that then gave
    another answer."""

    file: sqlite3.Connection
    repeated: int = 0
    differing: int = 0

    def recall(self, place: str) -> Any:
        """The answer at this place; None if there is none yet."""
        row = self.file.execute("SELECT answer FROM boxes WHERE place = ?", (place,)).fetchone()
        return None if row is None else pickle.loads(row[0])

    def keep(self, place: str, answer: Any) -> None:
        """Remember an answer, unless it says no more than that this machine was slow."""
        if isinstance(answer, Executed) and answer.timed_out:
            return
        known = self.recall(place)
        if known is not None:
            self.repeated += 1
            self.differing += repr(known) != repr(answer)
            return
        self.file.execute("INSERT OR IGNORE INTO boxes VALUES (?, ?)", (place, pickle.dumps(answer)))
        self.file.commit()


@dataclass(slots=True)
class Box(Sandbox):
    """A box whose answers are remembered; without a `real` one behind it, nothing but remembered.

    `place` stands for all that has happened in it.
    """

    memory: Memory
    place: str
    real: Sandbox | None
    workdir: str = "/app"
    root: str = ""
    as_solver: str = ""
    own_judge: bool = False

    def __post_init__(self) -> None:
        if self.real is not None:
            self.workdir, self.root, self.as_solver = self.real.workdir, self.real.root, self.real.as_solver

    async def run(
        self,
        command: str,
        *,
        timeout: float = 60.0,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Executed:
        told = ("run", command, timeout, cwd, sorted((env or {}).items()))
        answer: Executed = await self.told(told, lambda box: box.run(command, timeout=timeout, cwd=cwd, env=env))
        return answer

    async def read(self, path: str) -> bytes:
        before = self.place
        try:
            content: bytes = await self.told(("read", path), lambda box: box.read(path))
        finally:
            self.place = before
        return content

    async def write(self, path: str, data: bytes) -> None:
        await self.told(("write", path, data), lambda box: box.write(path, data))

    async def upload(self, source: Path, target: str) -> None:
        await self.told(("upload", source.name, target), lambda box: box.upload(source, target))

    async def end_processes(self) -> None:
        await self.told(("end",), lambda box: box.end_processes())

    async def told(self, what: tuple[object, ...], act: Callable[[Sandbox], Awaitable[Any]]) -> Any:
        """The answer to an operation, done if there is a real box.

        Raises:
            NotRemembered: there is none, and the answer is not known.
        """
        self.place = _next(self.place, what)
        if self.real is None:
            answer = self.memory.recall(self.place)
            if answer is None:
                raise NotRemembered
        else:
            answer = await _answer(act, self.real)
            self.memory.keep(self.place, answer)
        if isinstance(answer, Exception):
            raise answer
        return None if answer == () else answer


async def _answer(act: Callable[[Sandbox], Awaitable[Any]], box: Sandbox) -> Any:
    try:
        answer = await act(box)
    except (OSError, UnfitState) as error:
        return error
    return () if answer is None else answer


def _next(place: str, what: tuple[object, ...]) -> str:
    return hashlib.sha256(f"{place}\x1f{what!r}".encode("utf-8", "surrogatepass")).hexdigest()


class Remembering(SandboxProvider):
    """Boxes for one task: real ones whose answers are kept, or with `real` None remembered ones."""

    promises = "those of the boxes whose answers it remembers"

    def __init__(self, memory: Memory, task: Task, kind: str, real: SandboxProvider | None) -> None:
        self.name, self._memory, self._real = kind, memory, real
        self._begin = _next("", (task.digest, kind))

    def unavailable(self) -> str | None:
        return None

    def open(self, spec: BoxSpec) -> AbstractAsyncContextManager[Sandbox]:
        return self._open(spec)

    @asynccontextmanager
    async def _open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        if self._real is None:
            yield Box(self._memory, self._begin, None, spec.workdir)
            return
        async with self._real.open(spec) as real:
            yield Box(self._memory, self._begin, real)

    @asynccontextmanager
    async def seal(self, box: Sandbox, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        assert isinstance(box, Box)
        place = _next(box.place, ("seal",))
        await box.end_processes()  # as sealing does
        if self._real is None or box.real is None:
            yield Box(self._memory, place, None, spec.workdir, as_solver=_sealed(self._memory.recall(place)))
            return
        try:
            async with self._real.seal(box.real, spec) as real:
                self._memory.keep(place, (real.as_solver,))
                yield Box(self._memory, place, real)
        except UnfitState as error:
            self._memory.keep(place, error)
            raise


def _sealed(answer: Json) -> str:
    """What is written before the solver's code in the sealed box."""
    if answer is None:
        raise NotRemembered
    if isinstance(answer, Exception):
        raise answer
    return str(answer[0])

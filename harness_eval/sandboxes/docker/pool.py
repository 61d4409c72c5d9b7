"""Containers that are started before they are asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

import anyio

from harness_eval.errors import BoundaryFailure, SandboxFailure
from harness_eval.sandboxes.docker.blueprint import Blueprint
from harness_eval.sandboxes.docker.container import Container

MOST_READY = 8  # containers of one blueprint that wait
_MOST_IDLE = 16  # containers of all blueprints that wait


@dataclass(slots=True, eq=False)
class _Shelf:
    """The containers of one blueprint. `wanted` is how many were in use at once, which is how many are kept ready."""

    ready: deque[Container] = field(default_factory=deque)
    failures: deque[BoundaryFailure] = field(default_factory=deque)
    news: anyio.Event = field(default_factory=anyio.Event)
    starting: int = 0
    waiting: int = 0
    in_use: int = 0
    wanted: int = 0

    def tell(self) -> None:
        """Wake those who wait."""
        self.news.set()
        self.news = anyio.Event()

    @property
    def missing(self) -> int:
        """How many more are to be started; those who wait come first."""
        return (self.waiting or min(self.wanted, MOST_READY)) - len(self.ready) - self.starting


class Pool:
    """Containers by blueprint. It is an asynchronous context, after which none is left that waits or starts."""

    def __init__(self) -> None:
        self._group = anyio.create_task_group()
        self._shelves: dict[Blueprint, _Shelf] = {}  # the one used last is the last
        self._open = True

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._open = False
        self._group.cancel_scope.cancel()
        try:
            await self._group.__aexit__(None, None, None)  # what ended the context is not the group's, to be wrapped
        finally:
            with anyio.CancelScope(shield=True):
                await self._clear()

    async def _clear(self) -> None:
        async with anyio.create_task_group() as group:
            for container in [each for shelf in self._shelves.values() for each in shelf.ready]:
                group.start_soon(_remove, container)

    @property
    def ready(self) -> int:
        """How many containers wait to be taken."""
        return sum(len(shelf.ready) for shelf in self._shelves.values())

    @asynccontextmanager
    async def take(self, blueprint: Blueprint) -> AsyncIterator[Container]:
        """A container to use and remove; the next one of its kind is started meanwhile.

        Raises:
            TaskFailure, SandboxFailure: as `Container.start`.
        """
        shelf = self._shelves.setdefault(blueprint, _Shelf())
        self._shelves[blueprint] = self._shelves.pop(blueprint)
        container = await self._next(blueprint, shelf)
        try:
            shelf.in_use += 1
            shelf.wanted = max(shelf.wanted, shelf.in_use)
            self._fill(blueprint, shelf)
            yield container
        finally:
            shelf.in_use -= 1
            await container.remove()

    def expect(self, blueprint: Blueprint) -> None:
        """Have one of a blueprint ready soon, at least."""
        shelf = self._shelves.setdefault(blueprint, _Shelf())
        shelf.wanted = max(shelf.wanted, 1)
        self._fill(blueprint, shelf)

    async def _next(self, blueprint: Blueprint, shelf: _Shelf) -> Container:
        shelf.waiting += 1
        try:
            while (container := self._alive(shelf)) is None:
                if shelf.failures:
                    raise shelf.failures.popleft()
                self._fill(blueprint, shelf)
                await shelf.news.wait()
            return container
        finally:
            shelf.waiting -= 1
            if not shelf.waiting:
                shelf.failures.clear()

    def _alive(self, shelf: _Shelf) -> Container | None:
        """One that is ready and has not ended while it waited."""
        while shelf.ready:
            if (container := shelf.ready.popleft()).alive:
                return container
            self._discard(container)
        return None

    def _fill(self, blueprint: Blueprint, shelf: _Shelf) -> None:
        """Start what is missing; for what nobody waits for only while there is room."""
        while self._open and shelf.missing > 0 and (shelf.waiting or self._make_room(shelf)):
            shelf.starting += 1
            self._group.start_soon(self._start, blueprint, shelf)

    def _make_room(self, shelf: _Shelf) -> bool:
        """Whether one more may wait, if need be instead of one of the blueprint that was used longest ago."""
        shelves = list(self._shelves.values())
        if sum(len(each.ready) + each.starting for each in shelves) < _MOST_IDLE:
            return True
        for other in shelves:
            if other.ready and other is not shelf:
                self._discard(other.ready.popleft())
                return True
        return False

    async def _start(self, blueprint: Blueprint, shelf: _Shelf) -> None:
        try:
            shelf.ready.append(await Container.start(blueprint))
        except BoundaryFailure as failure:
            shelf.wanted = 0  # nobody waits for it, or whoever does will say how many are wanted
            if shelf.waiting:
                shelf.failures.append(failure)
        finally:
            shelf.starting -= 1
            shelf.tell()

    def _discard(self, container: Container) -> None:
        self._group.start_soon(_remove, container)


async def _remove(container: Container) -> None:
    with suppress(SandboxFailure):  # its connection is closed, so that it ends by itself
        await container.remove()

"""One limit for each endpoint over all nodes: it is kept in one place, and nodes ask there before each request."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness_eval.endpoints.concurrency import AdaptiveLimit
from harness_eval.endpoints.retries import Transient
from harness_eval.errors import EndpointFailure

Ended: TypeAlias = Literal["good", "throttled", "failed"]
_Key: TypeAlias = tuple[str, int]
_numbers = itertools.count()


@dataclass(slots=True)
class _Slot:
    granted: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Future[Ended] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    task: asyncio.Task[None] | None = None


class Limits:
    """The `AdaptiveLimit` of each endpoint, given the most requests at once by its name; an actor of its own.

    A slot belongs to a `holder`, a node, and has a number there. This lives exactly as long as the driver does, so a
    node that waits for `outlive` learns of the driver's end.
    """

    def __init__(self, most: Mapping[str, int]) -> None:
        self._limits = {name: AdaptiveLimit(limit) for name, limit in most.items()}
        self._slots: dict[_Key, _Slot] = {}
        self._over: set[_Key] = set()

    async def begin(self, endpoint: str, holder: str, number: int) -> None:
        """Wait for a place for one request."""
        if (holder, number) in self._over:  # calls may overtake each other
            self._over.discard((holder, number))
            return
        slot = self._slots[holder, number] = _Slot()
        slot.task = asyncio.create_task(self._hold(endpoint, slot))
        await slot.granted.wait()

    async def end(self, holder: str, number: int, how: Ended) -> None:
        """Give a place back, or no longer wait for it; how the request ended moves the limit."""
        slot = self._slots.pop((holder, number), None)
        if slot is None:
            self._over.add((holder, number))
        else:
            _end(slot, how)

    async def forget(self, holder: str) -> None:
        """Give back all places of a node that is lost."""
        for key in [key for key in self._slots if key[0] == holder]:
            _end(self._slots.pop(key), "failed")

    async def allowed(self, endpoint: str) -> float:
        """How many requests may be under way at this moment."""
        return self._limits[endpoint].allowed

    async def outlive(self) -> None:
        """Never return."""
        await asyncio.Event().wait()

    async def _hold(self, endpoint: str, slot: _Slot) -> None:
        # In a task of its own: a slot is left by whoever has entered it.
        with suppress(Transient):
            async with self._limits[endpoint].slot():
                slot.granted.set()
                how = await slot.ended
                if how != "good":
                    raise Transient("", throttled=how == "throttled")


def _end(slot: _Slot, how: Ended) -> None:
    if slot.granted.is_set():
        slot.ended.set_result(how)
    elif slot.task is not None:
        slot.task.cancel()
        slot.granted.set()


class SharedLimit:
    """A node's end of an endpoint's limit: what `AdaptiveLimit` is where there is one process."""

    def __init__(self, limits: Any, endpoint: str, holder: str) -> None:
        self._limits, self._endpoint, self._holder = limits, endpoint, holder

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A place for one request; how the request ends moves the limit of all nodes.

        Raises:
            EndpointFailure: the driver is gone.
        """
        number = next(_numbers)
        how: Ended = "failed"
        try:
            with _driver_gone():
                await self._limits.begin.remote(self._endpoint, self._holder, number)
            yield
            how = "good"
        except Transient as fault:
            how = "throttled" if fault.throttled else "failed"
            raise
        finally:
            self._limits.end.remote(self._holder, number, how)


@contextmanager
def _driver_gone() -> Iterator[None]:
    from ray.exceptions import RayError  # lazy: slow import

    try:
        yield
    except RayError:
        raise EndpointFailure("the limit that all nodes share cannot be asked: the driver of the run is gone") from None

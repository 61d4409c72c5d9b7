"""How many requests are under way at once: additive increase, multiplicative decrease."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import anyio

from harness_eval.endpoints.retries import Transient


class Limit(Protocol):
    """How many requests an endpoint may have under way: of this process alone, or of all that take part in a run."""

    def slot(self) -> AbstractAsyncContextManager[None]:
        """A place for one request."""


class AdaptiveLimit:
    """A limit that halves at once when the server asks for fewer requests and grows by one a round of successes.

    It stays between 1 and the stated limit. A burst of refusals counts once: requests that were already under way
    when the limit fell do not lower it again.
    """

    def __init__(self, limit: int) -> None:
        self.allowed = float(limit)
        self._limit = limit
        self._falls = 0
        self._slots = anyio.CapacityLimiter(limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A place for one request; how the request ends moves the limit."""
        async with self._slots:
            falls = self._falls
            try:
                yield
            except Transient as fault:
                if fault.throttled and falls == self._falls:
                    self._falls += 1
                    self._set(self.allowed / 2)
                raise
            self._set(self.allowed + 1 / self.allowed)

    def _set(self, allowed: float) -> None:
        self.allowed = min(max(allowed, 1.0), float(self._limit))
        self._slots.total_tokens = int(self.allowed)

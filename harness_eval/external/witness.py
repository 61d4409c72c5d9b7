"""An endpoint that remembers how its last request went, which tells whose it is that a harness ended."""

from __future__ import annotations

import time

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import ContextOverflow, EndpointFailure
from harness_eval.types import Reply, Request

_MUCH_SLOWER = 2.0  # times the slowest reply before: beyond that a wait is the endpoint's, and no sign of the model


class Witness(Endpoint):
    """Passes every request on to another endpoint; closing is left to whoever opened that.

    `overflowed` says that the last request was too long for the model, and no later one had a reply.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.name, self.model = endpoint.name, endpoint.model
        self.overflowed = False
        self._endpoint = endpoint
        self._asked: dict[int, float] = {}
        self._slowest = 0.0
        self._number = 0

    @property
    def served_as(self) -> frozenset[str]:
        """See `Endpoint.served_as`."""
        return self._endpoint.served_as

    async def complete(self, request: Request) -> Reply:
        """See `Endpoint.complete`."""
        self._number += 1
        number = self._number
        self._asked[number] = started = time.monotonic()
        try:
            reply = await self._endpoint.complete(request)
        except ContextOverflow:
            self.overflowed = True
            raise
        finally:
            del self._asked[number]
        self._slowest = max(self._slowest, time.monotonic() - started)
        self.overflowed = False
        return reply

    def check_wait(self) -> None:
        """Raise where time ran out on an endpoint that was not answering as it had before.

        Raises:
            EndpointFailure: it was.
        """
        waited = time.monotonic() - min(self._asked.values()) if self._asked else 0.0
        if waited > _MUCH_SLOWER * self._slowest:
            failure = EndpointFailure(f"no reply within {waited:.0f} s, when the trial's time was over")
            failure.label = "infra.deadline"
            raise failure

    async def close(self) -> None:
        """Nothing to do."""

"""Recorded replies in place of a server."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import EndpointFailure, HarnessFailure
from harness_eval.types import Reply, Request


class ReplayEndpoint(Endpoint):
    """Answers from (request digest, reply) pairs; equal requests get their replies in the recorded order."""

    def __init__(self, name: str, model: str, recorded: Iterable[tuple[str, Reply]]) -> None:
        self.name, self.model = name, model
        self._left: defaultdict[str, deque[Reply]] = defaultdict(deque)
        for digest, reply in recorded:
            self._left[digest].append(reply)
        self._known = frozenset(self._left)

    async def complete(self, request: Request) -> Reply:
        """The next reply recorded for this request.

        Raises:
            HarnessFailure: no such request was recorded: the harness builds another one today.
            EndpointFailure: all its replies have been given.
        """
        digest = request.digest
        if digest not in self._known:
            raise HarnessFailure(f"{self.name}: request {digest[:12]} was not recorded")
        if not self._left[digest]:
            raise EndpointFailure(f"{self.name}: every recorded reply to request {digest[:12]} has been given")
        return self._left[digest].popleft()

    async def close(self) -> None:
        """Nothing is held."""

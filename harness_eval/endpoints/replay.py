"""Recorded replies in place of a server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import ContextOverflow, HarnessFailure
from harness_eval.types import Reply, Request


@dataclass(frozen=True, slots=True)
class Exchange:
    """A recorded reply with the hash of the request that it answered; `turn` (from 1) is for messages."""

    digest: str
    reply: Reply
    turn: int


class ReplayEndpoint(Endpoint):
    """One trial's replies, given again in their order to the very requests that they answered.

    `overflows` says that the request after the last of them did not fit the model's window. Seeds do not matter: they
    are no part of what a model receives.
    """

    def __init__(self, name: str, model: str, recorded: Iterable[Exchange], overflows: bool = False) -> None:
        self.name, self.model, self.overflows = name, model, overflows
        self._left = list(reversed(list(recorded)))
        self._last = self._left[0].turn if self._left else 0

    async def complete(self, request: Request) -> Reply:
        """The recorded reply to this request, if it is the one that comes next.

        Raises:
            HarnessFailure: it is not: the harness, or what its tools bring, is another one today. Names the turn.
            ContextOverflow: the record ends so.
        """
        if not self._left:
            if self.overflows:
                raise ContextOverflow("the window was full here when this was recorded")
            raise HarnessFailure(f"turn {self._last + 1}: not recorded, the record ends with turn {self._last}")
        wanted, digest = self._left[-1], request.digest
        if digest != wanted.digest:
            raise HarnessFailure(f"turn {wanted.turn}: request {digest[:12]} was not recorded")
        return self._left.pop().reply

    async def close(self) -> None:
        """Nothing is held."""

"""The door in front of an endpoint: who may ask, how often, and what became of each request."""

from __future__ import annotations

import dataclasses
import hmac
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import (
    BoundaryFailure,
    ContextOverflow,
    EndpointDown,
    EndpointFailure,
    HarnessEvalError,
    HarnessFailure,
    boundary,
)
from harness_eval.gateway.exchange import Exchange
from harness_eval.gateway.wires import Asked, Refused
from harness_eval.types import Limits, Reply, StopReason, Usage

_IN_A_ROW = 5  # requests refused one after the other, for what is wrong with them, until nobody waits for a better one
_DISTINCT = 50  # kinds of requests turned away that are kept
_UNREADABLE = 500  # requests that are none, after which a harness is at fault and no accident
_MOST_BYTES = 512 << 20  # of all requests of a trial: they are kept, and written down


class Refusal(Exception):
    """There is no reply, and why."""

    def __init__(self, kind: Refused, message: str) -> None:
        super().__init__(message)
        self.kind: Refused = kind


class Door:
    """What stands between one harness and an endpoint, for one trial or, without limits, for as long as it is open.

    `exchanges` are in the order in which they ended; their numbers are in the order in which they came. `key` is what
    the harness is given in place of the endpoint's. `stop` is the limit that was reached or the overflow that came
    last, `failure` what the endpoint failed with last; both are forgotten when a later request gets its reply. Once
    `ended` is set, they stay, and all is refused.
    `turned_away` counts what never became an exchange, by status, method and path. Whoever wants exchanges elsewhere
    replaces `keep`. `place` is the address or the socket's path.
    """

    def __init__(self, endpoint: Endpoint, seed: int | None, limits: Limits | None) -> None:
        self.exchanges: list[Exchange] = []
        self.keep: Callable[[Exchange], None] = self.exchanges.append
        self.key = f"he-{secrets.token_hex(16)}"
        self.place = ""
        self.stop: StopReason | None = None
        self.failure: BoundaryFailure | None = None
        self.ended = anyio.Event()
        self.usage = Usage()
        self.turned_away: Counter[str] = Counter()
        self.model = endpoint.model
        self._endpoint, self._seed, self._limits = endpoint, seed, limits
        self._steps = self._refused = self._numbers = self._misread = self._bytes = 0
        self._opened = anyio.current_time()

    @property
    def base_url(self) -> str:
        """The address without `/v1`, where it listens on TCP; "" for a socket."""
        return self.place if self.place.startswith("http://") else ""

    @property
    def now(self) -> float:
        """Seconds since it was opened."""
        return anyio.current_time() - self._opened

    def admits(self, key: str) -> bool:
        """Whether this is the key."""
        return hmac.compare_digest(key.encode("utf-8", "replace"), self.key.encode())

    def turn_away(self, status: int, method: str, path: str) -> None:
        """Count a request that is none."""
        told = f"{status} {method} {path[:200]}"
        if told in self.turned_away or len(self.turned_away) < _DISTINCT:
            self.turned_away[told] += 1

    def number(self) -> int:
        """The number of the next exchange."""
        self._numbers += 1
        return self._numbers - 1

    def weigh(self, size: int) -> None:
        """Count bytes of a request's body as they come; too many in all end the trial.

        Raises:
            Refusal: there have been too many.
        """
        self._bytes += size
        if self._limits is not None and self._bytes > _MOST_BYTES:
            self._end(None, HarnessFailure(f"the harness sent more than {_MOST_BYTES} bytes to its model"))
            raise Refusal("down", f"{self.failure}; do not try again")

    def misread(self, why: str) -> Refusal:
        """Refuse what is no request of its wire; too many of these end the trial."""
        self._misread += 1
        if self._misread >= _UNREADABLE:
            told = f"the harness sent {self._misread} requests that cannot be read; the last one: {why}"
            self._end(None, HarnessFailure(told))
        return Refusal("invalid", why)

    async def reply(self, asked: Asked) -> Reply:
        """What the endpoint says; it sees the request with the trial's own seed, and nothing of how to sample.

        Raises:
            Refusal: there is no reply.
        """
        self._check_limits()
        self._steps += 1
        request = dataclasses.replace(asked.request, seed=self._seed)
        with self._counting():
            with boundary("harness"):
                reply = await self._endpoint.complete(request)
            self._refused = 0
            if not self.ended.is_set():
                self.failure = self.stop = None
            self.usage += reply.usage
            return reply

    def _check_limits(self) -> None:
        if self._limits is not None and not self.ended.is_set():
            if self._steps >= self._limits.steps:
                self._end(StopReason.STEPS, None)
            elif self.usage.total >= self._limits.tokens:
                self._end(StopReason.TOKENS, None)
        if self.ended.is_set():
            why = f"this trial has reached its limit ({self.stop.value})" if self.stop else str(self.failure)
            raise Refusal("over-budget" if self.stop else "down", f"{why}; do not try again")

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """A request without reply is no step, whatever ended it; an error becomes a refusal."""
        replied = False
        try:
            yield
            replied = True
        except HarnessEvalError as error:
            raise self._refusal(error) from None
        finally:
            self._steps -= not replied

    def _refusal(self, error: HarnessEvalError) -> Refusal:
        self._refused += 1
        often = self._refused >= _IN_A_ROW
        if isinstance(error, ContextOverflow):
            self._end(StopReason.OVERFLOW, None, for_good=often)
            return Refusal("overflow", str(error))
        failure = error if isinstance(error, BoundaryFailure) else HarnessFailure(str(error))
        self._end(None, failure, for_good=often or isinstance(error, EndpointFailure))
        if isinstance(error, EndpointDown):
            return Refusal("down", str(error))
        return Refusal("unavailable" if isinstance(error, EndpointFailure) else "invalid", str(error))

    def _end(self, stop: StopReason | None, failure: BoundaryFailure | None, *, for_good: bool = True) -> None:
        """Note why there is no reply. Without limits it is never for good: somebody else decides when to close."""
        if not self.ended.is_set():
            self.stop, self.failure = stop, failure
            if for_good and self._limits is not None:
                self.ended.set()

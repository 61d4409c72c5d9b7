"""An endpoint under questions: each is counted, none may last for ever, and an error is an answer too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import anyio

from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.endpoints.named import told
from harness_eval.endpoints.probe.check import Answer
from harness_eval.errors import EndpointDown, EndpointFailure, HarnessEvalError, boundary
from harness_eval.types import Reply, Request, Usage

_RETRIES = 2
_PATIENCE = 180.0  # seconds for one reply, all retries included
_FOR_ALL = ("infra.quota_exhausted", "infra.access_refused")  # an unknown address may be that of one wire alone

T = TypeVar("T")


class Asking:
    """Answers at most `most` requests, streamed and whole; counts them, their tokens and the uncounted replies.

    `heard` has every reply with its request, `faults` the labels of all attempts that failed and were made again.
    `limited` says whether token limits are sent: some servers refuse them.

    Raises (when made):
        ConfigError: the key or a header is missing.
    """

    def __init__(self, config: EndpointConfig, most: int) -> None:
        self.config, self.most = config, most
        self.calls = self.replies = self.uncounted = 0
        self.usage, self.limited = Usage(), True
        self.heard, self.faults = list[tuple[Reply, Request]](), list[str]()
        brief = {"retries": min(config.retries, _RETRIES)}
        self._ways = {
            stream: open_endpoint(config.model_copy(update={**brief, "stream": stream}))
            for stream in (config.stream, not config.stream)
        }

    async def ask(self, request: Request, other_way: bool = False) -> Answer:
        """The reply, or the error that came instead; `other_way` streams where the endpoint does not, or the reverse.

        Raises:
            EndpointDown: the account is empty.
        """
        try:
            with boundary("endpoint"):
                reply = await self._reply(request, self.config.stream is not other_way)
        except HarnessEvalError as error:
            if isinstance(error, EndpointDown) and error.label in _FOR_ALL:
                raise
            self.faults += getattr(error, "faults", ())
            return error
        self.replies += 1
        self.heard.append((reply, request))
        self.faults += reply.faults
        self.uncounted += not (reply.usage.prompt and reply.usage.completion)
        self.usage += reply.usage
        return reply

    async def _reply(self, request: Request, stream: bool) -> Reply:
        if self.calls >= self.most:
            raise EndpointFailure(f"{self.config.name}: the probe's {self.most} calls are used up")
        self.calls += 1
        request = request if self.limited else replace(request, max_tokens=None)
        with anyio.move_on_after(_PATIENCE):
            return await self._ways[stream].complete(request)
        late = EndpointFailure(f"{self.config.name}: no reply within {_PATIENCE:.0f} s")
        late.label = "infra.deadline"
        raise late

    @property
    def served_as(self) -> tuple[str, ...]:
        """Models and fingerprints that replies named, as they are to be recorded."""
        return told(name for endpoint in self._ways.values() for name in endpoint.served_as)

    async def close(self) -> None:
        """Release connections."""
        for endpoint in self._ways.values():
            await endpoint.close()


async def at_once(asked: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """The results of all, in order; they are asked for at the same time.

    Raises:
        EndpointDown: one of them did.
    """
    results: dict[int, T] = {}
    down: list[EndpointDown] = []

    async def one(number: int) -> None:
        try:
            results[number] = await asked[number]()
        except EndpointDown as error:  # kept out of the group, which would wrap it
            down.append(error)

    async with anyio.create_task_group() as group:
        for number in range(len(asked)):
            group.start_soon(one, number)
    if down:
        raise down[0]
    return [results[number] for number in range(len(asked))]

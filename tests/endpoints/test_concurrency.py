"""How many requests are under way at once."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from harness_eval.endpoints.concurrency import AdaptiveLimit
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.openai import OpenAIEndpoint
from harness_eval.endpoints.retries import Transient
from harness_eval.errors import EndpointFailure
from harness_eval.types import Reply, Request

from .server import SAYS_HELLO, Answer, Received, ScriptedServer, refused

pytestmark = pytest.mark.anyio

ASK = Request(messages=({"role": "user", "content": "hi"},))


async def refuse(limit: AdaptiveLimit, throttled: bool = True, gate: anyio.Event | None = None) -> None:
    with contextlib.suppress(Transient):
        async with limit.slot():
            await (gate.wait() if gate else anyio.lowlevel.checkpoint())
            raise Transient("busy", throttled=throttled)


async def succeed(limit: AdaptiveLimit) -> None:
    async with limit.slot():
        pass


async def test_a_refusal_halves_the_limit_at_once_but_never_below_one() -> None:
    limit = AdaptiveLimit(8)
    allowed = []
    for _ in range(5):
        await refuse(limit)
        allowed.append(limit.allowed)
    assert allowed == [4.0, 2.0, 1.0, 1.0, 1.0]


async def test_other_failures_leave_the_limit_alone() -> None:
    limit = AdaptiveLimit(8)
    await refuse(limit, throttled=False)
    assert limit.allowed == 8.0


async def test_the_limit_recovers_slowly_and_never_exceeds_what_was_stated() -> None:
    limit = AdaptiveLimit(4)
    await refuse(limit)
    grown = []
    for _ in range(40):
        await succeed(limit)
        grown.append(limit.allowed)
    assert grown[0] == pytest.approx(2.5)
    assert grown == sorted(grown)
    assert grown[-1] == 4.0


async def test_a_burst_of_refusals_counts_once() -> None:
    limit = AdaptiveLimit(8)
    gate = anyio.Event()

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(refuse, limit, True, gate)
        await anyio.wait_all_tasks_blocked()
        gate.set()
    assert limit.allowed == 4.0


async def test_after_a_fall_fewer_requests_run_at_once() -> None:
    limit = AdaptiveLimit(4)
    await refuse(limit)
    running = most = 0

    async def work() -> None:
        nonlocal running, most
        async with limit.slot():
            running += 1
            most = max(most, running)
            await anyio.lowlevel.checkpoint()
            running -= 1

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(work)
        group.start_soon(work)
    assert most == 2


class Throttling(ScriptedServer):
    """Refuses with 429 what goes beyond so many requests at once."""

    at_once = 100

    def answer_to(self, received: Received) -> Answer:
        del received
        return refused(429, "slow down", "rate_limit_error") if self.under_way >= self.at_once else SAYS_HELLO


@asynccontextmanager
async def throttling(retries: int) -> AsyncIterator[tuple[OpenAIEndpoint, Throttling]]:
    server = Throttling()
    await server.start()
    settings = {"name": "kimi", "model": "m", "base_url": server.url, "backoff_seconds": 0.001, "retries": retries}
    endpoint = OpenAIEndpoint(EndpointConfig.model_validate({**settings, "concurrency": 8}))
    try:
        yield endpoint, server
    finally:
        await endpoint.close()
        await server.stop()


async def ask(endpoint: OpenAIEndpoint, times: int) -> list[Reply]:
    replies: list[Reply] = []

    async def once() -> None:
        replies.append(await endpoint.complete(ASK))

    async with anyio.create_task_group() as group:
        for _ in range(times):
            group.start_soon(once)
    return replies


async def test_a_real_server_that_throttles_is_served_at_its_own_pace_and_every_request_is_answered() -> None:
    async with throttling(retries=50) as (endpoint, server):
        server.delay, server.at_once = 0.005, 3
        replies = await ask(endpoint, 40)
        assert len(replies) == 40
        faults = [label for reply in replies for label in reply.faults]
        assert set(faults) == {"infra.rate_limited"}
        assert server.most_under_way <= 8
        # Without a limit that adapts, five of eight are refused again and again.
        assert len(faults) < 40


async def test_after_a_real_429_half_as_many_are_under_way_and_the_way_back_to_the_limit_is_slow() -> None:
    async with throttling(retries=0) as (endpoint, server):
        server.at_once = 0
        with pytest.raises(EndpointFailure):
            await endpoint.complete(ASK)
        server.at_once, server.delay = 100, 0.002
        await ask(endpoint, 4)
        most = [server.most_under_way]
        for _ in range(12):
            server.most_under_way = 0
            await ask(endpoint, 8)
            most.append(server.most_under_way)
        assert most[0] <= 4
        assert most[1] < most[-1] == max(most) == 8
        assert most == sorted(most)

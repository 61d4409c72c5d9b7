"""How many requests are under way at once."""

from __future__ import annotations

import contextlib

import anyio
import anyio.lowlevel
import pytest

from harness_eval.endpoints.concurrency import AdaptiveLimit
from harness_eval.endpoints.retries import Transient

pytestmark = pytest.mark.anyio


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

"""One limit an endpoint over all nodes, here without Ray: calls are awaited where Ray would send them."""

from __future__ import annotations

import asyncio

import pytest

from harness_eval.cluster.limits import Limits

pytestmark = pytest.mark.anyio


async def waits(limits: Limits, holder: str, number: int) -> asyncio.Task[None]:
    task = asyncio.create_task(limits.begin("one", holder, number))
    for _ in range(10):
        await asyncio.sleep(0)
    return task


async def test_two_nodes_together_have_no_more_places_than_the_limit() -> None:
    limits = Limits({"one": 2})
    await limits.begin("one", "first", 1)
    await limits.begin("one", "second", 1)
    third = await waits(limits, "second", 2)
    assert not third.done()
    await limits.end("first", 1, "good")
    await asyncio.wait_for(third, 5)


async def test_a_refusal_that_one_node_saw_slows_down_the_other() -> None:
    limits = Limits({"one": 4})
    for number in range(2):
        await limits.begin("one", "first", number)
    await limits.begin("one", "second", 0)
    await limits.end("first", 0, "throttled")
    await asyncio.sleep(0.01)
    assert await limits.allowed("one") == 2
    waiting = await waits(limits, "second", 1)
    assert not waiting.done()
    await limits.end("first", 1, "good")
    await asyncio.wait_for(waiting, 5)


async def test_a_failure_that_is_no_refusal_leaves_the_limit_as_it_is() -> None:
    limits = Limits({"one": 4})
    await limits.begin("one", "first", 0)
    await limits.end("first", 0, "failed")
    await asyncio.sleep(0.01)
    assert await limits.allowed("one") == 4


async def test_the_places_of_a_lost_node_are_free_again() -> None:
    limits = Limits({"one": 1})
    await limits.begin("one", "lost", 0)
    queued, mine = await waits(limits, "lost", 1), await waits(limits, "left", 0)
    await limits.forget("lost")
    await asyncio.wait_for(asyncio.gather(queued, mine), 5)


async def test_who_stops_waiting_takes_no_place_whichever_call_comes_first() -> None:
    limits = Limits({"one": 1})
    await limits.begin("one", "first", 0)
    waiting = await waits(limits, "second", 0)
    await limits.end("second", 0, "failed")
    await limits.end("second", 1, "failed")  # before it was asked for
    await limits.begin("one", "second", 1)
    await limits.end("first", 0, "good")
    await asyncio.wait_for(waiting, 5)
    await asyncio.wait_for(limits.begin("one", "third", 0), 5)

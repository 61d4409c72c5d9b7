"""Recorded replies in place of a server."""

from __future__ import annotations

import dataclasses

import pytest

from harness_eval.endpoints.replay import Exchange, ReplayEndpoint
from harness_eval.errors import ContextOverflow, HarnessFailure
from harness_eval.types import Reply, Request

pytestmark = pytest.mark.anyio

ONE = Request(messages=({"role": "user", "content": "one"},))
TWO = Request(messages=({"role": "user", "content": "two"},))
RECORDED = [
    Exchange(ONE.digest, Reply("1a"), 1),
    Exchange(ONE.digest, Reply("1b"), 2),
    Exchange(TWO.digest, Reply("2"), 3),
]


async def test_replies_come_in_the_recorded_order() -> None:
    endpoint = ReplayEndpoint("replay", "m", RECORDED)
    assert [(await endpoint.complete(request)).text for request in (ONE, ONE, TWO)] == ["1a", "1b", "2"]


async def test_the_seed_is_no_part_of_a_request() -> None:
    endpoint = ReplayEndpoint("replay", "m", RECORDED)
    assert (await endpoint.complete(dataclasses.replace(ONE, seed=7))).text == "1a"


async def test_a_request_that_was_recorded_for_another_turn_is_ours_and_named() -> None:
    endpoint = ReplayEndpoint("replay", "m", RECORDED)
    await endpoint.complete(ONE)
    with pytest.raises(HarnessFailure, match=f"turn 2: request {TWO.digest[:12]} was not recorded"):
        await endpoint.complete(TWO)


async def test_a_request_after_the_last_is_ours_and_named() -> None:
    with pytest.raises(HarnessFailure, match="turn 1: not recorded"):
        await ReplayEndpoint("replay", "m", []).complete(ONE)
    endpoint = ReplayEndpoint("replay", "m", RECORDED[2:])
    await endpoint.complete(TWO)
    with pytest.raises(HarnessFailure, match="turn 4: not recorded, the record ends with turn 3"):
        await endpoint.complete(TWO)


async def test_a_record_that_ended_with_a_full_window_ends_so_again() -> None:
    endpoint = ReplayEndpoint("replay", "m", RECORDED[:1], overflows=True)
    await endpoint.complete(ONE)
    with pytest.raises(ContextOverflow):
        await endpoint.complete(TWO)

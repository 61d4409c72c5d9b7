"""Recorded replies in place of a server."""

from __future__ import annotations

import pytest

from harness_eval.endpoints.replay import ReplayEndpoint
from harness_eval.errors import EndpointFailure, HarnessFailure
from harness_eval.types import Reply, Request

pytestmark = pytest.mark.anyio

ONE = Request(messages=({"role": "user", "content": "one"},))
TWO = Request(messages=({"role": "user", "content": "two"},))


async def test_equal_requests_get_their_replies_in_the_recorded_order() -> None:
    recorded = [(ONE.digest, Reply(text="1a")), (TWO.digest, Reply(text="2")), (ONE.digest, Reply(text="1b"))]
    endpoint = ReplayEndpoint("replay", "m", recorded)
    assert [(await endpoint.complete(request)).text for request in (ONE, ONE, TWO)] == ["1a", "1b", "2"]
    with pytest.raises(EndpointFailure, match="has been given"):
        await endpoint.complete(ONE)


async def test_a_request_that_was_not_recorded_is_ours() -> None:
    with pytest.raises(HarnessFailure, match="was not recorded"):
        await ReplayEndpoint("replay", "m", []).complete(ONE)

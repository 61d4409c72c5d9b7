"""Whether a request is sent again, and when."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from harness_eval.endpoints.retries import RetryPolicy, Transient, retried, stated_wait
from harness_eval.errors import EndpointDown, EndpointFailure
from harness_eval.types import Reply

NOW = 1_790_000_000.0
DATE = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": str(int(NOW) + 30)}, 30.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "abc"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_a_stated_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert stated_wait(headers, NOW) == seconds


def test_a_date_is_a_wait_until_then_and_a_past_date_is_no_wait() -> None:
    headers = {"retry-after": format_datetime(DATE, usegmt=True)}
    assert stated_wait(headers, DATE.timestamp() - 12) == pytest.approx(12.0)
    assert stated_wait(headers, DATE.timestamp() + 12) == 0.0


def test_waits_double_up_to_the_longest_and_are_drawn_from_the_upper_half() -> None:
    policy = RetryPolicy(base=1.0, longest=10.0)
    source = random.Random(1)
    for number, most in ((1, 1.0), (2, 2.0), (4, 8.0), (5, 10.0), (400, 10.0)):
        waits = [policy.wait(number, Transient("x"), source) for _ in range(50)]
        assert most / 2 <= min(waits)
        assert max(waits) <= most


def test_a_rate_limit_is_waited_out_longer_than_an_overload() -> None:
    policy = RetryPolicy()
    short = policy.wait(1, Transient("x"), random.Random(3))
    limited = Transient("x", "infra.rate_limited", throttled=True)
    assert policy.wait(1, limited, random.Random(3)) == pytest.approx(4 * short)


def test_a_stated_wait_is_never_undercut_and_an_absurd_one_is_capped() -> None:
    policy = RetryPolicy(base=1.0, longest=60.0)
    source = random.Random(5)
    assert 7.0 <= policy.wait(1, Transient("x", wait=7.0), source) <= 8.0
    assert 60.0 <= policy.wait(1, Transient("x", wait=9e8), source) <= 61.0


def test_equal_sources_draw_equal_jitter() -> None:
    policy = RetryPolicy()
    one, two = random.Random(9), random.Random(9)
    assert [policy.wait(n, Transient("x"), one) for n in (1, 2, 3)] == [
        policy.wait(n, Transient("x"), two) for n in (1, 2, 3)
    ]


class Failing:
    """An attempt that fails so often before it succeeds."""

    def __init__(self, times: int, **fault: bool | float) -> None:
        self.times, self.fault, self.made = times, fault, 0

    async def __call__(self) -> Reply:
        self.made += 1
        if self.made <= self.times:
            raise Transient("busy", **self.fault)  # type: ignore[arg-type]
        return Reply(text="ok")


FAST = RetryPolicy(retries=3, base=1e-4)


@pytest.mark.anyio
async def test_the_number_of_attempts_is_recorded() -> None:
    assert len((await retried(Failing(0), FAST, random.Random(0))).faults) == 0
    assert len((await retried(Failing(3), FAST, random.Random(0))).faults) == 3


@pytest.mark.anyio
async def test_retries_are_bounded_by_their_number() -> None:
    attempt = Failing(100)
    with pytest.raises(EndpointFailure, match=r"busy \(attempts: 4, the last took"):
        await retried(attempt, FAST, random.Random(0))
    assert attempt.made == 4


@pytest.mark.anyio
async def test_no_retry_begins_after_the_total_time() -> None:
    attempt = Failing(100, wait=50.0)
    with pytest.raises(EndpointFailure, match=r"attempts: 1"):
        await retried(attempt, RetryPolicy(retries=9, total=40.0), random.Random(0))


@pytest.mark.anyio
async def test_an_absent_server_is_tried_briefly_and_is_then_down() -> None:
    attempt = Failing(100, absent=True)
    with pytest.raises(EndpointDown):
        await retried(attempt, RetryPolicy(retries=50, base=1e-4), random.Random(0))
    assert attempt.made == 3


@pytest.mark.anyio
async def test_any_other_error_passes_at_once() -> None:
    async def attempt() -> Reply:
        raise EndpointDown("no key")

    with pytest.raises(EndpointDown, match=r"^no key$"):
        await retried(attempt, FAST, random.Random(0))

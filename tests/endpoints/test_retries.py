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
    """An attempt that fails so often before it succeeds, each time with the next of the labels (the last for ever)."""

    def __init__(self, times: int, *labels: str, **fault: bool | float) -> None:
        self.times, self.labels, self.fault, self.made = times, labels or ("infra.overloaded",), fault, 0

    async def __call__(self) -> Reply:
        self.made += 1
        if self.made <= self.times:
            label = self.labels[min(self.made, len(self.labels)) - 1]
            raise Transient("busy", label, **self.fault)  # type: ignore[arg-type]
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


@pytest.mark.anyio
async def test_the_labels_of_failed_attempts_are_kept_in_order() -> None:
    attempt = Failing(2, "infra.overloaded", "infra.stream_truncated")
    assert (await retried(attempt, FAST, random.Random(0))).faults == ("infra.overloaded", "infra.stream_truncated")


@pytest.mark.anyio
@pytest.mark.parametrize("absent", [False, True])
async def test_the_failure_has_the_label_of_the_last_attempt(absent: bool) -> None:
    attempt = Failing(100, "infra.overloaded", "infra.error_in_200", absent=absent)
    with pytest.raises(EndpointFailure) as caught:
        await retried(attempt, FAST, random.Random(0))
    assert caught.value.label == "infra.error_in_200"


@pytest.mark.anyio
async def test_what_takes_a_server_down_is_sent_twice_at_most() -> None:
    for labels, made in (
        (["serving.crash_on_schema"], 2),
        (["serving.crash_on_schema", "infra.overloaded", "serving.crash_on_schema"], 3),
    ):
        attempt = Failing(100, *labels)
        with pytest.raises(EndpointFailure) as caught:
            await retried(attempt, FAST, random.Random(0))
        assert (attempt.made, caught.value.label) == (made, "serving.crash_on_schema")


@pytest.mark.anyio
@pytest.mark.parametrize("label", ["infra.deadline", "infra.gateway", "infra.stream_truncated"])
async def test_attempts_cut_off_after_the_same_time_are_a_time_limit_and_not_repeated(
    label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = Failing(100, label)
    lasting(attempt, [120.0], monkeypatch)
    with pytest.raises(EndpointFailure, match=r"attempts: 3, the last took 120.0 s; .*time limit") as caught:
        await retried(attempt, RetryPolicy(retries=9, base=1e-4), random.Random(0))
    assert (attempt.made, caught.value.label) == (3, "infra.deadline")


@pytest.mark.anyio
async def test_attempts_cut_off_after_different_times_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = Failing(4, "infra.gateway")
    lasting(attempt, [120.0, 60.0, 120.0, 90.0, 1.0], monkeypatch)
    await retried(attempt, RetryPolicy(retries=9, base=1e-4), random.Random(0))
    assert attempt.made == 5


@pytest.mark.anyio
async def test_an_overload_that_lasts_is_no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = Failing(6, "infra.overloaded")
    lasting(attempt, [30.0], monkeypatch)
    await retried(attempt, RetryPolicy(retries=9, base=1e-4), random.Random(0))
    assert attempt.made == 7


def lasting(attempt: Failing, seconds: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each attempt seem to last so many seconds, the last of them for ever."""
    monkeypatch.setattr(
        "harness_eval.endpoints.retries.anyio.current_time",
        lambda: sum(seconds[min(at, len(seconds) - 1)] for at in range(attempt.made)),
    )

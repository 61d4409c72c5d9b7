"""The one place that decides whether a request is sent again, and when."""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import anyio

from harness_eval.errors import EndpointDown, EndpointFailure
from harness_eval.types import Reply

RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
THROTTLED = frozenset({429, 529})
_EPOCH = 1e9  # a Retry-After above this is a point in time, not a delay
_BRIEFLY = 2
_IDENTICAL = 3
_CUT_OFF = frozenset({"infra.deadline", "infra.gateway", "infra.stream_truncated"})
_AT_MOST_TWICE = frozenset({"serving.crash_on_schema"})  # what takes a server down is not sent for a third time


class Transient(EndpointFailure):
    """This attempt failed; another one may succeed.

    `label` says what happened, `wait` is what the server asks for in seconds (None: nothing), `throttled` whether it
    asks for fewer requests, `absent` whether nothing listens at all.
    """

    def __init__(
        self,
        message: str,
        label: str = "",
        *,
        wait: float | None = None,
        throttled: bool = False,
        absent: bool = False,
    ) -> None:
        super().__init__(message)
        self.label, self.wait, self.throttled, self.absent = label, wait, throttled, absent

    @property
    def patient(self) -> bool:
        """Whether a limit was hit that lasts longer than an overload."""
        return self.throttled and self.label == "infra.rate_limited"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often (`retries` after the first attempt) and how long (all in seconds) a request is tried again.

    The wait before retry n is drawn from [1/2, 1] of base * 2**(n - 1), at most `longest`; what a server asks for is
    honoured up to `longest`. No retry begins after `total` seconds. Attempts that are cut off again and again after
    the same time, `deadline` or longer, are not repeated.
    """

    retries: int = 5
    base: float = 1.0
    longest: float = 60.0
    total: float = 1200.0
    deadline: float = 5.0

    def wait(self, number: int, fault: Transient, source: random.Random) -> float:
        """Seconds to wait after the failed attempt of this number (1 is the first)."""
        patience = 4 if fault.patient else 1
        own = min(self.base * patience * 2.0 ** min(number - 1, 30), self.longest) * source.uniform(0.5, 1.0)
        if fault.wait is None:
            return own
        # A little more than asked, so that not everybody comes back at the same moment.
        return min(fault.wait, self.longest) + min(own, self.base)


async def retried(attempt: Callable[[], Awaitable[Reply]], policy: RetryPolicy, source: random.Random) -> Reply:
    """The reply of the first attempt that succeeds, with the labels of the attempts that failed before it.

    Raises:
        EndpointFailure: the last attempt allowed failed too, or something ends every attempt after the same time.
        EndpointDown: nothing listens there.
    """
    started, failed = anyio.current_time(), list[_Failed]()
    for number in itertools.count(1):
        begun = anyio.current_time()
        try:
            return dataclasses.replace(await attempt(), faults=tuple(each.label for each in failed))
        except Transient as error:
            fault = error
        failed.append(_Failed(fault.label, anyio.current_time() - begun))
        wait = policy.wait(number, fault, source)
        late = anyio.current_time() + wait - started > policy.total
        if late or number > _allowed(policy, fault, failed) or _meets_deadline(policy, failed):
            break
        await anyio.sleep(wait)
    raise _last(fault, failed, policy)


class _Failed(NamedTuple):
    label: str
    seconds: float


def _allowed(policy: RetryPolicy, fault: Transient, failed: Sequence[_Failed]) -> int:
    """How many retries this fault is worth."""
    if fault.absent:
        return min(policy.retries, _BRIEFLY)
    again = [each.label for each in failed].count(fault.label) > 1
    return 0 if fault.label in _AT_MOST_TWICE and again else policy.retries


def _meets_deadline(policy: RetryPolicy, failed: Sequence[_Failed]) -> bool:
    """Whether the last attempts were all cut off after the same time, which no further one will outlive."""
    last = failed[-_IDENTICAL:]
    least, most = min(each.seconds for each in last), max(each.seconds for each in last)
    alike = most - least <= max(0.05 * most, 0.5) and all(each.label in _CUT_OFF for each in last)
    return len(last) == _IDENTICAL and alike and least >= policy.deadline


def _last(fault: Transient, failed: Sequence[_Failed], policy: RetryPolicy) -> EndpointFailure:
    attempts = f"attempts: {len(failed)}, the last took {failed[-1].seconds:.1f} s"
    meets = _meets_deadline(policy, failed)
    if meets:
        attempts += f"; {_IDENTICAL} in a row ended after the same time: some layer before the model has a time limit"
    error = (EndpointDown if fault.absent else EndpointFailure)(f"{fault} ({attempts})")
    error.label = "infra.deadline" if meets else fault.label
    error.faults = tuple(each.label for each in failed[:-1])
    return error


def stated_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that a response asks to wait: Retry-After as a delay, a date or an epoch, or retry-after-ms.

    Never negative; None when nothing readable is stated. `now` is the current time in seconds since the epoch.
    """
    now = time.time() if now is None else now
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = headers.get("retry-after")
    seconds = _number(stated)
    if seconds is None:
        moment = _moment(stated)
        return None if moment is None else max(moment - now, 0.0)
    return max(seconds - now, 0.0) if seconds > _EPOCH else seconds


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(value, 0.0) if abs(value) < 1e15 else None


def _moment(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (ValueError, OverflowError):
        return None

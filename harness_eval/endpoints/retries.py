"""The one place that decides whether a request is sent again, and when."""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import anyio

from harness_eval.errors import EndpointDown, EndpointFailure
from harness_eval.types import Reply

RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
THROTTLED = frozenset({429, 529})
_EPOCH = 1e9  # a Retry-After above this is a point in time, not a delay
_BRIEFLY = 2


class Transient(EndpointFailure):
    """This attempt failed; another one may succeed.

    `wait` is what the server asks for in seconds (None: nothing), `throttled` whether it asks for fewer requests,
    `patient` whether a limit that lasts longer than an overload was hit, `absent` whether nothing listens at all.
    """

    def __init__(
        self,
        message: str,
        *,
        wait: float | None = None,
        throttled: bool = False,
        patient: bool = False,
        absent: bool = False,
    ) -> None:
        super().__init__(message)
        self.wait, self.throttled, self.patient, self.absent = wait, throttled, patient, absent


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often (`retries` after the first attempt) and how long (all in seconds) a request is tried again.

    The wait before retry n is drawn from [1/2, 1] of base * 2**(n - 1), at most `longest`; what a server asks for is
    honoured up to `longest`. No retry begins after `total` seconds.
    """

    retries: int = 5
    base: float = 1.0
    longest: float = 60.0
    total: float = 1200.0

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
        EndpointFailure: the last attempt allowed failed too.
        EndpointDown: nothing listens there.
    """
    started, labels = anyio.current_time(), list[str]()
    for number in itertools.count(1):
        try:
            return dataclasses.replace(await attempt(), faults=tuple(labels))
        except Transient as error:
            fault = error
        labels.append(fault.label)
        wait = policy.wait(number, fault, source)
        allowed = min(policy.retries, _BRIEFLY) if fault.absent else policy.retries
        if number > allowed or anyio.current_time() + wait - started > policy.total:
            break
        await anyio.sleep(wait)
    kind = EndpointDown if fault.absent else EndpointFailure
    raise kind(f"{fault} (attempts: {number})")


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

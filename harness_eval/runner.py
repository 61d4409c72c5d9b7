"""Many trials at once, each endpoint within its limit; stops cleanly on a signal, a dead endpoint or a spent budget."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import anyio
import anyio.to_thread

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import ConfigError
from harness_eval.probing import impossible
from harness_eval.readiness import PAUSE, RETRIES
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.signals import answered, leave
from harness_eval.trial import Trial, closing, run_trial
from harness_eval.types import Lost, Owner, Result, Usage

_PATIENCE = 10.0  # seconds that the second signal waits at most; what closes boxes may be gone
_PATIENT = 2  # signals that still wait for what is being recorded
_UNANSWERED = "infra.gateway"  # the label of a trial that is lost because nothing answered, for all retries
_RETRIED: frozenset[Owner] = frozenset({"endpoint", "sandbox"})  # machines; a broken task or harness stays broken


def _unknown(_: Usage) -> None: ...


def _ignore(_: Result) -> None: ...


def _silently() -> None: ...


def _untold(_: str, __: str) -> None: ...


async def _alive() -> str:
    await anyio.sleep_forever()
    raise AssertionError("unreachable")


def never(_: Result) -> bool:
    """No result is enough: all trials are run."""
    return False


@dataclass(frozen=True, slots=True)
class Lane:
    """One endpoint with the trials it is owed, in order; `cost` says what a usage costs, None where that is unknown.

    `death` waits until what answers there is known to have ended, and says how.
    """

    endpoint: Endpoint
    trials: Sequence[Trial]
    concurrency: int = 4
    cost: Callable[[Usage], float | None] = _unknown
    death: Callable[[], Awaitable[str]] = _alive


@dataclass(slots=True)
class Spending:
    """Tokens and money spent so far against what may be spent; None means no limit. `seconds` count from now on."""

    tokens: int = 0
    money: float = 0.0
    most_tokens: int | None = None
    most_money: float | None = None
    most_seconds: float | None = None
    started: float = field(default_factory=time.monotonic)

    def exhausted(self) -> str | None:
        """Which budget is used up, in words, or None."""
        if self.most_tokens is not None and self.tokens >= self.most_tokens:
            return f"the budget of {self.most_tokens} tokens is used up"
        if self.most_money is not None and self.money >= self.most_money:
            return f"the budget of {self.most_money:g} in money is used up"
        if self.most_seconds is not None and time.monotonic() - self.started >= self.most_seconds:
            return f"the budget of {self.most_seconds:g} seconds is used up"
        return None

    def add(self, result: Result) -> None:
        """Count what a trial used."""
        self.tokens += result.usage.total
        self.money += result.cost or 0.0


@dataclass(slots=True)
class Outcome:
    """Why a run ended before all was done; all empty if it did not. `down` has a message for each dead endpoint.

    `boxless` says why no box can be had any more.
    `unsupported` has, by harness and endpoint, the failure that shows that the one cannot run on the other.
    """

    interrupted: bool = False
    exhausted: str | None = None
    boxless: str | None = None
    down: dict[str, str] = field(default_factory=dict)
    unsupported: dict[tuple[str, str], Lost] = field(default_factory=dict)


def _may_pass(result: Result) -> bool:
    """Whether a lost trial is worth another attempt at once."""
    failure = result.failure
    if failure is None or impossible(failure.label):
        return False
    return failure.owner in _RETRIED and "down" not in result.extra


@dataclass(slots=True)
class Runner:
    """How trials are run.

    `record` keeps a result and may block: it is called in a thread, once at a time. `watch` is then told on the event
    loop, and `enough` asked whether the results so far are: once it says so no further trial is started, and those
    under way are finished. `retries` is how often a trial lost to a machine is tried again, as long as no budget is
    used up: at once where the endpoint was at fault, whose client has waited, else after `pause` seconds and longer.
    `play` is what one attempt is. `fallen` is told of an endpoint whose lane ends early, and why, `stopping` of the
    first signal; the second one leads to `leave`.
    """

    provider: SandboxProvider
    record: Callable[[Result], None]
    watch: Callable[[Result], None] = _ignore
    enough: Callable[[Result], bool] = never
    spending: Spending = field(default_factory=Spending)
    retries: int = RETRIES
    pause: float = PAUSE
    play: Callable[[Trial, Endpoint, SandboxProvider], Awaitable[Result]] = run_trial
    outcome: Outcome = field(default_factory=Outcome)
    fallen: Callable[[str, str], None] = _untold
    stopping: Callable[[], None] = _silently
    leave: Callable[[], None] = leave
    _signals: int = 0
    _ending: int = 0
    _unanswered: Counter[str] = field(default_factory=Counter)
    _unboxed: list[str] = field(default_factory=list)  # the tasks of the trials that boxes were lost to, in a row
    _broken: ConfigError | None = None
    _satisfied: bool = False
    _recording: anyio.Lock = field(default_factory=anyio.Lock)

    async def run(self, lanes: Sequence[Lane]) -> Outcome:
        """Run all trials of all lanes; a lane keeps its order and at most `concurrency` trials at once.

        A trial whose failure shows that its harness cannot run on its endpoint is the last of that cell to be started;
        those of the cell that are under way end as they do. A dead endpoint ends its lane; so does one that answered
        once and then gave no answer to as many trials in a row as twice its concurrency, each with all its retries.
        Its trials under way are cancelled then. As many trials of different tasks in a row that get no box end the run.

        No trial is started once a budget is used up, and none tried again: what is spent beyond it is what the trials
        under way use until they end, at most `concurrency` of each lane.

        On SIGINT or SIGTERM the running trials are cancelled, their boxes closed, and what ended before is kept. The
        second signal leaves at once, but for trials that have ended and are being recorded; the third one at once.

        Raises:
            ConfigError: a result could not be recorded.
        """
        with anyio.CancelScope() as scope, self._answering(scope):
            async with self.provider, anyio.create_task_group() as running:
                for lane in lanes:
                    running.start_soon(self._run_lane, lane)
        if self._broken is not None:
            raise self._broken
        return self.outcome

    @contextmanager
    def _answering(self, scope: anyio.CancelScope) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def answer() -> None:
            self._signals += 1
            self._leave_if_asked()  # at once, whatever the loop is busy with
            loop.call_soon_threadsafe(self._stop, scope)

        with answered(answer):
            yield

    def _stop(self, scope: anyio.CancelScope) -> None:
        if not self.outcome.interrupted:
            self.outcome.interrupted = True
            scope.cancel()
            self.stopping()
        self._leave_if_asked()
        if self._signals > 1:
            asyncio.get_running_loop().call_later(_PATIENCE, self.leave)

    def _leave_if_asked(self) -> None:
        if self._signals > _PATIENT or (self._signals > 1 and not self._ending and not closing):
            try:
                if not self.outcome.interrupted:
                    self.stopping()  # the loop had no time yet to say it
            finally:
                self.leave()

    async def _run_lane(self, lane: Lane) -> None:
        queue = iter(lane.trials)
        async with anyio.create_task_group() as watched:
            watched.start_soon(self._notice, lane, watched.cancel_scope)
            async with anyio.create_task_group() as group:
                for _ in range(min(lane.concurrency, len(lane.trials))):
                    group.start_soon(self._work, lane, queue, group.cancel_scope)
            watched.cancel_scope.cancel()

    async def _notice(self, lane: Lane, scope: anyio.CancelScope) -> None:
        self._fall(lane, await lane.death(), scope)

    def _fall(self, lane: Lane, reason: str, scope: anyio.CancelScope) -> None:
        if lane.endpoint.name not in self.outcome.down:
            self.outcome.down[lane.endpoint.name] = reason
            self.fallen(lane.endpoint.name, reason)
        scope.cancel()

    async def _work(self, lane: Lane, queue: Iterator[Trial], scope: anyio.CancelScope) -> None:
        for trial in queue:
            if self._satisfied or self._broken is not None or self.outcome.boxless or self._is_exhausted():
                return
            cell = (trial.key.harness, trial.key.endpoint)
            if cell in self.outcome.unsupported:
                continue
            result = await self._attempt(trial, lane)
            if result.failure is not None and impossible(result.failure.label):
                self.outcome.unsupported.setdefault(cell, result.failure)
            self._ending += 1
            with anyio.CancelScope(shield=True):  # what has ended is kept, whatever happens meanwhile
                await self._keep(result)
            self._ending -= 1
            self._leave_if_asked()
            self._count_boxless(lane, result)
            if (reason := self._down(lane, result)) is not None:
                self._fall(lane, reason, scope)
                return

    def _count_boxless(self, lane: Lane, result: Result) -> None:
        """A task may break its own boxes, but where those of others break too, no further trial can be run."""
        failure = result.failure
        if failure is None or failure.owner != "sandbox":
            self._unboxed.clear()
            return
        self._unboxed.append(result.key.task)
        number = len(self._unboxed)
        if number >= 2 * lane.concurrency and len({*self._unboxed}) > 1:
            self.outcome.boxless = f"{number} trials in a row were lost: {failure.message}"

    def _down(self, lane: Lane, result: Result) -> str | None:
        """Why no further trial can be run at this endpoint, as far as this result tells; None where one can."""
        name, failure = lane.endpoint.name, result.failure
        if failure is None or failure.label != _UNANSWERED:
            self._unanswered[name] = 0
        else:
            self._unanswered[name] += 1
        if failure is None:
            return None
        if "down" in result.extra:
            return failure.message
        number = self._unanswered[name]
        return f"{number} trials in a row were lost: {failure.message}" if number >= 2 * lane.concurrency else None

    def _is_exhausted(self) -> bool:
        self.outcome.exhausted = self.spending.exhausted()
        return self.outcome.exhausted is not None

    def _is_spent(self, usage: Usage, lane: Lane) -> bool:
        """Whether a budget is used up once this much is counted too."""
        tokens, money = self.spending.tokens + usage.total, self.spending.money + (lane.cost(usage) or 0.0)
        return replace(self.spending, tokens=tokens, money=money).exhausted() is not None

    async def _attempt(self, trial: Trial, lane: Lane) -> Result:
        attempt = 1
        result = await self.play(trial, lane.endpoint, self.provider)
        usage = result.usage
        while attempt <= self.retries and _may_pass(result) and not self._is_spent(usage, lane):
            attempt += 1
            if result.failure and result.failure.owner == "sandbox":
                await anyio.sleep(self.pause * 4 ** (attempt - 2))  # an engine that is started again takes seconds
            result = await self.play(trial, lane.endpoint, self.provider)
            usage += result.usage  # lost attempts were paid for too
        cost = lane.cost(usage) if result.trajectory else None
        return replace(result, usage=usage, cost=cost, extra={**result.extra, "attempt": trial.earlier + attempt})

    async def _keep(self, result: Result) -> None:
        self.spending.add(result)
        try:
            async with self._recording:
                await anyio.to_thread.run_sync(self.record, result)
        except ConfigError as error:
            self._broken = self._broken or error
            return
        self.watch(result)
        self._satisfied = self.enough(result) or self._satisfied

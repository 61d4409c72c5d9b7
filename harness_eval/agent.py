"""The only loop: model, harness and sandbox meet here."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio

from harness_eval.axes.desk import Desk
from harness_eval.axes.faults import Refusal
from harness_eval.axes.protocol.native import SURPLUS
from harness_eval.axes.protocol.text import typed
from harness_eval.axes.stopping import Stop, silent
from harness_eval.axes.tool import Outcome, Tool, find_problem, find_tool
from harness_eval.diagnosis.leaks import recoverable
from harness_eval.diagnosis.step import OK, label_step, without_leaks
from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import BoundaryFailure, ContextOverflow, EndpointFailure, boundary
from harness_eval.harness import Harness, well_formed
from harness_eval.sandboxes.base import Sandbox
from harness_eval.types import (
    Action,
    Compaction,
    Limits,
    Note,
    Observation,
    RawCall,
    Reply,
    Request,
    Step,
    StopReason,
    ToolCall,
    Trajectory,
    View,
    estimate_tokens,
)

Recovery: TypeAlias = Literal["off", "content", "reasoning"]

_MUCH_SLOWER = 2.0  # times the slowest reply before: beyond that a wait is the endpoint's, and no sign of the model


async def run_agent(
    harness: Harness, instruction: str, sandbox: Sandbox, endpoint: Endpoint, *, limits: Limits, seed: int
) -> Trajectory:
    """One agent at work on one task until it stops or a limit does; see `Agent.run`."""
    desk = Desk(sandbox, harness.shell.wrap)
    return await Agent(harness, desk, endpoint, limits, seed, Trajectory(harness.system, instruction)).run()


def summary_view(harness: Harness, record: Trajectory) -> View:
    """What is shown of a record when its summary is asked for."""
    view = harness.view(record)
    request = Note(harness.context.summary_request, "summary-request")
    return View(view.system, view.prompt, (*view.events, request))


def summary_of(reply: Reply) -> str:
    """The notes that a reply to such a request means."""
    return well_formed(reply.text) or "(no summary was given)"


def _typed(call: ToolCall, tool: Tool | None) -> ToolCall:
    """A call that leaked, its values as the tool wants them where the markup made text of them."""
    values = {
        key: typed(value, key, tool) if isinstance(value, str) else value for key, value in call.arguments.items()
    }
    return dataclasses.replace(call, arguments=values)


@dataclass(slots=True)
class Agent:
    """One agent: how the model meets the task, where its commands run, the model itself, and what may be used up.

    `seed` is sent with every request. `recovery` is where a call that leaked as text is looked for once the agent is
    told to go on from one; until then such a call is text, as it is for any harness.
    """

    harness: Harness
    desk: Desk
    endpoint: Endpoint
    limits: Limits
    seed: int
    record: Trajectory
    recovery: Recovery = "off"
    _calls: int = 0
    _carried_out: int = 0
    _bad_turns: int = 0
    _asked_at: float | None = None
    _slowest: float = 0.0
    _spent: float = 0.0
    _recovering: bool = False
    _request: Request | None = None
    _checked: list[str] = field(default_factory=list)
    _met: list[str] = field(default_factory=list)

    async def run(self) -> Trajectory:
        """Work until the model stops or a limit does.

        Raises:
            BoundaryFailure: when endpoint, sandbox or harness fail; what the model does wrong is in the record instead.
        """
        return await self._within_time(self._work)

    async def go_on(self) -> Trajectory:
        """Go on from the call that leaked where the agent stopped, as if it had been one, and so with later ones.

        The last step is made anew with what its calls bring; all limits hold over both parts together.

        Raises:
            BoundaryFailure: as `run` does.
        """
        *before, last = self.record.events
        assert isinstance(last, Step), "an agent stops on a step"
        reply, seconds = last.reply or Reply(), last.seconds
        self._recovering, self._bad_turns = True, 0
        self.record = Trajectory(self.record.system, self.record.prompt, tuple(before))

        async def work() -> None:
            await self._act(self._recovered(reply), reply, seconds)
            await self._work()

        return await self._within_time(work)

    def may_go_on(self) -> bool:
        """Whether the agent stopped, with time left, on a call that leaked as text and can be recovered."""
        if self.record.stop in (StopReason.TIME, StopReason.OVERFLOW) or not self.record.steps:
            return False
        step = self.record.steps[-1]
        return silent(step) and step.reply is not None and bool(self._recovered(step.reply).calls)

    async def _within_time(self, work: Callable[[], Awaitable[None]]) -> Trajectory:
        started = time.monotonic()
        try:
            with boundary("harness"), anyio.move_on_after(self.limits.seconds - self._spent) as scope:
                await work()
            if scope.cancelled_caught:
                self._out_of_time()
        except BoundaryFailure as failure:
            failure.record = self.record
            raise
        finally:
            self._spent += time.monotonic() - started
        return self.record

    def _stop(self, reason: StopReason) -> None:
        self.record = dataclasses.replace(self.record, stop=reason)

    def _out_of_time(self) -> None:
        """The model's own doing, unless the clock ran out on an endpoint that was not answering as it had before."""
        waited = 0.0 if self._asked_at is None else time.monotonic() - self._asked_at
        if waited > _MUCH_SLOWER * self._slowest:
            failure = EndpointFailure(f"no reply within {waited:.0f} s, when the trial's time was over")
            failure.label = "infra.deadline"
            raise failure
        self._stop(StopReason.TIME)

    async def _work(self) -> None:
        try:
            while self.record.stop is None:
                await self._turn()
        except ContextOverflow:
            self._stop(StopReason.OVERFLOW)

    async def _turn(self) -> None:
        self.record = self.record.append(*self.harness.notes(self.record))
        if self.harness.context.due(self.record, self._prompt_tokens()):
            await self._compact()
        started = time.monotonic()
        reply = await self._ask(self.harness.view(self.record))
        action = self._recovered(reply) if self._recovering else self.harness.decode(reply)
        await self._act(action, reply, time.monotonic() - started)

    def _recovered(self, reply: Reply) -> Action:
        """The action that a reply means, where it would mean one without a call: with the calls that leaked."""
        action = self.harness.decode(reply)
        if self.recovery == "off" or action.calls or action.malformed:
            return action
        tools = self.harness.tools
        offered = [tool.name for tool in tools]
        leaked = recoverable(reply, offered, "content")
        if not leaked and self.recovery == "reasoning":
            leaked = recoverable(reply, offered, "reasoning")
        calls = tuple(_typed(call, find_tool(tools, call.name)) for call in leaked)
        text = without_leaks(reply.text) if calls else reply.text
        if not self.harness.protocol.native:
            return dataclasses.replace(action, text=well_formed(text), calls=calls)
        raw = tuple(RawCall(call.id, call.name, json.dumps(dict(call.arguments))) for call in calls)
        return self.harness.decode(dataclasses.replace(reply, text=text, calls=raw))

    async def _act(self, action: Action, reply: Reply, seconds: float) -> None:
        started = time.monotonic()
        self._checked, self._met, self._carried_out = [], [], 0
        observations = [await self._observe(call) for call in action.calls]
        observations += [await self._refuse(bad.reason) for bad in action.malformed]
        seconds += time.monotonic() - started
        request = self._request or Request(())
        finish, digest = reply.finish_reason, request.digest
        step = Step(action, tuple(observations), reply.usage, seconds, finish, (), digest, reply)
        before = [earlier.reply for earlier in self.record.steps if earlier.reply]
        finding = label_step(step, request, self.harness.protocol.native, self._checked, before)
        labels = tuple(dict.fromkeys((finding.label, *finding.also, *self._met)))
        self.record = self.record.append(dataclasses.replace(step, labels=labels))
        self._judge()

    def _judge(self) -> None:
        action = self.record.steps[-1].action
        broken = [bad for bad in action.malformed if bad.reason != SURPLUS]
        wrong = [label for label in self._checked if label not in ("", OK)]
        self._bad_turns = self._bad_turns + 1 if (broken or wrong) and not self._carried_out else 0
        verdict = self.harness.stopping.judge(self.record)
        if verdict is Stop.FINISHED:
            self._stop(StopReason.FINISHED)
        elif self._bad_turns >= self.harness.errors.patience:
            self._stop(StopReason.MALFORMED)
        elif len(self.record.steps) >= self.limits.steps:
            self._stop(StopReason.STEPS)
        elif self.record.usage.total >= self.limits.tokens:
            self._stop(StopReason.TOKENS)
        elif isinstance(verdict, Note):
            self.record = self.record.append(verdict)

    async def _ask(self, view: View) -> Reply:
        self._request = self.harness.encode(view)
        self._asked_at = time.monotonic()
        with boundary("endpoint"):
            reply = await self.endpoint.complete(dataclasses.replace(self._request, seed=self.seed))
        self._slowest = max(self._slowest, time.monotonic() - self._asked_at)
        self._asked_at = None
        return reply

    async def _compact(self) -> None:
        covers = self.harness.context.covers(self.record)
        started = time.monotonic()
        reply = await self._ask(summary_view(self.harness, self.record))
        seconds, digest = time.monotonic() - started, self._request.digest if self._request else ""
        self.record = self.record.append(Compaction(covers, summary_of(reply), reply.usage, seconds, digest, reply))

    async def _observe(self, call: ToolCall) -> Observation:
        number, self._calls = self._calls, self._calls + 1
        wanted = self.harness.faults.before(call, number, self.harness.tools)
        if not isinstance(wanted, ToolCall):
            self._checked.append("")
            return await (self._refuse(wanted) if isinstance(wanted, Refusal) else self._shown(wanted))
        problem = find_problem(self.harness.tools, wanted.name, wanted.arguments)
        self._checked.append(problem.label if problem else OK)
        if problem:
            wanted = self.harness.errors.repair(wanted, self.harness.tools)
            problem = find_problem(self.harness.tools, wanted.name, wanted.arguments)
        if problem:
            return await self._refuse(problem.text)
        self._carried_out += 1
        tool = find_tool(self.harness.tools, wanted.name)
        assert tool is not None, "a call without a problem names a tool"
        outcome = await tool.call(self.desk, wanted.arguments)
        self._met += outcome.labels
        return await self._shown(self.harness.faults.after(outcome, number))

    async def _refuse(self, problem: str) -> Observation:
        worded = self.harness.errors.word(problem, self.harness.tools)
        return dataclasses.replace(await self._shown(Outcome(worded, failed=True)), refused=True)

    async def _shown(self, outcome: Outcome) -> Observation:
        truncation = self.harness.truncation
        path = f"{self.desk.spill_folder}/{len(self.record.events)}-{self._calls}.txt"
        if truncation.spills(outcome.text):
            await self.desk.spill(path, outcome.text)
        return Observation(truncation.cut(outcome.text, path), len(outcome.text), outcome.failed)

    def _prompt_tokens(self) -> int:
        """Tokens of the next prompt: what the server counted last, and an estimate of what came since."""
        events = self.record.events
        last = max((i for i, e in enumerate(events) if isinstance(e, Step | Compaction)), default=-1)
        newest = events[last] if last >= 0 else None
        if isinstance(newest, Step) and newest.usage.prompt:
            added = [o.shown for o in newest.observations] + [e.text for e in events[last:] if isinstance(e, Note)]
            return newest.usage.total + sum(map(estimate_tokens, added))
        return sum(
            estimate_tokens(str(message)) for message in self.harness.encode(self.harness.view(self.record)).messages
        )

"""The only loop: model, harness and sandbox meet here."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass, field

import anyio

from harness_eval.axes.desk import Desk
from harness_eval.axes.faults import Refusal
from harness_eval.axes.stopping import Stop
from harness_eval.axes.tool import Outcome, find_problem, find_tool
from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import BoundaryFailure, ContextOverflow, EndpointFailure, boundary
from harness_eval.harness import Harness, well_formed
from harness_eval.sandboxes.base import Sandbox
from harness_eval.types import (
    Compaction,
    Limits,
    Note,
    Observation,
    Reply,
    Step,
    StopReason,
    ToolCall,
    Trajectory,
    View,
    estimate_tokens,
)

_MUCH_SLOWER = 2.0  # times the slowest reply before: beyond that a wait is the endpoint's, and no sign of the model


async def run_agent(
    harness: Harness, instruction: str, sandbox: Sandbox, endpoint: Endpoint, *, limits: Limits, seed: int
) -> Trajectory:
    """One agent at work on one task until it stops or a limit does.

    Args:
        harness: how the model meets the task.
        instruction: the task's prompt.
        sandbox: where its commands run.
        endpoint: the model.
        limits: turns, tokens and seconds.
        seed: sent with every request.

    Raises:
        BoundaryFailure: when endpoint, sandbox or harness fail; what the model does wrong is in the record instead.
    """
    record = Trajectory(harness.system, instruction)
    agent = _Agent(harness, Desk(sandbox, harness.shell.wrap), endpoint, limits, seed, record)
    try:
        with boundary("harness"), anyio.move_on_after(limits.seconds) as scope:
            await agent.work()
        if scope.cancelled_caught:
            agent.out_of_time()
    except BoundaryFailure as failure:
        failure.record = agent.record
        raise
    return agent.record


def summary_view(harness: Harness, record: Trajectory) -> View:
    """What is shown of a record when its summary is asked for."""
    view = harness.view(record)
    request = Note(harness.context.summary_request, "summary-request")
    return View(view.system, view.prompt, (*view.events, request))


def summary_of(reply: Reply) -> str:
    """The notes that a reply to such a request means."""
    return well_formed(reply.text) or "(no summary was given)"


@dataclass(slots=True)
class _Agent:
    harness: Harness
    desk: Desk
    endpoint: Endpoint
    limits: Limits
    seed: int
    record: Trajectory
    calls: int = 0
    carried_out: int = 0
    bad_turns: int = 0
    asked_at: float | None = None
    slowest: float = 0.0
    labels: list[str] = field(default_factory=list)

    def stop(self, reason: StopReason) -> None:
        self.record = Trajectory(self.record.system, self.record.prompt, self.record.events, reason)

    def out_of_time(self) -> None:
        """The model's own doing, unless the clock ran out on an endpoint that was not answering as it had before."""
        waited = 0.0 if self.asked_at is None else time.monotonic() - self.asked_at
        if waited > _MUCH_SLOWER * self.slowest:
            raise EndpointFailure(f"no reply within {waited:.0f} s, when the trial's time was over")
        self.stop(StopReason.TIME)

    async def work(self) -> None:
        try:
            while self.record.stop is None:
                await self.turn()
        except ContextOverflow:
            self.stop(StopReason.OVERFLOW)

    async def turn(self) -> None:
        self.record = self.record.append(*self.harness.notes(self.record))
        if self.harness.context.due(self.record, self.prompt_tokens()):
            await self.compact()
        started = time.monotonic()
        reply, digest = await self.ask(self.harness.view(self.record))
        action = self.harness.decode(reply)
        self.labels, self.carried_out = [], 0
        observations = [await self.observe(call) for call in action.calls]
        observations += [await self.refuse(bad.reason) for bad in action.malformed]
        self.labels += ["model.bad_args_json"] * len(action.malformed)
        self.record = self.record.append(
            Step(
                action,
                tuple(observations),
                reply.usage,
                time.monotonic() - started,
                reply.finish_reason,
                tuple(dict.fromkeys(self.labels)),
                digest,
                reply,
            )
        )
        self.judge()

    def judge(self) -> None:
        step = self.record.steps[-1]
        attempted = bool(step.action.calls or step.action.malformed)
        self.bad_turns = self.bad_turns + 1 if attempted and self.labels and not self.carried_out else 0
        verdict = self.harness.stopping.judge(self.record)
        if verdict is Stop.FINISHED:
            self.stop(StopReason.FINISHED)
        elif self.bad_turns >= self.harness.errors.patience:
            self.stop(StopReason.MALFORMED)
        elif len(self.record.steps) >= self.limits.steps:
            self.stop(StopReason.STEPS)
        elif self.record.usage.total >= self.limits.tokens:
            self.stop(StopReason.TOKENS)
        elif isinstance(verdict, Note):
            self.record = self.record.append(verdict)

    async def ask(self, view: View) -> tuple[Reply, str]:
        request = self.harness.encode(view)
        digest = request.digest
        self.asked_at = time.monotonic()
        with boundary("endpoint"):
            reply = await self.endpoint.complete(dataclasses.replace(request, seed=self.seed))
        self.slowest = max(self.slowest, time.monotonic() - self.asked_at)
        self.asked_at = None
        return reply, digest

    async def compact(self) -> None:
        covers = self.harness.context.covers(self.record)
        started = time.monotonic()
        reply, digest = await self.ask(summary_view(self.harness, self.record))
        seconds = time.monotonic() - started
        self.record = self.record.append(Compaction(covers, summary_of(reply), reply.usage, seconds, digest, reply))

    async def observe(self, call: ToolCall) -> Observation:
        number, self.calls = self.calls, self.calls + 1
        wanted = self.harness.faults.before(call, number, self.harness.tools)
        if isinstance(wanted, Outcome):
            return await self.shown(wanted)
        if isinstance(wanted, Refusal):
            return await self.refuse(wanted)
        problem = find_problem(self.harness.tools, wanted.name, wanted.arguments)
        if problem:
            self.labels.append(problem.label)
            wanted = self.harness.errors.repair(wanted, self.harness.tools)
            problem = find_problem(self.harness.tools, wanted.name, wanted.arguments)
        if problem:
            return await self.refuse(problem.text)
        self.carried_out += 1
        tool = find_tool(self.harness.tools, wanted.name)
        assert tool is not None, "a call without a problem names a tool"
        outcome = await tool.call(self.desk, wanted.arguments)
        return await self.shown(self.harness.faults.after(outcome, number))

    async def refuse(self, problem: str) -> Observation:
        worded = self.harness.errors.word(problem, self.harness.tools)
        return dataclasses.replace(await self.shown(Outcome(worded, failed=True)), refused=True)

    async def shown(self, outcome: Outcome) -> Observation:
        truncation = self.harness.truncation
        path = f"{self.desk.spill_folder}/{len(self.record.events)}-{self.calls}.txt"
        if truncation.spills(outcome.text):
            await self.desk.spill(path, outcome.text)
        return Observation(truncation.cut(outcome.text, path), len(outcome.text), outcome.failed)

    def prompt_tokens(self) -> int:
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

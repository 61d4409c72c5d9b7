"""One trial: box up, agent, verdict, box down; a Result always comes back."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

from harness_eval import recording
from harness_eval.agent import Agent, Recovery
from harness_eval.axes.context import Context
from harness_eval.axes.desk import Desk
from harness_eval.axes.level import Level
from harness_eval.axes.thinking import Thinking
from harness_eval.diagnosis.trial import faults_of, label_of, labels_of, trial_findings, turns_of
from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import BoundaryFailure, EndpointDown, HarnessEvalError, boundary
from harness_eval.external.adapter import External
from harness_eval.external.agent import ExternalAgent, room_for
from harness_eval.external.installing import Installed, folders_for
from harness_eval.external.relaying import meeting_place
from harness_eval.harness import Harness
from harness_eval.judging import judge, remove_verifier
from harness_eval.sandboxes.base import Sandbox, SandboxProvider
from harness_eval.task import Task
from harness_eval.types import Json, Limits, Lost, Result, Step, Trajectory, TrialKey, Verdict, View

_OWN_VIEWS = frozenset({Context.__module__, Thinking.__module__})

closing: list[TrialKey] = []
"""The trials of this process whose boxes are being closed: they have ended, and nobody has their results yet."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One cell of the matrix, with all that is needed to run it except machines.

    `seed` is the trial's own. `earlier` counts attempts in previous invocations, all of which were lost. `wire` is the
    hash of what a model receives from the harness. `recovery` is where a call that leaked as text is looked for when
    the trial has ended on it. `installed` is where an external harness is.
    """

    key: TrialKey
    harness: Harness | External
    task: Task
    limits: Limits
    seed: int
    earlier: int = 0
    wire: str = ""
    recovery: Recovery = "content"
    installed: Installed = field(default_factory=Installed)


async def run_trial(trial: Trial, endpoint: Endpoint, provider: SandboxProvider) -> Result:
    """Run one trial once. Whatever goes wrong is in the result; only cancellation is raised.

    A failure of the clean-up after a verdict does not overturn it: `extra["cleanup"]` keeps what was said.
    `extra["down"]` marks a failure after which no other trial on this endpoint can succeed.
    """
    started = time.monotonic()
    result: Result | None = None
    try:
        with boundary("sandbox"), anyio.CancelScope() as scope:
            async with _opened(trial, provider) as (sandbox, folder):
                result = await _play(trial, endpoint, sandbox, folder, provider)
                scope.shield = True  # what is judged is not lost to a run that is stopped while the box is closed
                closing.append(trial.key)
    except HarnessEvalError as error:
        if result is None:
            result = _lost(trial, error, None)
        else:
            labels = (*result.labels, "evaluator.cleanup_overrides_verdict")
            result = replace(result, labels=labels, extra={**result.extra, "cleanup": str(error)})
    if trial.key in closing:
        closing.remove(trial.key)
    assert result is not None, "nobody cancels this scope but those around it"
    return replace(result, seconds=time.monotonic() - started)


@asynccontextmanager
async def _opened(trial: Trial, provider: SandboxProvider) -> AsyncIterator[tuple[Sandbox, Path]]:
    """The box of a trial, and the folder that it shares: an external harness meets its gateway there."""
    async with AsyncExitStack() as undo:
        spec, folder = trial.task.spec, Path()
        if isinstance(trial.harness, External):
            folder = undo.enter_context(meeting_place())
            spec = room_for(spec, (folder, *folders_for(trial.harness, trial.installed)))
        yield await undo.enter_async_context(provider.open(spec)), folder


async def _play(trial: Trial, endpoint: Endpoint, sandbox: Sandbox, folder: Path, provider: SandboxProvider) -> Result:
    if isinstance(trial.harness, External):
        return await _play_external(trial, _external_agent(trial, trial.harness, endpoint, sandbox, folder), provider)
    return await _play_parametric(trial, trial.harness, endpoint, sandbox, provider)


async def _play_parametric(
    trial: Trial, harness: Harness, endpoint: Endpoint, sandbox: Sandbox, provider: SandboxProvider
) -> Result:
    """Let the agent work in the box and judge what it left. Failures are caught here, so that leaving the box cannot
    wrap them and blame the wrong owner."""
    record: Trajectory | None = None
    try:
        with boundary("harness"):
            agent = _agent(trial, harness, endpoint, sandbox)
            record = await agent.run()
            acted = harness.acted(record)
        with boundary("task"):
            verdict = await judge(trial.task, sandbox, provider)
        with boundary("harness"):
            offered = frozenset(tool.name for tool in harness.tools)
            labels = _labels(record, verdict, offered, hidden(harness, record))
    except HarnessEvalError as error:
        return _lost(trial, error, record)
    result = replace(_result(trial, record), verdict=verdict, acted=acted, labels=labels)
    return result if verdict.solved else await _recovered(trial, result, agent, provider)


def _agent(trial: Trial, harness: Harness, endpoint: Endpoint, sandbox: Sandbox) -> Agent:
    desk = Desk(sandbox, harness.shell.wrap)
    record = Trajectory(harness.system, trial.task.instruction)
    return Agent(harness, desk, endpoint, _limits(trial), trial.seed, record, trial.recovery)


def _external_agent(
    trial: Trial, external: External, endpoint: Endpoint, sandbox: Sandbox, folder: Path
) -> ExternalAgent:
    model = (endpoint, _limits(trial), trial.seed)
    return ExternalAgent(external, trial.installed, sandbox, *model, trial.task.instruction, folder)


async def _play_external(trial: Trial, agent: ExternalAgent, provider: SandboxProvider) -> Result:
    """As `_play_parametric`, for a harness that works by itself; what it used beside its record counts too."""
    record: Trajectory | None = None
    try:
        record = await agent.run()
        with boundary("task"):
            verdict = await judge(trial.task, agent.sandbox, provider)
        with boundary("harness"):
            seen = agent.result
            labels = _labels(record, verdict, seen.offered, seen.hidden)
        result = replace(_result(trial, record), verdict=verdict, labels=labels)
    except HarnessEvalError as error:
        result = _lost(trial, error, record)
    told = {"external": agent.told(), "harness_wire": agent.facts.tools.hash}
    return replace(result, usage=agent.facts.usage, extra={**result.extra, **told}, wire=agent.wire_log())


def _labels(
    record: Trajectory, verdict: Verdict, offered: frozenset[str], unseen: Sequence[frozenset[int]]
) -> tuple[str, ...]:
    turns = turns_of(record, offered, unseen)
    return labels_of(record, trial_findings(turns, record, verdict.solved))


def hidden(harness: Harness, record: Trajectory) -> tuple[frozenset[int], ...]:
    """For each step, the earlier steps whose results the request for it did not show, or not as they were recorded."""
    levels, steps = _hiding(harness), record.steps
    if not levels:
        return (frozenset(),) * len(steps)
    found: list[frozenset[int]] = []
    for place, event in enumerate(record.events):
        if isinstance(event, Step):
            view = View(record.system, record.prompt, record.events[:place])
            for level in levels:
                view = level.view(view)
            found.append(_hidden(steps[: len(found)], view.steps))
    return tuple(found)


def _hiding(harness: Harness) -> tuple[Level, ...]:
    """The levels whose views may show less of what calls brought.

    Those that change views of thinking alone are left out, unless a level from elsewhere might look at it.
    """
    levels = tuple(level for level in harness.levels.values() if type(level).view is not Level.view)
    if any(type(level).__module__ not in _OWN_VIEWS for level in levels):
        return levels
    return tuple(level for level in levels if not isinstance(level, Thinking))


def _hidden(steps: tuple[Step, ...], shown: tuple[Step, ...]) -> frozenset[int]:
    # A view leaves steps out and changes them, but keeps their order and their digests.
    left, missing = list(shown), set()
    for number in range(len(steps) - 1, -1, -1):
        if not left or left[-1].digest != steps[number].digest or left.pop().observations != steps[number].observations:
            missing.add(number)
    return frozenset(missing)


async def _recovered(trial: Trial, strict: Result, agent: Agent, provider: SandboxProvider) -> Result:
    """The strict result with what the same agent makes of the same box from the call that leaked; as it is without one.

    A failure on the way leaves the strict result as it is, but for what was used up.
    """
    if not agent.may_go_on():
        return strict
    strict_record, verdict, failure = agent.record, None, ""
    try:
        with boundary("sandbox"):
            await remove_verifier(agent.desk.sandbox)
        with boundary("harness"):
            record = await agent.go_on()
        with boundary("task"):
            verdict = await judge(trial.task, agent.desk.sandbox, provider)
    except HarnessEvalError as error:
        record, failure = agent.record, str(error)
    further = replace(record, events=record.events[len(strict_record.events) - 1 :])
    usage = strict.usage + replace(further, events=further.events[1:]).usage  # the first is the strict one's last
    told = {"score": verdict and verdict.score, "stop": record.stop, "events": recording.as_record(further)["events"]}
    told |= {"failure": failure} if failure else {}
    return replace(strict, recovered=verdict, usage=usage, extra={**strict.extra, "recovered": told})


def _limits(trial: Trial) -> Limits:
    """The study's limits, with the task's own time limit where that is tighter."""
    own = trial.task.agent_timeout
    return trial.limits if own is None else replace(trial.limits, seconds=min(own, trial.limits.seconds))


def _lost(trial: Trial, error: HarnessEvalError, record: Trajectory | None) -> Result:
    owner = error.owner if isinstance(error, BoundaryFailure) else "harness"
    record = record or (error.record if isinstance(error, BoundaryFailure) else None)
    result = _result(trial, record)
    extra: dict[str, Json] = {**result.extra, "faults": faults_of(error)}
    if isinstance(error, EndpointDown):
        extra["down"] = True
    return replace(result, failure=Lost(owner, str(error), label_of(error)), extra=extra)


def _result(trial: Trial, record: Trajectory | None) -> Result:
    extra = {"harness_version": trial.harness.version, "harness_wire": trial.wire}
    result = Result(trial.key, trial.harness.id, extra=extra)
    if record is None:
        return result
    return replace(result, trajectory=record, labels=labels_of(record), usage=record.usage)

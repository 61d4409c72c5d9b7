"""One trial: box up, agent, verdict, box down; a Result always comes back."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from harness_eval.agent import run_agent
from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import BoundaryFailure, EndpointDown, HarnessEvalError, boundary
from harness_eval.harness import Harness
from harness_eval.sandboxes.base import Sandbox, SandboxProvider
from harness_eval.task import Task, verify
from harness_eval.types import Limits, Lost, Result, StopReason, Trajectory, TrialKey, Verdict


@dataclass(frozen=True, slots=True)
class Trial:
    """One cell of the matrix, with all that is needed to run it except machines.

    `seed` is the trial's own. `earlier` counts attempts in previous invocations, all of which were lost. `wire` is the
    hash of what a model receives from the harness.
    """

    key: TrialKey
    harness: Harness
    task: Task
    limits: Limits
    seed: int
    earlier: int = 0
    wire: str = ""


async def run_trial(trial: Trial, endpoint: Endpoint, provider: SandboxProvider) -> Result:
    """Run one trial once. Whatever goes wrong is in the result; only cancellation is raised.

    A failure of the clean-up after a verdict does not overturn it: `extra["cleanup"]` keeps what was said.
    `extra["down"]` marks a failure after which no other trial on this endpoint can succeed.
    """
    started = time.monotonic()
    result: Result | None = None
    try:
        with boundary("sandbox"):
            async with provider.open(trial.task.spec) as sandbox:
                result = await _play(trial, endpoint, sandbox)
    except HarnessEvalError as error:
        if result is None:
            result = _lost(trial, error, None)
        else:
            result = replace(result, extra={**result.extra, "cleanup": str(error)})
    return replace(result, seconds=time.monotonic() - started)


async def _play(trial: Trial, endpoint: Endpoint, sandbox: Sandbox) -> Result:
    """Let the agent work in the box and judge what it left. Failures are caught here, so that leaving the box cannot
    wrap them and blame the wrong owner."""
    trajectory: Trajectory | None = None
    try:
        with boundary("harness"):
            trajectory = await run_agent(
                trial.harness,
                trial.task.instruction,
                sandbox,
                endpoint,
                limits=_limits(trial),
                seed=trial.seed,
            )
            acted = trial.harness.acted(trajectory)
        with boundary("task"):
            verdict = await verify(trial.task, sandbox)
    except HarnessEvalError as error:
        return _lost(trial, error, trajectory)
    result = _result(trial, trajectory)
    return replace(result, verdict=verdict, acted=acted, labels=(*result.labels, *_how_it_ended(trajectory, verdict)))


_LIMITS = {
    StopReason.STEPS: "limit.steps",
    StopReason.TOKENS: "limit.total_tokens",
    StopReason.OVERFLOW: "limit.context_overflow",
}


def _how_it_ended(trajectory: Trajectory, verdict: Verdict) -> tuple[str, ...]:
    if trajectory.stop in _LIMITS:
        return (_LIMITS[trajectory.stop],)
    return ("model.wrong_answer",) if trajectory.stop is StopReason.FINISHED and not verdict.solved else ()


def _limits(trial: Trial) -> Limits:
    """The study's limits, with the task's own time limit where that is tighter."""
    own = trial.task.agent_timeout
    return trial.limits if own is None else replace(trial.limits, seconds=min(own, trial.limits.seconds))


def _lost(trial: Trial, error: HarnessEvalError, trajectory: Trajectory | None) -> Result:
    owner = error.owner if isinstance(error, BoundaryFailure) else "harness"
    extra = {"down": True} if isinstance(error, EndpointDown) else {}
    record = trajectory or (error.record if isinstance(error, BoundaryFailure) else None)
    result = _result(trial, record)
    return replace(result, failure=Lost(owner, str(error), error.label), extra={**result.extra, **extra})


def _result(trial: Trial, trajectory: Trajectory | None) -> Result:
    result = Result(
        trial.key, trial.harness.id, extra={"harness_version": trial.harness.version, "harness_wire": trial.wire}
    )
    if trajectory is None:
        return result
    labels = tuple(dict.fromkeys(label for step in trajectory.steps for label in step.labels))
    return replace(result, trajectory=trajectory, labels=labels, usage=trajectory.usage)

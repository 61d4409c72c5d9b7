"""The straight line of a study: open its folder, run what is owed, record it, say how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness_eval import store
from harness_eval.endpoints.config import EndpointConfig, credentials, open_endpoint
from harness_eval.errors import ConfigError
from harness_eval.planning import REFERENCE, Study, record, resolve
from harness_eval.proving import require_proven
from harness_eval.reference.process import serve
from harness_eval.reference.wire import MODEL
from harness_eval.runner import Lane, Outcome, Runner, Spending
from harness_eval.study_file import StudyConfig
from harness_eval.task import Proof, Task
from harness_eval.trial import Trial
from harness_eval.types import Result, TrialKey, Usage

__all__ = ["Ended", "Study", "ended", "record", "resolve", "run"]

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Ended:
    """How an invocation of `run` left a run's folder. `lost` counts lost trials by owner."""

    folder: Path
    planned: int
    judged: int
    solved: int
    lost: dict[str, int]
    outcome: Outcome
    lost_limit: float

    @property
    def problems(self) -> list[str]:
        """Why the run is incomplete, a line each; empty when it is not, or was interrupted."""
        if self.outcome.interrupted:
            return []
        lost = sum(self.lost.values())
        lines = [f"endpoint {name} is down: {message}" for name, message in self.outcome.down.items()]
        if self.outcome.exhausted:
            lines.append(self.outcome.exhausted)
        if lines:
            return lines  # these explain the rest
        if self.judged == 0:
            lines.append("no trial was judged")
        if lost > self.lost_limit * (lost + self.judged):
            share = lost / (lost + self.judged)
            owners = ", ".join(f"{owner} {number}" for owner, number in sorted(self.lost.items()))
            lines.append(f"{lost} trials ({share:.0%}) were lost, more than {self.lost_limit:.0%} ({owners})")
        return lines

    @property
    def exit_code(self) -> int:
        """130 after an interruption, 3 for an incomplete run, else 0."""
        return INTERRUPTED if self.outcome.interrupted else 3 if self.problems else 0


class Watch(Protocol):
    """Who wants to know how a run goes; all of it is called on the event loop and must not block."""

    def proven(self, task: Task, proof: Proof) -> None:
        """A task that was not proven here before has been tried with its own solution."""

    def begin(self, planned: int, judged: int, solved: int) -> None:
        """The run starts with so many trials planned, and so many judged and solved before."""

    def ended(self, result: Result) -> None:
        """A trial has ended and is recorded."""


async def run(study: Study, folder: Path, watch: Watch, retry_lost: bool = True) -> Ended:
    """Prove the tasks, run the trials that the folder still owes, and record each as it ends.

    Raises:
        ConfigError: a credential is missing, a task is broken, or the folder cannot be used for this study.
    """
    _check_endpoints(study.config)
    await require_proven(study.tasks, study.provider, watch.proven)
    with store.open_run(folder, record(study)) as run_folder:
        before = store.tally(folder)
        done = before.judged if retry_lost else before.judged | before.attempts.keys()
        owed = [key for key in study.keys if key not in done]
        budgets = study.config.budgets
        spending = Spending(before.tokens, before.money, budgets.tokens, budgets.money, budgets.seconds)
        runner = Runner(study.provider, run_folder.append, watch.ended, spending)
        watch.begin(len(study.keys), len(before.judged), before.solved)
        async with AsyncExitStack() as opened:
            lanes = await _lanes(study, owed, before, opened)
            outcome = await runner.run(lanes)
    return ended(study, folder, outcome)


def _check_endpoints(config: StudyConfig) -> None:
    for endpoint in config.endpoints:
        credentials(endpoint)
        if config.budgets.money is not None and endpoint.cost(Usage()) is None:
            raise ConfigError(f"budgets.money: no price is known for endpoint {endpoint.name!r}; give it a `price`")


def ended(study: Study, folder: Path, outcome: Outcome) -> Ended:
    """Count what the folder holds of this study."""
    lost: Counter[str] = Counter()
    judged = solved = 0
    for row in store.latest(folder):
        if row["failure"]:
            lost[row["failure"]["owner"]] += 1
        else:
            judged += 1
            solved += bool(row["solved"])
    return Ended(folder, len(study.keys), judged, solved, dict(lost), outcome, study.config.lost_limit)


async def _lanes(study: Study, owed: Sequence[TrialKey], before: store.Tally, opened: AsyncExitStack) -> list[Lane]:
    """One lane for each endpoint that has trials to run; what is opened for it is closed with `opened`."""
    config = study.config
    tasks = {task.name: task for task in study.tasks}
    harnesses = {harness.name: harness for harness in study.harnesses}
    lanes = []
    for name in dict.fromkeys(key.endpoint for key in owed):
        settings = await _settings(study, name, opened)
        width = config.concurrency or settings.concurrency
        endpoint = open_endpoint(settings.model_copy(update={"concurrency": width}))
        opened.push_async_callback(endpoint.close)
        trials = [
            Trial(
                key,
                harnesses[key.harness],
                tasks[key.task],
                config.limits,
                key.seed(config.seed),
                before.attempts.get(key, 0),
                study.wires[key.harness],
            )
            for key in owed
            if key.endpoint == name
        ]
        lanes.append(Lane(endpoint, trials, width, settings.cost))
    return lanes


async def _settings(study: Study, name: str, opened: AsyncExitStack) -> EndpointConfig:
    """How to reach an endpoint; the embedded one is started for it."""
    if name != REFERENCE or study.served is None:
        return next(endpoint for endpoint in study.config.endpoints if endpoint.name == name)
    base_url = await opened.enter_async_context(serve(study.served))
    return EndpointConfig(name=REFERENCE, model=MODEL, base_url=base_url, scripted=True)

"""The straight line of a study: open its folder, run what is owed, record it, say how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from harness_eval import probing, store
from harness_eval.cluster import record as nodes_used
from harness_eval.cluster.joining import joined
from harness_eval.cluster.node import Setup, Variables
from harness_eval.cluster.spreading import spread
from harness_eval.ending import Ended, cell, ended, planned_of, unsupported
from harness_eval.endpoints.child import death
from harness_eval.endpoints.config import EndpointConfig, credentials, open_endpoint
from harness_eval.endpoints.local_model import reachable
from harness_eval.errors import ConfigError
from harness_eval.external.adapter import External
from harness_eval.external.installing import Installed, installed
from harness_eval.external.relaying import require_short_paths
from harness_eval.harness import Harness
from harness_eval.judging import Proof
from harness_eval.planning import REFERENCE, Study, record, resolve
from harness_eval.probing import Probe
from harness_eval.proving import require_proven
from harness_eval.reference.process import serve
from harness_eval.reference.wire import MODEL
from harness_eval.runner import Lane, Outcome, Runner, Spending, never
from harness_eval.signals import INTERRUPTED
from harness_eval.study_file import StudyConfig
from harness_eval.task import Task
from harness_eval.trial import Trial
from harness_eval.types import Json, Result, TrialKey, Usage

__all__ = ["INTERRUPTED", "Agenda", "Ended", "Study", "ended", "reach", "record", "resolve", "run", "unsupported"]


class Watch(Protocol):
    """Who wants to know how a run goes; all of it is called on the event loop and must not block."""

    def proven(self, task: Task, proof: Proof) -> None:
        """A task that was not proven here before has been tried with its own solution."""

    def probed(self, endpoint: str, probe: Probe, harnesses: int) -> None:
        """An endpoint has been asked a few things about itself and so many harnesses."""

    def begin(self, planned: int, judged: int, solved: int, owed: Mapping[str, int], spending: Spending) -> None:
        """The run starts with so many trials planned, and so many judged and solved before.

        `owed` has how many are, by endpoint, or under "" where one limit holds for all. `spending` goes on counting
        what the folder's trials have used, those of earlier invocations included.
        """

    def ended(self, result: Result) -> None:
        """A trial has ended and is recorded."""

    def fallen(self, endpoint: str, reason: str) -> None:
        """An endpoint cannot be used any more; what it still owes is left for the next invocation."""

    def nodes(self, line: str) -> None:
        """Where trials run has changed: a node of the cluster has come, or is lost."""

    def stopping(self) -> None:
        """A signal has come: the trials under way are cancelled, and another one ends the process at once."""


@dataclass(frozen=True, slots=True)
class Agenda:
    """What one invocation means to do of a study; it decides nothing that a trial does, so study.json has none of it.

    `trials` are those that are meant, in the order to run: all of the study's where there is none. `enough` is asked
    after each result: once it says so no further trial is started, and none of the others is missing. `retry_lost`
    runs lost trials again. `probe_again` says that the server behind an endpoint may have changed: the endpoints are
    probed anew, and what the new probe does not refuse is owed again. `started` is when the seconds of the budget began
    (monotonic; None: now), `reach` how an endpoint is reached where `study.reach` is not.
    """

    trials: Sequence[TrialKey] | None = None
    enough: Callable[[Result], bool] = never
    retry_lost: bool = True
    probe_again: bool = False
    started: float | None = None
    reach: Callable[[Study, str, AsyncExitStack], Awaitable[EndpointConfig]] | None = None


_EVERYTHING = Agenda()


async def run(study: Study, folder: Path, watch: Watch, agenda: Agenda = _EVERYTHING) -> Ended:
    """Prove the tasks, probe the endpoints, run the trials that the folder still owes, and record each as it ends.

    A harness that cannot run on an endpoint, as the probe says or a trial that was lost to it, is not tried there
    again when the run is resumed, unless it is probed again. A folder belongs to one study, which holds each harness
    by its content and all of an endpoint that decides what answers, so neither has changed.

    Raises:
        ConfigError: a credential is missing, an external harness is not installed, a task is broken, the folder cannot
            be used for this study, or there is no cluster.
    """
    _check_endpoints(study.config)
    if study.externals:
        require_short_paths()
    places = {external.name: installed(external) for external in study.externals}
    async with joined(study.config.executor) as host:
        study = await _proven(replace(study, host=host), watch)
        return await _run(study, folder, watch, agenda, places)


async def _run(study: Study, folder: Path, watch: Watch, agenda: Agenda, places: Mapping[str, Installed]) -> Ended:
    meant = study.keys if agenda.trials is None else agenda.trials
    with store.open_run(folder, record(study)) as run_folder:
        before = store.tally(folder)
        done = (before.judged,) if agenda.retry_lost else (before.judged, before.lost)
        prober = probing.prober(folder, study.harnesses, watch.probed, agenda.probe_again)
        refused = {} if agenda.probe_again else unsupported(folder, before)
        owed = [key for key in meant if not any(key in each for each in done) and cell(key) not in refused]
        spending, dial = _spending(study.config, before, agenda.started), agenda.reach or reach
        async with AsyncExitStack() as opened:
            settings = {name: await dial(study, name, opened) for name in dict.fromkeys(key.endpoint for key in owed)}
            if study.config.probe and spending.exhausted() is None:
                await prober.ask(settings)
            spending.tokens, spending.money = before.tokens + prober.tokens, before.money + prober.cost
            refused |= prober.refused
            owed = [key for key in owed if cell(key) not in refused and key.endpoint not in prober.down]
            judged = sum(key in before.judged for key in meant)
            planned = planned_of(meant, refused, before.judged)
            watch.begin(planned, judged, before.solved, Counter(key.endpoint for key in owed), spending)
            outcome = Outcome(down=prober.down)
            runner = Runner(study.provider, run_folder.append, watch.ended, agenda.enough, spending, outcome=outcome)
            runner.stopping, runner.fallen = watch.stopping, watch.fallen
            lanes = _lanes(settings, _trials(study, owed, before.attempts, places), opened)
            if lanes and study.config.executor.kind == "ray":
                nodes_used.note(folder, await _on_nodes(study, runner, lanes, settings, watch))
            else:
                await runner.run(lanes)
    return ended(study, folder, outcome)


async def _on_nodes(
    study: Study, runner: Runner, lanes: Sequence[Lane], settings: Mapping[str, EndpointConfig], watch: Watch
) -> dict[str, Json]:
    """Run the lanes on the nodes of the cluster, and say how many these were; without any left, the rest is owed."""
    image, endpoints = study.config.sandbox.base_image, tuple(settings.values())
    setup = Setup(study.provider.name, image, endpoints, study.host, study.externals)
    async with spread(setup, Variables.of(settings.values()), watch.nodes) as nodes:
        runner.play = nodes.play
        runner.outcome.exhausted = await nodes.carry(partial(runner.run, lanes)) or runner.outcome.exhausted
    study.provider.swept += nodes.swept
    return nodes.used


async def _proven(study: Study, watch: Watch) -> Study:
    """The study with tasks that are known to judge here; a note names those judged with a weaker promise."""
    tasks = await require_proven(study.tasks, study.provider, watch.proven)
    live = [task.name for task in tasks if task.live]
    notes = (
        [f"judged beside the processes that were left, since their tests need them: {', '.join(live)}"] if live else []
    )
    return replace(study, tasks=tasks, notes=(*study.notes, *notes))


def _spending(config: StudyConfig, before: store.Tally, started: float | None) -> Spending:
    budgets = config.budgets
    spending = Spending(before.tokens, before.money, budgets.tokens, budgets.money, budgets.seconds)
    return spending if started is None else replace(spending, started=started)


def _check_endpoints(config: StudyConfig) -> None:
    for endpoint in config.endpoints:
        credentials(endpoint)
        if config.budgets.money is not None and endpoint.cost(Usage()) is None:
            raise ConfigError(f"budgets.money: no price is known for endpoint {endpoint.name!r}; give it a `price`")


async def reach(study: Study, name: str, opened: AsyncExitStack) -> EndpointConfig:
    """How to reach an endpoint, with the study's concurrency; one that is served on this machine is started for it."""
    if name == REFERENCE and study.served is not None:
        base_url = await opened.enter_async_context(serve(replace(study.served, host=study.host)))
        settings = EndpointConfig(name=REFERENCE, model=MODEL, base_url=base_url, scripted=True)
    else:
        chosen = next(endpoint for endpoint in study.config.endpoints if endpoint.name == name)
        settings = await opened.enter_async_context(reachable(chosen, study.host))
    return settings.model_copy(update={"concurrency": study.config.concurrency or settings.concurrency})


def _trials(
    study: Study, owed: Sequence[TrialKey], attempts: Mapping[TrialKey, int], places: Mapping[str, Installed]
) -> list[Trial]:
    """These trials with all that they need; `places` says where external harnesses are."""
    config = study.config
    tasks = {task.name: task for task in study.tasks}
    harnesses: dict[str, Harness | External] = {harness.name: harness for harness in study.harnesses}
    harnesses |= {external.name: external for external in study.externals}
    return [
        Trial(
            key,
            harnesses[key.harness],
            tasks[key.task],
            config.limits,
            key.seed(config.seed),
            attempts.get(key, 0),
            study.wires.get(key.harness, ""),
            config.recovery,
            places.get(key.harness, Installed()),
        )
        for key in owed
    ]


def _lanes(settings: Mapping[str, EndpointConfig], trials: Sequence[Trial], opened: AsyncExitStack) -> list[Lane]:
    """One lane for each endpoint that has trials to run; what is opened for it is closed with `opened`."""
    lanes = []
    for name in dict.fromkeys(trial.key.endpoint for trial in trials):
        endpoint = open_endpoint(settings[name])
        opened.push_async_callback(endpoint.close)
        own = [trial for trial in trials if trial.key.endpoint == name]
        ended = partial(death, settings[name].base_url or "")
        lanes.append(Lane(endpoint, own, settings[name].concurrency, settings[name].cost, ended))
    return lanes

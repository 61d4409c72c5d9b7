"""The straight line of a study: open its folder, run what is owed, record it, say how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from harness_eval import probing, store
from harness_eval.endpoints.config import EndpointConfig, credentials, open_endpoint
from harness_eval.endpoints.local_model import reachable
from harness_eval.errors import ConfigError
from harness_eval.external.adapter import External
from harness_eval.external.installing import Installed, installed
from harness_eval.external.relaying import require_short_paths
from harness_eval.harness import Harness
from harness_eval.judging import Proof
from harness_eval.planning import REFERENCE, Study, record, resolve
from harness_eval.probing import Probe, Unsupported
from harness_eval.proving import require_proven
from harness_eval.reference.process import serve
from harness_eval.reference.wire import MODEL
from harness_eval.runner import INTERRUPTED, Lane, Outcome, Runner, Spending, never
from harness_eval.study_file import StudyConfig
from harness_eval.task import Task
from harness_eval.trial import Trial
from harness_eval.types import Result, TrialKey, Usage

__all__ = ["INTERRUPTED", "Agenda", "Ended", "Study", "ended", "reach", "record", "resolve", "run", "unsupported"]

INCOMPLETE = 3


@dataclass(frozen=True, slots=True)
class Ended:
    """How an invocation of `run` left a run's folder.

    `unsupported` has, by endpoint, the harnesses that cannot run there. Their trials are neither planned nor lost,
    save those that were judged before it showed. `lost` counts the other lost trials by owner.
    """

    folder: Path
    planned: int
    judged: int
    solved: int
    lost: dict[str, int]
    outcome: Outcome
    lost_limit: float
    unsupported: Mapping[str, Sequence[Unsupported]] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        """Why the run is incomplete, a line each; empty when it is not, or was interrupted."""
        if self.outcome.interrupted:
            return []
        lost = sum(self.lost.values())
        lines = [f"endpoint {name} cannot be used: {message}" for name, message in self.outcome.down.items()]
        if self.outcome.exhausted:
            lines.append(self.outcome.exhausted)
        if lines:
            return lines  # these explain the rest
        if self.planned == 0:
            lines.append("no harness of this study can run here; another profile, endpoint or other harnesses may")
        elif self.judged == 0:
            lines.append("no trial was judged")
        if lost > self.lost_limit * (lost + self.judged):
            share = lost / (lost + self.judged)
            owners = ", ".join(f"{owner} {number}" for owner, number in sorted(self.lost.items()))
            lines.append(f"{lost} trials ({share:.0%}) were lost, more than {self.lost_limit:.0%} ({owners})")
        return lines

    @property
    def exit_code(self) -> int:
        """130 after an interruption, 3 for an incomplete run, else 0."""
        return INTERRUPTED if self.outcome.interrupted else INCOMPLETE if self.problems else 0


class Watch(Protocol):
    """Who wants to know how a run goes; all of it is called on the event loop and must not block."""

    def proven(self, task: Task, proof: Proof) -> None:
        """A task that was not proven here before has been tried with its own solution."""

    def probed(self, endpoint: str, probe: Probe, harnesses: int) -> None:
        """An endpoint has been asked a few things about itself and so many harnesses."""

    def begin(self, planned: int, judged: int, solved: int) -> None:
        """The run starts with so many trials planned, and so many judged and solved before."""

    def ended(self, result: Result) -> None:
        """A trial has ended and is recorded."""

    def stopping(self) -> None:
        """A signal has come: the trials under way are cancelled, and another one ends the process at once."""


@dataclass(frozen=True, slots=True)
class Agenda:
    """What one invocation means to do of a study; it decides nothing that a trial does, so study.json has none of it.

    `trials` are those that are meant, in the order to run: all of the study's where there is none. `enough` is asked
    after each result: once it says so no further trial is started, and none of the others is missing. `retry_lost`
    runs lost trials again. `probe_again` says that the server behind an endpoint may have changed: the endpoints are
    probed anew, and what the new probe does not refuse is owed again.
    """

    trials: Sequence[TrialKey] | None = None
    enough: Callable[[Result], bool] = never
    retry_lost: bool = True
    probe_again: bool = False


_EVERYTHING = Agenda()


async def run(study: Study, folder: Path, watch: Watch, agenda: Agenda = _EVERYTHING) -> Ended:
    """Prove the tasks, probe the endpoints, run the trials that the folder still owes, and record each as it ends.

    A harness that cannot run on an endpoint, as the probe says or a trial that was lost to it, is not tried there
    again when the run is resumed, unless it is probed again. A folder belongs to one study, which holds each harness
    by its content and all of an endpoint that decides what answers, so neither has changed.

    Raises:
        ConfigError: a credential is missing, an external harness is not installed, a task is broken, or the folder
            cannot be used for this study.
    """
    _check_endpoints(study.config)
    if study.externals:
        require_short_paths()
    places = {external.name: installed(external) for external in study.externals}
    study = await _proven(study, watch)
    meant = study.keys if agenda.trials is None else agenda.trials
    with store.open_run(folder, record(study)) as run_folder:
        before = store.tally(folder)
        done = before.judged if agenda.retry_lost else before.judged | before.attempts.keys()
        prober = probing.prober(folder, study.harnesses, watch.probed, agenda.probe_again)
        refused = {} if agenda.probe_again else unsupported(folder)
        owed = [key for key in meant if key not in done and _cell(key) not in refused]
        spending = _spending(study.config, before)
        async with AsyncExitStack() as opened:
            settings = {name: await reach(study, name, opened) for name in dict.fromkeys(key.endpoint for key in owed)}
            if study.config.probe and spending.exhausted() is None:
                await prober.ask(settings)
            spending.tokens, spending.money = before.tokens + prober.tokens, before.money + prober.cost
            refused |= prober.refused
            owed = [key for key in owed if _cell(key) not in refused and key.endpoint not in prober.down]
            judged = len(before.judged.intersection(meant))
            watch.begin(len(_planned(meant, refused, before.judged)), judged, before.solved)
            outcome = Outcome(down=prober.down)
            runner = Runner(study.provider, run_folder.append, watch.ended, agenda.enough, spending, outcome=outcome)
            runner.stopping = watch.stopping
            trials = _trials(study, owed, before.attempts, places)
            outcome = await runner.run(_lanes(settings, trials, opened))
    return ended(study, folder, outcome)


async def _proven(study: Study, watch: Watch) -> Study:
    """The study with tasks that are known to judge here; a note names those judged with a weaker promise."""
    tasks = await require_proven(study.tasks, study.provider, watch.proven)
    live = [task.name for task in tasks if task.live]
    notes = (
        [f"judged beside the processes that were left, since their tests need them: {', '.join(live)}"] if live else []
    )
    return replace(study, tasks=tasks, notes=(*study.notes, *notes))


def _cell(key: TrialKey) -> tuple[str, str]:
    return key.harness, key.endpoint


def _planned(
    meant: Sequence[TrialKey], refused: Collection[tuple[str, str]], judged: Collection[TrialKey]
) -> list[TrialKey]:
    """Those of these trials that a run means to have judged in the end: all but those that cannot be run."""
    return [key for key in meant if _cell(key) not in refused or key in judged]


def unsupported(folder: Path) -> dict[tuple[str, str], Unsupported]:
    """What cannot run, by harness and endpoint: as the probe says, or a trial that was lost to it.

    Raises:
        ConfigError: the record of the probe is damaged.
    """
    probes = probing.read(folder)
    found = {(each.harness, name): each for name, probe in probes.items() for each in probe.unsupported}
    for row in store.latest(folder):
        failure = row["failure"] or {}
        if probing.impossible(label := failure.get("label", "")):
            cell = _cell(store.key_of(row))
            found.setdefault(cell, Unsupported(row["harness"], failure["message"], label))
    return found


def _spending(config: StudyConfig, before: store.Tally) -> Spending:
    budgets = config.budgets
    return Spending(before.tokens, before.money, budgets.tokens, budgets.money, budgets.seconds)


def _check_endpoints(config: StudyConfig) -> None:
    for endpoint in config.endpoints:
        credentials(endpoint)
        if config.budgets.money is not None and endpoint.cost(Usage()) is None:
            raise ConfigError(f"budgets.money: no price is known for endpoint {endpoint.name!r}; give it a `price`")


def ended(study: Study, folder: Path, outcome: Outcome) -> Ended:
    """Count what the folder holds of this study; of a harness that cannot run on an endpoint nothing counts there."""
    lost: Counter[str] = Counter()
    judged, solved, refused = 0, 0, unsupported(folder)
    for row in store.latest(folder):
        if _cell(store.key_of(row)) in refused:
            continue
        if row["failure"] is None:
            judged += 1
            solved += bool(row["solved"])
        else:
            lost[row["failure"]["owner"]] += 1
    planned = len(_planned(study.keys, refused, ()))
    impossible = {
        name: tuple(each for (_, endpoint), each in refused.items() if endpoint == name) for name in study.endpoints
    }
    limit = study.config.lost_limit
    return Ended(folder, planned, judged, solved, dict(lost), outcome, limit, impossible)


async def reach(study: Study, name: str, opened: AsyncExitStack) -> EndpointConfig:
    """How to reach an endpoint, with the study's concurrency; one that is served on this machine is started for it."""
    if name == REFERENCE and study.served is not None:
        base_url = await opened.enter_async_context(serve(study.served))
        settings = EndpointConfig(name=REFERENCE, model=MODEL, base_url=base_url, scripted=True)
    else:
        chosen = next(endpoint for endpoint in study.config.endpoints if endpoint.name == name)
        settings = await opened.enter_async_context(reachable(chosen))
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
        lanes.append(Lane(endpoint, own, settings[name].concurrency, settings[name].cost))
    return lanes

"""A study whose trials are allocated as it says: all of them, or those of a hunt, block after block."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness_eval import hunt, planning, store, study
from harness_eval.cluster.joining import joined
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.judging import Proof
from harness_eval.probing import Probe
from harness_eval.runner import Spending
from harness_eval.study import Agenda, Ended, Study, Watch
from harness_eval.study_file import StudyConfig
from harness_eval.task import Task
from harness_eval.types import Result


def resolve(config: StudyConfig) -> Study:
    """Everything that a study means, its blocks too where it hunts.

    Raises:
        ConfigError: a part does not exist, or the sandbox must not be used for this endpoint.
    """
    resolved = planning.resolve(config)
    return hunt.lay_out(resolved) if config.allocate == "hunt" else resolved


@dataclass(frozen=True, slots=True)
class _Whole:
    """Tells a watch how many trials the whole hunt has, not the blocks begun."""

    watch: Watch
    planned: int

    def proven(self, task: Task, proof: Proof) -> None:
        self.watch.proven(task, proof)

    def probed(self, endpoint: str, probe: Probe, harnesses: int) -> None:
        self.watch.probed(endpoint, probe, harnesses)

    def begin(self, planned: int, judged: int, solved: int, owed: Mapping[str, int], spending: Spending) -> None:
        later = max(self.planned - planned, 0)  # of the blocks that follow
        all_owed = {endpoint: number + later // len(owed) for endpoint, number in owed.items()}
        self.watch.begin(planned + later, judged, solved, all_owed, spending)

    def ended(self, result: Result) -> None:
        self.watch.ended(result)

    def fallen(self, endpoint: str, reason: str) -> None:
        self.watch.fallen(endpoint, reason)

    def nodes(self, line: str) -> None:
        self.watch.nodes(line)

    def stopping(self) -> None:
        self.watch.stopping()


@dataclass(frozen=True, slots=True)
class _Reached:
    """Reaches each endpoint once for all blocks, so that what is served on this machine is started once."""

    opened: AsyncExitStack
    known: dict[str, EndpointConfig] = field(default_factory=dict)

    async def reach(self, resolved: Study, name: str, _: AsyncExitStack) -> EndpointConfig:
        if name not in self.known:
            self.known[name] = await study.reach(resolved, name, self.opened)
        return self.known[name]


async def run(resolved: Study, folder: Path, watch: Watch, agenda: Agenda) -> Ended:
    """`study.run`; of a hunt all blocks, each once the one before it is judged.

    An endpoint that cannot be used stays in its block, while the others go on. Whatever else makes a run incomplete
    ends the hunt where it stands. The seconds of the budget count from now, over all blocks.

    Raises:
        ConfigError: a credential is missing, a task is broken, or the folder cannot be used for this study.
    """
    hunting = hunt.of(resolved, folder)
    if hunting is None:
        return await study.run(resolved, folder, watch, agenda)
    started = time.monotonic() if agenda.started is None else agenda.started
    async with joined(resolved.config.executor), AsyncExitStack() as opened:  # a cluster is joined once for all blocks
        return await _blocks(hunting, watch, replace(agenda, started=started, reach=_Reached(opened).reach))


async def _blocks(hunting: hunt.Hunt, watch: Watch, agenda: Agenda) -> Ended:
    down: dict[str, str] = {}
    while True:
        whole = _Whole(watch, hunting.planned(study.unsupported(hunting.folder)))
        trials = tuple(key for key in hunting.trials() if key.endpoint not in down)
        ended = await study.run(hunting.study, hunting.folder, whole, replace(agenda, trials=trials))
        down |= ended.outcome.down
        refused = study.unsupported(hunting.folder)
        rest = replace(
            ended, outcome=replace(ended.outcome, down={}), lost=_lost_elsewhere(hunting.folder, refused, down)
        )
        if rest.exit_code or not hunting.go_on(refused, down):
            outcome = replace(ended.outcome, down=down)
            return replace(ended, outcome=outcome, planned=hunting.planned(refused))
        agenda = replace(agenda, retry_lost=False, probe_again=False)  # once an invocation


def _lost_elsewhere(folder: Path, refused: Collection[tuple[str, str]], down: Collection[str]) -> dict[str, int]:
    """The trials lost, by owner, but for those at endpoints that cannot be used: these keep no other from going on."""
    lost = store.tally(folder).lost.items()
    counts = [key.endpoint not in down and (key.harness, key.endpoint) not in refused for key, _ in lost]
    return dict(Counter(failure.owner for (_, failure), counted in zip(lost, counts, strict=True) if counted))

"""A study whose trials are allocated as it says: all of them, or those of a hunt, block after block."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness_eval import hunt, planning, study
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

    def stopping(self) -> None:
        self.watch.stopping()


async def run(resolved: Study, folder: Path, watch: Watch, agenda: Agenda) -> Ended:
    """`study.run`; of a hunt all blocks, each once the one before it is judged. A run that is incomplete stops there.

    Raises:
        ConfigError: a credential is missing, a task is broken, or the folder cannot be used for this study.
    """
    hunting = hunt.of(resolved, folder)
    if hunting is None:
        return await study.run(resolved, folder, watch, agenda)
    started = time.monotonic()
    while True:
        whole = _Whole(watch, hunting.planned(study.unsupported(folder)))
        given = replace(agenda, trials=hunting.trials())
        ended = await study.run(_within(resolved, time.monotonic() - started), folder, whole, given)
        refused = study.unsupported(folder)
        over = bool(ended.outcome.interrupted or ended.problems) or not hunting.go_on(refused)
        if over:
            return replace(ended, planned=hunting.planned(refused))
        agenda = replace(agenda, retry_lost=False, probe_again=False)  # once an invocation


def _within(resolved: Study, seconds: float) -> Study:
    """The study with what is left of its time."""
    budgets = resolved.config.budgets
    if budgets.seconds is None:
        return resolved
    left = budgets.model_copy(update={"seconds": max(budgets.seconds - seconds, 0.0)})
    return replace(resolved, config=resolved.config.model_copy(update={"budgets": left}))

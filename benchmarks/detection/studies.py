"""The studies of the benchmark: what a user's seed varies, and what each of its trials meets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from harness_eval.draws import shuffled
from harness_eval.planning import REFERENCE, Study, record, resolve
from harness_eval.reference.coupling import COUPLINGS
from harness_eval.reference.player import Player
from harness_eval.reference.scripts import Scripts
from harness_eval.study_file import EmbeddedConfig, StudyConfig, TasksConfig, select_tasks
from harness_eval.task import Task
from harness_eval.types import Json, TrialKey

FAMILY = Path(__file__).with_name("family.yaml")
DESIGN = {"kind": "orthogonal", "array": "L32(2^1 4^9)"}
STRENGTHS = (1.0, 0.5, 0.25)
FEW = 20
MORE = (30, 40)
SEEDS = range(1, 21)


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """One run: what is planted (coupling "" is nothing) and how strong, with which seed, over how many tasks."""

    coupling: str
    strength: float
    seed: int
    tasks: int

    @property
    def planted(self) -> dict[str, float]:
        return {self.coupling: self.strength} if self.coupling else {}


def cases(seeds: Sequence[int]) -> list[Case]:
    """All runs in the order in which they are wanted; last, and for half of the seeds, weak couplings on many tasks."""
    few = [case for seed in seeds for case in _of_seed(seed, FEW, STRENGTHS)]
    full = [case for seed in seeds for case in _of_seed(seed, MORE[0], STRENGTHS[:1])]
    weak = [case for seed in seeds[::2] for tasks in MORE for case in _of_seed(seed, tasks, STRENGTHS[1:])]
    return list(dict.fromkeys([*few, *full, *weak]))


def _of_seed(seed: int, tasks: int, strengths: Sequence[float]) -> list[Case]:
    return [Case("", 0.0, seed, tasks), *(Case(name, by, seed, tasks) for by in strengths for name in COUPLINGS)]


def study_data(case: Case) -> dict[str, Json]:
    """The study as its YAML file would say it."""
    chosen = shuffled(_core(), case.seed, "benchmark", "tasks")[: case.tasks]
    return {
        "name": "detection",
        "reference": {"couplings": case.planted},
        "tasks": {"suite": "core", "include": sorted(chosen)},
        "family": str(FAMILY),
        "design": DESIGN,
        "limits": {"steps": 30},
        "seed": case.seed,
    }


@cache
def _core() -> tuple[str, ...]:
    """The names of all tasks to choose from."""
    return tuple(sorted(task.name for task in select_tasks(TasksConfig(suite="core"))))


@cache
def _widest(seed: int) -> Study:
    return resolve(StudyConfig.model_validate(study_data(Case("", 0.0, seed, MORE[-1]))))


def study_of(case: Case) -> Study:
    """The study with all that its seed decides: harnesses, tasks, trials."""
    names = study_data(case)["tasks"]["include"]
    whole = _widest(case.seed)
    planted = EmbeddedConfig(couplings=case.planted)
    tasks = tuple(task for task in whole.tasks if task.name in names)
    return replace(whole, config=whole.config.model_copy(update={"reference": planted}), tasks=tasks)


def planted_in(study: Study) -> tuple[str, float]:
    """The one coupling of a study and its strength; "" for none.

    Raises:
        ValueError: there are several.
    """
    given = study.config.reference.couplings if study.config.reference else {}
    ((coupling, strength),) = given.items() or {"": 0.0}.items()
    return (coupling, strength) if strength else ("", 0.0)


def luck(study: Study, task: Task) -> float:
    """A trial's draw divided by the strength of its coupling: from 1 on, the coupling is not there at all."""
    (coupling, strength), seed = planted_in(study), study.config.seed
    draw_seed = Player(Scripts(()), (), seed).draw_seed(TrialKey(task.name, "", REFERENCE).seed(seed))
    return COUPLINGS[coupling]().draw(f"{task.folder.parent.name}/{task.folder.name}", draw_seed) / strength


def levels_of(study: Study) -> list[Mapping[str, str]]:
    """The levels of each harness on the axes that vary, as a report reads them."""
    varied = record(study)["axes"]
    return [{axis: label for axis, label in each.labels.items() if axis in varied} for each in study.harnesses]

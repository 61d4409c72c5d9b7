"""From a file of a study to everything that it means: tasks, harnesses, trials in order, and its study.json."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version

from harness_eval import __version__
from harness_eval.choosing import chosen_harnesses
from harness_eval.combinations import forced_axes
from harness_eval.design import Plan
from harness_eval.dialogue import requests_of, wire_hash
from harness_eval.endpoints.local_model import description
from harness_eval.errors import ConfigError, listed
from harness_eval.external.adapter import External
from harness_eval.harness import Harness
from harness_eval.ordering import BLOCK, Ordering
from harness_eval.reference.server import ReferenceConfig
from harness_eval.reference.wire import MODEL
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.sandboxes.environment import needs_container
from harness_eval.study_file import StudyConfig, select_tasks
from harness_eval.task import Task
from harness_eval.types import Json, TrialKey

REFERENCE = "reference"
_MOST_TRIALS = 1_000_000
_SHOWN = 8  # tasks named in one note
_NO_PLAN = "it has no solution/plan.yaml, so the scripted agent cannot play it"


@dataclass(frozen=True)
class Study:
    """A study with nothing left open: all harnesses, tasks and trials are known.

    `endpoints` are names; `served` is what the embedded reference endpoint must be, if it takes part.
    `wires` holds, by name, the hash of what a model receives from each harness. `externals` are real harnesses beside
    those: they have no levels, so designs, effects and probes leave them out. `trace` is what `tracing` made it for,
    `hunt` what `hunt` has laid out, `predicted` what `predicting` has. `host` is the address under which what is served
    on this machine is reached from where trials run.
    """

    config: StudyConfig
    endpoints: tuple[str, ...]
    served: ReferenceConfig | None
    tasks: tuple[Task, ...]
    plan: Plan
    canonical_repeats: int
    notes: tuple[str, ...]
    wires: Mapping[str, str]
    provider: SandboxProvider
    externals: tuple[External, ...] = ()
    trace: Mapping[str, Json] | None = None
    hunt: Mapping[str, Json] | None = None
    predicted: Mapping[str, Json] | None = None
    host: str = "127.0.0.1"

    @property
    def harnesses(self) -> tuple[Harness, ...]:
        """All harnesses; the first is the canonical one, with which the others are compared."""
        return self.plan.harnesses

    @cached_property
    def keys(self) -> tuple[TrialKey, ...]:
        """All trials in the order to run: repeat by repeat, within each as the study's `Ordering` says.

        So a drift of the endpoint does not become an effect of a harness, and a run stopped early is still balanced.
        """
        repeats, keys = self.config.repeats, []
        ordering, tasks = Ordering(self.config.order, self.config.seed), self._dealt()
        for repeat in range(max(repeats, self.canonical_repeats)):
            due = [self.harnesses[0]] if repeat < self.canonical_repeats else []
            due += self.harnesses[1:] if repeat < repeats else []
            names = [harness.name for harness in due]
            names += [external.name for external in self.externals if repeat < repeats]
            for task, name in ordering.pairs(repeat, tasks, names):
                keys += [TrialKey(task, name, endpoint, repeat) for endpoint in self.endpoints]
        return tuple(keys)

    def _dealt(self) -> list[str]:
        """The tasks in the order to run: as a hunt deals them, so that its blocks are not torn."""
        return list(self.hunt["tasks"]) if self.hunt is not None else [task.name for task in self.tasks]

    @property
    def planned(self) -> int:
        """How many trials are meant: all, or so many of them as a hunt runs."""
        return len(self.keys) if self.hunt is None else int(self.hunt["trials"])

    @property
    def scripted(self) -> bool:
        """Whether no language model takes part."""
        return all(endpoint.scripted for endpoint in self.config.endpoints)


def resolve(config: StudyConfig) -> Study:
    """Everything that the study means, the same for the same files and seed.

    Raises:
        ConfigError: a part does not exist, or the sandbox must not be used for this endpoint.
    """
    boxes = _provider(config)
    played = config.reference is not None and not config.endpoints
    tasks, notes = _runnable(select_tasks(config.tasks), boxes, played)
    served = _served(config, tasks)
    plan, externals = chosen_harnesses(config)
    names = (*(endpoint.name for endpoint in config.endpoints), *([REFERENCE] if served else []))
    canonical_repeats = config.canonical_repeats or max(config.repeats, plan.canonical_repeats)
    others = len(plan.harnesses) - 1 + len(externals)
    _check_size(canonical_repeats + config.repeats * others, len(tasks), len(names))
    return Study(
        config=config,
        endpoints=names,
        served=served,
        tasks=tasks,
        plan=plan,
        canonical_repeats=canonical_repeats,
        notes=(*notes, *_planted(config), *plan.notes),
        wires={harness.name: wire_hash(requests_of(harness)) for harness in plan.harnesses},
        provider=boxes,
        externals=externals,
    )


def _runnable(chosen: Sequence[Task], boxes: SandboxProvider, played: bool) -> tuple[tuple[Task, ...], list[str]]:
    """The tasks that can run in this kind of sandbox, and what is to be known of them and of those left out.

    `played` says that the scripted agent alone takes part, which needs a plan for each task.

    Raises:
        ConfigError: none can.
    """
    reasons = {task.name: task.unsupported or boxes.refuses(task.spec) for task in chosen}
    if played:
        planned = {task.name for task in chosen if (task.folder / "solution" / "plan.yaml").is_file()}
        reasons |= {name: reasons[name] or _NO_PLAN for name in reasons.keys() - planned}
    tasks = tuple(task for task in chosen if reasons[task.name] is None)
    left = [f"task {name} is left out: {reason}" for name, reason in reasons.items() if reason is not None]
    if not tasks:
        raise ConfigError(f"tasks: none can run here; {left[0]}")
    kinds = {
        "reach the network": [task.name for task in tasks if task.spec.limits.network],
        "run in images of their own, where the model may be root": [
            task.name for task in tasks if needs_container(task.spec) and task.spec.user in (None, "root", "0")
        ],
        "have no solution, so nobody has shown that they can be solved": [
            task.name for task in tasks if not task.has_solution
        ],
    }
    told = [
        f"{len(names)} of {len(tasks)} tasks {what}: {listed(names, _SHOWN)}" for what, names in kinds.items() if names
    ]
    return tasks, [*left, *told]


def _check_size(runs: int, tasks: int, endpoints: int) -> None:
    if runs * tasks * endpoints > _MOST_TRIALS:
        raise ConfigError(
            f"repeats: {runs:,} runs (harnesses times repeats) of {tasks} tasks at {endpoints} endpoints are "
            f"{runs * tasks * endpoints:,} trials; a study has at most {_MOST_TRIALS:,}"
        )


def _planted(config: StudyConfig) -> list[str]:
    given = config.reference
    planted = {**given.couplings, **given.faults} if given is not None else {}
    told = ", ".join(f"{name} {strength:g}" for name, strength in sorted(planted.items()))
    return [f"planted in the reference endpoint on purpose: {told}"] if told else []


def _served(config: StudyConfig, tasks: Sequence[Task]) -> ReferenceConfig | None:
    if config.reference is None:
        return None
    given = config.reference
    served = ReferenceConfig(tuple(task.folder for task in tasks), given.couplings, given.faults, config.seed)
    served.player()  # whatever is wrong with couplings or plans is said here
    return served


def _provider(config: StudyConfig) -> SandboxProvider:
    base_image = config.sandbox.base_image
    chosen = provider(config.sandbox.kind, **({"base_image": base_image} if base_image else {}))
    real = [endpoint.name for endpoint in config.endpoints if not endpoint.scripted]
    asked = config.sandbox.kind == "local" and config.allow_local
    if real and chosen.name == "local" and not asked:
        why = "was asked for" if config.sandbox.kind == "local" else "is all there is, as bubblewrap is not installed"
        raise ConfigError(
            f"sandbox: the local one {why}, and it protects this machine from nothing that the model at {real[0]!r} "
            "does; choose docker or bubblewrap, or say --sandbox local --allow-local"
        )
    return chosen


def record(study: Study) -> dict[str, Json]:
    """The study as study.json holds it: all that decides what a trial does, and no secret."""
    config = study.config
    # Interleaved is left out, as in runs that did not know this key.
    order = {"kind": config.order, "block": BLOCK} if config.order == "prefix" else None
    chosen = {"base_image": config.sandbox.base_image, "trace": study.trace, "order": order, "adaptive": study.hunt}
    chosen["predicted"] = study.predicted
    return {
        "name": config.name,
        "seed": config.seed,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"harness-eval": __version__, "python": platform.python_version(), "openai": version("openai")},
        "endpoints": _endpoint_records(config),
        "tasks": [_task_record(task) for task in study.tasks],
        "harnesses": [
            *(_harness_record(harness, study.wires[harness.name]) for harness in study.harnesses),
            *(_external_record(external) for external in study.externals),
        ],
        "canonical": study.harnesses[0].name,
        "axes": _varied(study.harnesses),
        "design": config.design.model_dump(mode="json"),
        "family": config.family,
        "repeats": config.repeats,
        "canonical_repeats": study.canonical_repeats,
        "sampled": list(study.plan.sampled),
        "planned": study.planned,
        "unsupported": [{"harness": harness, "reason": reason} for harness, reason in study.plan.impossible],
        "notes": list(study.notes),
        "sandbox": study.provider.name,
        "recovery": config.recovery,
        "limits": asdict(config.limits),
        **{key: value for key, value in chosen.items() if value is not None},
    }


def _varied(harnesses: Sequence[Harness]) -> list[str]:
    """The axes that differ from the canonical harness somewhere without being forced by another axis there."""
    usual = harnesses[0].levels
    varied = {
        axis
        for harness in harnesses
        for axis, level in harness.levels.items()
        if level != usual[axis] and axis not in forced_axes(harness.levels)
    }
    return [axis for axis in usual if axis in varied]


def _task_record(task: Task) -> dict[str, Json]:
    return {
        "name": task.name,
        "suite": task.suite,
        "digest": task.digest,
        "stresses": list(task.stresses),
        "difficulty": task.difficulty,
        **({} if task.group is None else {"group": task.group}),
    }


def _harness_record(harness: Harness, wire: str) -> dict[str, Json]:
    return {
        "name": harness.name,
        "id": harness.id,
        "version": harness.version,
        "wire": wire,
        "labels": dict(harness.labels),
        "spec": harness.spec(),
    }


def _external_record(external: External) -> dict[str, Json]:
    told = {"name": external.name, "id": external.id, "version": external.version}
    return {**told, "labels": {}, "external": external.spec()}


def _endpoint_records(config: StudyConfig) -> list[dict[str, Json]]:
    tuning = {"timeout_seconds", "retries", "backoff_seconds", "concurrency"}  # how it is asked, not what answers
    told = ("version", "serving")  # left out where nothing is told, as in runs that did not know these keys
    records = [
        endpoint.model_dump(mode="json", exclude=tuning | {key for key in told if getattr(endpoint, key) is None})
        for endpoint in config.endpoints
    ]
    for endpoint in records:
        if endpoint["kind"] == "local-model":
            endpoint |= {"base_url": "this machine", "local_model": description()}
    if config.reference is not None:
        planted = config.reference.model_dump(mode="json")
        records.append({"name": REFERENCE, "model": MODEL, "base_url": "embedded", "scripted": True, **planted})
    return records

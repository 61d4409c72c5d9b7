"""A check that runs its own trials: just enough of them, in the order in which they are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from glob import escape
from pathlib import Path

from harness_eval import probing, store
from harness_eval.config import parse
from harness_eval.design import Plan
from harness_eval.dialogue import requests_of, wire_hash
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.errors import ConfigError, listed, nearest
from harness_eval.gate.asked import Asked
from harness_eval.gate.deciding import Decided, decide
from harness_eval.gate.kept import NOT_RUN, SOLVED, UNSOLVED, Snapshot, SnapshotHarness, character
from harness_eval.gate.matching import Matched, match
from harness_eval.gate.pairs import pairs_of
from harness_eval.gate.snapshot import planned
from harness_eval.harness import Harness, load_harness
from harness_eval.planning import REFERENCE, Study, record, resolve
from harness_eval.study_file import StudyConfig
from harness_eval.task import load_suite
from harness_eval.types import Json, Result, TrialKey

_SHOWN = 4  # names in one message


@dataclass(slots=True)
class UnderWay:
    """A check whose trials are run: what it has come to so far.

    `solved` holds the new trials of the gated harness as characters of a snapshot, by task and repeat. `refused` is set
    where the server turned out to be another one than the baseline's.
    """

    study: Study
    folder: Path
    matched: Matched
    asked: Asked
    solved: dict[tuple[str, int], str] = field(default_factory=dict)
    refused: bool = False
    _known: bool = False

    @property
    def endpoint(self) -> str:
        """The only endpoint of the study."""
        return self.study.endpoints[0]

    def gated(self) -> tuple[TrialKey, ...]:
        """The trials of the gated harness in look order, repeat by repeat; once it is decided only those judged."""
        tasks, repeats = self.matched.tasks, range(self.asked.cap)
        keys = (TrialKey(task, self.matched.harness, self.endpoint, each) for each in repeats for task in tasks)
        over = self.decided().verdict != "incomplete"
        return tuple(key for key in keys if not over or self._is_judged(key))

    def with_others(self) -> tuple[TrialKey, ...]:
        """Those judged of the gated harness and all of the others that the baseline has run, for worst and spread."""
        names = {each.name for each in self.matched.before.harnesses if each.run} - {self.matched.harness}
        tasks = set(self.matched.tasks)
        others = (key for key in self.study.keys if key.harness in names and key.task in tasks)
        return (*filter(self._is_judged, self.gated()), *others)

    def _is_judged(self, key: TrialKey) -> bool:
        return self.solved.get((key.task, key.repeat)) in (SOLVED, UNSOLVED)

    def resume(self, retry_lost: bool) -> None:
        """Take over what the folder holds; a lost trial only where it is not to be run again."""
        for row in store.latest(self.folder):
            if row["failure"] is None or not retry_lost:
                self._take(store.key_of(row), row["score"])

    def enough(self, result: Result) -> bool:
        """Take over a result, and say whether no further trial is needed."""
        if not self._known:
            self._known, self.refused = True, self._is_another()
        self._take(result.key, result.verdict.score if result.verdict else None)
        return self.refused or self.decided().verdict != "incomplete"

    def decided(self) -> Decided:
        """What the gate says of the trials so far."""
        gated = self.matched.gated[1].model_copy(update={"solved": self._lines()})
        after = self.matched.after.model_copy(update={"harnesses": (gated,)})
        return decide(pairs_of(replace(self.matched, after=after), self.asked.cap), self.asked)

    def _lines(self) -> tuple[str, ...]:
        names = [task.name for task in self.matched.after.tasks]
        repeats = range(self.asked.cap)
        return tuple("".join(self.solved.get((name, each), NOT_RUN) for name in names) for each in repeats)

    def _take(self, key: TrialKey, score: float | None) -> None:
        if key.harness == self.matched.harness:
            self.solved[key.task, key.repeat] = character(score)

    def _is_another(self) -> bool:
        """Whether what the server said of itself when it was probed is refused; the check says so in the end."""
        probe = probing.read(self.folder).get(self.endpoint)
        answering = self.matched.after.endpoint.model_copy(update={"served_as": probe.served if probe else ()})
        try:
            match(self.matched.before, self.matched.after.model_copy(update={"endpoint": answering}), self.asked)
        except ConfigError:
            return True
        return False


def under_way(config: StudyConfig, folder: Path, before: Snapshot, asked: Asked, matrix: bool) -> UnderWay:
    """A check of this study against a baseline, before any of its trials is run.

    `asked.harness` may be a name or a harness's file. With `matrix` the other harnesses of the study belong to it.

    Raises:
        ConfigError: the study or the baseline cannot be used, or they differ in something that is not accepted.
    """
    resolved = resolve(config)
    if len(resolved.endpoints) > 1:
        names = listed(resolved.endpoints, _SHOWN)
        raise ConfigError(
            f"{config.name}: has several endpoints ({names}), and a check is of one; leave out the others"
        )
    harness = _gated(resolved, before, asked)
    asked = replace(asked, harness=harness.name, cap=_cap(before, harness.name, asked))
    study = _study(resolved, harness, asked.cap, matrix)
    after = planned(record(study), study.endpoints[0])
    if matrix:
        match(before, _as_if_run(after), asked)  # what differs is said before anything is paid for
    return UnderWay(study, folder, match(before, after, asked), asked)


def _gated(resolved: Study, before: Snapshot, asked: Asked) -> Harness:
    """The gated harness: one of the study's own by its name, else a bundled one or a file."""
    wanted = asked.harness or before.canonical
    if wanted is None:
        names = listed([each.name for each in before.harnesses], _SHOWN)
        raise ConfigError(f"the baseline has no canonical harness: name the gated one with --harness ({names})")
    own = {harness.name: harness for harness in resolved.harnesses}
    if wanted not in own and wanted in {each.name for each in resolved.externals}:
        raise ConfigError(f"--harness: {wanted!r} is external: run the study, and check the folder of that run")
    harness = own.get(wanted) or load_harness(wanted)
    if before.harness(harness.name) is None:
        hint = nearest(harness.name, [each.name for each in before.harnesses])
        raise ConfigError(f"--harness: the baseline has no harness {harness.name!r}; {hint}")
    return harness


def _cap(before: Snapshot, name: str, asked: Asked) -> int:
    """The most repeats that are run: as asked for, never more than the baseline has, since each pair needs a trial."""
    gated = before.harness(name)
    return min(asked.cap, max(1, len(gated.solved) if gated else 0))


def _study(resolved: Study, harness: Harness, cap: int, matrix: bool) -> Study:
    """The study with the gated harness alone, or with all, and so many repeats of the gated one."""
    harnesses = resolved.harnesses if matrix else (harness,)
    if harness.name not in [each.name for each in harnesses]:
        harnesses = (*harnesses, harness)
    first = harnesses[0].name == harness.name
    repeats = max(cap, resolved.config.repeats) if matrix and not first else resolved.config.repeats
    plan = replace(resolved.plan, harnesses=harnesses) if matrix else Plan((harness,))
    return replace(
        resolved,
        config=resolved.config.model_copy(update={"repeats": repeats if matrix else cap}),
        plan=plan,
        canonical_repeats=cap if first else resolved.canonical_repeats,
        wires={each.name: wire_hash(requests_of(each)) for each in harnesses},
        externals=resolved.externals if matrix else (),
    )


def _as_if_run(after: Snapshot) -> Snapshot:
    """The snapshot as if every harness had been run, so that all of them are compared."""
    solved = (UNSOLVED * len(after.tasks),)
    run: list[SnapshotHarness] = [each.model_copy(update={"solved": solved}) for each in after.harnesses]
    return after.model_copy(update={"harnesses": tuple(run)})


def of_baseline(before: Snapshot, given: Mapping[str, Json]) -> StudyConfig:
    """The study that asks an endpoint the baseline's own tasks, as the baseline was run; `given` is laid over it.

    Tasks that are no longer there are left to the comparison, which names them.

    Raises:
        ConfigError: the tasks are of several suites or not here, or something that is given is wrong.
    """
    tasks = {**given.get("tasks", {})}
    tasks["suite"], names = _suite(before, tasks.get("suite"))
    tasks.setdefault("include", [escape(name) for name in names])
    known = before.endpoint
    settings = {key: value for key, value in known.settings.items() if key in EndpointConfig.model_fields}
    endpoint = {"name": known.name if known.name != REFERENCE else "served", "model": known.model, **settings}
    kind, _, base_image = (before.sandbox or "auto").partition(" on ")
    data = {
        "name": "check",
        "endpoints": [{**endpoint, **given.get("endpoint", {})}],
        "limits": {key: value for key, value in before.limits.items() if value is not None},
        "seed": before.seed,
        "sandbox": {"kind": kind, "base_image": base_image or None},
        **({"recovery": before.recovery} if before.recovery else {}),
        **{key: value for key, value in given.items() if key != "endpoint"},
        "tasks": tasks,
    }
    return parse(StudyConfig, data, "command line")


def _suite(before: Snapshot, given: str | None) -> tuple[str, list[str]]:
    """The suite that holds the baseline's tasks, and which of them are in it."""
    suites = sorted({task.suite for task in before.tasks})
    if given is None and (len(suites) > 1 or not suites[0]):
        raise ConfigError("the baseline does not name one suite: name the folder of its tasks with --suite")
    suite = given or suites[0]
    try:
        there = {task.name for task in load_suite(suite)}
    except ConfigError as error:
        if given is not None:
            raise
        raise ConfigError(f"the baseline's tasks are of {suite!r}: name that folder with --suite ({error})") from error
    names = [task.name for task in before.tasks if task.name in there]
    if not names:
        wanted = listed([task.name for task in before.tasks], _SHOWN)
        raise ConfigError(f"--suite: {suite} holds none of the baseline's tasks ({wanted})")
    return suite, names

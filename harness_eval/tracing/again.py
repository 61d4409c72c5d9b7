"""The study that a trace is, made of what a run's folder records."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from glob import escape
from pathlib import Path

from pydantic import BaseModel, Field

from harness_eval import store
from harness_eval.combinations import RULES, Rule
from harness_eval.config import parse
from harness_eval.design import Design, Plan
from harness_eval.dialogue import requests_of, wire_hash
from harness_eval.draws import draw
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.errors import ConfigError, listed, nearest
from harness_eval.family import load_family
from harness_eval.harness import Harness, make_harness
from harness_eval.ordering import Order
from harness_eval.planning import REFERENCE, Study, resolve
from harness_eval.study_file import EmbeddedConfig, StudyConfig, TasksConfig, select_tasks
from harness_eval.tracing.changes import Layout, lay_out
from harness_eval.types import Json, Limits

FOLDER = "trace"

_LONGEST_NAME = 74  # of a run, so that "-trace" still fits into the name of a study
_SEEDS = 2**53
_SHOWN = 8  # tasks named in one message


class _Named(BaseModel):
    name: str


class _Task(_Named):
    suite: str
    digest: str


class _Order(BaseModel):
    kind: Order = "interleaved"


class _Recorded(BaseModel):
    """What of a run's study.json decides its trace."""

    name: str
    created: str = ""
    seed: int
    endpoints: list[dict[str, Json]]
    tasks: list[_Task] = Field(min_length=1)
    harnesses: list[dict[str, Json]]
    canonical: str
    family: str | None = None
    repeats: int = Field(1, ge=1)
    sandbox: str
    base_image: str | None = None
    limits: Limits
    recovery: str = "content"
    order: _Order = _Order()


def place(run: Path, endpoints: Sequence[str], endpoint: str) -> Path:
    """The folder of the trace at one of a run's endpoints: `trace`, or one of its own in there where it has several."""
    if len(endpoints) == 1:
        return run / FOLDER
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", endpoint)[:40]
    digest = hashlib.sha256(endpoint.encode()).hexdigest()[:6]
    return run / FOLDER / (readable if readable == endpoint else f"{readable}.{digest}")


def begun(folder: Path) -> str | None:
    """The harness whose trace a folder holds; None where there is no trace yet.

    Raises:
        ConfigError: the folder holds something else.
    """
    if not (folder / store.STUDY).exists():
        return None
    about = store.read_study(folder).get(FOLDER)
    if not isinstance(about, Mapping) or not isinstance(about.get("harness"), str):
        raise ConfigError(f"{folder}: holds a run that is no trace; move it away")
    return str(about["harness"])


def layout_of(recorded: Mapping[str, Json], harness: str) -> Layout:
    """The layout for one harness of a recorded study.

    Raises:
        ConfigError: there is no such harness, or it or the canonical one cannot be built as it was.
    """
    records = {each["name"]: each for each in recorded["harnesses"]}
    if harness not in records:
        raise ConfigError(f"no harness {harness!r} in this run; {nearest(harness, records)}")
    usual, worst = (_rebuilt(records, name) for name in (str(recorded["canonical"]), harness))
    return lay_out(usual, worst, _rules(recorded.get("family")))


def _rules(family: str | None) -> list[Rule]:
    """The rules of all harnesses and, where it is still there, of the family that the run's were taken from."""
    try:
        return [*RULES, *(load_family(family).rules() if family else ())]
    except ConfigError:
        return list(RULES)


def _rebuilt(records: Mapping[str, Mapping[str, Json]], name: str) -> Harness:
    record = records.get(name)
    if record is None or not isinstance(record.get("spec"), Mapping) or not record["spec"]:
        raise ConfigError(f"harness {name!r}: the run holds no levels of it, so it cannot be taken apart")
    return make_harness(record["spec"], f"harness {name!r}")


def config_of(run: Path, endpoint: str, suite: str | None, **given: Json) -> StudyConfig:
    """A study as a run's folder records it, at one of its endpoints; `suite` is where its tasks are found.

    What a record does not hold (timeouts, retries, concurrency, budgets) is as `given`, or has its default.

    Raises:
        ConfigError: the folder holds no run whose trials could be run again.
    """
    study = store.read_study(run)
    if study.get("imported"):
        raise ConfigError(f"{run}: was imported, so that nothing of it can be run again and traced")
    recorded = parse(_Recorded, study, str(run / store.STUDY))
    known = {str(each.get("name")): each for each in recorded.endpoints}
    if endpoint not in known:
        raise ConfigError(f"{run}: no endpoint {endpoint!r} in this run; {nearest(endpoint, known)}")
    suites = sorted({task.suite for task in recorded.tasks})
    if suite is None and len(suites) != 1:
        raise ConfigError(f"{run}: its tasks are of several suites; name one folder with all of them with --suite")
    record = known[endpoint]
    at: dict[str, Json] = {"endpoints": [_endpoint(record)]}
    if record.get("base_url") == "embedded" and endpoint == REFERENCE:
        at = {"reference": {key: record[key] for key in EmbeddedConfig.model_fields if key in record}}
    kept = {"limits": recorded.limits, "recovery": recorded.recovery, "seed": recorded.seed}
    kept |= {"order": recorded.order.kind}
    box = {"kind": recorded.sandbox, "base_image": recorded.base_image}
    tasks = {"suite": suite or suites[0]}
    made = {"name": recorded.name, "tasks": tasks, "sandbox": box, **kept, **at, **given}
    return parse(StudyConfig, made, str(run))


def _endpoint(given: Mapping[str, Json]) -> dict[str, Json]:
    kept = {key: value for key, value in given.items() if key in EndpointConfig.model_fields}
    return kept | ({"base_url": ""} if kept.get("kind") == "local-model" else {})


def prepare(run: Path, endpoint: str, harness: str, base: StudyConfig) -> Study:
    """The study that traces the drop to `harness` at an endpoint; `base` is the run's own study, or as recorded.

    Of `base` only what does not decide a trial is kept (budgets, concurrency, timeouts), and where the tasks are.

    Raises:
        ConfigError: nothing differs from the canonical harness, or tasks or harnesses are not what they were.
    """
    study = store.read_study(run)
    recorded = parse(_Recorded, study, str(run / store.STUDY))
    if study.get("trace"):
        raise ConfigError(f"{run}: is itself a trace; trace the run that it belongs to, with --harness if need be")
    layout = layout_of(study, harness)
    if not layout.changes:
        raise ConfigError(f"harness {harness!r} is the canonical one: there is no drop between them to trace")
    wires = {each.name: wire_hash(requests_of(each)) for each in layout.harnesses}
    _check_wires(recorded, wires)
    config = _config(recorded, endpoint, base)
    _check_tasks(recorded, config)
    resolved = resolve(config)
    about = {
        "of": recorded.name,
        "created": recorded.created,
        "endpoint": endpoint,
        "harness": harness,
        "canonical": recorded.canonical,
        "changes": [asdict(change) for change in layout.changes],
    }
    return replace(
        resolved,
        plan=Plan(layout.harnesses),
        canonical_repeats=config.repeats,
        notes=(*resolved.notes, *_notes(recorded, harness, layout)),
        wires=wires,
        trace=about,
    )


def _config(recorded: _Recorded, endpoint: str, base: StudyConfig) -> StudyConfig:
    """The run's study with its tasks, at one endpoint, under a seed of its own."""
    real = any(each.name == endpoint and not each.scripted for each in base.endpoints)
    if real and recorded.sandbox == "local" and not base.allow_local:
        raise ConfigError(
            "the run was in the local sandbox, which protects this machine from nothing that a model does; "
            "say --allow-local to go on there"
        )
    kept = {
        "name": f"{recorded.name[:_LONGEST_NAME]}-trace",
        "endpoints": [each for each in base.endpoints if each.name == endpoint],
        "reference": base.reference if endpoint == REFERENCE else None,
        "tasks": TasksConfig(suite=base.tasks.suite, include=[escape(task.name) for task in recorded.tasks]),
        "family": None,
        "design": Design(),
        "harnesses": [],
        "repeats": recorded.repeats,
        "canonical_repeats": None,
        "seed": int(_SEEDS * draw(recorded.seed, FOLDER, endpoint)),
        "sandbox": base.sandbox.model_copy(update={"kind": recorded.sandbox}),
        "trace": False,
    }
    return base.model_copy(update=kept)


def _check_tasks(recorded: _Recorded, config: StudyConfig) -> None:
    try:
        found = {task.name: task.digest for task in select_tasks(config.tasks)}
    except ConfigError as error:
        raise ConfigError(f"{error}; --suite names the folder of the run's tasks") from None
    changed = [task.name for task in recorded.tasks if found.get(task.name) != task.digest]
    if changed:
        told = listed(changed, _SHOWN)
        raise ConfigError(f"these tasks are not what they were in the run, so its drop cannot be traced: {told}")


def _check_wires(recorded: _Recorded, wires: Mapping[str, str]) -> None:
    was = {str(each.get("name")): each.get("wire") for each in recorded.harnesses}
    for name, wire in wires.items():
        if was.get(name) not in (None, wire):
            raise ConfigError(f"harness {name!r}: what a model receives from it has changed since the run")


def _notes(recorded: _Recorded, harness: str, layout: Layout) -> list[str]:
    """What this run is, and which axes are one change."""
    about = (
        f"a trace of the worst drop of {recorded.name}, from {recorded.canonical} to {harness}: fresh repeats of "
        f"{len(layout.harnesses)} harnesses; no trial of that run is used, since the worst was chosen on them"
    )
    tied = [f"{' + '.join(each.axes)} change together: {each.reason}" for each in layout.changes if each.reason]
    return [about, *tied]


def most_harnesses(study: Study) -> int:
    """How many harnesses the trace of a study's worst drop has at most; 0 where nothing differs from the canonical."""
    first, *others = study.harnesses
    rules = _rules(study.config.family)
    return max((len(lay_out(first, each, rules).harnesses) for each in others), default=0)

"""A study as its YAML file says it: every key with its meaning, its default and its check."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from harness_eval.bundled import folder
from harness_eval.config import parse, read_yaml
from harness_eval.design import Design
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.errors import ConfigError, nearest
from harness_eval.ordering import Order
from harness_eval.task import Task, load_suite
from harness_eval.types import Json, Limits

DEMO = folder("harnesses") / "studies" / "demo.yaml"
SERVED = folder("harnesses") / "studies" / "served.yaml"
STARTER = folder("harnesses") / "studies" / "starter.yaml"

_MOST_REPEATS = 1000
_MOST = {"steps": 10_000, "tokens": 10**9, "seconds": 7 * 86_400}  # beyond these a number is a slip, not a limit


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class EmbeddedConfig(_Section):
    """The embedded reference endpoint, a scripted agent and no language model.

    `couplings` and `faults` (misbehaviour of the server itself) are strengths 0..1 by name.
    """

    couplings: dict[str, float] = {}
    faults: dict[str, float] = {}


class TasksConfig(_Section):
    """Which tasks: a bundled suite, a folder or the mapping file of a data set, and globs over task names; `limit`
    keeps the first so many.
    """

    suite: str = "core"
    include: list[str] = ["*"]
    exclude: list[str] = []
    limit: PositiveInt | None = None


class SandboxConfig(_Section):
    """Where commands run; `auto` is bubblewrap where it works, else local. `base_image` is what Docker builds on."""

    kind: Literal["auto", "docker", "bubblewrap", "local"] = "auto"
    base_image: str | None = None


class ExecutorConfig(_Section):
    """Where trials run: on this machine, or on the nodes of the Ray cluster whose head is at `address` (HOST:PORT).

    `auto` is the cluster of which this machine is a node.
    """

    kind: Literal["local", "ray"] = "local"
    address: str = "auto"

    @model_validator(mode="after")
    def _address_belongs_to_ray(self) -> ExecutorConfig:
        if self.kind == "local" and "address" in self.model_fields_set:
            raise ValueError("an address belongs to the executor ray")
        return self


class Budgets(_Section):
    """What the run may use: tokens and money (in the price's currency) over all invocations, seconds of this one.

    No trial is started once one of them is used up; those under way are finished.
    """

    tokens: int | None = Field(default=None, gt=0, le=10**12)
    money: float | None = Field(default=None, gt=0, le=10**7)
    seconds: float | None = Field(default=None, gt=0, le=10**8)


class StudyConfig(_Section):
    """One study. Harnesses come from `family` through `design`, and by name or file from `harnesses`; the canonical
    harness is always among them. `canonical_repeats` (default: `repeats`) lets it be measured more precisely.

    `concurrency` overrides each endpoint's own. Above `lost_limit`, the share of lost trials, a run is incomplete.
    `allow_local` admits the local sandbox, which protects from nothing, for an endpoint that is a real model.
    `probe` asks each endpoint a few things first. `recovery` is where a call that leaked as text is looked for when the
    trial has ended on it: the second reading, reported beside the strict one, goes on from there. `trace` takes the
    worst harness apart once the run is complete. `allocate: hunt` drops the better half of the harnesses after each
    block of tasks, to find the worst one with fewer trials. `order` is that of the trials:
    `prefix` uses a server's prefix cache. `executor` is where trials run.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)
    endpoints: list[EndpointConfig] = []
    reference: EmbeddedConfig | None = None
    tasks: TasksConfig = TasksConfig()
    family: str | None = None
    design: Design = Design()
    harnesses: list[str] = []
    repeats: PositiveInt = Field(default=1, le=_MOST_REPEATS)
    canonical_repeats: PositiveInt | None = Field(default=None, le=_MOST_REPEATS)
    seed: int = Field(default=0, ge=0, lt=2**63)
    sandbox: SandboxConfig = SandboxConfig()
    limits: Limits = Limits()
    budgets: Budgets = Budgets()
    order: Order = "interleaved"
    concurrency: PositiveInt | None = None
    lost_limit: NonNegativeFloat = Field(default=0.1, le=1.0)
    allow_local: bool = False
    probe: bool = True
    recovery: Literal["off", "content", "reasoning"] = "content"
    trace: bool = False
    allocate: Literal["uniform", "hunt"] = "uniform"
    executor: ExecutorConfig = ExecutorConfig()

    @field_validator("sandbox", "design", "executor", mode="before")
    @classmethod
    def _kind_alone(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value

    @field_validator("limits")
    @classmethod
    def _are_positive(cls, value: Limits) -> Limits:
        if min(value.steps, value.tokens, value.seconds) <= 0:
            raise ValueError("steps, tokens and seconds must all be above 0")
        for name, most in _MOST.items():
            if not getattr(value, name) <= most:  # a time that is no number is not below it either
                raise ValueError(f"{name} must be at most {most:,}")
        return value

    @field_validator("endpoints")
    @classmethod
    def _names_differ(cls, value: list[EndpointConfig]) -> list[EndpointConfig]:
        counted = Counter(endpoint.name for endpoint in value)
        if twice := [name for name, number in counted.items() if number > 1 or name == "reference"]:
            raise ValueError(f"the name {twice[0]!r} is taken; each endpoint needs its own")
        return value

    @model_validator(mode="after")
    def _design_has_a_family(self) -> StudyConfig:
        if "design" in self.model_fields_set and self.family is None and self.design.kind != "canonical":
            raise ValueError(f"design: {self.design.kind} chooses from a family, so `family` is needed too")
        return self


def load_study(path: Path, overrides: dict[str, Json] | None = None) -> StudyConfig:
    """The study of a file, with `overrides` (nested like the file) laid over it.

    Paths in the file are meant relative to the file's own folder. The override `endpoint` changes the study's only
    endpoint; where there are none or several, and for the embedded one, it stands for all of them instead.

    Raises:
        ConfigError: names the file, the key and the nearest valid choice.
    """
    data = read_yaml(path)
    data = {"name": path.stem, **data}
    _anchor(data, path.parent)
    laid = dict(overrides or {})
    if laid.keys() & {"family", "design"}:
        data.pop("design", None)  # it was laid out for the file's own family
    # What belongs to another suite or kind goes with it: names of tasks, a base image, an address.
    for section, key in (("tasks", "suite"), ("sandbox", "kind"), ("executor", "kind")):
        if key in laid.get(section, {}):
            data.pop(section, None)
    _replace_endpoint(data, laid.pop("endpoint", {}))
    data = _overlay(data, laid)
    config = parse(StudyConfig, data, str(path))
    if not config.endpoints and config.reference is None:
        raise ConfigError(f"{path}: endpoints: is required (or `reference: {{}}` for the embedded reference endpoint)")
    return config


def _replace_endpoint(data: dict[str, Json], given: dict[str, Json]) -> None:
    if not given:
        return
    present = data.get("endpoints")
    if isinstance(present, list) and len(present) == 1 and isinstance(present[0], dict):
        data["endpoints"] = [{**present[0], **given}]
        return
    name = str(given.get("model", "model")).rpartition("/")[2]
    data["endpoints"] = [{"name": name, **given}]
    data.pop("reference", None)


def _overlay(data: Json, overrides: Json) -> Json:
    if not (isinstance(data, dict) and isinstance(overrides, dict)):
        return overrides
    return {**data, **{key: _overlay(data.get(key), value) for key, value in overrides.items()}}


def _anchor(data: dict[str, Json], base: Path) -> None:
    """Make paths of files beside the study absolute; whatever is not there is left as the name it may be."""

    def anchored(value: Json) -> Json:
        beside = (
            isinstance(value, str) and ("/" in value or value.endswith((".yaml", ".yml"))) and (base / value).exists()
        )
        return str((base / value).resolve()) if beside else value

    if isinstance(data.get("tasks"), dict) and "suite" in data["tasks"]:
        data["tasks"]["suite"] = anchored(data["tasks"]["suite"])
    if "family" in data:
        data["family"] = anchored(data["family"])
    if isinstance(data.get("harnesses"), list):
        data["harnesses"] = [anchored(value) for value in data["harnesses"]]


def select_tasks(config: TasksConfig) -> tuple[Task, ...]:
    """The tasks that are meant, by name.

    Raises:
        ConfigError: the suite is wrong, or a pattern matches none of its tasks.
    """
    tasks = load_suite(config.suite)
    names = [task.name for task in tasks]
    for key, patterns in (("include", config.include), ("exclude", config.exclude)):
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise ConfigError(
                    f"tasks.{key}: {pattern!r} matches no task of {config.suite}; {nearest(pattern, names)}"
                )
    chosen = [
        task
        for task in tasks
        if any(fnmatchcase(task.name, pattern) for pattern in config.include)
        and not any(fnmatchcase(task.name, pattern) for pattern in config.exclude)
    ]
    if not chosen:
        raise ConfigError(f"tasks: nothing is left of {config.suite} after tasks.exclude")
    return tuple(chosen[: config.limit])

"""Flags that lay themselves over a study's keys, and how: each in the same place as in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from harness_eval.endpoints.config import LOCAL_MODEL
from harness_eval.errors import ConfigError
from harness_eval.reference.process import parse_couplings, parse_faults
from harness_eval.study_file import DEMO, SERVED, STARTER, StudyConfig, load_study
from harness_eval.types import Json

StudyFile: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="[STUDY.yaml]", help="The study; without it, the demo.", show_default=False)
]
Seed: TypeAlias = Annotated[int | None, typer.Option(help="Seed of the matrix and of all trials.")]
Repeats: TypeAlias = Annotated[int | None, typer.Option(help="Trials of each task with each harness.")]
Suite: TypeAlias = Annotated[
    str | None, typer.Option(help="A bundled suite or task, a folder of tasks, or a data set's mapping file.")
]
Tasks: TypeAlias = Annotated[list[str] | None, typer.Option(help="Names or globs of tasks; may stand several times.")]
Exclude: TypeAlias = Annotated[list[str] | None, typer.Option(help="Names or globs of tasks to leave out.")]
Limit: TypeAlias = Annotated[int | None, typer.Option(help="At most so many tasks.")]
Family: TypeAlias = Annotated[str | None, typer.Option(help="A bundled family of harnesses, or its file.")]
DesignFlag: TypeAlias = Annotated[
    str | None, typer.Option("--design", metavar="KIND[:SIZE]", help="How to draw on it.")
]
Harnesses: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--harness", help="A harness by name or file, beside the canonical one; may stand several times."),
]
SandboxKind: TypeAlias = Annotated[str | None, typer.Option("--sandbox", help="auto, docker, bubblewrap or local.")]
BaseImage: TypeAlias = Annotated[
    str | None, typer.Option(help="What Docker builds the tasks on that bring no image of their own.")
]
AllowLocal: TypeAlias = Annotated[
    bool | None, typer.Option("--allow-local", help="Accept the local sandbox, which protects from nothing.")
]
Concurrency: TypeAlias = Annotated[int | None, typer.Option(help="Trials at once on each endpoint.")]
AllocateFlag: TypeAlias = Annotated[
    str | None, typer.Option("--allocate", help="uniform, or hunt: drop the better half after each block of tasks.")
]
OrderFlag: TypeAlias = Annotated[
    str | None, typer.Option("--order", help="Of the trials: interleaved, or prefix for a server's prefix cache.")
]
ExecutorKind: TypeAlias = Annotated[
    str | None, typer.Option("--executor", help="Where trials run: local, or ray for the nodes of a Ray cluster.")
]
RayAddress: TypeAlias = Annotated[
    str | None, typer.Option(help="HOST:PORT of the Ray cluster's head; without it, the cluster of this machine.")
]
MaxSteps: TypeAlias = Annotated[int | None, typer.Option(help="Turns of one trial.")]
Couplings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--coupling", metavar="NAME[=STRENGTH]", help="Plant a coupling in the reference endpoint; see `serve --list`."
    ),
]
Faults: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="NAME[=STRENGTH]",
        help="Let the reference endpoint misbehave; `serve --list` names the ways.",
    ),
]
Probe: TypeAlias = Annotated[
    bool | None, typer.Option("--probe/--no-probe", help="Ask each endpoint a few things first.")
]
Recovery: TypeAlias = Annotated[
    str | None, typer.Option(help="Where to look for a leaked call on which a trial ended: content, reasoning or off.")
]
Trace: TypeAlias = Annotated[
    bool | None, typer.Option("--trace/--no-trace", help="Take the worst harness apart at the end of the run.")
]
MaxCost: TypeAlias = Annotated[float | None, typer.Option(help="Dollars after which no further trial is started.")]
MaxTokens: TypeAlias = Annotated[int | None, typer.Option(help="Tokens after which no further trial is started.")]
BaseUrl: TypeAlias = Annotated[str | None, typer.Option(help="An OpenAI-compatible server, such as http://host/v1.")]
Model: TypeAlias = Annotated[str | None, typer.Option(help="The model's name at that server.")]
ApiKeyEnv: TypeAlias = Annotated[str | None, typer.Option(help="The environment variable that holds the key.")]


LocalModel: TypeAlias = Annotated[
    bool | None, typer.Option("--local-model", help="A small real model on this machine; alone, the starter study.")
]
ProfileName: TypeAlias = Annotated[str | None, typer.Option("--profile", help="What is peculiar about that server.")]


def refuse_beyond(flag: str, value: float, limit: float) -> None:
    """Refuse a share that is not above 0 and below `limit`.

    Raises:
        ConfigError: it is not; of a margin with how points are written.
    """
    if not 0 < value < limit:
        hint = " (0.10 are 10 points)" if flag.endswith("margin") else ""
        raise ConfigError(f"{flag}: must be above 0 and below {limit:g}, not {value:g}{hint}")


def given(parameters: Mapping[str, Any]) -> dict[str, Json]:
    """Those of a command's parameters that are flags over a study's keys."""
    return {name: value for name, value in parameters.items() if name in PLACES}


def laid_out(flags: Mapping[str, Json]) -> dict[str, Json]:
    """Flags, named as `PLACES` has them, as the keys of a study that they stand for, nested like its file."""
    overrides: dict[str, Json] = {}
    for flag, value in flags.items():
        if value is None or value == []:
            continue
        *sections, key = PLACES[flag].split(".")
        section = overrides
        for name in sections:
            section = section.setdefault(name, {})
        section[key] = _READ[flag](value) if flag in _READ else value
    return overrides


def study_from(path: Path | None, **flags: Json) -> StudyConfig:
    """The study of a file with the flags laid over it; flags are named as `PLACES` has them.

    Without a file it is the demo; where flags name a server, the bundled tasks under the family standard; and for the
    local model the starter study.

    Raises:
        ConfigError: the file or a flag is wrong.
    """
    overrides = laid_out(flags if path is not None else {**flags, "local_model": None})
    bundled = SERVED if flags.get("base_url") else DEMO
    if flags.get("local_model"):
        if "endpoint" in overrides:
            raise ConfigError("--local-model stands for the endpoint, so no flag can name another one")
        bundled = STARTER
        overrides.setdefault("reference", None)
    if path is None and "harnesses" in overrides and not overrides.keys() & {"family", "design"}:
        overrides["family"] = None  # who names harnesses means these, not a family besides
    try:
        return load_study(path or bundled, overrides)
    except ConfigError as error:
        raise ConfigError(str(error).replace(str(bundled), "command line")) from None


PLACES = {
    "seed": "seed",
    "repeats": "repeats",
    "suite": "tasks.suite",
    "tasks": "tasks.include",
    "exclude": "tasks.exclude",
    "limit": "tasks.limit",
    "family": "family",
    "design": "design",
    "harness": "harnesses",
    "sandbox": "sandbox.kind",
    "base_image": "sandbox.base_image",
    "allow_local": "allow_local",
    "concurrency": "concurrency",
    "order": "order",
    "allocate": "allocate",
    "executor": "executor.kind",
    "ray_address": "executor.address",
    "max_steps": "limits.steps",
    "coupling": "reference.couplings",
    "fault": "reference.faults",
    "probe": "probe",
    "max_cost": "budgets.money",
    "max_tokens": "budgets.tokens",
    "recovery": "recovery",
    "trace": "trace",
    "local_model": "endpoints",
    "base_url": "endpoint.base_url",
    "model": "endpoint.model",
    "api_key_env": "endpoint.api_key_env",
    "profile": "endpoint.profile",
}


def _read_design(given: str) -> dict[str, Json]:
    kind, _, size = given.partition(":")
    if size and not (size.isascii() and size.isdigit() and len(size) < 10):
        raise ConfigError(f"--design {given[:40]}: the size must be a whole number, not {size[:20]!r}")
    return {"kind": kind, **({"size": int(size)} if size else {})}


_LOCAL = {
    "name": "smollm2",
    "kind": "local-model",
    "model": LOCAL_MODEL,
    "max_tokens": 256,
    "concurrency": 1,
    "stream": False,
}

_READ: dict[str, Callable[[Json], Json]] = {
    "local_model": lambda _: [_LOCAL],
    "coupling": parse_couplings,
    "fault": parse_faults,
    "design": _read_design,
}

"""`harness-eval probe`: a few calls that tell what an endpoint can do, before trials are paid for."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Annotated, TypeAlias

import anyio
import typer

from harness_eval import study
from harness_eval.cli import options
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.endpoints.probe.check import number_of
from harness_eval.errors import EndpointDown
from harness_eval.probing import Probe, by_reason
from harness_eval.probing import probe as probed
from harness_eval.study import Study
from harness_eval.types import Json

app = typer.Typer(add_completion=False)

_IMPOSSIBLE, _DOWN = 1, 3
_Concurrency: TypeAlias = Annotated[
    int | None, typer.Option(help="How many requests at once are compared with one alone, 8 at most.")
]


@app.command()
def probe(
    file: options.StudyFile = None,
    local_model: options.LocalModel = None,
    base_url: options.BaseUrl = None,
    model: options.Model = None,
    profile: options.ProfileName = None,
    api_key_env: options.ApiKeyEnv = None,
    family: options.Family = None,
    design: options.DesignFlag = None,
    harness: options.Harnesses = None,
    concurrency: _Concurrency = None,
    coupling: options.Couplings = None,
    fault: options.Faults = None,
    seed: options.Seed = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask an endpoint a few things, and whether it accepts what each harness of a study would send.

    Without a study the harnesses are those of the demo or, for a server that is named, of the family standard. It takes
    at most 48 calls and one for each distinct shape of the harnesses' requests, most of them of a few tokens.

    Exit code 1: trials are impossible, since no harness can run here; 3: the endpoint cannot be used.
    """
    flags = options.given(locals())
    # No command of a model is run here, so that any sandbox and any task will do.
    flags |= {"sandbox": "local", "allow_local": True, "suite": "core", "limit": 1}
    resolved = study.resolve(options.study_from(file, **flags))
    found, down = anyio.run(_probes, resolved)
    if as_json:
        told: dict[str, Json] = {name: {"model": None, "down": why} for name, why in down.items()}
        print_json({"endpoints": {**found, **told}})
    else:
        for name, each in found.items():
            _print(name, each, resolved)
    for name, why in down.items():
        say(f"endpoint {name} cannot be used: {why.removeprefix(f'{name}: ')}")
    impossible = any(_impossible(each, resolved) for each in found.values())
    raise typer.Exit(_DOWN if down else _IMPOSSIBLE if impossible else 0)


async def _probes(resolved: Study) -> tuple[dict[str, Probe], dict[str, str]]:
    """The probe of each endpoint, and which of them are down and why."""
    found: dict[str, Probe] = {}
    down: dict[str, str] = {}
    async with AsyncExitStack() as opened:
        for name in resolved.endpoints:
            settings = await study.reach(resolved, name, opened)
            try:
                found[name] = await probed(settings, resolved.harnesses)
            except EndpointDown as error:
                down[name] = str(error)
                continue
            if not found[name].settled:
                down[name] = found.pop(name).checks[0].detail  # not one reply came
    return found, down


def _impossible(each: Probe, resolved: Study) -> bool:
    return len(each.unsupported) == len(resolved.harnesses)  # calls as text need no native ones


def _print(name: str, each: Probe, resolved: Study) -> None:
    print(name if each.model in ("", name) else f"{name}: {each.model}")
    print_table(
        ("check", "as wanted", "label", "what was seen"),
        [(c.check, c.status, c.label or None, c.detail) for c in each.checks],
    )
    for void in each.void:
        print(void.reason)
    if each.unsupported:
        print(
            f"{len(each.unsupported)} of {number_of(len(resolved.harnesses), 'harness', 'harnesses')} cannot run here:"
        )
    for line in by_reason(each.unsupported):
        print(f"  {line}")
    price = "no price is known" if each.cost is None else f"${each.cost:.4f}"
    tokens = f"{each.usage.prompt:,} prompt and {each.usage.completion:,} completion tokens"
    print(f"{number_of(each.calls, 'call')} of at most {each.bound}, {tokens}, {price}")

"""`harness-eval serve`: the reference endpoint, or a gateway in front of any, for other harnesses to talk to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from inspect import getdoc
from typing import Annotated, Any

import anyio
import typer

from harness_eval.cli import options, serve_gateway
from harness_eval.cli.options import Couplings, Faults
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.errors import ConfigError
from harness_eval.gateway.door import Door
from harness_eval.gateway.serving import HOST
from harness_eval.reference.coupling import COUPLINGS
from harness_eval.reference.faults import FAULTS
from harness_eval.reference.process import foreground, parse_couplings, parse_faults
from harness_eval.reference.server import ReferenceConfig
from harness_eval.reference.wire import MODEL
from harness_eval.report.wording import count
from harness_eval.task import load_suite
from harness_eval.types import Json

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    file: serve_gateway.StudyFile = None,
    suite: Annotated[str, typer.Option(help="A bundled suite, or a folder of tasks with plans.")] = "core",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 0,
    coupling: Couplings = None,
    fault: Faults = None,
    seed: Annotated[int, typer.Option(help="Seed of the agent, for requests that bring none.")] = 0,
    gateway: serve_gateway.Gateway = False,
    wire_log: serve_gateway.WireLog = None,
    endpoint: serve_gateway.Which = None,
    base_url: options.BaseUrl = None,
    model: options.Model = None,
    profile: options.ProfileName = None,
    api_key_env: options.ApiKeyEnv = None,
    listed: Annotated[bool, typer.Option("--list", help="Only print all couplings and faults.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run the reference endpoint until Ctrl-C: a scripted agent, no language model, that knows one suite's tasks."""
    if listed:
        _print_list(as_json)
        return
    flags = {"base_url": base_url, "model": model, "profile": profile, "api_key_env": api_key_env}
    if not gateway and any((file, wire_log, endpoint, *flags.values())):
        raise ConfigError("a study, its endpoint, a server and --wire-log belong to --gateway")
    if any((file, *flags.values())) and any((coupling, fault, seed, suite != "core")):
        raise ConfigError("--suite, --coupling, --fault and --seed are of the scripted agent: it is not what is asked")
    _check(host, gateway)
    folders = tuple(task.folder for task in load_suite(suite) if task.unsupported is None)
    config = ReferenceConfig(folders, parse_couplings(coupling or []), parse_faults(fault or []), seed, host, port)
    if gateway:
        front = serve_gateway.Front(config, serve_gateway.asked(file, flags), endpoint, wire_log)
        _until_interrupted(serve_gateway.run, front, partial(_announce_gateway, as_json))
    else:
        _until_interrupted(foreground, config, partial(_announce, config, as_json))


def _check(host: str, gateway: bool) -> None:
    if gateway and host != HOST:
        raise ConfigError(f"--host: a gateway listens on {HOST} only")
    if not host.strip():
        raise ConfigError("--host is empty; 127.0.0.1 is this machine alone, 0.0.0.0 is everybody who reaches it")


def _until_interrupted(serving: Callable[..., Awaitable[None]], *given: Any) -> None:
    try:
        anyio.run(serving, *given)
    except KeyboardInterrupt:
        say("ended")


def _announce(config: ReferenceConfig, as_json: bool, base_url: str) -> None:
    if as_json:
        served = {"base_url": base_url, "model": MODEL, "tasks": len(config.tasks)}
        print_json({**served, "couplings": dict(config.couplings), "faults": dict(config.faults)})
    else:
        print(base_url, flush=True)
    plays = f"a scripted agent and no language model, plays {count(len(config.tasks), 'task')}"
    say(f"the model {MODEL}, {plays}; Ctrl-C ends it")


def _announce_gateway(as_json: bool, door: Door, name: str) -> None:
    if as_json:
        print_json({"base_url": door.base_url, "key": door.key, "endpoint": name, "model": door.model})
    else:
        print(f"{door.base_url}\n{door.key}", flush=True)
    say(f"a gateway in front of {name}, the model {door.model}; the key is its own; Ctrl-C ends it")


def _print_list(as_json: bool) -> None:
    known = {"couplings": _couplings(), "faults": _faults()}
    if as_json:
        print_json(known)
        return
    print("Couplings (the bare name has strength 1, the share of trials that it spoils):\n")
    print_table(
        ("coupling", "acts on", "what it does"), [_cells(row, ("name", "hits", "about")) for row in _couplings()]
    )
    print("\nFaults (the strength is the share of requests they act on):\n")
    columns = ("name", "usual", "again", "shows", "about")
    print_table(
        ("fault", "bare name", "a retry", "shows as", "what it does"), [_cells(row, columns) for row in _faults()]
    )


def _couplings() -> list[dict[str, Json]]:
    return [
        {"name": name, "hits": {axis: list(levels) for axis, levels in kind.hits.items()}, "about": getdoc(kind)}
        for name, kind in sorted(COUPLINGS.items())
    ]


def _faults() -> list[dict[str, Json]]:
    return [
        {
            "name": name,
            "usual": kind.usual,
            "transient": kind.transient,
            "again": "may pass" if kind.transient else "meets it again",
            "shows": list(kind.shows),
            "owner": kind.owner(),
            "about": getdoc(kind),
        }
        for name, kind in sorted(FAULTS.items())
    ]


def _cells(row: dict[str, Json], columns: tuple[str, ...]) -> list[str]:
    """The values as one line each."""
    values = (row[column] for column in columns)
    return [", ".join(value) if isinstance(value, list | dict) else " ".join(str(value).split()) for value in values]

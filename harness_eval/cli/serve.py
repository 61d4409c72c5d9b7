"""`harness-eval serve`: the reference endpoint on its own, for other harnesses to talk to."""

from __future__ import annotations

from inspect import getdoc
from typing import Annotated

import anyio
import typer

from harness_eval.cli.options import Couplings, Faults
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.errors import ConfigError
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
    suite: Annotated[str, typer.Option(help="A bundled suite, or a folder of tasks with plans.")] = "core",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 0,
    coupling: Couplings = None,
    fault: Faults = None,
    seed: Annotated[int, typer.Option(help="Seed of the agent, for requests that bring none.")] = 0,
    listed: Annotated[bool, typer.Option("--list", help="Only print all couplings and faults.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run the reference endpoint until Ctrl-C: a scripted agent, no language model, that knows one suite's tasks."""
    if listed:
        _print_list(as_json)
        return
    if not host.strip():
        raise ConfigError("--host is empty; 127.0.0.1 is this machine alone, 0.0.0.0 is everybody who reaches it")
    folders = tuple(task.folder for task in load_suite(suite) if task.unsupported is None)
    planted, faults = parse_couplings(coupling or []), parse_faults(fault or [])
    config = ReferenceConfig(folders, planted, faults, seed, host, port)

    def announce(base_url: str) -> None:
        if as_json:
            served = {"base_url": base_url, "model": MODEL, "tasks": len(folders)}
            print_json({**served, "couplings": dict(config.couplings), "faults": dict(config.faults)})
        else:
            print(base_url, flush=True)
        plays = f"a scripted agent and no language model, plays {count(len(folders), 'task')}"
        say(f"the model {MODEL}, {plays}; Ctrl-C ends it")

    try:
        anyio.run(foreground, config, announce)
    except KeyboardInterrupt:
        say("ended")


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

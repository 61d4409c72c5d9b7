"""`harness-eval serve`: the reference endpoint on its own, for other harnesses to talk to."""

from __future__ import annotations

from typing import Annotated

import anyio
import typer

from harness_eval.cli.options import Couplings, Faults
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.reference.process import foreground, parse_couplings
from harness_eval.reference.server import ReferenceConfig
from harness_eval.task import load_suite

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    suite: Annotated[str, typer.Option(help="A bundled suite, or a folder of tasks with plans.")] = "core",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 0,
    coupling: Couplings = None,
    fault: Faults = None,
    seed: Annotated[int, typer.Option(help="Seed of the agent, for requests that bring none.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Run the reference endpoint until Ctrl-C: a scripted agent, no language model, that knows one suite's tasks."""
    folders = tuple(task.folder for task in load_suite(suite))
    planted = parse_couplings(coupling or [])
    config = ReferenceConfig(folders, planted, parse_couplings(fault or []), seed, host, port)

    def announce(base_url: str) -> None:
        if as_json:
            print_json({"base_url": base_url, "tasks": len(folders), "couplings": dict(config.couplings)})
        else:
            print(base_url, flush=True)
        say(f"a scripted agent and no language model serves {len(folders)} tasks; Ctrl-C ends it")

    try:
        anyio.run(foreground, config, announce)
    except KeyboardInterrupt:
        say("ended")

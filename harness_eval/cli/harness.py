"""`harness-eval harness`: list, show and compare harnesses."""

from __future__ import annotations

from typing import Annotated

import typer

from harness_eval import recording
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.dialogue import requests_of, wire_hash, wire_text
from harness_eval.harness import Harness, load_harness, named_harnesses
from harness_eval.types import Json, Request

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List, show and compare harnesses.")
_Name = Annotated[str, typer.Argument(metavar="HARNESS", help="A name from the list, or the path of a YAML file.")]


@app.command("list")
def list_all(as_json: JsonFlag = False) -> None:
    """List the harnesses that travel with the package."""
    harnesses = [load_harness(name) for name in named_harnesses()]
    if as_json:
        print_json({"harnesses": [_summary(harness) for harness in harnesses]})
        return
    print_table(("name", "version", "id", "about"), ((h.name, h.version, h.id, h.about) for h in harnesses))


@app.command()
def show(
    name: _Name,
    dialogue: Annotated[bool, typer.Option("--dialogue", help="Print all requests of the fixed dialogue.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show a harness: its levels, system prompt and tools, and the first request of a fixed dialogue."""
    harness = load_harness(name)
    requests = requests_of(harness)
    if as_json:
        sent = [_readable(request) for request in (requests if dialogue else requests[:1])]
        seen = {"system": harness.system, "tools": [tool.name for tool in harness.tools]}
        print_json({**_summary(harness), **seen, "wire_hash": wire_hash(requests), "requests": sent})
    elif dialogue:
        print(wire_text(requests), end="")
    else:
        print(f"{harness.name}, version {harness.version}, id {harness.id}\n{harness.about}\n")
        print_table(("axis", "level"), harness.labels.items())
        print(f"\nsystem prompt\n{'-' * 13}\n{harness.system}\n\nfirst request\n{'-' * 13}")
        print(recording.dump(_readable(requests[0]), pretty=True).decode())


def _readable(request: Request) -> dict[str, Json]:
    if request.wire == "completions":
        return {"wire": request.wire, "prompt": request.prompt, "stop": request.stop}
    return {"wire": request.wire, "messages": request.messages, "tools": request.tools, "stop": request.stop}


@app.command()
def diff(first: _Name, second: _Name, as_json: JsonFlag = False) -> None:
    """Show the axes on which two harnesses differ."""
    one, other = load_harness(first), load_harness(second)
    axes = [axis for axis in one.labels if one.levels[axis] != other.levels[axis]]
    if as_json:
        differing = [{"axis": axis, "first": one.labels[axis], "second": other.labels[axis]} for axis in axes]
        print_json({"first": one.id, "second": other.id, "differ": differing})
    elif axes:
        print_table(("axis", one.name, other.name), ((axis, one.labels[axis], other.labels[axis]) for axis in axes))
    else:
        say(f"{one.name} and {other.name} are the same harness")


def _summary(harness: Harness) -> dict[str, Json]:
    about = {"name": harness.name, "version": harness.version, "id": harness.id, "about": harness.about}
    return {**about, "labels": harness.labels, "spec": harness.spec()}

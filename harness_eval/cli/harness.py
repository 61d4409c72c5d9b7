"""`harness-eval harness`: list, show, compare, lock and draft harnesses, and install real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness_eval import recording
from harness_eval.choosing import load_any_harness
from harness_eval.cli import harness_external, harness_review
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.combinations import excluded
from harness_eval.dialogue import requests_of, wire_hash, wire_text
from harness_eval.draft import draft_harness
from harness_eval.errors import ConfigError
from harness_eval.external.adapter import External, load_external, named_externals
from harness_eval.harness import Harness, load_harness, named_harnesses
from harness_eval.types import Json, Request

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List, show, compare, lock and draft harnesses.")
_Name = Annotated[str, typer.Argument(metavar="HARNESS", help="A name from the list, or the path of a YAML file.")]


@app.command("list")
def list_all(as_json: JsonFlag = False) -> None:
    """List the harnesses that travel with the package."""
    harnesses = [load_harness(name) for name in named_harnesses()]
    if as_json:
        externals = [harness_external.summary(load_external(name)) for name in named_externals()]
        print_json({"harnesses": [_summary(harness) for harness in harnesses], "externals": externals})
        return
    rows = [(h.name, h.version, h.id, h.about) for h in harnesses]
    print_table(("name", "version", "id", "about"), [*rows, *harness_external.table_rows()])


@app.command()
def show(
    name: _Name,
    dialogue: Annotated[bool, typer.Option("--dialogue", help="Print all requests of the fixed dialogue.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show a harness: its levels, system prompt and tools, and the first request of a fixed dialogue."""
    harness = load_any_harness(name)
    if isinstance(harness, External):
        if dialogue:
            raise ConfigError(f"{name}: what an external harness sends is seen only when it runs; see harness doctor")
        print_json(harness_external.summary(harness)) if as_json else harness_external.print_shown(harness)
        return
    requests = requests_of(harness)
    apart = excluded(harness.levels)
    if as_json:
        sent = [_readable(request) for request in (requests if dialogue else requests[:1])]
        seen = {"system": harness.system, "tools": [tool.name for tool in harness.tools]}
        left_out = [dict(zip(("level", "other", "reason"), each, strict=True)) for each in apart]
        told = {"excluded": left_out, "wire_hash": wire_hash(requests), "requests": sent}
        print_json({**_summary(harness), **seen, **told})
    elif dialogue:
        print(wire_text(requests), end="")
    else:
        print(f"{harness.name}, version {harness.version}, id {harness.id}\n{harness.about}\n")
        print_table(("axis", "level"), harness.labels.items())
        if apart:
            print()
            print_table(("its level", "cannot go with", "because"), apart)
        print(f"\nsystem prompt\n{'-' * 13}\n{harness.system}\n\nfirst request\n{'-' * 13}")
        print(recording.dump(_readable(requests[0]), pretty=True).decode())


def _readable(request: Request) -> dict[str, Json]:
    if request.wire == "completions":
        return {"wire": request.wire, "prompt": request.prompt, "stop": request.stop}
    return {"wire": request.wire, "messages": request.messages, "tools": request.tools, "stop": request.stop}


app.command()(harness_review.diff)
app.command()(harness_review.lock)
app.command()(harness_external.install)
app.command()(harness_external.uninstall)
app.command()(harness_external.doctor)


@app.command()
def draft(
    wire: Annotated[Path, typer.Argument(metavar="WIRE.jsonl", help="Recorded requests, one exchange a line.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the draft; stdout, if nowhere.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Draft a harness file from the requests that an agent was seen to send, to be finished by hand."""
    made = draft_harness(wire)
    if as_json:
        print_json({"harness": made.data, "open_questions": made.open_questions})
    elif out is None:
        print(made.yaml(), end="")
    elif out.exists():
        raise ConfigError(f"{out}: exists already")
    else:
        out.write_text(made.yaml(), encoding="utf-8")
        say(f"draft: {out}; {len(made.open_questions)} things to decide stand at its top")


def _summary(harness: Harness) -> dict[str, Json]:
    about = {"name": harness.name, "version": harness.version, "id": harness.id, "about": harness.about}
    return {**about, "labels": harness.labels, "spec": harness.spec()}

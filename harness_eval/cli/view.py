"""`harness-eval view`: a run's trials in the browser, one of them step by step, or two of one task side by side."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from harness_eval import store
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.cli.show import OneTrial, find_partner, find_trial, listed
from harness_eval.cli.view_server import Server
from harness_eval.errors import ConfigError
from harness_eval.report.trajectory_index import trial_name
from harness_eval.report.trajectory_pages import REPORT, Pages
from harness_eval.store import Row
from harness_eval.types import Json

app = typer.Typer(add_completion=False)

_RECORD = (store.STUDY, store.RESULTS, REPORT, "report.json", "report.md", "probe.json")

_Other = Annotated[
    str | None,
    typer.Argument(metavar="[OTHER]", help="A second trial of that task beside it: so named, or only its harness."),
]


@app.command()
def view(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    trial: OneTrial = None,
    other: _Other = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the page of this trial, or of these two, into this file, and end.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 is any that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
    as_json: JsonFlag = False,
) -> None:
    """Look at a run in the browser: its trials, one step by step, or two side by side from where they part.

    A small server on this machine shows the folder as it is, also while the run goes on; Ctrl-C ends it.
    """
    study, rows = store.read_study(folder), [] if trial is None else listed(folder)
    repeats = [] if other or out or trial is None else _repeats(rows, trial)
    names = [] if trial is None or len(repeats) > 1 else _named(rows, trial, other, study)
    if out is not None:
        _write(folder, names, out)
        print_json({"file": str(out), "trials": names}) if as_json else print(out)
        return
    server = _server(folder, port)
    address = server.address + (_list_of(repeats[0]) if len(repeats) > 1 else _path(names))
    with server:
        if as_json:
            print_json({"address": address, "folder": str(folder), "trials": names})
        else:
            print(address, flush=True)
        say("only this machine can reach it; Ctrl-C ends it")
        if browser:
            _open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("ended")


def _named(rows: Sequence[Row], trial: str, other: str | None, study: Mapping[str, Json]) -> list[str]:
    """The whole names of the one or two trials that are meant."""
    first = find_trial(rows, trial)
    both = [first] if other is None else [first, find_partner(rows, first, other, study)]
    return [trial_name(row) for row in both]


def _repeats(rows: Sequence[Row], trial: str) -> list[Row]:
    """The trials of one task and one harness, where just these two are named."""
    return [row for row in rows if trial.strip("/") == f"{row['task']}/{row['harness']}"]


def _list_of(row: Row) -> str:
    return f"/?{urlencode({'task': row['task'], 'harness': row['harness']}, errors='replace')}"


def _path(names: list[str]) -> str:
    if not names:
        return "/"
    if len(names) == 1:
        return f"/trial?{urlencode({'name': names[0]}, errors='replace')}"
    return f"/pair?{urlencode(dict(zip(('left', 'right'), names, strict=True)), errors='replace')}#divergence"


def _write(folder: Path, names: list[str], out: Path) -> None:
    if not names:
        raise ConfigError("--out writes the page of one trial, or of two: name it, such as TASK/HARNESS")
    if out.resolve() in {(folder / name).resolve() for name in _RECORD}:
        raise ConfigError(f"--out {out}: is part of the run's own record; name another file")
    pages = Pages(folder, alone=True)
    page = pages.trial(names[0]) if len(names) == 1 else pages.pair(names[0], names[1])
    try:
        out.write_text(page or "", errors="replace")
    except OSError as error:
        raise ConfigError(f"--out {out}: cannot be written: {error.strerror}") from None


def _server(folder: Path, port: int) -> Server:
    try:
        return Server(folder, port)
    except OSError as error:
        raise ConfigError(f"--port {port}: {error.strerror}; without it a free one is taken") from None


def _open(address: str) -> None:
    """Open a browser that has a window of its own; one inside of the terminal would hold everything up."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return
    if type(found) is not webbrowser.GenericBrowser:
        found.open(address)

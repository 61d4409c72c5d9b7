"""`harness-eval report`: the reports of a run again, from its recorded results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness_eval import report as reports
from harness_eval.cli.output import JsonFlag, print_json, say

app = typer.Typer(add_completion=False)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")], as_json: JsonFlag = False
) -> None:
    """Write report.md, report.html and report.json again from a run's recorded results."""
    data = reports.write(folder)
    if as_json:
        print_json(data)
    else:
        print(reports.summary_text(data, folder))
    say(f"report: {folder / 'report.html'} (also report.md and report.json)")

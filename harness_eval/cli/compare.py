"""`harness-eval compare`: two runs paired by task and harness, and what moved between them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness_eval import report as reports
from harness_eval.cli.output import JsonFlag, print_json, say

app = typer.Typer(add_completion=False)

_ENDPOINT = "Which endpoint of both runs is meant, where a run has several."


@app.command()
def compare(
    before: Annotated[str, typer.Argument(metavar="RUN[:ENDPOINT]", help="The folder of the first run.")],
    after: Annotated[str, typer.Argument(metavar="RUN[:ENDPOINT]", help="The folder of the second run.")],
    endpoint: Annotated[str | None, typer.Option(metavar="NAME", help=_ENDPOINT)] = None,
    ignore_versions: Annotated[
        bool, typer.Option("--ignore-versions", help="Pair by name, also where what has the name is not the same.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write comparison.md, comparison.html and comparison.json there.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Compare two runs on the tasks and harnesses that both have; the changes are the second less the first."""
    data = reports.compare(before, after, endpoint=endpoint, ignore_versions=ignore_versions)
    if out is not None:
        reports.write_comparison(data, out)
    if as_json:
        print_json(data)
    else:
        print(reports.comparison_text(data))
    if out is not None:
        say(f"comparison: {out / 'comparison.html'} (also comparison.md and comparison.json)")

"""`harness-eval import`: results that were obtained elsewhere as a run of their own, with its report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from harness_eval import report as reports
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.errors import ConfigError, nearest
from harness_eval.importing import KINDS, Imported, Wishes, import_run
from harness_eval.report.wording import count, one_line

app = typer.Typer(add_completion=False)


@app.command(name="import")
def import_(
    sources: Annotated[
        list[Path], typer.Argument(metavar="SOURCE...", help="Tables, Inspect logs or job folders, all of one kind.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the run that is made.")],
    canonical: Annotated[
        str | None, typer.Option(metavar="HARNESS", help="The harness that all others are compared with.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model of all trials.")] = None,
    harness: Annotated[str | None, typer.Option(metavar="NAME", help="The harness of all trials.")] = None,
    scorer: Annotated[
        str | None, typer.Option(metavar="NAME[.KEY]", help="Which score counts, where a log has several.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="OURS=THEIRS", help="What a column is called in the table; may stand several times."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help=f"One of {', '.join(KINDS)}; without it the source tells.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make the folder of a run from results obtained elsewhere, and write its report.

    A table has the columns model, harness, task, successes, trials, or a row a trial with solved or score. Lost trials
    (lost, errors), axis:NAME, group, cost, tokens and seconds may be added.
    """
    if kind is not None and kind not in KINDS:
        raise ConfigError(f"--kind {one_line(kind, 60)}: is not known; {nearest(kind, KINDS)}")
    wishes = Wishes(model, harness, canonical, scorer, _renamed(column or ()))
    made = import_run(sources, out, wishes, kind)
    data = reports.write(out)
    if as_json:
        print_json({**asdict(made), "folder": str(made.folder)})
    else:
        print(reports.summary_text(data, out))
    say(_told(made))
    say(f"report: {out / 'report.html'} (also report.md and report.json)")


def _renamed(given: list[str] | tuple[()]) -> dict[str, str]:
    names = {}
    for each in given:
        ours, equals, theirs = each.partition("=")
        if not (equals and ours and theirs):
            raise ConfigError(f"--column {each}: write OURS=THEIRS, such as successes=n_pass")
        names[ours.strip()] = theirs.strip()
    return names


def _told(made: Imported) -> str:
    parts = (count(made.models, "model"), count(made.harnesses, "harness"), count(made.tasks, "task"))
    return f"imported: {count(made.trials, 'trial')} ({made.lost:,} lost), {', '.join(parts)}"

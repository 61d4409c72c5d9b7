"""`harness-eval compat`: models and their servings against harnesses, from any number of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from harness_eval import report as reports
from harness_eval.cli import options
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.compat import Asked, Margins, Matrix, collect, moved
from harness_eval.compat.document import Verdict
from harness_eval.compat.targets import document
from harness_eval.errors import ConfigError, nearest
from harness_eval.report.compat_files import beside, shows_a_matrix

app = typer.Typer(add_completion=False)

_TARGETS = "Folders of runs (imported ones, too), and earlier documents; of a run without ENDPOINT all its endpoints."
_MARGIN = "A drop against the canonical harness that is surely smaller is compatible, 0..1; 0.1 unless given, or what "
_MARGIN += "the file that is updated has."
_BROKEN = "A drop that is surely larger is broken; as --margin unless given, never smaller."
_LOCK = "What says which version of a harness is the current one; without it the lock of the bundled harnesses."
_OUT = "Write compatibility.json, .md, .html and .csv there."
_UPDATE = "Bring this file up to date between its two markers, and the document beside it, whose other cells stay."
_LINKS = "What leads to the folders of runs in links to their reports, in place of the way there on this machine."
_FAIL = "Exit with 1 where a cell that is not stale is one of these, such as broken,degraded."


@app.command()
def compat(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="RUN[:ENDPOINT] | compatibility.json ...", help=_TARGETS)
    ] = None,
    margin: Annotated[float | None, typer.Option(help=_MARGIN)] = None,
    broken_margin: Annotated[float | None, typer.Option(help=_BROKEN)] = None,
    model: Annotated[str, typer.Option(metavar="GLOB", help="Take only these models from what is given.")] = "*",
    harness: Annotated[str, typer.Option(metavar="GLOB", help="Take only these harnesses from it.")] = "*",
    lock: Annotated[Path | None, typer.Option(metavar="FILE", help=_LOCK)] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help=_OUT)] = None,
    update: Annotated[Path | None, typer.Option(metavar="COMPATIBILITY.md", help=_UPDATE)] = None,
    links: Annotated[str | None, typer.Option(metavar="PREFIX", help=_LINKS)] = None,
    fail_on: Annotated[str | None, typer.Option(metavar="VERDICT[,VERDICT]", help=_FAIL)] = None,
    as_json: JsonFlag = False,
) -> None:
    """Say which models are compatible with which harnesses, on all trials of the runs that are given."""
    wanted = _verdicts(fail_on)
    earlier = None if update is None else _earlier(update)
    margins = _margins(margin, broken_margin, earlier[1].margins if earlier else Margins())
    base = update.parent if update is not None else out if out is not None else Path()
    asked = Asked(margins, lock, base, links, model, harness, earlier)
    made = collect(targets or (), asked)
    data = made.model_dump(mode="json", by_alias=True)
    if update is not None:
        reports.update_compat(data, update)
    if out is not None:
        reports.write_compat(moved(made, base, out).model_dump(mode="json", by_alias=True), out)
    if as_json:
        print_json(data)
    else:
        print(reports.compat_text(data))
    if update is not None:
        say(f"matrix: {update} (from {beside(update)})")
    if out is not None:
        say(f"matrix: {out / 'compatibility.html'} (also .md, .csv and .json)")
    raise typer.Exit(_exit_code(made, wanted))


def _earlier(update: Path) -> tuple[Path, Matrix] | None:
    """The document that a file which is updated goes on from, after its folder; None of one that is yet to be made.

    Raises:
        ConfigError: it cannot be read, or it is missing and the file shows a matrix that would be lost.
    """
    kept = beside(update)
    if kept.is_file():
        return kept.parent, document(kept)
    if not kept.exists() and shows_a_matrix(update):
        told = f"{kept}, which it goes on from, is missing; restore that, or empty the place between the markers"
        raise ConfigError(f"{update}: shows a matrix, but {told}")
    return None


def _margins(margin: float | None, broken: float | None, usual: Margins) -> Margins:
    """Both margins.

    Raises:
        ConfigError: one is out of range, or the second is the smaller one.
    """
    if margin is None and broken is None:
        return usual
    compatible = usual.compatible if margin is None else margin
    for flag, value in (("--margin", compatible), ("--broken-margin", broken)):
        if value is not None:
            options.refuse_beyond(flag, value, 1.0)
    if broken is not None and broken < compatible:
        told = f"{broken:g} is smaller than {compatible:g}, so that one drop could be compatible and broken"
        raise ConfigError(f"--broken-margin: must not be smaller than --margin: {told}")
    return Margins(compatible=compatible, broken=compatible if broken is None else broken)


def _verdicts(listed: str | None) -> frozenset[str]:
    """The verdicts that a comma-separated list names.

    Raises:
        ConfigError: one is not known.
    """
    names = [name.strip() for name in (listed or "").split(",") if name.strip()]
    for name in names:
        if name not in get_args(Verdict):
            raise ConfigError(f"--fail-on: {name!r} is no verdict; {nearest(name, get_args(Verdict))}")
    return frozenset(names)


def _exit_code(made: Matrix, wanted: frozenset[str]) -> int:
    met = [cell for cell in made.cells if cell.verdict in wanted and cell.stale is None]
    if met:
        say(f"{len(met)} of {len(made.cells)} cells are {' or '.join(sorted(wanted))}")
    return 1 if met else 0

"""`harness-eval baseline`: what a check needs of a run, as a small file to be committed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.ending import INCOMPLETE
from harness_eval.errors import ConfigError, listed
from harness_eval.gate import snapshot as snapshots
from harness_eval.gate.kept import LOST, NOT_RUN, Snapshot
from harness_eval.gate.notes import small
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json

app = typer.Typer(add_completion=False)

_LOST_LIMIT = 0.10
_NAMES_SHOWN = 4
_STDOUT = Path("-")
_Run = Annotated[str, typer.Argument(metavar="RUN[:ENDPOINT]", help="The folder of one finished run.")]
_Out = Annotated[Path, typer.Option(metavar="FILE", help="Where to write it; - is the standard output.")]
_Harnesses = Annotated[
    list[str] | None,
    typer.Option("--harness", metavar="NAME", help="Keep this one and the canonical one alone; several."),
]
_Partial = Annotated[bool, typer.Option("--partial", help="Accept missing trials, and more than a tenth of them lost.")]


@app.command()
def baseline(
    run: _Run,
    out: _Out = Path("baseline.json"),
    harness: _Harnesses = None,
    partial: _Partial = False,
    as_json: JsonFlag = False,
) -> None:
    """Keep what `check --baseline` needs of a run: 5 repeats of the gated harness on 100 tasks or more are best.

    One run as it came out, never the best of several: chance helped that one, and whatever comes later looks worse.
    Make it anew when the endpoint's model or serving changes, and every 14 days.
    """
    kept = snapshots.read(Path(run))
    kept = snapshots.only(kept, harness) if harness else kept
    if problems := list(_problems(kept)):
        say(f"{'note' if partial else 'error'}: {run}: {'; '.join(problems)}")
        if not partial:
            say("       finish the run with `harness-eval run --out`, or accept it as it is with --partial")
            raise typer.Exit(INCOMPLETE)
    found = _summary(kept, out, _written(kept, out, as_json))
    if as_json:
        print_json(found)
        return
    say(_told(found))
    for note in found["notes"]:
        say(f"note: {note}")


def _problems(kept: Snapshot) -> list[str]:
    """Why this should not be a baseline."""
    missing, lost = (sum(harness.count(what) for harness in kept.harnesses) for what in (NOT_RUN, LOST))
    trials = sum(len(harness.solved) for harness in kept.harnesses) * len(kept.tasks)
    if kept.adaptive and any(each.name != kept.canonical for each in kept.harnesses):
        canonical = one_line(kept.canonical or "")
        return [f"the run is a hunt, which dropped harnesses by their results; --harness {canonical} keeps that one"]
    problems = [f"the run is incomplete: {missing:,} of {count(trials, 'trial')} are missing"] if missing else []
    if lost > _LOST_LIMIT * (trials - missing):
        problems.append(f"{lost:,} of {count(trials - missing, 'trial')} were lost, more than {_LOST_LIMIT:.0%}")
    return problems if trials > missing else ["no trial has been run"]


def _written(kept: Snapshot, out: Path, as_json: bool) -> int:
    """How many bytes were written to the file, or to the standard output."""
    if out != _STDOUT:
        _check_replaceable(out)
        return snapshots.write(kept, out)
    if as_json:
        raise ConfigError("--json: a baseline on the standard output is JSON itself; name a file with --out")
    data = snapshots.as_bytes(kept)
    sys.stdout.write(data.decode())
    return len(data)


def _check_replaceable(path: Path) -> None:
    """Raise ConfigError where something else than a baseline would be overwritten."""
    if not path.exists():
        return
    if not path.is_file():
        raise ConfigError(f"--out: {path} is there and no file")
    with path.open("rb") as file:
        start = file.read(200)
    if b'"harness-eval/baseline/' not in start:
        raise ConfigError(f"--out: {path} is there and no baseline; remove it, or name another file")


def _summary(kept: Snapshot, out: Path, size: int) -> dict[str, Json]:
    return {
        "file": str(out),
        "bytes": size,
        "run": kept.name,
        "created": kept.created,
        "endpoint": kept.endpoint.name,
        "model": kept.endpoint.model,
        "tasks": len(kept.tasks),
        "harnesses": {harness.name: len(harness.solved) for harness in kept.harnesses},
        "lost": kept.lost,
        "notes": [*small(kept, kept.canonical), *_refused(kept)],
    }


def _refused(kept: Snapshot) -> list[str]:
    names = [one_line(harness.name, 60) for harness in kept.harnesses if harness.refused]
    told = f"{count(len(names), 'harness')} cannot run at this endpoint: {listed(names, _NAMES_SHOWN)}"
    return [told] if names else []


def _told(found: dict[str, Json]) -> str:
    repeats = sorted(set(found["harnesses"].values()))
    many = str(repeats[0]) if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]}"
    return (
        f"baseline: {found['file']}, {found['bytes']:,} bytes: {count(found['tasks'], 'task')}, "
        f"{len(found['harnesses'])} harness{'es' * (len(found['harnesses']) != 1)}, "
        f"{many} repeat{'s' * (many != '1')}, {one_line(found['model'], 60)} at {one_line(found['endpoint'], 60)}"
    )

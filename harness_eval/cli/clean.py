"""`harness-eval clean`: remove what dead runs have left on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

import typer

from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.report.wording import count
from harness_eval.sandboxes import leftovers
from harness_eval.sandboxes.leftovers import Leftover
from harness_eval.types import Json

app = typer.Typer(add_completion=False)
_INCOMPLETE = 3


@app.command()
def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    images: Annotated[bool, typer.Option("--images", help="Remove the Docker images built for tasks, too.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Remove the containers, control groups, folders and processes of runs that are provably dead.

    What belongs to a run that lives, or to another machine, stays. Exit code 3 if something dead could not be removed.
    """
    with leftovers.found(images) as (found, reason):
        dead = [each for each in found if each.dead]
        gone = dead if dry_run else [each for each in dead if each.discard()]
    kept = [each for each in found if not each.dead]
    failed = [each for each in dead if each not in gone]
    if reason:
        say(f"containers were not looked for: {reason}")
    if as_json:
        lists = {"removed": gone, "kept": kept, "failed": failed}
        print_json({"dry_run": dry_run, "engine": reason, **{key: _entries(each) for key, each in lists.items()}})
    else:
        _tell(gone, kept, failed, dry_run)
    raise typer.Exit(_INCOMPLETE if failed else 0)


def _entries(found: Iterable[Leftover]) -> list[Json]:
    return [{"what": each.what, "name": each.name} for each in found]


def _tell(gone: list[Leftover], kept: list[Leftover], failed: list[Leftover], dry_run: bool) -> None:
    print(f"{'would be removed' if dry_run else 'removed'}: {_counts(gone)}")
    for each in gone if dry_run else ():
        print(f"  {each.what} {each.name}")
    if kept:
        print(f"kept, since they are in use or their owner is not known to be dead: {_counts(kept)}")
    for each in failed:
        print(f"could not be removed: {each.what} {each.name}")


def _counts(found: list[Leftover]) -> str:
    numbers = Counter(each.what for each in found)
    return ", ".join(count(number, what) for what, number in numbers.items()) or "nothing"

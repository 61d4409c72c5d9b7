"""`harness-eval replay`: a recorded run under today's code, without an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from harness_eval import __version__, replaying, rerun, store
from harness_eval.cli import options, running
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.cli.progress import Progress
from harness_eval.cli.show import is_meant, unknown_trial
from harness_eval.ending import INCOMPLETE
from harness_eval.errors import ConfigError
from harness_eval.replaying import Checked, Difference
from harness_eval.report.trajectory_index import trial_name
from harness_eval.report.wording import count, one_line
from harness_eval.rerun import Rerun, Verdicts
from harness_eval.runner import Outcome
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.store import Row
from harness_eval.study import INTERRUPTED
from harness_eval.types import Json, TrialKey

app = typer.Typer(add_completion=False)

_SHOWN = 20  # lines printed of a kind; all of them with --json
_CELL = 240  # characters of one difference
_Trials = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TASK/HARNESS[/ENDPOINT][/REPEAT]]...", help="Some trials only; beginnings of names are enough."
    ),
]


@app.command()
def replay(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    trials: _Trials = None,
    out: Annotated[
        Path | None, typer.Option(help="Run the trials again, into this folder; resumed if it is there.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="With --out: the tasks' folder, where they are not bundled.")
    ] = None,
    sandbox: Annotated[str | None, typer.Option(help="With --out: another sandbox than the recorded one.")] = None,
    allow_local: options.AllowLocal = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="With --out: trials at once.")] = 4,
    as_json: JsonFlag = False,
) -> None:
    """Check a recorded run against today's code, without an endpoint: all requests are derived again, all replies read
    again, and nothing runs.

    With --out the trials are run again in a sandbox on their recorded replies, and judged again.
    """
    recorded = store.read_study(folder)
    harnesses = replaying.rebuilt(recorded)
    changed = replaying.changes(recorded, harnesses)
    for note in _notes(recorded, changed):
        say(f"note: {note}")
    rows = chosen(folder, trials or [])
    if out is None:
        checked = replaying.check(folder, rows, harnesses)
        if checked.empty:
            raise ConfigError(f"{folder}: {_nothing(checked)}")
        print_json(_checked_json(checked, changed)) if as_json else _print_checked(checked)
        raise typer.Exit(1 if checked.differing else 0)
    boxes = boxes_for(sandbox or str(recorded.get("sandbox") or "auto"), bool(allow_local))
    with running.resumable(out):
        again = rerun.prepare(folder, rows, boxes, suite)
        outcome = run_again(again, out, concurrency)
        found = rerun.verdicts(folder, out)
    if outcome.interrupted:
        say(f"interrupted. {running.resume(out)}")
    print_json(_verdicts_json(again, found, out)) if as_json else _print_verdicts(again, found, out)
    raise typer.Exit(_exit_code(outcome, found))


def boxes_for(kind: str, allow_local: bool) -> SandboxProvider:
    """Where recorded commands run again. Whose they are is not known here, so the local sandbox must be asked for."""
    boxes = provider(kind)
    if boxes.name == "local" and not allow_local:
        raise ConfigError(
            "sandbox: the local one protects this machine from nothing that recorded commands do; "
            "choose another with --sandbox, or say --allow-local"
        )
    return boxes


def chosen(folder: Path, patterns: Sequence[str]) -> Iterator[Row]:
    """The line that counts of each trial that is meant by one of the patterns, of every trial where there are none.

    Raises:
        ConfigError: a pattern means no trial.
    """
    ways = [(pattern, _way(folder, pattern)) for pattern in patterns]
    for row in store.latest(folder):
        if not ways or any(is_meant(row, pattern, same) for pattern, same in ways):
            yield row


def _way(folder: Path, pattern: str) -> Callable[[str, str], bool]:
    """How a pattern is meant: whole names go before beginnings."""
    for same in (str.__eq__, str.startswith):
        if any(is_meant(row, pattern, same) for row in store.latest(folder)):
            return same
    raise unknown_trial(store.latest(folder), pattern)


def _nothing(checked: Checked) -> str:
    if checked.external:
        return "these trials are of external harnesses, of which nothing is derived"
    return "nothing is recorded of these trials that could be compared"


def _notes(recorded: Mapping[str, Json], changed: Mapping[str, Sequence[str]]) -> Iterator[str]:
    versions = recorded.get("versions")
    version = versions.get("harness-eval") if isinstance(versions, Mapping) else None
    if version != __version__:
        yield one_line(f"recorded by harness-eval {version}, this is {__version__}")
    for name, told in changed.items():
        yield one_line(f"harness {name}: {'; '.join(told)}")


def _name(key: TrialKey) -> str:
    return one_line(f"{key.task}/{key.harness}/{key.endpoint}/{key.repeat}")


def _checked_json(checked: Checked, changed: Mapping[str, Sequence[str]]) -> dict[str, Json]:
    return {
        "trials": {
            "compared": checked.trials,
            "differing": checked.differing,
            "without_record": checked.without_record,
            "of_no_harness": checked.strangers,
            "external": checked.external,
        },
        "requests": checked.requests,
        "replies": {"read": checked.replies, "not_kept": checked.unkept},
        "recovered": checked.recovered,
        "harnesses": changed,
        "differences": [
            {"trial": _name(key), "turn": each.turn, "part": each.part, "detail": each.detail, "later": each.later}
            for key, each in checked.differences
        ],
    }


def _print_checked(checked: Checked) -> None:
    same = checked.trials - checked.differing
    print(f"trials: {same:,} of {checked.trials:,} are as recorded, {checked.differing:,} differ")
    print(f"compared: {count(checked.requests, 'request')} derived again, {checked.replies:,} replies read again")
    for number, what in (
        (checked.unkept, "replies were not kept"),
        (checked.without_record, "trials have no record"),
        (checked.strangers, "trials are of no harness of this study"),
        (checked.external, "trials are of external harnesses, of which nothing is derived"),
        (checked.recovered, "trials were read on from a leaked call; that reading is not compared"),
    ):
        if number:
            print(f"{number:,} {what}")
    if checked.differences:
        print()
        rows = [
            (_name(key), each.turn or "all", each.part, _detail(each)) for key, each in checked.differences[:_SHOWN]
        ]
        print_table(("trial", "turn", "what", "recorded, now"), rows)
        _print_more(len(checked.differences))


def _detail(difference: Difference) -> str:
    more = f" (and in {count(difference.later, 'later turn')})" if difference.later else ""
    return one_line(difference.detail, _CELL) + more


def _print_more(number: int) -> None:
    if number > _SHOWN:
        print(f"and {number - _SHOWN:,} more; all of them with --json")


def run_again(again: Rerun, folder: Path, width: int) -> Outcome:
    """Run recorded trials once more, with a line now and then.

    Raises:
        KeyboardInterrupt: before any trial had begun.
    """
    say(f"{count(len(again.trials), 'trial')} to replay; sandbox: {again.provider.name}")
    if again.left_out:
        say(f"left out: {rerun.told(again.left_out)}")
    with Progress(running.resume(folder)) as progress:
        return running.run_stoppable(progress, partial(rerun.run, again, folder, progress, width))


def _exit_code(outcome: Outcome, found: Verdicts) -> int:
    if outcome.interrupted:
        return INTERRUPTED
    if found.differ:
        return 1
    return INCOMPLETE if found.lost else 0


def _verdicts_json(again: Rerun, found: Verdicts, folder: Path) -> dict[str, Json]:
    return {
        "folder": str(folder),
        "trials": len(again.trials),
        "left_out": again.left_out,
        "same": found.same,
        "changed": [{"trial": _name(each.key), "was": each.was, "now": each.now} for each in found.changed],
        "lost": [{"trial": trial_name(row), **row["failure"]} for row in found.lost],
    }


def _print_verdicts(again: Rerun, found: Verdicts, folder: Path) -> None:
    ended = found.same + len(found.changed) + len(found.lost)
    print(f"trials: {ended:,} of {len(again.trials):,} replayed into {folder}")
    print(
        f"verdicts: {found.same:,} as recorded, {len(found.changed):,} changed; {count(len(found.lost), 'trial')} lost"
    )
    if found.changed:
        print()
        print_table(("trial", "score was", "is"), [(_name(c.key), c.was, c.now) for c in found.changed[:_SHOWN]])
        _print_more(len(found.changed))
    if found.lost:
        print()
        rows = [
            (one_line(trial_name(row)), row["failure"]["owner"], one_line(row["failure"]["message"], _CELL))
            for row in found.lost[:_SHOWN]
        ]
        print_table(("lost trial", "owner", "why"), rows)
        _print_more(len(found.lost))

"""`harness-eval show`: the trials of a run as a list, or one of them step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from harness_eval import recording, store
from harness_eval.cli.output import JsonFlag, out, print_json, print_table
from harness_eval.errors import ConfigError, nearest
from harness_eval.store import Row
from harness_eval.types import Compaction, Event, Note, Observation, Step, Trajectory

app = typer.Typer(add_completion=False)

_VISIBLE = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {127: "\u2421"}
_Trial = Annotated[
    str | None,
    typer.Argument(metavar="[TASK/HARNESS[/ENDPOINT][/REPEAT]]", help="A trial; beginnings of names are enough."),
]


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    trial: _Trial = None,
    as_json: JsonFlag = False,
) -> None:
    """List the trials of a run, or show one trial step by step."""
    store.read_study(folder)
    rows = list(store.latest(folder))
    if trial is not None:
        _show_one(folder, find_trial(rows, trial), as_json)
    elif as_json:
        print_json({"trials": [{"trial": trial_name(row), **row} for row in rows]})
    else:
        columns = ("trial", "solved", "score", "stop or owner", "steps", "tokens", "seconds")
        print_table(columns, (_listed(row) for row in rows))


def trial_name(row: Row) -> str:
    """How a trial is named on the command line."""
    return f"{row['task']}/{row['harness']}/{row['endpoint']}/{row['repeat']}"


def find_trial(rows: Sequence[Row], given: str) -> Row:
    """The one trial that is meant; whole names go before beginnings.

    Raises:
        ConfigError: none or several are meant.
    """
    for same in (str.__eq__, str.startswith):
        found = [row for row in rows if _is_meant(trial_name(row).split("/"), given.strip("/").split("/"), same)]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(trial_name(row) for row in found[:5])
            raise ConfigError(f"{len(found)} trials begin with {given!r}: {shown}{', ...' if found[5:] else ''}")
    likely = {name for row in rows for name in (trial_name(row), f"{row['task']}/{row['harness']}")}
    hint = nearest(given, likely).partition(" choices:")[0]
    raise ConfigError(f"no trial {given!r} in this run; {hint or 'without a trial all are listed'}".rstrip("; "))


def _is_meant(parts: list[str], wanted: list[str], same: Callable[[str, str], bool]) -> bool:
    if len(wanted) == 3 and wanted[2].isdigit():  # the endpoint is left out
        parts = [*parts[:2], parts[-1]]
    return len(wanted) <= len(parts) and all(same(part, want) for part, want in zip(parts, wanted, strict=False))


def _listed(row: Row) -> tuple[object, ...]:
    failure = row["failure"]
    solved = "lost" if failure else "yes" if row["solved"] else "no"
    score = None if failure else f"{row['score']:.2f}"
    tokens = row["usage"]["prompt"] + row["usage"]["completion"]
    why = f"{failure['owner']}: {failure['message'][:60]}" if failure else row["stop"]
    return trial_name(row), solved, score, why, row["steps"], tokens, f"{row['seconds']:.1f}"


def _show_one(folder: Path, row: Row, as_json: bool) -> None:
    trajectory = store.read_trajectory(folder, store.key_of(row))
    if as_json:
        print_json({**row, "trajectory": recording.as_record(trajectory) if trajectory else None})
        return
    console = out()
    for part in _page(row, trajectory):
        console.print(part)


def _page(row: Row, trajectory: Trajectory | None) -> Iterator[RenderableType]:
    yield Text(trial_name(row), "bold")
    if trajectory is None:
        yield Text("nothing is recorded of this trial's steps")
    else:
        yield from _section("system", trajectory.system)
        yield from _section("task", trajectory.prompt)
        number = 0
        for event in trajectory.events:
            number += isinstance(event, Step)
            yield from _event(event, number)
    yield Rule("outcome", align="left")
    failure = row["failure"]
    yield _text(f"lost, {failure['owner']}: {failure['message']}" if failure else f"score {row['score']:g}", "bold")
    if trajectory is not None:
        yield _text(f"stopped: {trajectory.stop}; exercised: {', '.join(row['acted'])}")
    if row["labels"]:
        yield _text(f"labels: {', '.join(row['labels'])}")
    if row.get("detail"):
        yield _indented(row["detail"], "dim")


def _section(title: str, text: str) -> Iterator[RenderableType]:
    yield Rule(title, align="left")
    yield _text(text)


def _event(event: Event, number: int) -> Iterator[RenderableType]:
    if isinstance(event, Note):
        yield from _section(f"{event.role}, {event.kind}", event.text)
    elif isinstance(event, Compaction):
        yield from _section(f"the first {event.covers} events are replaced by these notes", event.notes)
    else:
        yield Rule(f"step {number}, {event.usage.total} tokens, {event.seconds:.1f} s", align="left")
        yield from _step(event)


def _step(step: Step) -> Iterator[RenderableType]:
    action = step.action
    if action.thinking:
        yield _text(action.thinking, "dim italic")
    if action.text:
        yield _text(action.text)
    asked = [f"{call.name} {recording.dump(call.arguments).decode()}" for call in action.calls]
    asked += [f"{bad.name or '(no name)'} cannot be read, {bad.reason}: {bad.raw}" for bad in action.malformed]
    for call, observation in zip(asked, step.observations, strict=False):
        yield _text(f"> {call}", "bold cyan")
        yield from _observation(observation)


def _observation(observation: Observation) -> Iterator[RenderableType]:
    yield _indented(observation.shown, "red" if observation.failed else "")
    if observation.full_length > len(observation.shown):
        yield _text(f"    (shown {len(observation.shown)} of {observation.full_length} characters)", "dim")


def _indented(text: str, style: str) -> RenderableType:
    return Padding(_text(text, style), (0, 0, 0, 4), expand=False)


def _text(text: str, style: str = "") -> Text:
    """Text as it is, with control characters made visible: what a model wrote must not steer the terminal."""
    return Text(text.translate(_VISIBLE), style)

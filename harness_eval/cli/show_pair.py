"""Two trials of one task for the terminal: in two columns where there is room, else one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table

from harness_eval.cli.show_trial import heading, outcome, rule, text, turn_parts
from harness_eval.report.trajectory_pair import Pair, Pairing
from harness_eval.report.trajectory_text import steps
from harness_eval.report.trajectory_told import Trial, Turn
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json

_TWO_COLUMNS = 100  # columns of a terminal from which two stand beside each other
_MOST = 1_500  # characters of one text; all of it in each trial's own page
_MARKS = {"shown": "the same deed, another result", "done": "they do something else"}


def print_pair(console: Console, pair: Pair) -> None:
    """Both trials row by row, with the rows in which they do the same left to one line, and the divergence marked."""
    wide = console.width >= _TWO_COLUMNS
    sides = [Group(*heading(trial), *outcome(trial)) for trial in (pair.left, pair.right)]
    console.print(_beside(sides[0], sides[1], pair, wide))
    if pair.headline:
        console.print(text(pair.headline, "bold yellow"))
    for trial in (pair.left, pair.right):
        if trial.record is None:
            console.print(text(f"{one_line(trial.row['harness'])}: {trial.missing}", "yellow"))
    for part in _rows(pair, wide):
        console.print(part)


def _rows(pair: Pair, wide: bool) -> Iterator[RenderableType]:
    common: list[Pairing] = []
    for place, row in enumerate(pair.rows):
        if row.state in {"same", "beside"}:
            common.append(row)
            continue
        yield from _folded(common, pair)
        common = []
        if place == pair.first:
            yield Rule(
                text(f">>> first divergence: {_MARKS[row.state]}", "bold yellow"), style="yellow", characters="="
            )
        elif place == pair.parted:
            yield Rule(text(">>> they go different ways", "bold yellow"), style="yellow", characters="=")
        yield _beside(_cell(row.left), _cell(row.right), pair, wide)
    yield from _folded(common, pair)


def _folded(rows: list[Pairing], pair: Pair) -> Iterator[RenderableType]:
    """Rows in which nothing differs as one line."""
    if not rows:
        return
    same = [row for row in rows if row.state == "same"]
    told = [f"{count(len(same), 'step')} with the same deeds and results"] if same else []
    beside = len(rows) - len(same)
    told += [f"{count(beside, 'step')} beside the task"] if beside else []
    numbers = []
    for name, turns in zip(pair.names, ([row.left for row in rows], [row.right for row in rows]), strict=True):
        known = [turn.number for turn in turns if turn]
        numbers += [f"{name} {steps(known)}"] if known else []
    yield rule(f"{', '.join(told)}: {'; '.join(numbers)}")


def _cell(turn: Turn | None) -> RenderableType:
    return Group(*turn_parts(turn, _MOST)) if turn else text("(no such step)", "dim")


def _beside(left: RenderableType, right: RenderableType, pair: Pair, wide: bool) -> RenderableType:
    if not wide:
        return Group(text(f"[{pair.names[0]}]", "bold"), left, text(f"[{pair.names[1]}]", "bold"), right)
    table = Table.grid(expand=True, padding=(0, 1))
    for _ in range(3):
        table.add_column(ratio=1, overflow="fold")
    table.columns[1].ratio, table.columns[1].width = None, 1
    table.add_row(left, "", right)
    return table


def as_json(pair: Pair) -> dict[str, Json]:
    """The alignment: per row the numbers of both steps, how they compare and why."""
    rows = [
        {"left": _number(row.left), "right": _number(row.right), "state": row.state, "why": row.why}
        for row in pair.rows
    ]
    trials = {side: _named(trial) for side, trial in (("left", pair.left), ("right", pair.right))}
    return {**trials, "headline": pair.headline, "first": pair.first, "parted": pair.parted, "rows": rows}


def _number(turn: Turn | None) -> int | None:
    return turn.number if turn and turn.step else None


def _named(trial: Trial) -> dict[str, Json]:
    key = trial.key
    names = {"task": key.task, "harness": key.harness, "endpoint": key.endpoint, "repeat": key.repeat}
    return {**names, "score": trial.row.get("score"), "steps": trial.row.get("steps")}

"""A tidy table: one row for each model, harness and task with counts of trials, or one row for each trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, get_args

from harness_eval.errors import ConfigError, nearest
from harness_eval.importing.attempts import Attempt, Found, Wishes, name_of
from harness_eval.importing.cells import amount, blank, proportion, shown, truth, whole
from harness_eval.importing.records import Table
from harness_eval.importing.records import read as read_table
from harness_eval.report.wording import one_line
from harness_eval.types import Json, Lost, Owner, Usage

Value = TypeVar("Value")

AXIS = "axis:"
_OWNERS = get_args(Owner)
_VERDICTS = ("solved", "score", "passed")
_LOST = ("lost", "errors")
_KNOWN = (
    *("model", "harness", "task", "successes", "trials", "repeat"),
    *(*_VERDICTS, *_LOST, "owner", "group", "cost", "tokens", "seconds"),
)
_SHARES = ("percent_solved", "percent", "accuracy", "pass_rate", "success_rate", "mean", "score")
_MOST_TRIALS = 1000  # of one row: more than that is a slip
_UNNAMED = "sandbox"


@dataclass(frozen=True, slots=True)
class _Row:
    """A record with our names for its columns."""

    place: str
    cells: Mapping[str, Json]

    def at(self, column: str) -> str:
        return f"{self.place}: {column}"

    def has(self, column: str) -> bool:
        return column in self.cells and not blank(self.cells[column])

    def read(self, column: str, reader: Callable[[Json, str], Value], otherwise: Value) -> Value:
        return reader(self.cells[column], self.at(column)) if self.has(column) else otherwise


def read_tables(sources: Sequence[Path], wishes: Wishes) -> Found:
    """The attempts of tables, each row checked by itself and against the others.

    Raises:
        ConfigError: what is wrong first, with file, line and column.
    """
    attempts: list[Attempt] = []
    notes: dict[str, None] = {}
    seen: dict[tuple[str, ...], str] = {}
    for path in sources:
        table = read_table(path)
        names = _names(table, wishes)
        counted = "trials" in names
        notes.update(dict.fromkeys(_remarks(table, names)))
        for record in table.rows:
            row = _Row(record.place, {ours: record.cells.get(theirs) for ours, theirs in names.items()})
            key = _key(row, wishes)
            if counted or "repeat" in names:  # rows of trials without numbers are repeats of each other
                _check_new(row, key if counted else (*key, str(row.cells.get("repeat"))), seen)
            attempts += _counted(row, key) if counted else [_single(row, key)]
    return Found(tuple(attempts), tuple(notes))


def _names(table: Table, wishes: Wishes) -> dict[str, str]:
    """Our name of each column that is used, with the file's own."""
    names = {column: column for column in table.columns if column in _KNOWN or column.startswith((AXIS, "lost:"))}
    lower = {column.lower(): column for column in reversed(table.columns)}  # of several the first
    names |= {ours: lower[ours] for ours in _KNOWN if ours not in names and ours in lower}
    for ours, theirs in wishes.columns.items():
        if ours not in _KNOWN and not ours.startswith((AXIS, "lost:")):
            raise ConfigError(f"--column: {shown(ours)} is no column; {nearest(ours, _KNOWN)}")
        if theirs not in table.columns:
            hint = nearest(theirs, map(one_line, table.columns))
            raise ConfigError(f"--column {ours}: {table.name} has no column {shown(theirs)}; {hint}")
        names = {mine: its for mine, its in names.items() if its != theirs} | {ours: theirs}
    _check_columns(table, names, wishes)
    return names


def _check_columns(table: Table, names: Mapping[str, str], wishes: Wishes) -> None:
    given = {"model": wishes.model, "harness": wishes.harness}
    missing = [column for column in ("model", "harness", "task") if column not in names and not given.get(column)]
    verdict = any(column in names for column in _VERDICTS)
    if not verdict or "trials" in names or "successes" in names:
        missing += [column for column in ("successes", "trials") if column not in names]
    rates = [column for column in table.columns if column.lower() in _SHARES or "percent" in column.lower()]
    if missing and rates and "task" not in names:
        raise ConfigError(
            f"{table.name}: holds a rate for each harness (column {shown(rates[0])}), not results by task; tasks are "
            "what is sampled here, so that without them there is neither an interval nor a worst harness. Needed is a "
            "row for each model, harness and task, with the columns successes and trials"
        )
    if missing:
        unused = [column for column in table.columns if column not in names.values()]
        hint = nearest(missing[0], (one_line(column, 60) for column in unused or table.columns))
        what = "successes and trials (or solved, a row a trial)" if missing[0] == "successes" else missing[0]
        raise ConfigError(f"{table.name}: has no column {what}; {hint}; say which with --column {missing[0]}=NAME")
    for column in names:
        owner = column.removeprefix("lost:")
        if column.startswith("lost:") and owner not in _OWNERS:
            raise ConfigError(f"{table.name}: column {shown(column)}: no such owner; {nearest(owner, _OWNERS)}")
        if column.startswith(AXIS):
            name_of(column.removeprefix(AXIS), f"{table.name}: column {shown(column)}: the name of the axis")


def _remarks(table: Table, names: Mapping[str, str]) -> Iterator[str]:
    unused = [column for column in table.columns if column not in names.values()]
    if unused:
        yield f"columns of {table.name} that were not used: {', '.join(shown(column) for column in unused[:12])}"
    if any(column in names for column in _LOST) and "owner" not in names:
        yield f"{table.name} does not say whose failure a lost trial was: they stand under {_UNNAMED}"


def _key(row: _Row, wishes: Wishes) -> tuple[str, str, str]:
    model = wishes.model or name_of(row.cells.get("model"), row.at("model"))
    harness = wishes.harness or name_of(row.cells.get("harness"), row.at("harness"))
    return model, harness, name_of(row.cells.get("task"), row.at("task"))


def _check_new(row: _Row, key: tuple[str, ...], seen: dict[tuple[str, ...], str]) -> None:
    if key in seen:
        file, _, place = seen[key].rpartition(": ")
        first = place if row.place.startswith(f"{file}: ") else seen[key]
        raise ConfigError(f"{row.place}: {', '.join(key)} stands twice, first at {first}")
    seen[key] = row.place


def _counted(row: _Row, key: tuple[str, str, str]) -> Iterator[Attempt]:
    """Successes first, then failures, then lost trials; what the row used is divided equally."""
    trials = whole(row.cells["trials"], row.at("trials"))
    solved = whole(row.cells["successes"], row.at("successes"))
    lost = list(_lost(row))
    if trials > _MOST_TRIALS:
        raise ConfigError(f"{row.at('trials')}: {trials:,} trials; one row has at most {_MOST_TRIALS:,}")
    if solved + len(lost) > trials:
        more = f" and {len(lost)} lost ones" if lost else ""
        raise ConfigError(f"{row.at('successes')}: {solved} successes{more} of {trials} trials")
    outcomes: list[float | Lost] = [*[1.0] * solved, *[0.0] * (trials - solved - len(lost)), *lost]
    for number, outcome in enumerate(outcomes):
        yield _attempt(row, key, number, outcome, (number, trials))


def _lost(row: _Row) -> Iterator[Lost]:
    """One entry for each lost trial of a row of counts; they are part of its trials."""
    for column in row.cells:
        if column in _LOST or column.startswith("lost:"):
            owner = column.removeprefix("lost:") if ":" in column else _owner(row)
            number = row.read(column, whole, 0)
            if number > _MOST_TRIALS:
                raise ConfigError(f"{row.at(column)}: {number:,} lost trials; one row has at most {_MOST_TRIALS:,}")
            yield from [_failure(owner)] * number


def _owner(row: _Row) -> str:
    if not row.has("owner"):
        return _UNNAMED
    owner = str(row.cells["owner"]).strip()
    if owner not in _OWNERS:
        raise ConfigError(f"{row.at('owner')}: {shown(owner)} is no owner; {nearest(owner, _OWNERS)}")
    return owner


def _failure(owner: str) -> Lost:
    known: Owner = next(each for each in _OWNERS if each == owner)
    return Lost(known, "lost according to the imported table")


def _single(row: _Row, key: tuple[str, str, str]) -> Attempt:
    """A row that is one trial: lost where it says so, else with the verdict of its first such column."""
    repeat = row.read("repeat", whole, -1)
    if any(_is_lost(row, column) for column in row.cells):
        owner = next((each for each in _OWNERS if _is_lost(row, f"lost:{each}")), None) or _owner(row)
        return _attempt(row, key, repeat, _failure(owner), (0, 1))
    column = next((each for each in _VERDICTS if row.has(each)), None)
    if column is None:
        named = next(each for each in _VERDICTS if each in row.cells)
        raise ConfigError(f"{row.at(named)}: is empty; a trial without a verdict has 1 in a column lost")
    if column == "score":
        outcome = proportion(row.cells[column], row.at(column))
    else:
        outcome = float(truth(row.cells[column], row.at(column)))
    return _attempt(row, key, repeat, outcome, (0, 1))


def _is_lost(row: _Row, column: str) -> bool:
    return (column in _LOST or column.startswith("lost:")) and row.read(column, truth, False)


def _attempt(
    row: _Row, key: tuple[str, str, str], repeat: int, outcome: float | Lost, part: tuple[int, int]
) -> Attempt:
    """One trial of a row; `part` is its number and how many share what the row used."""
    number, trials = part
    tokens, rest = divmod(row.read("tokens", whole, 0), trials)
    cost = amount(row.cells["cost"], row.at("cost")) / trials if row.has("cost") else None
    levels = {
        one_line(column.removeprefix(AXIS)): column
        for column in row.cells
        if column.startswith(AXIS) and row.has(column)
    }
    return Attempt(
        *key,
        repeat=None if repeat < 0 else repeat,
        score=None if isinstance(outcome, Lost) else outcome,
        failure=outcome if isinstance(outcome, Lost) else None,
        usage=Usage(prompt=tokens + (number < rest)),
        cost=cost,
        seconds=row.read("seconds", amount, 0.0) / trials,
        levels={axis: name_of(row.cells[column], row.at(column)) for axis, column in levels.items()},
        group=name_of(row.cells["group"], row.at("group")) if row.has("group") else "",
    )

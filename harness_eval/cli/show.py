"""`harness-eval show`: the trials of a run as a list, one of them step by step, or two beside each other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.cells import cell_len

from harness_eval import recording, store
from harness_eval.cli.output import JsonFlag, out, print_json, print_line, print_table, texts_of
from harness_eval.cli.show_pair import as_json as pair_json
from harness_eval.cli.show_pair import print_pair
from harness_eval.cli.show_trial import failure_of, page, plain
from harness_eval.errors import ConfigError, nearest
from harness_eval.report import diagnosed
from harness_eval.report.recorded import outcome_of
from harness_eval.report.trajectory_index import Wanted, entry_of, meant, select, trial_name
from harness_eval.report.trajectory_pair import align
from harness_eval.report.trajectory_told import Trial, read_trial
from harness_eval.report.wording import one_line, printable
from harness_eval.store import Row
from harness_eval.types import Json

app = typer.Typer(add_completion=False)

_MESSAGE_LENGTH = 60
_NARROW = 60  # columns of a terminal below which a table would be one letter wide
_WIDE = 120  # likewise, below which it has the main columns only
_MAIN = (0, 1, 4, 7)
_MANY = 2_000  # trials from which they are not measured before the first is printed
_WIDTHS = (6, 5, 9, 32, 12, 16, 5, 9, 8)  # of all columns but the first, as wide as they usually are
_COLUMNS = (
    *("trial", "solved", "score", "recovered", "label", "owner"),
    *("stop or message", "steps", "tokens", "seconds"),
)
OneTrial: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="[TASK/HARNESS[/ENDPOINT][/REPEAT]]", help="A trial; beginnings of names are enough."),
]


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    trial: OneTrial = None,
    other: Annotated[
        str | None, typer.Argument(metavar="[OTHER]", help="A second trial of that task, shown beside it.")
    ] = None,
    beside: Annotated[
        str | None, typer.Option(metavar="TRIAL|HARNESS", help="As OTHER: such as `--beside canonical`.")
    ] = None,
    harness: Annotated[
        str, typer.Option(help="List trials of this harness only: a name, a part of it or a glob.")
    ] = "",
    task: Annotated[str, typer.Option(help="List trials of this task only, likewise.")] = "",
    label: Annotated[str, typer.Option(help="List trials that have this label only, likewise.")] = "",
    unsolved: Annotated[bool, typer.Option("--unsolved", help="List trials that were judged and not solved.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """List the trials of a run, show one trial step by step, or two of one task beside each other."""
    study, rows = store.read_study(folder), listed(folder)
    wanted = Wanted(task=task, harness=harness, label=label, outcome="unsolved" if unsolved else "")
    if trial is None:
        if other or beside:
            raise ConfigError("--beside: name the trial that it stands beside, such as TASK/HARNESS")
        _list(_chosen(rows, wanted), as_json)
        return
    if wanted != Wanted():
        raise ConfigError("--harness, --task, --label and --unsolved are for the list; one trial is named already")
    found, second = find_trial(rows, trial), other or beside
    if second is None:
        _show_one(folder, found, as_json)
    else:
        _show_two(folder, found, find_partner(rows, found, second, study), as_json)


def listed(folder: Path) -> list[Row]:
    """The line that counts of each trial, by harness, task, repeat and endpoint."""
    return sorted(store.latest(folder), key=lambda row: (row["harness"], row["task"], row["repeat"], row["endpoint"]))


def _chosen(rows: list[Row], wanted: Wanted) -> list[Row]:
    """The lines of the trials that are wanted.

    Raises:
        ConfigError: a harness, task or label is not in this run.
    """
    if wanted == Wanted():
        return rows
    entries = [entry_of(row) for row in rows]
    for part in ("task", "harness", "label"):
        given = getattr(wanted, part)
        names = {name for entry in entries for name in (entry.labels if part == "label" else [getattr(entry, part)])}
        if given and not meant(given, names):
            raise ConfigError(f"--{part}: none of this run is named {given!r}; {nearest(given, names)}")
    fitting = {entry.name for entry in select(entries, wanted)}
    return [row for row in rows if trial_name(row) in fitting]


def _list(rows: list[Row], as_json: bool) -> None:
    if as_json:
        print_json({"trials": [{"trial": trial_name(row), "cause": _cause(row), **row} for row in rows]})
    elif out().width < _NARROW:
        for name, *cells in map(_listed, rows):
            print(name, "  ".join(printable(cell) for cell in cells[:5] if cell is not None), sep="\n  ")
    elif out().width < _WIDE:
        print_table([_COLUMNS[place] for place in _MAIN], ([_listed(row)[place] for place in _MAIN] for row in rows))
    elif len(rows) <= _MANY:
        print_table(_COLUMNS, (_listed(row) for row in rows))
    else:
        _print_many(rows)


def _print_many(rows: Sequence[Row]) -> None:
    """The same table for more lines than anybody looks at: nothing is folded, and the first ones come at once."""
    named = max(cell_len(one_line(trial_name(row))) for row in rows)
    widths = [named, *(max(len(column), width) for column, width in zip(_COLUMNS[1:], _WIDTHS, strict=True))]
    for cells in chain([_COLUMNS], map(_listed, rows)):
        print_line(texts_of(cells), widths)


def find_partner(rows: Sequence[Row], row: Row, given: str, study: Mapping[str, Json]) -> Row:
    """The trial that is meant to stand beside one: named as any trial, or by its harness alone.

    `canonical` is also the canonical harness of this study. Of several repeats it is the same one, else the first.

    Raises:
        ConfigError: none or several are meant, or one of another task.
    """
    same = [each for each in rows if each["task"] == row["task"] and each is not row]
    harnesses = {each["harness"] for each in same}
    canonical = study.get("canonical")
    name = str(canonical) if given == "canonical" and given not in harnesses and canonical else given
    named = [name] if name in harnesses else [each for each in harnesses if each.startswith(name)]
    if "/" not in given and len(named) == 1:
        fitting = [each for each in same if each["harness"] == named[0]]
        return min(fitting, key=lambda each: (each["endpoint"] != row["endpoint"], each["repeat"] != row["repeat"]))
    if name == row["harness"]:
        raise ConfigError(f"{trial_name(row)} is itself under {given!r}; another can stand beside it")
    if "/" not in given and given not in {each["task"] for each in rows}:
        raise ConfigError(f"no trial of {row['task']} under {given!r}; {nearest(given, harnesses)}")
    partner = find_trial(rows, given)
    if partner["task"] != row["task"]:
        raise ConfigError(f"{trial_name(partner)} is of another task than {trial_name(row)}; only one task compares")
    return partner


def find_trial(rows: Sequence[Row], given: str) -> Row:
    """The one trial that is meant; whole names go before beginnings.

    Raises:
        ConfigError: none or several are meant.
    """
    for same in (str.__eq__, str.startswith):
        found = [row for row in rows if is_meant(row, given, same)]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(one_line(trial_name(row)) for row in found[:5])
            raise ConfigError(f"{len(found)} trials begin with {given!r}: {shown}{', ...' if found[5:] else ''}")
    raise unknown_trial(rows, given)


def unknown_trial(rows: Iterable[Row], given: str) -> ConfigError:
    """What to say where no trial is meant: which part of its name is unknown, and what is near to that part."""
    rows = left = list(rows)
    task, _, rest = given.strip("/").partition("/")
    harness, further = rest.partition("/")[::2]
    if not left:
        return ConfigError(f"no trial {given!r} in this run: none has ended yet")
    for part, wanted in (("task", task), ("harness", harness)):
        known = {row[part] for row in left}
        left = [row for row in left if row[part] == wanted] or [row for row in left if row[part].startswith(wanted)]
        if not left:
            names = {one_line(name) for name in known}
            of = f" of task {task!r}" if part == "harness" else _perhaps_a_harness(rows, wanted)
            return ConfigError(f"no {part} {wanted!r}{of} in this run; {nearest(wanted, names)}")
    ends = {one_line(trial_name(row).split("/", 2)[2]) for row in left}
    return ConfigError(f"no trial {given!r} in this run; {nearest(further, ends)}")


def _perhaps_a_harness(rows: Iterable[Row], given: str) -> str:
    return f" (but a harness: TASK/{given}, or --harness {given})" if any(r["harness"] == given for r in rows) else ""


def is_meant(row: Row, given: str, same: Callable[[str, str], bool]) -> bool:
    """Whether a trial's names are the same as the given ones, as far as those go."""
    parts, wanted = trial_name(row).split("/"), given.strip("/").split("/")
    if len(wanted) == 3 and wanted[2].isdigit():  # the endpoint is left out
        parts = [*parts[:2], parts[-1]]
    return len(wanted) <= len(parts) and all(same(part, want) for part, want in zip(parts, wanted, strict=False))


def _listed(row: Row) -> tuple[object, ...]:
    failure = failure_of(row)
    solved = "lost" if failure else "yes" if row.get("solved") else "no"
    score = None if failure else f"{row['score']:.2f}"
    tokens = row["usage"]["prompt"] + row["usage"]["completion"]
    why = one_line(failure["message"], _MESSAGE_LENGTH) if failure else row.get("stop")
    outcome = outcome_of(row)
    recovered = None if outcome.recovered is None else f"{outcome.recovered:.2f}"
    known = _cause(row) or {}
    of_whom = [one_line(known[key]) if key in known else None for key in ("label", "owner")]
    spent = (row.get("steps"), tokens, f"{row['seconds']:.1f}")
    return one_line(trial_name(row)), solved, score, recovered, *of_whom, why, *spent


def _cause(row: Row) -> dict[str, str] | None:
    """The label and the owner that a trial which was not solved counts under in a report; None of a solved one."""
    outcome = outcome_of(row)
    if outcome.score is not None and outcome.score >= 1.0:
        return None
    owner, label = diagnosed.cause(outcome)
    return {"label": label, "owner": owner}


def _show_one(folder: Path, row: Row, as_json: bool) -> None:
    trial = _read(folder, row, derive=not as_json)
    if as_json:
        record = recording.as_record(trial.record) if trial.record else None
        after = recording.as_record(trial.followed) if trial.followed else None
        print_json({**row, "trajectory": record, "recovered_trajectory": after})
        return
    if not sys.stdout.isatty():
        for part in page(trial):
            print(plain(part))
        return
    console = out()
    for part in page(trial):
        console.print(part)


def _show_two(folder: Path, left: Row, right: Row, as_json: bool) -> None:
    pair = align(_read(folder, left), _read(folder, right))
    print_json(pair_json(pair)) if as_json else print_pair(out(), pair)


def _read(folder: Path, row: Row, *, derive: bool = True) -> Trial:
    """A trial of which nothing is damaged.

    Raises:
        ConfigError: something is.
    """
    trial = read_trial(folder, row, derive=derive)
    if trial.damaged:
        raise ConfigError(f"{folder}: {trial_name(row)}: {trial.missing or trial.after_failure}")
    return trial

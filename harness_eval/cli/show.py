"""`harness-eval show`: the trials of a run as a list, or one of them step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from harness_eval import recording, store
from harness_eval.cli.output import JsonFlag, out, print_json, print_table
from harness_eval.diagnosis.labels import LABELS
from harness_eval.diagnosis.reply import PLAIN
from harness_eval.errors import ConfigError, nearest
from harness_eval.report import diagnosed
from harness_eval.report.recorded import outcome_of
from harness_eval.report.wording import count, one_line
from harness_eval.store import Row
from harness_eval.types import Compaction, Event, Json, Note, Observation, Reply, Step, Trajectory, TrialKey

app = typer.Typer(add_completion=False)

_LINES = "\n\t"
_DIRECTIONS = (*range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A))  # and separators of lines
_VISIBLE: Mapping[int, str] = (
    {code: chr(0x2400 + code) for code in range(32) if chr(code) not in _LINES}
    | {127: "\u2421"}
    | {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}
    | {code: f"\\u{code:04x}" for code in (*_DIRECTIONS, *range(0xD800, 0xE000))}
)
_NO_OUTCOME = {"owner": "harness", "message": "neither a verdict nor a failure was recorded"}
_MESSAGE_LENGTH = 60
_COLUMNS = (
    *("trial", "solved", "score", "recovered", "label", "owner"),
    *("stop or message", "steps", "tokens", "seconds"),
)
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
    rows = sorted(store.latest(folder), key=lambda row: (row["harness"], row["task"], row["repeat"], row["endpoint"]))
    if trial is not None:
        _show_one(folder, find_trial(rows, trial), as_json)
    elif as_json:
        print_json({"trials": [{"trial": trial_name(row), "cause": _cause(row), **row} for row in rows]})
    else:
        print_table(_COLUMNS, (_listed(row) for row in rows))


def trial_name(row: Row) -> str:
    """How a trial is named on the command line."""
    return f"{row['task']}/{row['harness']}/{row['endpoint']}/{row['repeat']}"


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
    """What to say where no trial is meant."""
    likely = {one_line(name) for row in rows for name in (trial_name(row), f"{row['task']}/{row['harness']}")}
    hint = nearest(given, likely).partition(" choices:")[0]
    return ConfigError(f"no trial {given!r} in this run; {hint or 'without a trial all are listed'}".rstrip("; "))


def is_meant(row: Row, given: str, same: Callable[[str, str], bool]) -> bool:
    """Whether a trial's names are the same as the given ones, as far as those go."""
    parts, wanted = trial_name(row).split("/"), given.strip("/").split("/")
    if len(wanted) == 3 and wanted[2].isdigit():  # the endpoint is left out
        parts = [*parts[:2], parts[-1]]
    return len(wanted) <= len(parts) and all(same(part, want) for part, want in zip(parts, wanted, strict=False))


def _listed(row: Row) -> tuple[object, ...]:
    failure = _failure(row)
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


def _failure(row: Row) -> Mapping[str, Json] | None:
    """Why a trial has no verdict; None where it has one."""
    failure: Mapping[str, Json] | None = row.get("failure")
    return _NO_OUTCOME if failure is None and row.get("score") is None else failure


def _told(failure: Mapping[str, Json]) -> str:
    label = failure.get("label")
    return f"{label}: {failure['message']}" if label else str(failure["message"])


def _show_one(folder: Path, row: Row, as_json: bool) -> None:
    key = store.key_of(row)
    trajectory = store.read_trajectory(folder, key)
    recovered = _recovered(folder, key) if trajectory else None
    if as_json:
        record = recording.as_record(trajectory) if trajectory else None
        after = recording.as_record(recovered[0]) if recovered else None
        print_json({**row, "trajectory": record, "recovered_trajectory": after})
        return
    console = out()
    steps = len(trajectory.steps) if trajectory else 0
    for part in (*_page(row, trajectory), *_continuation(row, recovered, steps)):
        console.print(part)


def _recovered(folder: Path, key: TrialKey) -> tuple[Trajectory, str] | None:
    """What followed when a leaked call was taken for a call, and why it has no score; None where nothing followed.

    Raises:
        ConfigError: what was recorded of it is damaged.
    """
    path = folder / store.TRAJECTORIES / recording.file_name(key)
    record = recording.extra_of(path.read_bytes()).get("recovered")
    if not isinstance(record, Mapping) or "events" not in record:
        return None
    try:
        followed = recording.from_record({"system": "", "prompt": "", "stop": None, **record})
        return followed, str(record.get("failure") or "")
    except ValueError as error:
        raise ConfigError(f"{path}: the recovered reading is damaged: {error}") from None


def _page(row: Row, trajectory: Trajectory | None) -> Iterator[RenderableType]:
    yield _text(one_line(trial_name(row)), "bold")
    if trajectory is None:
        yield Text("nothing is recorded of this trial's steps")
    else:
        yield from _section("system", trajectory.system)
        yield from _section("task", trajectory.prompt)
        yield from _events(trajectory.events)
    yield _rule("outcome")
    failure = _failure(row)
    yield _text(f"lost, {failure['owner']}: {_told(failure)}" if failure else f"score {row['score']:g}", "bold")
    if trajectory is not None:
        yield _text(f"stopped: {trajectory.stop}; exercised: {', '.join(_names(row, 'acted'))}")
    if _names(row, "labels"):
        yield _text(f"labels: {_with_owners(_names(row, 'labels'))}")
    if row.get("detail"):
        yield _indented(str(row["detail"]), "dim")


def _names(row: Row, key: str) -> list[str]:
    names = row.get(key)
    return [str(name) for name in names] if isinstance(names, list) else []


def _with_owners(labels: Iterable[str]) -> str:
    """Labels with owner and effect, a repeated one once with its number; what is plain is left out."""
    told = []
    for name, number in Counter(labels).items():
        known, times = LABELS.get(name), f" x {number}" if number > 1 else ""
        effect = f" ({known.owner}, {known.effect.replace('_', ' ')})" if known else ""
        told += [f"{name}{times}{effect}"] if name not in PLAIN else []
    return ", ".join(told)


def _continuation(row: Row, recovered: tuple[Trajectory, str] | None, steps: int) -> Iterator[RenderableType]:
    """What followed the strict end, after so many steps, when the leaked call was taken for a call."""
    verdict = row.get("recovered")
    if recovered is not None:
        yield _rule("RECOVERED READING: what followed when the leaked call was taken for a call; it is not scored")
        followed, failure = recovered
        yield from _events(followed.events, steps)
        yield _text(f"without a score: {failure}" if failure else f"stopped: {followed.stop or 'unknown'}")
    if isinstance(verdict, Mapping):
        yield _text(f"recovered score {verdict.get('score')}; the strict score stands", "bold")


def _section(title: str, text: str) -> Iterator[RenderableType]:
    yield _rule(title)
    yield _text(text)


def _rule(title: str) -> Rule:
    return Rule(_text(one_line(title)), align="left")


def _events(events: Sequence[Event], number: int = 0) -> Iterator[RenderableType]:
    for event in events:
        number += isinstance(event, Step)
        yield from _event(event, number)


def _event(event: Event, number: int) -> Iterator[RenderableType]:
    if isinstance(event, Note):
        yield from _section(f"{event.role}, {event.kind}", event.text)
        return
    spent = f"{event.usage.total} tokens, {event.seconds:.1f} s"
    if isinstance(event, Compaction):
        yield _rule(f"compaction, {spent}: these notes replace the first {count(event.covers, 'event')}")
        yield from _attempts(event.reply)
        yield _text(event.notes)
        return
    ended = f", finish {event.finish_reason}" if event.finish_reason else ""
    yield _rule(f"step {number}, {spent}{ended}")
    yield from _attempts(event.reply)
    labels = list(dict.fromkeys((*event.labels, *(event.reply.oddities if event.reply else ()))))
    if _with_owners(labels):
        yield _text(f"labels: {_with_owners(labels)}", "yellow")
    yield from _step(event)


def _attempts(reply: Reply | None) -> Iterator[RenderableType]:
    if reply and reply.faults:
        yield _text(f"after {count(len(reply.faults), 'failed request')}: {_with_owners(reply.faults)}", "yellow")


def _step(step: Step) -> Iterator[RenderableType]:
    action = step.action
    if action.thinking:
        yield _text("thinking:", "dim")
        yield _indented(action.thinking, "dim italic")
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
    return Text(text.expandtabs().translate(_VISIBLE), style)

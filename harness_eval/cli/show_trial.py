"""One trial for the terminal, step by step: what the model was sent, said, called and was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from textwrap import indent

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from harness_eval import recording
from harness_eval.diagnosis.labels import LABELS
from harness_eval.diagnosis.reply import PLAIN
from harness_eval.report.follows import follows_phrase
from harness_eval.report.trajectory_index import trial_name
from harness_eval.report.trajectory_sent import Sent
from harness_eval.report.trajectory_text import excerpt, visible
from harness_eval.report.trajectory_told import Aside, Call, Trial, Turn
from harness_eval.report.wording import count, one_line
from harness_eval.store import Row
from harness_eval.types import Json, Malformed, Note, Reply

_NO_OUTCOME = {"owner": "harness", "message": "neither a verdict nor a failure was recorded"}


def failure_of(row: Row) -> Mapping[str, Json] | None:
    """Why a trial has no verdict; None where it has one."""
    failure: Mapping[str, Json] | None = row.get("failure")
    return _NO_OUTCOME if failure is None and row.get("score") is None else failure


def page(trial: Trial) -> Iterator[RenderableType]:
    """The whole of a trial, with the recovered reading where there is one."""
    yield from heading(trial)
    if trial.record is None:
        yield Text(trial.missing)
    else:
        yield from _section("system", trial.record.system)
        yield from _section("task", trial.record.prompt)
        yield from chain.from_iterable(turn_parts(turn) for turn in trial.turns)
    yield rule("outcome")
    yield from outcome(trial)
    yield from _continuation(trial)


def heading(trial: Trial) -> Iterator[RenderableType]:
    """The trial's name, and where its harness differs from the canonical one."""
    yield text(one_line(trial_name(trial.row)), "bold")
    if trial.wire is not None:
        facts = "; ".join(f"{what} {value}" for what, value in trial.wire.facts)
        yield text(f"external harness: {one_line(facts or trial.wire.missing)}", "dim")
    if trial.levels:
        tied = {axis: f" ({follows_phrase(deciding)})" for axis, deciding in trial.follows.items()}
        levels = (f"{axis} {level}{tied.get(axis, '')}" for axis, level, _ in trial.levels)
        yield text(f"not canonical: {one_line('; '.join(levels))}", "dim")


def outcome(trial: Trial) -> Iterator[RenderableType]:
    """What became of a trial: score or failure, stop, labels, and what the verifier said."""
    row, failure = trial.row, failure_of(trial.row)
    yield text(f"lost, {failure['owner']}: {_told(failure)}" if failure else f"score {row['score']:g}", "bold")
    if trial.record is not None:
        acted = ", ".join(_names(row, "acted"))
        yield text(f"stopped: {trial.record.stop}" + (f"; exercised: {acted}" if acted or trial.built else ""))
    if _names(row, "labels"):
        yield text(f"labels: {with_owners(_names(row, 'labels'))}")
    if row.get("detail"):
        yield indented(str(row["detail"]), "dim")


def _told(failure: Mapping[str, Json]) -> str:
    label = failure.get("label")
    return f"{label}: {failure['message']}" if label else str(failure["message"])


def _names(row: Row, key: str) -> list[str]:
    names = row.get(key)
    return [str(name) for name in names] if isinstance(names, list) else []


def with_owners(labels: Iterable[str]) -> str:
    """Labels with owner and effect, a repeated one once with its number; what is plain is left out."""
    told = []
    for name, number in Counter(labels).items():
        known, times = LABELS.get(name), f" x {number}" if number > 1 else ""
        effect = f" ({known.owner}, {known.effect.replace('_', ' ')})" if known else ""
        told += [f"{name}{times}{effect}"] if name not in PLAIN else []
    return ", ".join(told)


def _continuation(trial: Trial) -> Iterator[RenderableType]:
    """What followed the strict end when the leaked call was taken for a call."""
    verdict = trial.row.get("recovered")
    if trial.followed is not None:
        yield rule("RECOVERED READING: what followed when the leaked call was taken for a call; it is not scored")
        yield from chain.from_iterable(turn_parts(turn) for turn in trial.after)
        failure = trial.after_failure
        yield text(f"without a score: {failure}" if failure else f"stopped: {trial.followed.stop or 'unknown'}")
    if isinstance(verdict, Mapping):
        yield text(f"recovered score {verdict.get('score')}; the strict score stands", "bold")


def _section(title: str, body: str) -> Iterator[RenderableType]:
    yield rule(title)
    yield text(body)


def rule(title: str) -> Rule:
    """A line with a title."""
    return Rule(text(one_line(title)), align="left")


def turn_parts(turn: Turn, most: int | None = None) -> Iterator[RenderableType]:
    """A turn: what the harness did before it, then the step; each text cut to `most` characters where given."""
    for aside in turn.before:
        yield from _aside(aside, most)
    step = turn.step
    if step is None:
        return
    ended = f", finish {step.finish_reason}" if step.finish_reason else ""
    yield rule(f"step {turn.number}, {step.usage.total} tokens, {step.seconds:.1f} s{ended}")
    yield from _lacks(turn.sent)
    yield from _attempts(step.reply)
    if turn.labels:
        yield text(f"labels: {with_owners(turn.labels)}", "yellow")
    if step.action.thinking:
        yield text("thinking:", "dim")
        yield indented(_cut(step.action.thinking, most), "dim italic")
    if step.action.text:
        yield text(_cut(step.action.text, most))
    for call in turn.calls:
        yield from _call(call, most)


def _aside(aside: Aside, most: int | None) -> Iterator[RenderableType]:
    event = aside.event
    if isinstance(event, Note):
        yield from _section(f"{event.role}, {event.kind}", _cut(event.text, most))
        return
    spent = f"{event.usage.total} tokens, {event.seconds:.1f} s"
    yield rule(f"compaction, {spent}: these notes replace the first {count(event.covers, 'event')}")
    yield from _attempts(event.reply)
    yield text(_cut(event.notes, most))


def _lacks(sent: Sent | str | None) -> Iterator[RenderableType]:
    """What of the record was not in the request."""
    if not isinstance(sent, Sent) or not sent.lacks:
        return
    instead = f"; instead: {', '.join(sent.told_instead)}" if sent.told_instead else ""
    yield text(f"the request: {'; '.join(sent.lacks)}{instead}", "yellow" if sent.newly else "dim")


def _attempts(reply: Reply | None) -> Iterator[RenderableType]:
    if reply and reply.faults:
        yield text(f"after {count(len(reply.faults), 'failed request')}: {with_owners(reply.faults)}", "yellow")


def _call(call: Call, most: int | None) -> Iterator[RenderableType]:
    asked = call.asked
    if isinstance(asked, Malformed):
        said = f"{asked.name or '(no name)'} cannot be read, {asked.reason}: {asked.raw}"
    else:
        said = f"{asked.name} {recording.dump(asked.arguments).decode()}"
    yield text(f"> {_cut(said, most)}", "bold cyan")
    if call.fault:
        yield text(f"    ({call.fault})", "yellow")
    seen, shown = call.observation, call.result
    if seen is None or shown is None:
        return
    style = "red" if seen.failed else ""
    if shown.gap is None or not shown.after or not shown.before:
        yield indented(_cut(seen.shown, most), style)
    else:
        for part in (shown.before, shown.gap.notice or "[cut here, without a word to the model]", shown.after):
            yield indented(_cut(part, most), style if part in (shown.before, shown.after) else "yellow")
    if shown.gap and shown.gap.hidden:
        said_so = "" if shown.gap.notice else "; the model was not told"
        extent = f"shown {shown.gap.shown:,} of {shown.gap.length:,} characters, {shown.place} was cut{said_so}"
        yield text(f"    ({extent})", "yellow")


def _cut(body: str, most: int | None) -> str:
    if most is None or len(body) <= most:
        return body
    kept = excerpt(body, most)
    return f"{kept.head}\n[... {kept.left_out:,} characters ...]\n{kept.tail}"


def plain(part: RenderableType) -> str:
    """A part of a page for a file or a pipe: its own lines, neither folded nor filled up."""
    if isinstance(part, Padding):
        return indent(plain(part.renderable), " " * part.left)
    if isinstance(part, Rule):
        return f"── {part.title} ──"
    return part.plain if isinstance(part, Text) else str(part)


def indented(body: str, style: str) -> RenderableType:
    """A text that stands in from the left."""
    return Padding(text(body, style), (0, 0, 0, 4), expand=False)


def text(body: str, style: str = "") -> Text:
    """Text as it is, with control characters made visible: what a model wrote must not steer the terminal."""
    return Text(visible(body.expandtabs()), style)

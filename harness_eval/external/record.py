"""From the exchanges of an external harness to the record of its trial."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness_eval.axes.protocol.native import Native
from harness_eval.diagnosis.offer import text_of
from harness_eval.diagnosis.step import label_step
from harness_eval.external.conversations import Talk
from harness_eval.external.heard import TOLD, Heard, Shown, results_for
from harness_eval.types import Action, Compaction, Event, Note, Observation, RawCall, Reply, Step, Trajectory

_REFUSED = frozenset({"model.unknown_tool_foreign", "model.unknown_tool_invented", "model.missing_required"})
_LEFT_OUT = re.compile(
    r"(\d[\d,]{0,12})\s{1,3}(?:more\s{1,3})?char(?:acter)?s?\b[^\n]{0,20}\b(?:truncated|omitted|elided|removed|cut)"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A record, and for each of its steps the earlier ones whose results its request did not show.

    `offered` are the tools that the main conversation had. The system prompt and the prompt are those of its first
    request, as the harness sent them.
    """

    record: Trajectory
    hidden: tuple[frozenset[int], ...] = ()
    offered: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Writer:
    """What has been written of a record so far. `results` has, by step, the results that a request showed."""

    events: list[Event] = field(default_factory=list)
    steps: list[Heard] = field(default_factory=list)
    results: list[tuple[Shown | None, ...]] = field(default_factory=list)
    hidden: list[frozenset[int]] = field(default_factory=list)
    before: Heard | None = None


def recorded(talk: Talk, instruction: str) -> Recorded:
    """The record of a trial: a step for each reply of the main conversation, compactions, what the harness said.

    What was said beside it is in no event.
    """
    main = talk.main.turns
    if not main:
        return Recorded(Trajectory("", instruction))
    writer = _Writer()
    for number, turn in enumerate(main):
        if talk.is_summary(turn):
            continue
        _say(writer, turn, talk)
        if turn.reply is not None:
            _step(writer, turn, main[number + 1] if number + 1 < len(main) else None)
        writer.before = turn
    prompt = "\n\n".join(text_of(each) for each in main[0].messages if each.get("role") == "user")
    offered = frozenset[str]().union(*(turn.tools for turn in main))
    record = Trajectory(main[0].system, prompt or instruction, tuple(writer.events))
    return Recorded(record, tuple(writer.hidden), offered)


def _say(writer: _Writer, turn: Heard, talk: Talk) -> None:
    """Write what a request tells beside replies and results: notes, or that the history was replaced."""
    before = writer.before
    if before is None or turn.exchange.number in talk.main.again:
        return
    summary = talk.summaries.get(turn.exchange.number)
    first = next((n for n, step in enumerate(writer.steps) if step.reply and turn.echo(step.reply) is not None), None)
    gone = len(writer.steps) if first is None else first
    told = _told(turn, before)
    if summary is not None or turn.exchange.number in talk.main.replaced or _dropped(writer, turn, before, gone):
        writer.events.append(_compaction(writer, gone, summary, told))
    else:
        writer.events += [Note(text, "harness") for text in told]


def _dropped(writer: _Writer, turn: Heard, before: Heard, gone: int) -> bool:
    """Whether replies that the request before still showed are shown no more, and others still are."""
    if not 0 < gone < len(writer.steps):
        return False
    last = writer.steps[gone - 1].reply
    return last is not None and before.echo(last) is not None and turn.echo(last) is None


def _compaction(writer: _Writer, gone: int, summary: Heard | None, told: Sequence[str]) -> Compaction:
    if gone < len(writer.steps):
        places = [place for place, event in enumerate(writer.events) if isinstance(event, Step)]
        covers = places[gone]
    else:
        covers = len(writer.events)
    reply = summary.reply if summary is not None else None
    if summary is None or reply is None:
        return Compaction(covers, "\n\n".join(told))
    request = summary.exchange.asked.request
    return Compaction(covers, reply.text, reply.usage, summary.exchange.seconds, request.digest, reply)


def _told(turn: Heard, before: Heard) -> list[str]:
    """What the harness says at the end of a request that it did not say in the one before."""
    known, texts = Counter(before.keys), list[str]()
    results = {each.text for each in results_for(before.reply, turn) if each} if before.reply else set()
    last = max((n for n, each in enumerate(turn.messages) if each.get("role") == "assistant"), default=-1)
    for key, message in list(zip(turn.keys, turn.messages, strict=True))[last + 1 :]:
        known[key] -= 1
        if known[key] < 0 and message.get("role") in TOLD and (text := text_of(message)):
            texts.append(text)
    return [text for text in texts if text not in results]


def _step(writer: _Writer, turn: Heard, later: Heard | None) -> None:
    reply = turn.reply or Reply()
    shown = results_for(reply, later) if later is not None else tuple[Shown | None, ...]([None] * len(reply.calls))
    action = Native().decode(reply, ())
    seconds = later.exchange.began - turn.exchange.began if later is not None else turn.exchange.seconds
    request = turn.exchange.asked.request
    step = Step(action, (), reply.usage, seconds, reply.finish_reason, (), request.digest, reply)
    before = [earlier.reply for earlier in writer.steps if earlier.reply]
    finding = label_step(step, request, bool(turn.tools) or bool(reply.calls), (), before)
    refused = finding.label in _REFUSED
    observations = tuple(_observation(each, refused) for each in _ordered(action, reply.calls, shown))
    labels = tuple(dict.fromkeys((finding.label, *finding.also)))
    writer.hidden.append(frozenset(_hidden(writer, turn)))
    writer.events.append(replace(step, observations=observations, labels=labels))
    writer.steps.append(turn)
    writer.results.append(shown)


def _ordered(action: Action, calls: Sequence[RawCall], shown: Sequence[Shown | None]) -> list[Shown | None]:
    """The results as a step holds them: those of calls that can be read first."""
    bad = [(each.id, each.name, each.raw) for each in action.malformed]
    good, broken = list[Shown | None](), list[Shown | None]()
    for call, result in zip(calls, shown, strict=True):
        (broken if (call.id, call.name, call.arguments) in bad else good).append(result)
    return [*good, *broken]


def _observation(result: Shown | None, refused: bool) -> Observation:
    """What is known of a result: nothing where no request showed it."""
    if result is None:
        return Observation("", 0)
    missing = sum(int(number.replace(",", "")) for number in _LEFT_OUT.findall(result.text))
    return Observation(result.text, len(result.text) + missing, result.failed, refused)


def _hidden(writer: _Writer, turn: Heard) -> Iterator[int]:
    """The earlier steps whose results a request does not show, or not as they were shown first.

    What became of the calls of a reply that the harness itself took back is nobody's question.
    """
    for number, results in enumerate(writer.results):
        known = [result for result in results if result is not None]
        missing = any(result.text not in turn.shown for result in known)
        reply = writer.steps[number].reply
        unanswered = len(known) < len(results) and reply is not None and turn.echo(reply) is not None
        if missing or unanswered:
            yield number

"""What a model was really sent at each turn: derived from the record, as the agent derived it then.

A record is only viewed, never edited: what a level of context or thinking leaves out is told by comparing the view
with the record, and what is new by comparing it with the view before.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from harness_eval import recording
from harness_eval.agent import summary_view
from harness_eval.errors import HarnessEvalError, boundary
from harness_eval.harness import Harness
from harness_eval.replaying import exact, requested
from harness_eval.report.trajectory_text import steps
from harness_eval.types import Compaction, Event, Json, Message, Note, Request, Step, Trajectory, View

_MOST_WORK = 50_000_000  # characters of all requests together; beyond them the later ones are not derived

_WORDS = {
    "gone": "{steps} not sent",
    "cleared": "results of {steps} cleared",
    "silent": "thinking of {steps} not sent",
    "empty": "thinking of {steps} sent as an empty field",
    "as-text": "thinking of {steps} sent as text",
    "other": "{steps} sent in other words",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its messages and characters, what of the record it lacks, and what it has that the last had not.

    `lacks` is all that is missing, `newly` what was still sent before; `added` are the new messages, each with its
    role. `as_recorded` is None where no hash was recorded. `rewritten` is the number of earlier messages that are no
    longer as they were, so that no server has them in its cache.
    """

    messages: int
    characters: int
    as_recorded: bool | None
    lacks: tuple[str, ...]
    newly: tuple[str, ...]
    told_instead: tuple[str, ...]
    added: tuple[tuple[str, str], ...]
    rewritten: int


def requests(harness: Harness, record: Trajectory) -> dict[int, Sent | str]:
    """For the place of each step and compaction in the record: its request, or why that cannot be derived."""
    found: dict[int, Sent | str] = {}
    last: tuple[tuple[str, str], ...] = ()
    known: frozenset[tuple[str, int]] = frozenset()
    work = 0
    for place, event, before in _asked(harness, record):
        if work > _MOST_WORK:
            found[place] = "too long to derive again here"
            continue
        try:
            with boundary("harness"):
                request = requested(harness, before, event)
                view = _tagged_view(harness, before, event)
        except HarnessEvalError as error:
            found[place] = f"cannot be derived by today's code: {error}"
            continue
        lacks, texts = _lacking(before, view, request), message_texts(request)
        found[place] = sent = replace(
            added(last, texts),
            as_recorded=request.digest == event.digest if event.digest else None,
            lacks=_told(lacks),
            newly=_told(lacks - known),
            told_instead=_injected(before, view, event),
        )
        work += sent.characters
        if isinstance(event, Step):
            last, known = texts, lacks
    return found


def added(last: tuple[tuple[str, str], ...], texts: tuple[tuple[str, str], ...]) -> Sent:
    """A request as it was recorded, of which only the messages are known, beside those of the one before."""
    same = sum(1 for _ in takewhile(bool, map(operator.eq, last, texts)))
    characters = sum(len(text) for _, text in texts)
    return Sent(len(texts), characters, True, (), (), (), texts[same:], max(0, len(last) - same))


def _asked(harness: Harness, record: Trajectory) -> Iterator[tuple[int, Step | Compaction, Trajectory]]:
    """Each event that a request brought, with its place and the record before it."""
    events: list[Event] = []
    for place, event in enumerate(record.events):
        if not isinstance(event, Note):
            yield place, event, Trajectory(record.system, record.prompt, tuple(events))
        events.append(exact(harness, event))


def _tagged_view(harness: Harness, before: Trajectory, event: Step | Compaction) -> View:
    """What is shown, each step with its number as its digest, which no level looks at."""
    numbers = iter(range(1, len(before.events) + 1))
    tagged = [replace(e, digest=str(next(numbers))) if isinstance(e, Step) else e for e in before.events]
    record = Trajectory(before.system, before.prompt, tuple(tagged))
    return summary_view(harness, record) if isinstance(event, Compaction) else harness.view(record)


def _lacking(before: Trajectory, view: View, request: Request) -> frozenset[tuple[str, int]]:
    """What each step has lost on its way into the request: pairs of a loss and the step's number."""
    shown = {step.digest: step for step in view.steps}
    carries = request.wire == "chat" and any("reasoning_content" in message for message in request.messages)
    lost = set()
    for number, step in enumerate(before.steps, 1):
        seen = shown.get(str(number))
        if seen is None:
            lost.add(("gone", number))
            continue
        if [o.shown for o in seen.observations] != [o.shown for o in step.observations]:
            lost.add(("cleared", number))
        if step.action.thinking and (seen.action != step.action or not carries):
            lost.add((_thinking(step, seen), number))
        elif seen.action != step.action:
            lost.add(("other", number))
    return frozenset(lost)


def _thinking(step: Step, seen: Step) -> str:
    if seen.action.thinking == "":
        return "empty"
    return "as-text" if seen.action.text != step.action.text else "silent"


def _told(lost: frozenset[tuple[str, int]]) -> tuple[str, ...]:
    by_loss = defaultdict(set)
    for loss, number in lost:
        by_loss[loss].add(number)
    return tuple(_WORDS[loss].format(steps=steps(by_loss[loss])) for loss in _WORDS if loss in by_loss)


def _injected(before: Trajectory, view: View, event: Step | Compaction) -> tuple[str, ...]:
    """Notes that are in the view and not in the record: how a summary is put back, and by which role."""
    own = {id(each) for each in before.events}
    notes = [each for each in view.events if isinstance(each, Note) and id(each) not in own]
    if isinstance(event, Compaction):
        notes = notes[:-1]  # the request for the summary itself
    return tuple(f"{note.kind} as {note.role} message" for note in notes)


def message_texts(request: Request) -> tuple[tuple[str, str], ...]:
    """The messages as role and text; calls and reasoning as they travel beside the text."""
    if request.wire == "completions":
        return (("prompt", request.prompt),)
    return tuple((str(message.get("role", "")), _text(message)) for message in request.messages)


def _text(message: Message) -> str:
    content: Json = message.get("content")
    said = content if isinstance(content, str) else recording.dump(content).decode() if content is not None else ""
    thinking = message.get("reasoning_content")
    parts = [f"[reasoning] {thinking}"] if thinking is not None else []
    parts += [said] if said else []
    parts += [recording.dump(call.get("function", call)).decode() for call in message.get("tool_calls", ())]
    return "\n".join(parts)

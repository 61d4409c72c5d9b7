"""All checks of an endpoint, in as few rounds of calls as they allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from harness_eval.endpoints.probe import questions
from harness_eval.endpoints.probe.asking import Asking, at_once
from harness_eval.endpoints.probe.check import Answer, Check, LabelOf, most_common, number_of, unknown
from harness_eval.endpoints.probe.histories import history_reasoning, unknown_tools
from harness_eval.endpoints.probe.trip import Trip, call_ids, round_trip, travel
from harness_eval.errors import EndpointDown, HarnessEvalError, HarnessFailure
from harness_eval.types import Reply, estimate_tokens

CHECKS = (
    "tool_round_trip",
    "history_reasoning",
    "call_ids",
    "streaming",
    "unknown_tools",
    "usage",
    "thinking",
    "concurrency",
)
MOST_AT_ONCE = 8
MOST_CALLS = 16 + MOST_AT_ONCE
"""Eight for the round trip, three histories, an order for a foreign tool, two for streaming, a puzzle, a greeting."""

_THOUGHT_TOKENS = 64  # beyond what is visible of all replies: so many were thought, though not shown
_NO_THINKING = ("none", "off", "disabled")


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found; `alive` is whether anything came back, `ids` are call ids of this server.

    `foreign_calls` is whether a history may call tools that are not offered, `reasons` whether reasoning can be read in
    any reply (None: unknown).
    """

    checks: tuple[Check, ...]
    alive: bool
    ids: tuple[str, ...] = ()
    foreign_calls: bool = True
    reasons: bool | None = None


async def examine(asking: Asking, label_of: LabelOf) -> Examined:
    """Make all checks; what cannot be established is unknown.

    Raises:
        EndpointDown: no call can succeed.
    """
    trip = await travel(asking)
    if not trip.replies and not await _answers(asking, trip):
        error = cast("HarnessEvalError", trip.error)
        return Examined(tuple(unknown(name, error) for name in CHECKS), alive=False)
    told, limit = questions.history(trip.ids), asking.config.max_tokens
    wanted = [
        partial(asking.ask, told),
        partial(asking.ask, questions.without_reasoning(told)),
        partial(asking.ask, questions.with_foreign_call(told)),
        partial(asking.ask, questions.foreign_order(limit)),
        partial(asking.ask, trip.first, other_way=True),
    ]
    silent = not any(reply.thinking or reply.usage.reasoning for reply in trip.replies)
    wanted += [partial(asking.ask, questions.puzzle(limit))] * silent
    kept, dropped, foreign, ordered, other, *puzzled = await at_once(wanted)
    thinking = _thinking(asking, [*trip.replies, *puzzled])
    trip.beside += [ordered] if isinstance(ordered, Reply) and ordered.calls else []
    checks = (
        round_trip(trip, label_of),
        history_reasoning(told, kept, dropped),
        call_ids(trip, asking.config.profile),
        await _streaming(asking, trip, other, label_of),
        unknown_tools(told, kept, foreign, ordered if trip.calling else None),
        _usage(asking),
        thinking,
        await _concurrency(asking, trip, label_of),
    )
    refused = isinstance(kept, Reply) and isinstance(foreign, HarnessFailure)
    reasons = any(reply.thinking for reply in [*trip.replies, *puzzled] if isinstance(reply, Reply))
    told_all = reasons or all(isinstance(answer, Reply) for answer in puzzled)
    return Examined(checks, True, tuple(trip.ids), not refused, reasons if told_all else None)


async def _answers(asking: Asking, trip: Trip) -> bool:
    """Whether a question without tools is answered."""
    answer = await asking.ask(questions.greeting())
    if isinstance(answer, EndpointDown) and isinstance(trip.error, EndpointDown):
        raise answer
    return isinstance(answer, Reply)


async def _streaming(asking: Asking, trip: Trip, other: Answer, label_of: LabelOf) -> Check:
    """Whether the same request brings the same kind of reply streamed and whole."""
    name, answers = "streaming", [other]
    if isinstance(other, Reply) and not (other.calls and trip.calling):
        answers.append(await asking.ask(questions.reworded(trip.first), other_way=True))  # one draw tells too little
    if error := next((answer for answer in answers if isinstance(answer, HarnessEvalError)), None):
        return unknown(name, error)
    others = [answer for answer in answers if isinstance(answer, Reply)]
    usual, way = ("streamed", "whole") if asking.config.stream else ("whole", "streamed")
    ways = {usual: [*trip.ordered, *trip.beside], way: others}
    if all(reply.calls for replies in ways.values() for reply in replies):
        return Check(name, "yes", "the same call comes streamed and whole")
    counted = ", ".join(
        f"{kind} in {sum(bool(reply.calls) for reply in replies)} of {len(replies)}" for kind, replies in ways.items()
    )
    for missing, present in ((usual, way), (way, usual)):
        if all(reply.calls for reply in ways[present]) and not any(reply.calls for reply in ways[missing]):
            label = most_common(label_of(reply, trip.first) for reply in ways[missing])
            dropped = not label or label.startswith("ok.")  # nothing else explains it
            told = f"a call comes {present} and not {missing}: {counted}"
            return Check(name, "no", told, "serving.tool_call_dropped" if dropped else label)
    return Check(name, "unknown", f"a plain order does not bring a call each time, which may hide more: {counted}")


def _usage(asking: Asking) -> Check:
    if asking.uncounted:
        replies = number_of(asking.replies, "reply", "replies")
        told = (
            f"{asking.uncounted} of {replies} did not count all tokens, which is borne; budgets see less than was used"
        )
        return Check("usage", "yes", told, "ok.usage_missing")
    return Check("usage", "yes", f"tokens are counted in all {number_of(asking.replies, 'reply', 'replies')}")


def _thinking(asking: Asking, answers: Sequence[Answer]) -> Check:
    """Whether the model thinks, shown or not, and whether that is what the configuration asks for."""
    name, config = "thinking", asking.config
    replies = [answer for answer in answers if isinstance(answer, Reply)]
    shown = sum(bool(reply.thinking) for reply in replies)
    counted = sum(reply.usage.reasoning for reply in replies)
    hidden = sum(reply.usage.completion - estimate_tokens(f"{reply.text}{reply.calls}") for reply in replies)
    if shown or counted:
        told = f"reasoning stands in {shown} of {len(replies)} replies"
        if config.thinking is False:
            return Check(name, "no", f"{told}, though it was switched off")
        return Check(name, "yes", told if shown else f"{counted} tokens of reasoning are counted, but none are shown")
    if isinstance(answers[-1], HarnessEvalError):
        return unknown(name, answers[-1])
    if asking.uncounted or hidden > _THOUGHT_TOKENS:
        return Check(name, "unknown", f"no reply shows reasoning; {max(hidden, 0)} tokens were not shown")
    asked = config.thinking or (config.reasoning_effort or "none") not in _NO_THINKING
    if asked:
        told = "it was asked for, and neither a puzzle nor anything else brought any reasoning"
        return Check(name, "no", told, "gateway.thinking_not_applied")
    return Check(name, "no", "no reply shows reasoning, and none was asked for")


async def _concurrency(asking: Asking, trip: Trip, label_of: LabelOf) -> Check:
    """Whether as many equal requests at once as trials may send bring what one alone does."""
    name, number = "concurrency", min(asking.config.concurrency, MOST_AT_ONCE)
    if number < 2 or not trip.calling:
        none = f"{trip.missed} of {number_of(len(trip.ordered), 'request')}, one at a time, brought no call"
        why = "one request at a time is allowed" if number < 2 else none
        return Check(name, "unknown", f"nothing to compare: {why}")
    answers = await at_once([partial(asking.ask, trip.first)] * number)
    replies = [answer for answer in answers if isinstance(answer, Reply)]
    errors = [answer for answer in answers if not isinstance(answer, Reply)]
    silent = [reply for reply in replies if not reply.calls]
    faults = sum(len(reply.faults) for reply in replies)  # told apart, since a call came in the end
    again = f"; {number_of(faults, 'attempt')} had to be made again" if faults else ""
    if not (errors or silent):
        return Check(name, "yes", f"{number} at once bring the same call as one alone{again}")
    told = f"of {number} at once {len(errors)} failed, {len(silent)} brought no call{again}"
    labels = [*(error.label for error in errors), *(label_of(reply, trip.first) for reply in silent)]
    if trip.missed and not errors:
        told = f"{told}, and neither did {trip.missed} of {len(trip.ordered)}, one at a time"
        return Check(name, "unknown", told, most_common(labels))
    return Check(name, "no", told, most_common(labels))

"""A tool round trip of three turns, and what its replies show: calls that come back, results that are used, ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness_eval.endpoints.probe import questions
from harness_eval.endpoints.probe.asking import Asking
from harness_eval.endpoints.probe.check import Answer, Check, LabelOf, most_common, number_of, unknown
from harness_eval.errors import EndpointDown, HarnessEvalError, HarnessFailure
from harness_eval.types import Reply, Request

_NUMBER = re.compile(r"\d{1,3}$")
_TRAINED_IDS = {"kimi-k2": (re.compile(r"functions\.[\w.-]+:\d+"), "functions.name:index")}
"""By the beginning of a profile's name: the ids that its model was trained on, as a pattern and in words."""


@dataclass(slots=True)
class Trip:
    """The first request, every reply with its request in order, and the error that ended it, if one did."""

    first: Request
    requests: list[Request] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    error: HarnessEvalError | None = None

    @property
    def calling(self) -> list[Reply]:
        """The replies that hold a native call."""
        return [reply for reply in self.replies if reply.calls]

    @property
    def ids(self) -> list[str]:
        """The id of each turn's first call."""
        return [reply.calls[0].id for reply in self.calling]

    @property
    def refused(self) -> bool:
        """Whether the server refused to go on."""
        return isinstance(self.error, HarnessFailure | EndpointDown)

    def take(self, request: Request, answer: Answer) -> bool:
        """Keep an answer; whether it is a reply with a call."""
        if isinstance(answer, HarnessEvalError):
            self.error = answer
            return False
        self.requests.append(request)
        self.replies.append(answer)
        return bool(answer.calls)


async def travel(asking: Asking) -> Trip:
    """Ask for a first call, give what it brings, and so on until the word has come: at most five calls."""
    trip = Trip(questions.opening(asking.config.max_tokens))
    request, answer = trip.first, await _first(asking, trip)
    for result in questions.RESULTS:
        if not trip.take(request, answer) or not isinstance(answer, Reply):
            return trip
        request = questions.going_on(request, answer, result)
        answer = await asking.ask(request)
    trip.take(request, answer)
    return trip


async def _first(asking: Asking, trip: Trip) -> Answer:
    """The first answer; another one where it holds no call, or where its token limit may have been refused."""
    answer = await asking.ask(trip.first)
    if isinstance(answer, HarnessFailure):
        asking.limited = False
        again = await asking.ask(trip.first)
        asking.limited = isinstance(again, HarnessFailure)
        return answer if asking.limited else again
    if isinstance(answer, Reply) and not answer.calls:
        trip.take(trip.first, answer)
        return await asking.ask(trip.first)
    return answer


def round_trip(trip: Trip, label_of: LabelOf) -> Check:
    """Whether calls come back natively, and whether what they bring is used."""
    name, calling = "tool_round_trip", trip.calling
    if trip.error is not None and not calling:
        return replace(unknown(name, trip.error), status="no" if trip.refused else "unknown")
    labels = [label_of(*pair) for pair in zip(trip.replies, trip.requests, strict=True) if not pair[0].calls]
    if not calling:
        told = f"a plain order was given {number_of(len(trip.replies), 'time')}, and no native call came back"
        return Check(name, "no", told, most_common(labels))
    if trip.error is not None:
        told = f"after {number_of(len(calling), 'turn')} with a call: {trip.error}"
        return Check(name, "no" if trip.refused else "unknown", told, trip.error.label)
    reasoned = sum(bool(reply.thinking) for reply in trip.replies)
    told = f"{number_of(len(calling), 'turn')} with a native call; {reasoned} of {len(trip.replies)} replies reason"
    if _used(trip):
        return Check(name, "yes", f"{told}; results are used")
    return Check(name, "no", f"{told}; no result was used", most_common(labels[-1:]))


def _used(trip: Trip) -> bool:
    """Whether anything that only a result could tell was said or called later."""
    later = trip.replies[trip.replies.index(trip.calling[0]) + 1 :]
    words = (questions.WORD.lower(), "amber", "birch")
    said = " ".join(f"{reply.text} {reply.calls}" for reply in later).lower()
    return any(word in said for word in words)


def call_ids(trip: Trip, profile: str) -> Check:
    """How ids look over the turns; anything goes, but a style that the model was not trained on may harm it."""
    name, ids = "call_ids", trip.ids
    if len(ids) < 2:
        return Check(name, "unknown", f"{number_of(len(ids), 'turn')} with a call: nothing to compare")
    shown = ", ".join(ids)
    trained = next((known for start, known in _TRAINED_IDS.items() if profile.startswith(start)), None)
    if trained is not None and not all(trained[0].fullmatch(each) for each in ids):
        told = f"{_style(ids)} ({shown}), and this model was trained on {trained[1]}"
        return Check(name, "no", told, "serving.id_format_foreign")
    if len(set(ids)) == len(ids):
        return Check(name, "yes", f"unique over {len(ids)} turns: {_style(ids)} ({shown})")
    if len(set(ids)) == 1 and questions.TOOL not in ids[0]:
        return Check(name, "no", f"the same id in every turn ({ids[0]})", "ok.id_constant")
    return Check(name, "no", f"counted anew in each turn ({shown})", "ok.id_reused_across_turns")


def _style(ids: Sequence[str]) -> str:
    return "a name and a number" if len({_NUMBER.sub("", each) for each in ids}) == 1 else "random"

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
    """The opening, every reply with its request in order, and the error that ended it, if one did.

    `beside` has replies to other requests, sent in the same way, that brought a call.
    """

    opening: Request
    requests: list[Request] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    error: HarnessEvalError | None = None
    beside: list[Reply] = field(default_factory=list)

    @property
    def first(self) -> Request:
        """The first request that brought a call; the opening where none did."""
        pairs = zip(self.requests, self.replies, strict=True)
        return next((request for request, reply in pairs if reply.calls), self.opening)

    @property
    def ordered(self) -> list[Reply]:
        """The replies to the orders to call the tool."""
        pairs = zip(self.requests, self.replies, strict=True)
        return [reply for request, reply in pairs if request.messages[-1]["content"] != questions.RESULTS[-1]]

    @property
    def missed(self) -> int:
        """How many orders brought no native call."""
        return sum(not reply.calls for reply in self.ordered)

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
    """Ask for a first call, give what it brings, and so on until the word has come: at most eight calls."""
    trip = Trip(questions.opening(asking.config.max_tokens))
    request = trip.opening
    for result in questions.RESULTS:
        if not await _called(asking, trip, request):
            return trip
        request = questions.going_on(trip.requests[-1], trip.replies[-1], result)
    trip.take(request, await asking.ask(request))
    return trip


async def _called(asking: Asking, trip: Trip, request: Request) -> bool:
    """Whether an order brings a call; it is given once more, in other words, where it does not."""
    answer = await (asking.ask(request) if trip.replies else _first(asking, request))
    if trip.take(request, answer) or trip.error is not None:
        return trip.error is None
    again = questions.reworded(request)
    return trip.take(again, await asking.ask(again))


async def _first(asking: Asking, request: Request) -> Answer:
    """The first answer; another one where its token limit may have been refused."""
    answer = await asking.ask(request)
    if not isinstance(answer, HarnessFailure):
        return answer
    asking.limited = False
    again = await asking.ask(request)
    asking.limited = isinstance(again, HarnessFailure)
    return answer if asking.limited else again


def round_trip(trip: Trip, label_of: LabelOf) -> Check:
    """Whether calls come back natively, and whether what they bring is used."""
    name, calling = "tool_round_trip", trip.calling
    if trip.error is not None and not calling:
        return replace(unknown(name, trip.error), status="no" if trip.refused else "unknown")
    labels = [label_of(*pair) for pair in zip(trip.replies, trip.requests, strict=True) if not pair[0].calls]
    if not calling:
        told = f"{trip.missed} of {number_of(len(trip.ordered), 'plain order')} brought no native call"
        if trip.beside:
            return Check(name, "unknown", f"{told}, though another request did", most_common(labels))
        return Check(name, "no", told, most_common(labels))
    if trip.error is not None:
        told = f"after {number_of(len(calling), 'turn')} with a call: {trip.error}"
        return Check(name, "no" if trip.refused else "unknown", told, trip.error.label)
    reasoned = sum(bool(reply.thinking) for reply in trip.replies)
    told = f"{number_of(len(calling), 'turn')} with a native call; {reasoned} of {len(trip.replies)} replies reason"
    if trip.missed:
        told = f"{told}; {trip.missed} of {number_of(len(trip.ordered), 'plain order')} brought no native call"
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
        return Check(name, "yes", f"the same id in every turn ({ids[0]}), which is borne", "ok.id_constant")
    return Check(name, "yes", f"counted anew in each turn ({shown}), which is borne", "ok.id_reused_across_turns")


def _style(ids: Sequence[str]) -> str:
    return "a name and a number" if len({_NUMBER.sub("", each) for each in ids}) == 1 else "random"

"""What the requests of one dialogue tell of the turns before them: results, what is shown no more, and compactions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness_eval.diagnosis.offer import messages_of, text_of
from harness_eval.types import Json, RawCall

_Message = Mapping[str, Json]


@dataclass(slots=True)
class Asked:
    """What was seen of one turn: its calls, the results that a later request showed, and what came before it.

    `key` tells equal requests apart from others; "" where none was recorded.
    """

    calls: tuple[RawCall, ...] = ()
    results: list[str | None] = field(default_factory=list)
    told: tuple[str, ...] = ()
    compacted: bool = False
    hidden: frozenset[int] = frozenset()
    renamed: str = ""
    key: str = ""


class History:
    """The requests of a dialogue, taken one after the other; of each, only what differs from the last is kept.

    `task` is the first thing that the user said, "" where no request was recorded.
    """

    def __init__(self) -> None:
        self.turns: list[Asked] = []
        self.task = ""
        self._roles: list[str] = []
        self._seen: set[str] = set()
        self._keys: set[str] = set()
        self._newest: int | None = None  # the last turn with calls
        self._unknown = -1  # the last turn without a request
        self._places: dict[str, set[int]] = {}  # by each result that was shown, the turns it answers

    def take(self, request: Mapping[str, Json] | None, calls: tuple[RawCall, ...]) -> None:
        """Take the request of the next turn, and the calls that answered it (none where it failed)."""
        turn = Asked(calls, [None] * len(calls))
        messages = messages_of(request)
        if messages and request is not None:
            turn.key = _digest([request.get("messages"), request.get("tools")])
            self._compare(turn, messages)
            self._keys.add(turn.key)
            self.task = self.task or next((text_of(each) for each in messages if each.get("role") == "user"), "")
            self._roles = [str(message.get("role")) for message in messages]
            self._seen = {_digest(message) for message in messages}
        self._newest = len(self.turns) if calls else self._newest
        self._unknown = self._unknown if turn.key else len(self.turns)
        self.turns.append(turn)

    def _compare(self, turn: Asked, messages: Sequence[_Message]) -> None:
        if not self._roles or turn.key in self._keys:
            return
        turn.compacted = len(messages) < len(self._roles)
        last = max((place for place, each in enumerate(messages) if each.get("role") == "assistant"), default=-1)
        told = messages if turn.compacted else messages[last + 1 :]
        turn.told = tuple(
            text for each in told if _is_told(each) and _digest(each) not in self._seen and (text := text_of(each))
        )
        before = self._newest
        # Only the turn right before this request is answered by it; failed attempts lie between.
        if before is not None and self._unknown < before:
            self._answer(self.turns[before], messages, last)
            for result in filter(None, self.turns[before].results):
                self._places.setdefault(result, set()).add(before)
            turn.renamed = _renamed(self.turns[before].calls, messages[last] if last >= 0 else {})
        turn.hidden = frozenset(self._hidden(messages, turn.compacted, last))

    def _answer(self, asked: Asked, messages: Sequence[_Message], last: int) -> None:
        """Note the results of the calls of the turn before, as far as this request shows any."""
        if asked.results and all(result is not None for result in asked.results):
            return
        shown = [result for each in messages[last + 1 :] for result in _results(each)]
        named = {call_id: text for call_id, text in shown if call_id}
        ids = [call.id for call in asked.calls]
        if len(set(ids)) == len(ids) and all(call_id in ids for call_id in named):
            asked.results = [named.get(call_id) for call_id in ids]
        elif last >= 0 and _called(messages[last]):
            # Somebody has made the ids over: the results come in the order of the calls.
            texts: list[str | None] = [text for _, text in shown]
            asked.results = [*texts, *[None] * len(ids)][: len(ids)]

    def _hidden(self, messages: Sequence[_Message], compacted: bool, last: int) -> Iterator[int]:
        """The turns whose results this request does not show."""
        shown = {text for each in messages for _, text in _results(each)}
        gone = [places for result, places in self._places.items() if result not in shown]
        yield from (place for places in gone for place in places)
        newest = self.turns[self._newest] if self._newest is not None else None
        if newest is None or self._newest is None or compacted or not newest.key or None not in newest.results:
            return
        # A harness may send results as a message of the user, and may have asked for several replies to one request.
        own = not _called(messages[last]) if last >= 0 else True
        elsewhere = own and any(_is_told(each) and text_of(each).strip() for each in messages[last + 1 :])
        if not elsewhere:
            yield self._newest


def _is_told(message: _Message) -> bool:
    return message.get("role") in ("user", "system", "developer") and not any(True for _ in _results(message))


def _results(message: _Message) -> Iterator[tuple[str, str]]:
    """The results in a message, each with the id of its call."""
    if message.get("role") == "tool":
        yield str(message.get("tool_call_id") or ""), text_of(message)
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("type") == "tool_result":
            yield str(part.get("tool_use_id") or ""), text_of(part)


def _called(message: _Message) -> list[str]:
    """The names of the calls in a message of the model."""
    calls = message.get("tool_calls")
    entries = [entry for entry in calls if isinstance(entry, Mapping)] if isinstance(calls, list) else []
    functions = [entry.get("function") for entry in entries]
    return [str(function.get("name")) for function in functions if isinstance(function, Mapping)]


def _renamed(calls: Sequence[RawCall], message: _Message) -> str:
    """How the history names a call that the model named otherwise; "" where it does not."""
    names = _called(message)
    if len(names) != len(calls):
        return ""
    for call, name in zip(calls, names, strict=True):
        # A name that was mended is still the same.
        if call.name and name and name.casefold() not in call.name.casefold():
            return f"{call.name!r} became {name!r}"
    return ""


def _digest(value: Json) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()

"""Tool calls put together from streamed deltas whose indexes and ids cannot be trusted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise

import orjson

from harness_eval.types import Json, RawCall


@dataclass(slots=True)
class _Call:
    index: Json = None
    id: str = ""
    name: str = ""
    fragments: list[str] = field(default_factory=list)


class CallAssembler:
    """Collects deltas of calls.

    A delta with a new id or a new name begins a new call even if its index repeats; a delta without any of them
    continues the last call.
    """

    def __init__(self) -> None:
        self._oddities: set[str] = set()
        self._calls: list[_Call] = []

    @property
    def oddities(self) -> frozenset[str]:
        """Labels of what had to be put right."""
        calls = self.calls()
        shared = {"serving.duplicate_id_in_turn"} if len({call.id for call in calls}) < len(calls) else set()
        return frozenset(self._oddities | shared)

    def add(self, deltas: Json) -> None:
        """Take the `tool_calls` list of one delta."""
        for delta in deltas if isinstance(deltas, list) else ():
            if isinstance(delta, dict):
                self._take(delta)

    def add_whole(self, calls: Json) -> None:
        """Take the `tool_calls` list of a complete message, where every entry is a call of its own."""
        for entry in calls if isinstance(calls, list) else ():
            if isinstance(entry, dict):
                function = _function(entry)
                fragments = [_text(function.get("arguments"))]
                self._calls.append(_Call(None, _plain(entry.get("id")), _plain(function.get("name")), fragments))

    def calls(self) -> tuple[RawCall, ...]:
        """The calls so far; what has neither a name nor arguments is no call."""
        found = [(call, self._arguments(call.fragments)) for call in self._calls]
        kept = [(call, text) for call, text in found if call.name or text]
        return tuple(RawCall(call.id or f"call_{at}", call.name, mended(text)) for at, (call, text) in enumerate(kept))

    def _take(self, delta: dict[str, Json]) -> None:
        function = _function(delta)
        id_, name = _plain(delta.get("id")), _plain(function.get("name"))
        fragment, index = _text(function.get("arguments")), delta.get("index")
        if index is None:
            self._oddities.add("serving.index_missing")
        call = self._target(index, id_, name)
        if call is not None and not _continues(call, id_, name, fragment):
            if index is not None and call.index == index:
                self._oddities.add("serving.index_collision")
            call = None
        if call is None:
            call = _Call(index)
            self._calls.append(call)
        call.id = call.id or id_
        call.name = call.name or name
        if fragment:
            call.fragments.append(fragment)

    def _target(self, index: Json, id_: str, name: str) -> _Call | None:
        """The call that a delta may continue: the last of its index, else of its id, else the last of all."""
        for call in reversed(self._calls):
            if (index is not None and call.index == index) or (index is None and id_ and call.id == id_):
                return call
        nameless = index is None or not (id_ or name)
        return self._calls[-1] if self._calls and nameless else None

    def _arguments(self, fragments: list[str]) -> str:
        """The text of the arguments: the fragments joined, unless they turn out to be snapshots of the whole."""
        joined = "".join(fragments)
        if len(fragments) < 2 or _is_json(joined):
            return joined
        if fragments[0].strip() == "{}" and "".join(fragments[1:]).strip():
            self._oddities.add("serving.args_placeholder")
            return self._arguments(fragments[1:])
        growing = all(later.startswith(earlier) for earlier, later in pairwise(fragments))
        if growing or all(_is_json(fragment) for fragment in fragments):
            self._oddities.add("gateway.args_snapshots")
            return fragments[-1]
        return joined


def mended(text: str) -> str:
    """The text with surrogate pairs that were cut apart put together; what has no other half is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _continues(call: _Call, id_: str, name: str, fragment: str) -> bool:
    """Whether a delta belongs to this call, or begins another under the same index."""
    if (id_ and call.id and id_ != call.id) or (name and call.name and name != call.name):
        return False
    if (id_ or name) and call.fragments and fragment.startswith("{") and _is_json("".join(call.fragments)):
        # The header is repeated and a whole object has arrived: the next object is a call of its own, unless it is
        # the same object grown longer.
        return fragment.startswith(call.fragments[-1].rstrip('}]" \n'))
    return True


def _function(entry: dict[str, Json]) -> dict[str, Json]:
    function = entry.get("function")
    return function if isinstance(function, dict) else {}


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _text(arguments: Json) -> str:
    """Arguments as text; some servers send the object itself."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    try:
        return orjson.dumps(arguments).decode()
    except orjson.JSONEncodeError:
        pass
    try:
        return json.dumps(arguments)  # which knows half a surrogate pair and integers of any size
    except RecursionError:
        return "arguments nested too deeply to be written down"  # no JSON: a malformed call


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True

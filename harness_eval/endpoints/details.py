"""Reasoning that comes as a list of typed parts, kept so that it goes back as it came."""

from __future__ import annotations

from collections.abc import Iterable

from harness_eval.types import Json, Message, Reply

_MOST = 4096  # turns remembered: all of those that many trials at once may still show
_GROWING = ("text", "summary", "data", "signature")

Key = tuple[str, tuple[str, ...]]


def merged(parts: Iterable[Json]) -> list[dict[str, Json]]:
    """The parts of all deltas, those of one kind and index that follow each other put together."""
    whole: list[dict[str, Json]] = []
    for part in parts:
        if not isinstance(part, dict):
            continue
        last = whole[-1] if whole else None
        if last is None or any(last.get(key) != part.get(key) for key in ("type", "index")):
            whole.append(dict(part))
            continue
        both = [key for key in _GROWING if last.get(key) or part.get(key)]
        grown = {key: f"{last.get(key) or ''}{part.get(key) or ''}" for key in both}
        last.update({key: value for key, value in part.items() if value is not None} | grown)
    return whole


class ReasoningDetails:
    """What a server sent for each turn: types, signatures and whatever else it will want to see again.

    A turn is known by its reasoning and the ids of its calls; where a harness has changed them, or in another process,
    the reasoning goes back as one part of plain text.
    """

    def __init__(self) -> None:
        self._known: dict[Key, list[dict[str, Json]]] = {}

    def remember(self, reply: Reply, parts: list[dict[str, Json]]) -> None:
        """Keep the parts of this reply."""
        self._known[reply.thinking or "", tuple(call.id for call in reply.calls)] = parts
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]

    def of(self, message: Message, thinking: str) -> list[dict[str, Json]]:
        """The parts to send for a message of the history with this reasoning."""
        calls = message.get("tool_calls")
        ids = tuple(str(call.get("id")) for call in calls) if isinstance(calls, list | tuple) else ()
        return self._known.get((thinking, ids)) or [{"type": "reasoning.text", "text": thinking}]

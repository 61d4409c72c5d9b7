"""One exchange as the record needs it: what its request shows of earlier replies, results and words of the harness."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness_eval.diagnosis.offer import offer_in, text_of
from harness_eval.gateway.exchange import Exchange
from harness_eval.types import Json, Message, RawCall, Reply

TOLD = ("system", "developer", "user")
_TELLING = 6  # characters of an id that no text holds by chance


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as a request shows it; `failed` where it says so itself, as a gateway lets it do for a wire's flag."""

    text: str

    @property
    def failed(self) -> bool:
        """Whether it says that the call failed."""
        return self.text.startswith("Error:")


@dataclass(frozen=True)
class Heard:
    """An exchange, read once."""

    exchange: Exchange

    @property
    def reply(self) -> Reply | None:
        """What was answered, None where nothing was."""
        return self.exchange.reply

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the request, in order."""
        return self.exchange.asked.request.messages

    @cached_property
    def tools(self) -> frozenset[str]:
        """The names of the tools that were offered."""
        return offer_in({"tools": list(self.exchange.asked.request.tools)}).names or frozenset()

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """A hash for each message: role, text, and calls without their ids."""
        return tuple(_key(message) for message in self.messages)

    @cached_property
    def system(self) -> str:
        """The system messages before the first other one."""
        leading: list[str] = []
        for message in self.messages:
            if message.get("role") not in ("system", "developer"):
                break
            leading.append(text_of(message))
        return "\n\n".join(leading)

    @cached_property
    def said(self) -> str:
        """All that the harness says by itself: messages of the system and of the user."""
        return "\n\n".join(text_of(message) for message in self.messages if message.get("role") in TOLD)

    @cached_property
    def results(self) -> tuple[tuple[str, Shown], ...]:
        """Each result that is shown, with the id of its call."""
        return tuple(
            (str(message.get("tool_call_id") or ""), Shown(text_of(message)))
            for message in self.messages
            if message.get("role") == "tool"
        )

    @cached_property
    def shown(self) -> frozenset[str]:
        """The texts of all results, and of what may be one where calls are shown as text."""
        told = {text_of(message) for message in self.messages if message.get("role") == "user"}
        return frozenset(told.union(result.text for _, result in self.results))

    @cached_property
    def assistants(self) -> tuple[Message, ...]:
        """The messages that stand for replies, the newest first."""
        return tuple(message for message in reversed(self.messages) if message.get("role") == "assistant")

    @cached_property
    def by_id(self) -> Mapping[str, Message]:
        """The messages that stand for replies by the ids of their calls."""
        return {call.id: message for message in reversed(self.assistants) for call in calls_of(message) if call.id}

    def echo(self, reply: Reply) -> Message | None:
        """The message that stands for an earlier reply, or None; ids may have been made over, text may be wrapped."""
        for call in reply.calls:
            found = self.by_id.get(call.id)
            if found is not None and call.name in {other.name for other in calls_of(found)}:
                return found
        return next((message for message in self.assistants if _stands_for(message, reply)), None)


def calls_of(message: Message) -> tuple[RawCall, ...]:
    """The calls in a message of the model."""
    calls = message.get("tool_calls")
    functions = [(call, call.get("function")) for call in calls or () if isinstance(call, Mapping)]
    return tuple(
        RawCall(str(call.get("id") or ""), str(function.get("name") or ""), str(function.get("arguments") or ""))
        for call, function in functions
        if isinstance(function, Mapping)
    )


def results_for(reply: Reply, later: Heard) -> tuple[Shown | None, ...]:
    """What a later request shows for each call of a reply: by id, or in order where the ids were made over.

    Where it shows calls as text, their results are what the user says next, all of them together or one by one.
    """
    ids = [call.id for call in reply.calls]
    named = dict(later.results)
    if len(set(ids)) == len(ids) and any(call_id in named for call_id in ids):
        return tuple(named.get(call_id) for call_id in ids)
    message = later.echo(reply)
    place = next((n for n, each in enumerate(later.messages) if each is message), len(later.messages))
    as_text = message is not None and not calls_of(message)
    following: list[Shown | None] = []
    for each in later.messages[place + 1 :]:
        if each.get("role") == "assistant":
            break
        if each.get("role") == ("user" if as_text else "tool"):
            following.append(Shown(text_of(each)))
    if as_text and len(following) == 1:
        following *= len(ids)
    return tuple([*following, *[None] * len(ids)][: len(ids)])


def _stands_for(message: Message, reply: Reply) -> bool:
    calls = calls_of(message)
    if reply.calls and not calls:  # a harness may show its calls as text
        return all(len(call.id) >= _TELLING and call.id in text_of(message) for call in reply.calls)
    if reply.calls:
        return [(call.name, _plain(call.arguments)) for call in calls] == [
            (call.name, _plain(call.arguments)) for call in reply.calls
        ]
    text = reply.text.strip()
    return not calls and bool(text) and text in text_of(message)


def _plain(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def _key(message: Message) -> str:
    calls: Sequence[Json] = [[call.name, _plain(call.arguments)] for call in calls_of(message)]
    told = json.dumps([message.get("role"), text_of(message), calls])
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

"""What a server may refuse of a harness: the shape of its requests, each different one once and made cheap."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness_eval.dialogue import requests_of
from harness_eval.endpoints.probe.questions import BRIEFLY, with_ids
from harness_eval.harness import Harness
from harness_eval.types import Json, Message, Request

_THOUGHT = "I think about what is left to do."
_LONGEST = 1500  # characters of a message's text; how long it is changes nothing about its shape
_ENDS = {"role": "end"}


@dataclass(frozen=True, slots=True)
class Shape:
    """A request late in the dialogue (its last one, with history, results and reasoning), and whose it is by name."""

    request: Request
    harnesses: list[str] = field(default_factory=list)


def shapes_of(harnesses: Iterable[Harness]) -> list[Shape]:
    """The distinct shapes, in the order of the harnesses. Runs an event loop: call it where there is none."""
    found: dict[str, Shape] = {}
    for harness in harnesses:
        request = requests_of(harness, _THOUGHT)[-1]  # each turn reasons, as those of a model that thinks do
        found.setdefault(_form(request), Shape(request)).harnesses.append(harness.name)
    return list(found.values())


def _form(request: Request) -> str:
    """Equal for requests that a server accepts or refuses alike: words and lengths are left out, order is not."""
    messages = [_message_form(message) for message in (*request.messages, _ENDS)]
    neighbours = sorted(set(itertools.pairwise(["", *messages])))
    options = [request.wire, request.parallel, bool(request.stop)]
    return json.dumps([options, neighbours, _unworded(request.tools)], sort_keys=True)


def _message_form(message: Message) -> str:
    told = {key: value if key == "role" else bool(value) for key, value in message.items()}
    return json.dumps({**told, "calls": len(message.get("tool_calls", ()))}, sort_keys=True)


def _unworded(schema: Json) -> Json:
    """A schema without its descriptions; a parameter of that name stays."""
    if isinstance(schema, list | tuple):
        return [_unworded(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _unworded(value) for key, value in schema.items() if not (key == "description" and isinstance(value, str))
    }


def as_sent(request: Request, ids: Sequence[str], foreign_calls: bool) -> Request:
    """The request as a trial would send it to this server, at a fraction of the price.

    Its ids are such as the server gives, its texts are cut, and its reply may be short. Where the server refuses calls
    of tools that are not offered, which is a finding of its own, the call of one becomes a call of another tool.
    """
    offered = [tool["function"]["name"] for tool in request.tools]
    messages = [_cut(message) for message in with_ids(request.messages, ids)]
    if offered and not foreign_calls:
        messages = list(_only(offered, messages))
    prompt = request.prompt
    if len(prompt) > 2 * _LONGEST:
        prompt = prompt[:_LONGEST] + prompt[-_LONGEST:]
    return replace(request, messages=tuple(messages), prompt=prompt, max_tokens=BRIEFLY, seed=0)


def _cut(message: Message) -> Message:
    content = message.get("content")
    long = isinstance(content, str) and len(content) > _LONGEST and message["role"] != "system"
    return {**message, "content": content[:_LONGEST]} if long and isinstance(content, str) else message


def _only(offered: Sequence[str], messages: Iterable[Message]) -> Iterator[Message]:
    for message in messages:
        if not message.get("tool_calls"):
            yield message
            continue
        calls = [
            call
            if call["function"]["name"] in offered
            else {**call, "function": {**call["function"], "name": offered[0]}}
            for call in message["tool_calls"]
        ]
        yield {**message, "tool_calls": calls}

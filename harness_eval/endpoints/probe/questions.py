"""The requests of a probe: one tool, plain orders to call it, and a made-up history."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from harness_eval.types import Json, Message, RawCall, Reply, Request

TOOL = "next_step"
FOREIGN = "open_gate"
WORD = "QUARTZ"
BRIEFLY = 16
"""Tokens of a reply of which only the request matters."""

_FREELY = 4096  # tokens; reasoning shares them
_ORDER = 'Call the tool {} with the arguments {{"after": "{}"}}.'
RESULTS = (_ORDER.format(TOOL, "amber"), _ORDER.format(TOOL, "birch"), f"The word is {WORD}.")
"""What the tool brings, turn by turn: the next order stands in no other place."""

_TOOLS: tuple[dict[str, Json], ...] = (
    {
        "type": "function",
        "function": {
            "name": TOOL,
            "description": "Tells what to do after a step.",
            "parameters": {
                "type": "object",
                "properties": {"after": {"type": "string", "description": "The step that was done last."}},
                "required": ["after"],
            },
        },
    },
)
_PROMPT = (
    f"{_ORDER.format(TOOL, 'start')} Do what each result says, one step at a time, until a result gives you a word. "
    "Then answer with that word alone."
)
_IN_OTHER_WORDS = (
    f"This is about tools. First: {_ORDER.format(TOOL, 'start')} Each result then tells you what comes next; follow "
    "one result after the other. Once a result holds a word, that word is all you answer."
)
_THOUGHTS = (
    "The list has three parts and the first of them has to come before anything else, because the others depend on it. "
    "I compare what I was told with what I know: the amber lamp stands by the door, the birch by the well, and neither "
    "has been moved since yesterday evening. So the order that was given is the only one that can work, and I keep it."
)
_REMARK = "what was agreed on before: the long table first, then both benches, the lamps last and none of the chairs"
_LONG_REMARK = f"{_REMARK}; and after that, as always, {_REMARK}"
_PUZZLE = (
    "Tom is twice as old as Ann was when Tom was as old as Ann is now. Together they are 63 years old. "
    "How old is each of them? Answer with the two numbers alone."
)
_TAIL = re.compile(r"[A-Za-z0-9]*$")


def _freely(limit: int | None) -> int:
    return min(limit or _FREELY, _FREELY)


def greeting() -> Request:
    """A question without any tool."""
    return Request((_user("Say hello."),), max_tokens=BRIEFLY)


def puzzle(limit: int | None) -> Request:
    """A question that nobody answers without thinking."""
    return Request((_user(_PUZZLE),), max_tokens=_freely(limit))


def opening(limit: int | None) -> Request:
    """The first turn of the round trip: one plain order."""
    return Request((_user(_PROMPT),), _TOOLS, max_tokens=_freely(limit))


def reworded(request: Request) -> Request:
    """The same orders in other words; twice reworded they are as they were."""
    first, *later = request.messages
    other = _IN_OTHER_WORDS if first["content"] == _PROMPT else _PROMPT
    return replace(request, messages=(_user(other), *later))


def foreign_order(limit: int | None) -> Request:
    """An order to call a tool that is not offered, with arguments so long that their tokens would be missed."""
    return Request((_user(_ORDER.format(FOREIGN, _LONG_REMARK)),), _TOOLS, max_tokens=_freely(limit))


def foreign_call_text() -> str:
    """What a call that obeys `foreign_order` holds."""
    return f"{FOREIGN}{_LONG_REMARK}"


def going_on(request: Request, reply: Reply, result: str) -> Request:
    """The next turn: what was said, and a result for each call."""
    calls = [_call(call, call.id) for call in reply.calls]
    said: Message = {"role": "assistant", "content": reply.text, "tool_calls": calls}
    if reply.thinking is not None:
        said["reasoning_content"] = reply.thinking
    results = [{"role": "tool", "tool_call_id": call.id, "content": result} for call in reply.calls]
    return replace(request, messages=(*request.messages, said, *results))


def history(ids: Sequence[str]) -> Request:
    """A made-up history of two calls, with much reasoning and long arguments; `ids` are such as the server gives."""
    request = Request((_user(_PROMPT),), _TOOLS, max_tokens=BRIEFLY)
    for number in range(2):
        arguments = json.dumps({"after": f"{number}: {_REMARK}"})
        call = RawCall(like(ids, number), TOOL, arguments)
        request = going_on(request, Reply("", _THOUGHTS, (call,)), RESULTS[number])
    return request


def without_reasoning(request: Request) -> Request:
    """The same history, its reasoning left out."""
    bare = [{key: value for key, value in m.items() if key != "reasoning_content"} for m in request.messages]
    return replace(request, messages=tuple(bare))


def with_foreign_call(request: Request) -> Request:
    """The same history, its newest call under the name of a tool that is not offered."""
    *earlier, said, result = request.messages
    (call,) = said["tool_calls"]
    renamed = {**call, "function": {**call["function"], "name": FOREIGN}}
    return replace(request, messages=(*earlier, {**said, "tool_calls": [renamed]}, result))


def reasoning_text(request: Request) -> str:
    """All earlier reasoning of a request."""
    return "".join(message.get("reasoning_content", "") for message in request.messages)


def newest_call_text(request: Request) -> str:
    """Name and arguments of a history's newest call."""
    function = request.messages[-2]["tool_calls"][0]["function"]
    return f"{function['name']}{function['arguments']}"


def like(ids: Sequence[str], number: int) -> str:
    """An id of the form that this server gives (`call_0`, ... where none is known), another one for each number."""
    first = next(iter(ids), "call_0")
    tail = _TAIL.search(first)
    assert tail is not None, "the pattern also matches nothing"
    return first[: tail.start()] + "".join(_moved(tail[0], number))


def _moved(tail: str, number: int) -> Iterator[str]:
    if tail.isdigit() or not tail:
        yield str(int(tail or 0) + number).zfill(len(tail))
        return
    for letter in tail:
        first, size = ("0", 10) if letter.isdigit() else ("a", 26) if letter.islower() else ("A", 26)
        yield chr((ord(letter) - ord(first) + number) % size + ord(first))


def with_ids(messages: Sequence[Message], ids: Sequence[str]) -> Iterator[Message]:
    """The messages with every call's id in the form of `ids`, each with its results."""
    known: dict[str, str] = {}
    numbers = count()
    for message in messages:
        if message.get("tool_calls"):
            known = {call["id"]: like(ids, next(numbers)) for call in message["tool_calls"]}
            yield {**message, "tool_calls": [{**call, "id": known[call["id"]]} for call in message["tool_calls"]]}
        elif "tool_call_id" in message:
            yield {**message, "tool_call_id": known.get(message["tool_call_id"], message["tool_call_id"])}
        else:
            yield message


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _call(call: RawCall, call_id: str) -> dict[str, Json]:
    function = {"name": call.name, "arguments": _sound(call.arguments)}
    return {"id": call_id, "type": "function", "function": function}


def _sound(arguments: str) -> str:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    return arguments if isinstance(value, dict) else "{}"

"""The wire's own tool calls."""

from __future__ import annotations

import json
from typing import Any

from harness_eval.axes.protocol.base import (
    _NOTHING_SAID,
    Protocol,
    Wire,
    arguments_or_problem,
    assistant,
    results_of,
    told,
)
from harness_eval.axes.tool import Tool
from harness_eval.types import Action, Malformed, Message, Reply, Request, Step, ToolCall, View

SURPLUS = "only one call a turn is allowed"
"""What is said to a call beyond the first where a turn may hold one alone; such a call is no bad one."""


class Native(Protocol):
    """Tools are offered in the request and called through the wire's own tool calls, several a turn if wanted."""

    native = True

    def guide(self, wire: Wire) -> str:
        """Nothing: the tools travel beside the messages."""
        del wire
        return ""

    def encode(self, view: View, wire: Wire) -> Request:
        """Messages with tool calls and tool results, and the tools as JSON Schema."""
        messages: list[Message] = [{"role": "system", "content": view.system}, {"role": "user", "content": view.prompt}]
        for number, event in enumerate(view.events):
            messages.extend(_turn(event, wire, number) if isinstance(event, Step) else [told(event)])
        return Request(tuple(messages), tuple(_offered(tool) for tool in wire.tools))

    def decode(self, reply: Reply, tools: tuple[Tool, ...]) -> Action:
        """Each native call with its arguments parsed, or as malformed when they cannot be."""
        del tools
        calls, malformed = [], []
        for raw in reply.calls:
            arguments = arguments_or_problem(raw.arguments)
            if isinstance(arguments, dict):
                calls.append(ToolCall(raw.id, raw.name, arguments))
            else:
                malformed.append(Malformed(raw.id, raw.name, raw.arguments, arguments))
        return Action(reply.text, reply.thinking, tuple(calls), tuple(malformed))


class NativeSingle(Native):
    """As native, but one call a turn: parallel calls are switched off and any further call of a turn is refused."""

    def encode(self, view: View, wire: Wire) -> Request:
        """The same messages, asking the server for single calls."""
        request = super().encode(view, wire)
        return Request(request.messages, request.tools, parallel=False)

    def decode(self, reply: Reply, tools: tuple[Tool, ...]) -> Action:
        """The first call; the others become malformed, so that the model is told."""
        action = super().decode(reply, tools)
        surplus = tuple(
            Malformed(call.id, call.name, json.dumps(dict(call.arguments)), SURPLUS) for call in action.calls[1:]
        )
        return Action(action.text, action.thinking, action.calls[:1], action.malformed + surplus)


def _offered(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema()}
    return {"type": "function", "function": function}


def _turn(step: Step, wire: Wire, number: int) -> list[Message]:
    wanted: list[ToolCall | Malformed] = [*step.action.calls, *step.action.malformed]
    if not wanted:
        return [assistant(step.action.text or _NOTHING_SAID, step.action.thinking)]
    ids = _distinct([call.id for call in wanted], number)
    calls = [_called(call, call_id) for call, call_id in zip(wanted, ids, strict=True)]
    results: list[Message] = [
        {"role": "tool", "tool_call_id": call_id, "content": wire.frame(call.name, observation)}
        for call_id, (call, observation) in zip(ids, results_of(step), strict=True)
    ]
    return [assistant(step.action.text, step.action.thinking, tool_calls=calls), *results]


def _distinct(ids: list[str], number: int) -> list[str]:
    # Servers invent ids, repeat them and leave them out; only within one turn must they tell results apart.
    seen: set[str] = set()
    result = []
    for position, call_id in enumerate(ids):
        own = call_id if call_id and call_id not in seen else f"call_{number}_{position}"
        seen.add(own)
        result.append(own)
    return result


def _called(call: ToolCall | Malformed, call_id: str) -> dict[str, Any]:
    # Arguments that are no JSON are accepted back by some servers only, so they travel inside of an object.
    arguments = dict(call.arguments) if isinstance(call, ToolCall) else {"unreadable": call.raw}
    function = {"name": call.name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": call_id, "type": "function", "function": function}

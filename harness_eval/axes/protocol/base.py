"""The pair that a protocol is: a view becomes a request, a reply becomes an action."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from harness_eval.axes.level import Level
from harness_eval.axes.protocol.examples import EXAMPLES, NEXT, SILENCE
from harness_eval.axes.tool import Tool
from harness_eval.types import (
    Action,
    Compaction,
    Json,
    Malformed,
    Message,
    Note,
    Observation,
    Reply,
    Request,
    Step,
    ToolCall,
    View,
)

Frame = Callable[[str, Observation], str]

_NOTHING_SAID = "(no answer)"


@dataclass(frozen=True, slots=True)
class Wire:
    """What a protocol needs of the other axes: the tools, their description as text, and the framing of a result."""

    tools: tuple[Tool, ...]
    described: str
    frame: Frame


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text protocol found in a reply: the rest of the text, calls, and calls that cannot be read."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    malformed: tuple[Malformed, ...] = ()


class Protocol(Level):
    """How calls and results travel."""

    axis: ClassVar[str] = "protocol"

    native: ClassVar[bool] = False

    @abstractmethod
    def guide(self, wire: Wire) -> str:
        """What the system prompt says about the tools and about how to call them."""

    @abstractmethod
    def encode(self, view: View, wire: Wire) -> Request:
        """The request that shows this view; each observation stands in it exactly once."""

    @abstractmethod
    def decode(self, reply: Reply, tools: tuple[Tool, ...]) -> Action:
        """The action that a reply means."""

    def carries(self, call: ToolCall) -> bool:
        """Whether this wire can carry the call's values unharmed: some have no way to write their own markup."""
        del call
        return True


def results_of(step: Step) -> Iterable[tuple[ToolCall | Malformed, Observation]]:
    """Each call of a step, malformed ones last, with its observation."""
    return zip((*step.action.calls, *step.action.malformed), step.observations, strict=True)


def assistant(text: str, thinking: str | None, **more: Any) -> Message:
    """An assistant message; thinking None leaves the field out, an empty one is sent as empty."""
    message: Message = {"role": "assistant", "content": text}
    if thinking is not None:
        message["reasoning_content"] = thinking
    return {**message, **more}


def told(event: Note | Compaction) -> Message:
    """The message of a note, or of a compaction that no level has put into words."""
    if isinstance(event, Note):
        return {"role": event.role, "content": event.text}
    return {"role": "user", "content": event.notes}


def blocks(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str]
) -> tuple[list[tuple[re.Match[str], str]], str]:
    """The openings that are closed, each with the text inside, and the text without these blocks.

    Models degenerate into endless repetition, so this takes time linear in the text: it stops at what is never closed.
    """
    found: list[tuple[re.Match[str], str]] = []
    rest, position = [], 0
    while (start := opening.search(text, position)) and (end := closing.search(text, start.end())):
        found.append((start, text[start.end() : end.start()]))
        rest.append(text[position : start.start()])
        position = end.end()
    return found, "".join([*rest, text[position:]]).strip()


def parse_json(text: str) -> Json:
    """A JSON value.

    Raises:
        ValueError: if it is none, or nested more deeply than can be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def arguments_or_problem(text: str) -> dict[str, Any] | str:
    """The object in a call's argument text, or what is wrong with it."""
    try:
        value = parse_json(text) if text.strip() else {}
    except ValueError as error:
        return f"the arguments are not valid JSON: {error}"
    return value if isinstance(value, dict) else f"the arguments must be a JSON object, not {type(value).__name__}"


class TextProtocol(Protocol):
    """Base of the protocols whose calls stand in the text; results come back as user messages.

    With `worked`, the conversation begins with tasks that were worked before, as examples of how it is done.
    """

    syntax: ClassVar[str] = ""

    worked: ClassVar[bool] = False

    @abstractmethod
    def write(self, call: ToolCall, tools: tuple[Tool, ...]) -> str:
        """A call as text."""

    @abstractmethod
    def read(self, text: str, tools: tuple[Tool, ...]) -> Reading:
        """The calls in a reply's text."""

    def guide(self, wire: Wire) -> str:
        """The tools and the syntax."""
        return f"You work through these tools:\n\n{wire.described}\n\n{self.syntax}"

    def encode(self, view: View, wire: Wire) -> Request:
        """Plain messages without native tools."""
        messages: list[Message] = [{"role": "system", "content": view.system}, *self._opening(view.prompt, wire)]
        for event in view.events:
            if not isinstance(event, Step):
                messages.append(told(event))
                continue
            messages.append(assistant(self._said(event, wire), event.action.thinking))
            shown = [wire.frame(call.name, observation) for call, observation in results_of(event)]
            if shown:
                messages.append({"role": "user", "content": "\n\n".join(shown)})
        return Request(tuple(messages))

    def _opening(self, prompt: str, wire: Wire) -> list[Message]:
        """The task, after the worked ones where they are shown."""
        messages: list[Message] = []
        name, key = shell_of(wire.tools)
        result = wire.frame(name, Observation(SILENCE, 0))
        asked = ""
        for task, commands in EXAMPLES if self.worked else ():
            asked += task
            for command in commands:
                call = self.write(ToolCall("", name, {key: command}), wire.tools)
                messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": call}]
                asked = result
            asked += f"\n\n{NEXT}"
        return [*messages, {"role": "user", "content": asked + prompt}]

    def _said(self, step: Step, wire: Wire) -> str:
        calls = [self.write(call, wire.tools) for call in step.action.calls]
        parts = [step.action.text, *calls, *(call.raw for call in step.action.malformed)]
        return "\n\n".join(part for part in parts if part) or _NOTHING_SAID

    def decode(self, reply: Reply, tools: tuple[Tool, ...]) -> Action:
        """Calls are read from the text only, never from the thinking."""
        reading = self.read(reply.text, tools)
        return Action(reading.text, reply.thinking, reading.calls, reading.malformed)


def shell_of(tools: tuple[Tool, ...]) -> tuple[str, str]:
    """The names of the shell tool and of its parameter for the command."""
    for tool in tools:
        for parameter in tool.parameters:
            if parameter.role == "command" and not parameter.choices:
                return tool.name, parameter.name
    return "bash", "command"

"""Calls that were made and do not arrive as calls: they stand in the text or the reasoning, in a template's markup."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

from harness_eval.reference.faults.base import Asked, Fault
from harness_eval.reference.faults.calls import arguments_of, with_random_ids
from harness_eval.reference.wire import Spoken
from harness_eval.types import Message, RawCall

_SOME = 0.25
_DRIFT = 3  # calls with ids of a foreign form, after which a model writes calls as it learned them


def _hermes(call: RawCall, number: int) -> str:
    del number
    return f'<tool_call>\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}\n</tool_call>'


def _qwen(call: RawCall, number: int) -> str:
    del number
    inner = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in _as_texts(call).items())
    return f"<tool_call>\n<function={call.name}>\n{inner}</function>\n</tool_call>"


def _glm(call: RawCall, number: int) -> str:
    del number
    pairs = (f"<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>\n" for name, value in _as_texts(call).items())
    return f"<tool_call>{call.name}\n{''.join(pairs)}</tool_call>"


def _dsml(call: RawCall, number: int) -> str:
    del number
    inner = "".join(
        f'<｜DSML｜parameter name="{name}" string="{str(isinstance(value, str)).lower()}">{_as_text(value)}'
        "</｜DSML｜parameter>\n"
        for name, value in arguments_of(call).items()
    )
    called = f'<｜DSML｜invoke name="{call.name}">\n{inner}</｜DSML｜invoke>'
    return f"<｜DSML｜function_calls>\n{called}\n</｜DSML｜function_calls>"


def _kimi_k2(call: RawCall, number: int) -> str:
    begin = f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{call.name}:{number}"
    return f"{begin}<|tool_call_argument_begin|>{call.arguments}<|tool_call_end|><|tool_calls_section_end|>"


def _kimi_k3(call: RawCall, number: int) -> str:
    inner = "".join(
        f'<|open|>argument key="{name}" type="{_type_of(value)}"<|sep|>{_as_text(value)}<|close|>argument<|sep|>'
        for name, value in arguments_of(call).items()
    )
    called = f'<|open|>call tool="{call.name}" index="{number}"<|sep|>{inner}<|close|>call<|sep|>'
    return f"<|open|>tools<|sep|>{called}<|close|>tools<|sep|>"


Writer: TypeAlias = Callable[[RawCall, int], str]
DIALECTS: Mapping[str, Writer] = {
    "hermes": _hermes,
    "qwen": _qwen,
    "glm": _glm,
    "dsml": _dsml,
    "kimi-k2": _kimi_k2,
    "kimi-k3": _kimi_k3,
}
"""How templates write a call, by name; each takes the call and its number in the dialogue."""


class MarkupLeak(Fault):
    """A call stands in the text in the template's own markup, in one of several dialects.

    Where it is that of a model with ids of its own, and earlier calls had others, those ids may be why.
    """

    shows: ClassVar = ("undetermined.markup_leak", "serving.id_format_foreign")
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """The text with the calls after it."""
        dialect = asked.pick(tuple(DIALECTS))
        return without_calls(reply, text=f"{reply.text}\n{written(reply, asked, dialect)}")


class ParserMismatch(Fault):
    """The template's tokens come with spaces between them, so that the parser finds no call at all."""

    shows: ClassVar = ("serving.parser_mismatch",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Every call as text, spread out."""
        spread = written(reply, asked, "kimi-k3")
        for token in ("<|open|>", "<|sep|>", "<|close|>"):
            spread = spread.replace(token, f" {token} ")
        return without_calls(reply, text=f"{reply.text}\n{spread.replace('|>  <|', '|> <|')}")


class CallInReasoning(Fault):
    """A call is made before the reasoning ends, and stays in it."""

    shows: ClassVar = ("undetermined.call_in_reasoning",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Nothing but reasoning, the calls at its end."""
        dialect = asked.pick(("hermes", "qwen", "kimi-k2"))
        return without_calls(reply, text="", thinking=f"{reply.thinking}\n{written(reply, asked, dialect)}")


class ToolCallDropped(Fault):
    """The reasoning goes over into the block of calls without an end, and the calls vanish with it."""

    shows: ClassVar = ("serving.tool_call_dropped",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Nothing but reasoning, the block of calls at its end."""
        return without_calls(reply, text="", thinking=f"{reply.thinking} {written(reply, asked, 'kimi-k3')}")


class ForeignIds(Fault):
    """Ids are random, and after three calls with such ids the model writes its calls as text."""

    shows: ClassVar = ("serving.id_format_foreign",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Such ids, and from the fourth call on the markup of the template."""
        if calls_before(asked.messages) < _DRIFT:
            return with_random_ids(reply)
        return without_calls(reply, text=f"{reply.text}\n{written(reply, asked, 'kimi-k2')}")


def written(reply: Spoken, asked: Asked, dialect: str) -> str:
    """The native calls of a reply as text."""
    first = calls_before(asked.messages)
    return "\n".join(DIALECTS[dialect](call, first + at) for at, call in enumerate(reply.calls))


def without_calls(reply: Spoken, *, text: str, thinking: str | None = None) -> Spoken:
    """The reply with these texts (the same reasoning unless given) and no call; one that has none stays as it is."""
    if not reply.calls:
        return reply
    thinking = reply.thinking if thinking is None else thinking
    return replace(reply, calls=(), finish_reason="stop", text=text, thinking=thinking)


def calls_before(messages: list[Message]) -> int:
    """How many native calls the dialogue shows."""
    return sum(len(message.get("tool_calls") or ()) for message in messages)


def _as_texts(call: RawCall) -> dict[str, str]:
    return {name: _as_text(value) for name, value in arguments_of(call).items()}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _type_of(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return kinds.get(type(value), "string")

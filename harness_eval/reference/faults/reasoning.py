"""Reasoning under other keys, in the wrong place, in place of everything else, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

from harness_eval.reference.faults.base import Asked, Fault
from harness_eval.reference.wire import Spoken
from harness_eval.types import Json, Message

_KEYS = ("reasoning_content", "reasoning", "reasoning_details")
_SOME = 0.25
_TERMINATOR = "<|close|>message<|sep|>"


class ReasoningAlias(Fault):
    """Reasoning comes under `reasoning`, and earlier reasoning is read under that key alone."""

    shows: ClassVar = ("ok.reasoning_field_alias",)

    def message(self, message: Message, asked: Asked) -> Message:
        """The key renamed."""
        return {("reasoning" if key == "reasoning_content" else key): value for key, value in message.items()}

    def reads(self, body: Mapping[str, Json], asked: Asked) -> Mapping[str, Json]:
        """What stands under another key is lost without a word."""
        return with_history(body, lambda message: _without(message, "reasoning_content", "reasoning_details"))


class ReasoningDetails(Fault):
    """Reasoning comes as a list of typed parts, and earlier reasoning is read from such a list alone."""

    shows: ClassVar = ("ok.reasoning_details",)

    def message(self, message: Message, asked: Asked) -> Message:
        """The text as one part."""
        if not message.get("reasoning_content"):
            return message
        part = {"type": "reasoning.text", "text": message["reasoning_content"], "index": 0}
        return {**_without(message, "reasoning_content"), "reasoning_details": [part]}

    def reads(self, body: Mapping[str, Json], asked: Asked) -> Mapping[str, Json]:
        """The parts put together; what stands under another key is lost without a word."""

        def read(message: Message) -> Message:
            parts = message.get("reasoning_details")
            rest = _without(message, *_KEYS)
            if not isinstance(parts, list):
                return rest
            return {**rest, "reasoning_content": "".join(str(part.get("text") or "") for part in parts)}

        return with_history(body, read)


class ReasoningNull(Fault):
    """Every message and delta without reasoning has its key with null."""

    def message(self, message: Message, asked: Asked) -> Message:
        """With the key."""
        return {"reasoning_content": None, **message}


class ThinkTagLeak(Fault):
    """Reasoning stands in front of the visible text, closed by a tag that nothing opened."""

    shows: ClassVar = ("serving.think_tag_leak",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Both as one text."""
        if not reply.thinking:
            return reply
        return replace(reply, text=f"{reply.thinking}\n</think>\n{reply.text}", thinking="")


class TerminatorLeak(Fault):
    """The template's end marker stands at the end of a streamed text; in a whole reply it does not."""

    shows: ClassVar = ("serving.terminator_leak",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """With the marker."""
        return replace(reply, text=reply.text + _TERMINATOR) if asked.streamed and reply.text else reply


class AnswerInReasoning(Fault):
    """The whole answer of a turn without native calls is filed as reasoning, and the text is empty.

    Where calls are text, they are filed there with it.
    """

    shows: ClassVar = ("serving.answer_in_reasoning", "undetermined.call_in_reasoning")
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """The text with the end markers of its channel."""
        if reply.calls or not asked.chat:
            return reply
        return replace(reply, text="", thinking=f"{reply.text}<|close|>response<|sep|>{_TERMINATOR}")


class ReasoningInContent(Fault):
    """The visible text is the reasoning, and what should have followed it never comes."""

    shows: ClassVar = ("undetermined.reasoning_in_content",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Nothing but what was thought."""
        if not reply.thinking:
            return reply
        only = replace(reply, completion_tokens=reply.reasoning_tokens + 1, reasoning_tokens=0, finish_reason="stop")
        return replace(only, text=f"<think>{reply.thinking}", thinking="", calls=())


class ThoughtOnly(Fault):
    """Only reasoning comes, beside white space or a placeholder where the text should be."""

    shows: ClassVar = ("undetermined.thought_only",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """No answer and no call."""
        if not reply.thinking:
            return reply
        text = asked.pick(("", "   \n", "(empty content)"))
        only = replace(reply, completion_tokens=reply.reasoning_tokens + 1, finish_reason="stop")
        return replace(only, text=text, calls=())


class EmptyTurn(Fault):
    """Nothing comes: no text, no reasoning and no call."""

    shows: ClassVar = ("undetermined.empty_turn",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Nothing."""
        nothing = replace(reply, completion_tokens=1, reasoning_tokens=0, finish_reason="stop")
        return replace(nothing, text="", thinking="", calls=())


class ReasoningPlaceholder(Fault):
    """A proxy puts the same short sentence in place of all reasoning."""

    shows: ClassVar = ("gateway.reasoning_placeholder",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """That sentence."""
        return replace(reply, thinking="[reasoning unavailable]") if reply.thinking else reply


class ThinkingNotApplied(Fault):
    """No reasoning ever comes, whatever the request asks for."""

    shows: ClassVar = ("gateway.thinking_not_applied",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """The reply without it."""
        return replace(reply, thinking="", reasoning_tokens=0)


class HistoryReasoningIgnored(Fault):
    """Earlier reasoning is accepted and never reaches the prompt, so that no token of it is counted."""

    shows: ClassVar = ("serving.history_reasoning_ignored",)

    def reads(self, body: Mapping[str, Json], asked: Asked) -> Mapping[str, Json]:
        """The history without it, under whatever key."""
        return with_history(body, lambda message: _without(message, *_KEYS))


def with_history(body: Mapping[str, Json], change: Callable[[Message], Message]) -> Mapping[str, Json]:
    """The request with its earlier assistant messages changed."""
    if not isinstance(body.get("messages"), list):
        return body
    return {**body, "messages": [change(m) if m.get("role") == "assistant" else m for m in body["messages"]]}


def _without(message: Message, *keys: str) -> Message:
    return {key: value for key, value in message.items() if key not in keys}

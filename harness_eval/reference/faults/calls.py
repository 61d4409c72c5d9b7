"""Tool calls that arrive otherwise than they were made: their indexes, ids, names and arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from harness_eval.reference.faults.base import Asked, Chunk, Fault
from harness_eval.reference.offers import native_offers
from harness_eval.reference.skills import skills_of
from harness_eval.reference.ways import ways_to
from harness_eval.reference.wire import Spoken
from harness_eval.types import Json, Message, RawCall

_LOST_TAIL = 3  # characters
_SOME = 0.25


class IndexMissing(Fault):
    """Streamed calls have no index."""

    shows: ClassVar = ("serving.index_missing",)

    def message(self, message: Message, asked: Asked) -> Message:
        """The deltas of calls without it."""
        if "tool_calls" not in message:
            return message
        calls = [{key: value for key, value in call.items() if key != "index"} for call in message["tool_calls"]]
        return {**message, "tool_calls": calls}


class IndexCollision(Fault):
    """A second, harmless call comes beside each one, and both are streamed under the same index.

    Where no second call is allowed, or no tool runs commands, there is nothing to collide.
    """

    shows: ClassVar = ("serving.index_collision",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """With a second call; a whole reply has no indexes, so it stays as it is."""
        return with_second_call(reply, asked) if asked.streamed else reply

    def message(self, message: Message, asked: Asked) -> Message:
        """All under the first index."""
        if "tool_calls" not in message or not asked.streamed:
            return message
        return {**message, "tool_calls": [{**call, "index": 0} for call in message["tool_calls"]]}


class DuplicateIds(Fault):
    """A second, harmless call comes beside each one, with the same id."""

    shows: ClassVar = ("serving.duplicate_id_in_turn",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """With a second call under the id of the first."""
        both = with_second_call(reply, asked).calls
        return replace(reply, calls=tuple(replace(call, id=both[0].id) for call in both))


class ConstantIds(Fault):
    """Every call of every turn has one id."""

    shows: ClassVar = ("ok.id_constant",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """The id of the first position everywhere."""
        return replace(reply, calls=tuple(replace(call, id="call_0") for call in reply.calls))


class IdsRestart(Fault):
    """Ids are a tool's name with the position in the turn, so that they begin anew with every turn."""

    shows: ClassVar = ("ok.id_reused_across_turns",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Such ids."""
        return replace(reply, calls=tuple(replace(call, id=f"{call.name}:{at}") for at, call in enumerate(reply.calls)))


class RandomIds(Fault):
    """Ids are long and random, and never those of the model's own template."""

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Such ids."""
        return with_random_ids(reply)


class ArgsPlaceholder(Fault):
    """An empty object is streamed before the arguments."""

    shows: ClassVar = ("serving.args_placeholder",)

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The first delta of each call with the placeholder in it."""
        return [_with_arguments(chunk, "{}") if _delta(chunk).get("id") else chunk for chunk in chunks]


class ArgsSnapshots(Fault):
    """Each delta repeats the arguments from their beginning."""

    shows: ClassVar = ("gateway.args_snapshots",)

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """What came before, put in front of every piece; each is cut in two, so that even short ones are repeated."""
        told, so_far = list[Chunk](), ""
        for chunk in chunks:
            delta = _delta(chunk)
            so_far = "" if delta.get("id") else so_far
            piece = delta["function"]["arguments"] if delta else ""
            for end in (len(piece) // 2, len(piece)) if piece else ():
                told.append(_with_arguments(chunk, so_far + piece[:end]))
            so_far += piece
            told += [] if piece else [chunk]
        return told


class MarkupInName(Fault):
    """A closing token of the template is glued to the tool's name."""

    shows: ClassVar = ("serving.markup_in_name",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Such names."""
        tail = asked.pick(("</arg_value>", "<|tool_call_argument_begin|>", "<arg_key>"))
        return replace(reply, calls=tuple(replace(call, name=call.name + tail) for call in reply.calls))


class MarkupInArguments(Fault):
    """A closing token of the template stands at the end of the last argument that is a text."""

    shows: ClassVar = ("serving.markup_in_arguments",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Such arguments; the JSON around them is sound."""
        tail = asked.pick(("</arg_value>", "<|tool_call_end|>", "\n</parameter>"))
        return replace(reply, calls=tuple(_with_tail(call, tail) for call in reply.calls))


class BadArgs(Fault):
    """The last characters of the arguments are lost, without any limit that was reached."""

    shows: ClassVar = ("undetermined.bad_args_json",)
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """The calls without their end."""
        return replace(
            reply, calls=tuple(replace(call, arguments=call.arguments[:-_LOST_TAIL]) for call in reply.calls)
        )


class ArgsDoubleEncoded(Fault):
    """The arguments are a JSON text that holds the JSON of the object."""

    shows: ClassVar = ("undetermined.args_double_encoded", "model.args_double_encoded")
    usual: ClassVar = _SOME

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Encoded once more."""
        return replace(reply, calls=tuple(replace(call, arguments=json.dumps(call.arguments)) for call in reply.calls))


class UnknownToolFiltered(Fault):
    """Calls of tools that were not offered vanish, with the text beside them where no call is left."""

    shows: ClassVar = ("serving.unknown_tool_filtered",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """Only the calls of offered tools."""
        offered = {function.get("name") for function in asked.functions}
        kept = tuple(call for call in reply.calls if call.name in offered)
        if kept or not reply.calls:
            return replace(reply, calls=kept)
        return replace(reply, text="", calls=(), finish_reason="stop")


class ToolChoiceIgnored(Fault):
    """The request's tool choice does not reach the model; a choice of none is answered with a call."""

    shows: ClassVar = ("serving.tool_choice_ignored",)

    def reads(self, body: Mapping[str, Json], asked: Asked) -> Mapping[str, Json]:
        """The request without it."""
        return {key: value for key, value in body.items() if key != "tool_choice"}


def with_second_call(reply: Spoken, asked: Asked) -> Spoken:
    """The reply with a call that does nothing after its only one, where the request allows it and offers a shell."""
    if len(reply.calls) != 1 or asked.body.get("parallel_tool_calls") is False:
        return reply
    skills = skills_of(native_offers(asked.body.get("tools")))
    ways = ways_to("run", {"command": "true"}, skills, "Nothing is to be done.", None)
    if not ways:
        return reply
    (call,) = reply.calls
    second = RawCall(f"{call.id}b", ways[0].name, json.dumps(dict(ways[0].arguments)))
    return replace(reply, calls=(call, second))


def arguments_of(call: RawCall) -> dict[str, Json]:
    """The arguments of a call; none where another fault has left no object."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def with_random_ids(reply: Spoken) -> Spoken:
    """The reply with ids as a server of any model makes them up, the same ones for the same request."""
    ids = (f"chatcmpl-tool-{reply.id[20:44]}{at:08x}" for at in range(len(reply.calls)))
    return replace(reply, calls=tuple(replace(call, id=id_) for call, id_ in zip(reply.calls, ids, strict=True)))


def _with_tail(call: RawCall, tail: str) -> RawCall:
    arguments = arguments_of(call)
    last = next((name for name in reversed(arguments) if isinstance(arguments[name], str)), None)
    if last is None:
        return call
    return replace(call, arguments=json.dumps({**arguments, last: arguments[last] + tail}, ensure_ascii=False))


def _delta(chunk: Chunk) -> dict[str, Json]:
    """The delta of a call in this chunk; empty where there is none."""
    choices = chunk.get("choices") or [{}]
    calls = (choices[0].get("delta") or {}).get("tool_calls") or [{}]
    return dict(calls[0])


def _with_arguments(chunk: Chunk, arguments: str) -> Chunk:
    delta = _delta(chunk)
    call = {**delta, "function": {**delta["function"], "arguments": arguments}}
    (choice,) = chunk["choices"]
    return {**chunk, "choices": [{**choice, "delta": {**choice["delta"], "tool_calls": [call]}}]}

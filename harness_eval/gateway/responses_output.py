"""A reply as the items of a response, whole and as the events that bring them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from harness_eval.gateway import reading, writing
from harness_eval.gateway.responses_input import sealed
from harness_eval.gateway.wires import Asked
from harness_eval.types import Json, RawCall, Reply

Emitted: TypeAlias = tuple[str, dict[str, Json]]
"""The name of an event and its data, but for type and number."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item as it is when all of it has come, and as it is announced; `text` is what comes in pieces."""

    done: Mapping[str, Json]
    announced: Mapping[str, Json]
    text: str


def items_of(reply: Reply, asked: Asked) -> list[Item]:
    """Reasoning, the message, the calls: each where the reply has any."""
    items = [] if reply.thinking is None else [_reasoning(reply.thinking, writing.made_id("rs_", reply))]
    if reply.text:
        items.append(_message(reply.text, writing.made_id("msg_", reply)))
    calls = enumerate(writing.calls_of(reply))
    return [*items, *(_call(call, asked, writing.made_id("", reply, place)) for place, call in calls)]


def streamed(item: Item, place: int) -> Iterator[Emitted]:
    """The events of one item: it is announced, comes in pieces, and is complete."""
    at = {"item_id": item.done["id"], "output_index": place}
    yield "response.output_item.added", {"output_index": place, "item": item.announced}
    yield from _BODIES[str(item.done["type"])](item, at)
    yield "response.output_item.done", {"output_index": place, "item": item.done}


def _reasoning(thinking: str, made: str) -> Item:
    head = {"id": made, "type": "reasoning", "encrypted_content": sealed(thinking)}
    summary = [{"type": "summary_text", "text": thinking}]
    return Item({**head, "summary": summary}, {**head, "summary": []}, thinking)


def _message(text: str, made: str) -> Item:
    head = {"id": made, "type": "message", "role": "assistant"}
    done = {**head, "status": "completed", "content": [_text_part(text)]}
    return Item(done, {**head, "status": "in_progress", "content": []}, text)


def _text_part(text: str) -> dict[str, Json]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _call(call: RawCall, asked: Asked, made: str) -> Item:
    alias = asked.aliases.get(call.name, {})
    if alias.get("type") == "custom":
        kind, prefix, key, text = "custom_tool_call", "ctc_", "input", reading.free_input(call.arguments)
    else:
        kind, prefix, key, text = "function_call", "fc_", "arguments", call.arguments
    head = {"id": prefix + made, "type": kind, "call_id": call.id, "name": alias.get("name", call.name)}
    if "namespace" in alias:
        head["namespace"] = alias["namespace"]
    done = {**head, "status": "completed", key: text}
    return Item(done, {**head, "status": "in_progress", key: ""}, text)


def _of_reasoning(item: Item, at: Mapping[str, Json]) -> Iterator[Emitted]:
    at = {**at, "summary_index": 0}
    name = "response.reasoning_summary"
    yield f"{name}_part.added", {**at, "part": {"type": "summary_text", "text": ""}}
    yield from ((f"{name}_text.delta", {**at, "delta": piece}) for piece in writing.pieces(item.text))
    yield f"{name}_text.done", {**at, "text": item.text}
    yield f"{name}_part.done", {**at, "part": {"type": "summary_text", "text": item.text}}


def _of_message(item: Item, at: Mapping[str, Json]) -> Iterator[Emitted]:
    at = {**at, "content_index": 0}
    yield "response.content_part.added", {**at, "part": _text_part("")}
    deltas = ({**at, "delta": piece, "logprobs": []} for piece in writing.pieces(item.text))
    yield from (("response.output_text.delta", delta) for delta in deltas)
    yield "response.output_text.done", {**at, "text": item.text, "logprobs": []}
    yield "response.content_part.done", {**at, "part": _text_part(item.text)}


def _of_function(item: Item, at: Mapping[str, Json]) -> Iterator[Emitted]:
    name = "response.function_call_arguments"
    yield from ((f"{name}.delta", {**at, "delta": piece}) for piece in writing.pieces(item.text))
    yield f"{name}.done", {**at, "name": item.done["name"], "arguments": item.text}


def _of_custom(item: Item, at: Mapping[str, Json]) -> Iterator[Emitted]:
    name = "response.custom_tool_call_input"
    yield from ((f"{name}.delta", {**at, "delta": piece}) for piece in writing.pieces(item.text))
    yield f"{name}.done", {**at, "input": item.text}


_BODIES = {
    "reasoning": _of_reasoning,
    "message": _of_message,
    "function_call": _of_function,
    "custom_tool_call": _of_custom,
}

"""Replies in the dialect of chat completions: whole, in chunks, and as plain completions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import orjson

from harness_eval.reference.writing import Utterance
from harness_eval.types import Json, RawCall

MODEL = "harness-eval-reference"
FINGERPRINT = "scripted-agent-not-a-language-model"

_CREATED = 1_767_225_600  # a fixed moment: equal requests get equal bytes
_PIECE = 120  # characters of a streamed delta


@dataclass(frozen=True, slots=True)
class Spoken:
    """An utterance with what the wire adds: calls with ids, an id of its own, token counts, why it ended."""

    text: str
    thinking: str
    calls: tuple[RawCall, ...]
    id: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int

    @property
    def usage(self) -> dict[str, Json]:
        """Token counts; nothing is ever served from a cache."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning_tokens},
        }


def spoken(utterance: Utterance, body: Mapping[str, Json]) -> Spoken:
    """What the server sends for an utterance, with the request's stop sequences and token limit applied.

    Token counts are estimates: a quarter of the bytes, of the request's messages, tools and prompt and of the reply.
    """
    asked = orjson.dumps([body.get("messages"), body.get("tools"), body.get("prompt")])
    digest = hashlib.sha256(asked + str(body.get("seed")).encode()).hexdigest()
    said = _stopped(utterance, body.get("stop"))
    reason = "tool_calls" if said.calls else "stop"
    limit = limit_of(body)
    if limit is not None and _tokens(_everything(said)) > limit:
        said, reason = _cut(said, limit * 4), "length"
    calls = tuple(
        RawCall(f"call_{digest[:12]}_{number}", call.name, json.dumps(dict(call.arguments), ensure_ascii=False))
        for number, call in enumerate(said.calls)
    )
    everything, thought = _tokens(_everything(said)), _tokens(said.thinking)
    return Spoken(said.text, said.thinking, calls, digest, reason, (len(asked) + 3) // 4, everything, thought)


def limit_of(body: Mapping[str, Json]) -> int | None:
    """The most tokens that a request allows its reply, under either name."""
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return limit if isinstance(limit, int) else None


def whole(reply: Spoken) -> dict[str, Json]:
    """The reply as one chat completion."""
    message: dict[str, Json] = {"role": "assistant", "content": reply.text}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.calls:
        message["tool_calls"] = [_call(call, call.arguments) for call in reply.calls]
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return {**_head(reply, "chat.completion"), "choices": [choice], "usage": reply.usage}


def chunks(reply: Spoken, *, with_usage: bool) -> Iterator[dict[str, Json]]:
    """The reply as the chunks of a stream: reasoning, text, calls, the reason, and the usage where it is wanted."""
    head = _head(reply, "chat.completion.chunk")

    def chunk(delta: dict[str, Json], reason: str | None = None) -> dict[str, Json]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(reply.text):
        yield chunk({"content": piece})
    for number, call in enumerate(reply.calls):
        yield chunk({"tool_calls": [{**_call(call, ""), "index": number}]})
        for piece in _pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    yield chunk({}, reply.finish_reason)
    if with_usage:
        yield {**head, "choices": [], "usage": reply.usage}


def plain(reply: Spoken) -> dict[str, Json]:
    """The reply as one plain completion: its text alone."""
    choice = {"index": 0, "text": reply.text, "logprobs": None, "finish_reason": reply.finish_reason}
    return {**_head(reply, "text_completion"), "choices": [choice], "usage": reply.usage}


def plain_chunks(reply: Spoken, *, with_usage: bool) -> Iterator[dict[str, Json]]:
    """The chunks of a plain completion's stream."""
    head = _head(reply, "text_completion")
    for piece in _pieces(reply.text):
        yield {**head, "choices": [{"index": 0, "text": piece, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "text": "", "finish_reason": reply.finish_reason}]}
    if with_usage:
        yield {**head, "choices": [], "usage": reply.usage}


def _call(call: RawCall, arguments: str) -> dict[str, Json]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _head(reply: Spoken, kind: str) -> dict[str, Json]:
    return {
        "id": f"chatcmpl-{reply.id[:24]}",
        "object": kind,
        "created": _CREATED,
        "model": MODEL,
        "system_fingerprint": FINGERPRINT,
    }


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _tokens(text: str) -> int:
    return (len(text.encode()) + 3) // 4


def _everything(said: Utterance) -> str:
    calls = "".join(f"{call.name}{json.dumps(dict(call.arguments), ensure_ascii=False)}" for call in said.calls)
    return said.thinking + said.text + calls


def _stopped(said: Utterance, stop: Json) -> Utterance:
    words = [stop] if isinstance(stop, str) else stop or []
    ends = [said.text.index(word) for word in words if word and word in said.text]
    return replace(said, text=said.text[: min(ends)]) if ends else said


def _cut(said: Utterance, characters: int) -> Utterance:
    """The beginning of an utterance: reasoning first, as a server spends its budget; unfinished calls are lost."""
    left = max(0, characters - len(said.thinking))
    return Utterance(said.text[:left], said.thinking[:characters])

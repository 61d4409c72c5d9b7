"""From the bytes of a request to those of its response: what is refused, what the agent says, how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from harness_eval.reference import wire
from harness_eval.reference.checking import problem_with
from harness_eval.reference.faults import EVENT_STREAM, Answer, Asked, Draws, Fault, as_json
from harness_eval.reference.player import Player
from harness_eval.types import Json

_DONE = b"data: [DONE]\n\n"
_Struck = list[tuple[Fault, Asked]]


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers requests with what the agent says, changed by those faults that act on a request."""

    player: Player
    draws: Draws

    def answer(self, data: bytes, *, chat: bool = True) -> Answer:
        """The response to the body of a chat completion, or of a plain one."""
        asked = Asked(_object(data), data, chat)
        problem = problem_with(asked.body, chat=chat)
        if problem:
            return as_json(problem.body(), problem.status)
        struck = self.draws.struck(asked)
        answer = _refusal(struck) or self._reply(asked, struck)
        for fault, seen in struck:
            answer = fault.sends(answer, seen)
        return answer

    def _reply(self, asked: Asked, struck: _Struck) -> Answer:
        body: Mapping[str, Json] = asked.body
        for fault, seen in struck:
            body = fault.reads(body, seen)
        if body.get("tool_choice") == "none":
            body = {key: value for key, value in body.items() if key != "tools"}
        said = self.player.reply(body) if asked.chat else self.player.complete(body)
        reply = wire.spoken(said, body)
        for fault, seen in struck:
            reply = fault.says(reply, seen)
        return _streamed(reply, asked, struck) if asked.streamed else _whole(reply, asked, struck)


def _object(data: bytes) -> dict[str, Json]:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}


def _refusal(struck: _Struck) -> Answer | None:
    return next(filter(None, (fault.refuses(seen) for fault, seen in struck)), None)


def _whole(reply: wire.Spoken, asked: Asked, struck: _Struck) -> Answer:
    body = wire.whole(reply) if asked.chat else wire.plain(reply)
    for fault, seen in struck:
        body = fault.whole(body, seen)
    return as_json(body)


def _streamed(reply: wire.Spoken, asked: Asked, struck: _Struck) -> Answer:
    write = wire.chunks if asked.chat else wire.plain_chunks
    chunks = list(write(reply, with_usage=asked.wants_usage))
    for fault, seen in struck:
        chunks = fault.stream(chunks, seen)
    frames = [*(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks), _DONE]
    for fault, seen in struck:
        frames = fault.frames(frames, seen)
    return Answer((b"".join(frames),), content_type=EVENT_STREAM, headers={"Cache-Control": "no-cache"})

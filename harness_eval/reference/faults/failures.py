"""Responses that are no reply: limits, outages, proxies, and successes that hold nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from email.utils import formatdate
from typing import ClassVar

from harness_eval.reference.faults.base import Answer, Asked, Chunk, Fault, as_json, changed
from harness_eval.reference.faults.framing import finish_of
from harness_eval.reference.wire import Spoken
from harness_eval.types import Json, Message

_SOME = 0.2
_SILENCE = 10.0  # seconds; then the connection is dropped
_RELAY = 0.3  # seconds after which a relay gives up
_MANY = 4  # empty deltas for each that held something
_GROWN = 2  # turns after which a dialogue is too large


class _Transient(Fault):
    transient: ClassVar = True
    usual: ClassVar = _SOME


class RateLimited(_Transient):
    """429, with Retry-After as seconds, milliseconds, a date to come or gone, an epoch, nonsense, or not at all."""

    shows: ClassVar = ("infra.rate_limited",)

    def refuses(self, asked: Asked) -> Answer:
        """A refusal in one of those shapes; none asks for more than a second."""
        now = time.time()
        waits: tuple[dict[str, str], ...] = (
            {"Retry-After": "0"},
            {"Retry-After": "0.1"},
            {"retry-after-ms": "50"},
            {"Retry-After": formatdate(now + 1, usegmt=True)},
            {"Retry-After": formatdate(now - 86400, usegmt=True)},
            {"Retry-After": str(int(now))},
            {"Retry-After": "soon"},
            {},
        )
        return _error("Too many requests, slow down", "rate_limit_reached_error", 429, headers=asked.pick(waits))


class Overloaded(_Transient):
    """The engine is overloaded: 429 with that type, 503 in plain words, or 529."""

    shows: ClassVar = ("infra.overloaded",)

    def refuses(self, asked: Asked) -> Answer:
        """A refusal in one of those shapes."""
        busy = "The engine is currently overloaded, please try again later"
        return asked.pick(
            (
                _error(busy, "engine_overloaded_error", 429),
                Answer((b"upstream busy",), 503, "text/plain"),
                _error("Overloaded", "overloaded_error", 529),
            )
        )


class QuotaExhausted(Fault):
    """429 because the account is empty: no later request can pass."""

    shows: ClassVar = ("infra.quota_exhausted",)

    def refuses(self, asked: Asked) -> Answer:
        """The refusal of an empty account."""
        said = "Your account is suspended due to insufficient balance, please recharge your account"
        return _error(said, "exceeded_current_quota_error", 429)


class ServerError(_Transient):
    """500 with an error object."""

    shows: ClassVar = ("infra.overloaded",)

    def refuses(self, asked: Asked) -> Answer:
        """That error."""
        return _error("Internal server error", "InternalServerError", 500)


class GatewayPage(_Transient):
    """502 with the page of a proxy."""

    shows: ClassVar = ("infra.gateway",)

    def refuses(self, asked: Asked) -> Answer:
        """That page."""
        page = b"<html><head><title>502 Bad Gateway</title></head><body>proxy</body></html>"
        return Answer((page,), 502, "text/html")


class PayloadTooLarge(Fault):
    """413 with the page of a proxy, once a dialogue has grown."""

    shows: ClassVar = ("infra.gateway",)

    def refuses(self, asked: Asked) -> Answer | None:
        """That page, from the third turn on."""
        page = b"<html><head><title>413 Request Entity Too Large</title></head><body>proxy</body></html>"
        return Answer((page,), 413, "text/html") if asked.own_turns >= _GROWN else None


class RequestCut(Fault):
    """A proxy cuts long requests, and the server complains about the model's name; once a dialogue has grown."""

    shows: ClassVar = ("undetermined.request_cut",)

    def refuses(self, asked: Asked) -> Answer | None:
        """That complaint, from the third turn on."""
        return _error("invalid model: ", "invalid_model", 400) if asked.own_turns >= _GROWN else None


class Deadline(Fault):
    """A relay gives up after the same time at every attempt, with 504."""

    shows: ClassVar = ("infra.deadline",)
    usual: ClassVar = 0.1

    def refuses(self, asked: Asked) -> Answer:
        """The relay's word, a third of a second later."""
        return replace(as_json({"error": "upstream timeout"}, 504), delay=_RELAY)


class ErrorIn200(_Transient):
    """A success that holds an error object, or no choices beside it."""

    shows: ClassVar = ("infra.error_in_200",)

    def refuses(self, asked: Asked) -> Answer:
        """One JSON body, also where a stream is wanted."""
        error = {"message": "Provider returned error", "code": 502}
        return as_json(asked.pick(({"error": error}, {"choices": None, "error": error})))


class ErrorInStream(_Transient):
    """An error object stands in the middle of a stream that began well."""

    shows: ClassVar = ("infra.error_in_stream",)

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The first part, and the error."""
        error: Json = {"message": "Upstream provider disconnected", "type": "server_error"}
        return [*_beginning(chunks, asked), {"error": error}]


class EmptyChoices(_Transient):
    """A success whose list of choices is empty."""

    shows: ClassVar = ("infra.empty_choices",)

    def whole(self, body: Chunk, asked: Asked) -> Chunk:
        """The body without any choice."""
        return {**body, "choices": []}

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The same for every chunk."""
        return [{**chunk, "choices": []} for chunk in chunks]


class ForeignEnvelope(Fault):
    """A success stands inside an envelope that is none of this API."""

    shows: ClassVar = ("infra.not_openai_shape",)

    def whole(self, body: Chunk, asked: Asked) -> Chunk:
        """The body in it."""
        return {"code": 0, "msg": "success", "data": body}

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """Every chunk in one of its own."""
        return [{"code": 0, "msg": "success", "data": chunk} for chunk in chunks]


class TruncatedStream(_Transient):
    """A stream ends in good order in the middle of the reply, a whole body in the middle of its JSON."""

    shows: ClassVar = ("infra.stream_truncated",)

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The first part, without a finish reason."""
        return _beginning(chunks, asked)

    def frames(self, frames: list[bytes], asked: Asked) -> list[bytes]:
        """No end marker either."""
        return frames[:-1]

    def sends(self, answer: Answer, asked: Asked) -> Answer:
        """The first half of a whole body."""
        return answer if asked.streamed else replace(answer, pieces=_half(answer))


class ConnectionDropped(_Transient):
    """The connection breaks: before any byte of the response, or in the middle of it."""

    shows: ClassVar = ("infra.stream_truncated", "infra.gateway")

    def sends(self, answer: Answer, asked: Asked) -> Answer:
        """Half of the body, or nothing."""
        return replace(answer, pieces=asked.pick(((), _half(answer))), broken=True)


class Stall(_Transient):
    """Silence instead of the response, or from the middle of it on; after ten seconds the connection breaks."""

    shows: ClassVar = ("infra.deadline",)
    usual: ClassVar = 0.05

    def sends(self, answer: Answer, asked: Asked) -> Answer:
        """Half of the body, or nothing, and silence."""
        return replace(answer, pieces=asked.pick(((), _half(answer))), silence=_SILENCE, broken=True)


class PhantomToolCalls(_Transient):
    """The finish reason announces calls, and none comes."""

    shows: ClassVar = ("serving.phantom_tool_calls",)

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """The reply without its calls."""
        return replace(reply, calls=())


class EmptyToolDeltas(_Transient):
    """Instead of every delta of a call come many with an empty list; whole replies are sound."""

    shows: ClassVar = ("serving.empty_tool_deltas",)

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """Such deltas."""
        emptied = [changed(chunk, _emptied) for chunk in chunks]
        return [told for old, new in zip(chunks, emptied, strict=True) for told in [new] * (_MANY if old != new else 1)]


def _emptied(message: Message) -> Message:
    return {**message, "tool_calls": []} if message.get("tool_calls") else message


def _error(message: str, kind: str, status: int, headers: dict[str, str] | None = None) -> Answer:
    return as_json({"error": {"message": message, "type": kind}}, status, headers)


def _beginning(chunks: list[Chunk], asked: Asked) -> list[Chunk]:
    """The chunks up to one before the finish reason, by luck; at least the first."""
    end = next((at for at, chunk in enumerate(chunks) if finish_of(chunk)), len(chunks))
    return chunks[: 1 + int(asked.luck * max(end - 1, 0))]


def _half(answer: Answer) -> tuple[bytes, ...]:
    data = b"".join(answer.pieces)
    return (data[: len(data) // 2],)

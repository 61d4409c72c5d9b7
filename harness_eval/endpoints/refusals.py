"""What a refusal means: whose fault it is, and whether the same request may be sent again."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from harness_eval.endpoints.reply import ReplyAssembler
from harness_eval.endpoints.retries import RETRIED, THROTTLED, Transient, stated_wait
from harness_eval.errors import (
    ContextOverflow,
    EndpointDown,
    EndpointFailure,
    HarnessEvalError,
    HarnessFailure,
    redact,
)
from harness_eval.types import Json, RawCall, Reply

_LONGEST = 300
_DOWN = {
    401: "the key is refused",
    402: "the account cannot pay",
    403: "access is refused",
    404: "the model or the URL is unknown",
    405: "the URL is not that of a completions API",
}
# Finish reasons with which a server says that it failed.
_FAULTY_FINISHES = ("error", "insufficient_system_resource")

# Wordings of many stacks. All name the prompt, the context or the input; a bare "too many tokens" is a rate limit.
_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum (context|prompt|input) length|exceed\w*\s.{0,60}context (length|window|size)"
    r"|context (length|window|size) .{0,30}exceed|(input|prompt) (length|tokens?)\b.{0,60}exceed"
    r"|longer than the model'?s context|exceeded model token limit|(prompt|input) is too (long|large)"
    r"|range of input length should be|reduce the length of the (messages|prompt)"
    r"|prompt\s*超长|超(过|出).{0,20}(上下文|最大长度)|\"code\":\s*\"1261\"",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"exceeded_current_quota|insufficient_quota|insufficient[ _]balance|account is suspended|credit balance|"
    r"out of credits|billing_hard_limit|exceeded your current quota",
    re.IGNORECASE,
)
_OVERLOADED = re.compile(r"overloaded_error|engine_overloaded", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response that is no reply: its status, headers with lower-case names, body, and the bytes that were sent."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: int = 0


def failure(refusal: Refusal, name: str, clean: Callable[[str], str]) -> HarnessEvalError:
    """The error to raise for a refusal by the endpoint of this name; `clean` takes secrets out of the server's text.

    A `Transient` may be sent again; everything else is final.
    """
    message, status = _message(refusal.body), refusal.status
    # Both are searched: the message may be escaped in the body, and the code may stand outside the message.
    text = f"{message}\n{refusal.body.decode(errors='replace')}"
    said = f"{name}: {status} {_one_line(clean(message))}"
    if status != 429 and status not in _DOWN and _OVERFLOW.search(text):
        return ContextOverflow(said)
    if status in (402, 429) and _QUOTA.search(text):
        return EndpointDown(f"{name}: the quota is exhausted: {said}")
    if status in _DOWN:
        return EndpointDown(f"{name}: {_DOWN[status]}: {said}")
    if status in RETRIED:
        patient = status == 429 and not _OVERLOADED.search(text)
        return Transient(said, wait=stated_wait(refusal.headers), throttled=status in THROTTLED, patient=patient)
    if status == 413 or status >= 500:
        return EndpointFailure(f"{said} ({refusal.sent} bytes were sent)")
    return HarnessFailure(f"{said} ({refusal.sent} bytes were sent)")


def failure_inside(error: Json, name: str, clean: Callable[[str], str]) -> HarnessEvalError:
    """The same for an error object inside a successful response; without a status of its own it is a server error."""
    code = error.get("code") if isinstance(error, dict) else None
    stated = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else 0
    body = json.dumps({"error": error}, ensure_ascii=False).encode(errors="replace")
    quota = bool(_QUOTA.search(body.decode()))
    status = 429 if quota else stated if 400 <= stated < 600 else 500
    return failure(Refusal(status, body), name, clean)


def judged(assembler: ReplyAssembler, name: str, clean: Callable[[str], str]) -> Reply:
    """The reply that was put together, unless it is none.

    Raises:
        Transient: an error inside a success, no choice at all, or calls announced and not made.
        HarnessEvalError: an error inside a success that no retry can mend.
    """
    if assembler.error is not None:
        raise failure_inside(assembler.error, name, clean)
    if not assembler.choices:
        raise Transient(f"{name}: a success without choices")
    reply = assembler.reply()
    if reply.finish_reason in _FAULTY_FINISHES:
        raise Transient(f"{name}: finish reason {reply.finish_reason}")
    if reply.finish_reason == "tool_calls" and not reply.calls:
        raise Transient(f"{name}: finish reason tool_calls without any call")
    return reply


def cleaner(key: str | None, headers: Mapping[str, str]) -> Callable[[str], str]:
    """A function that takes this key and these header values out of a text, and all that looks like a credential."""
    secrets = [secret for secret in (key, *headers.values()) if secret]

    def clean(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, "[redacted]")
        return redact(text)

    return clean


def without_secrets(reply: Reply, secrets: Iterable[str]) -> Reply:
    """The reply, should it repeat the key or a header's value, without them: it is recorded and shown."""
    for secret in secrets:
        if len(secret) >= 8 and secret in f"{reply.text}{reply.thinking}{reply.calls}":
            calls = tuple(
                RawCall(*(part.replace(secret, "[redacted]") for part in (call.id, call.name, call.arguments)))
                for call in reply.calls
            )
            thinking = reply.thinking.replace(secret, "[redacted]") if reply.thinking else reply.thinking
            text = reply.text.replace(secret, "[redacted]")
            reply = dataclasses.replace(reply, text=text, thinking=thinking, calls=calls)
    return reply


def _message(body: bytes) -> str:
    """What a refusal says: the message of its JSON error, the title of its page, or its text."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body.decode(errors="replace")
        title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        return title[1] if title else text
    error = content.get("error", content) if isinstance(content, dict) else content
    if isinstance(error, dict):
        return " ".join(str(error[key]) for key in ("type", "code", "message", "detail") if error.get(key))
    return str(error)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"

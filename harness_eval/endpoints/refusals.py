"""What a response means that is no reply: its label, whose fault it is, and whether the request may be sent again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import orjson

from harness_eval.endpoints import redirects
from harness_eval.endpoints.reply import ReplyAssembler
from harness_eval.endpoints.request_faults import request_fault
from harness_eval.endpoints.retries import RETRIED, THROTTLED, Transient, stated_wait
from harness_eval.endpoints.stream import BodyReader
from harness_eval.errors import (
    ContextOverflow,
    EndpointDown,
    EndpointFailure,
    HarnessEvalError,
    HarnessFailure,
)
from harness_eval.types import Json, Reply

_LONGEST = 300
_SEARCHED = 4000  # characters at either end of a refusal; what matters stands at the beginning or at the end
_DOWN = {
    401: "the key is refused",
    402: "the account cannot pay",
    403: "access is refused",
    404: "the model or the URL is unknown",
    405: "the URL is not that of a completions API",
}
_HINT = " (does the base URL end in /v1?)"
_FINAL = frozenset({"infra.quota_exhausted", "infra.access_refused", "infra.address_unknown"})
_OTHERWISE = {"infra.access_refused": _DOWN[401], "infra.quota_exhausted": "the quota is exhausted"}
_FAULTY_FINISHES = frozenset({"error", "network_error", "abort"})
_OF_SIZE = frozenset({"infra.gateway", "undetermined.request_cut"})  # where it matters how much was sent
_OF_TOOLS = frozenset({"harness.schema_rejected", "harness.tool_name_rejected"})  # a tool may be named after a key
_OF_SERVERS = frozenset({407, 408, 409, 413})
_TIMED_OUT = frozenset({408, 504, 524})
_OF_PROXIES = frozenset({407, 413, 502, 520, 521, 522, 523})

# All of these name the prompt, the context or the input; a bare "too many tokens" is a rate limit.
_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum (context|prompt|input) length|exceed\w{0,4}\s.{0,60}context (length|window|size)"
    r"|context (length|window|size) .{0,30}exceed|(input|prompt) (length|tokens?|token count)\b.{0,60}exceed"
    r"|longer than the model'?s context|exceeded model token limit|(input|prompt) is too (long|large)"
    r"|range of input length should be|reduce the length of the (messages|prompt)|(input|prompt) too long"
    r"|exceed\w{0,4} the (available )?context|too many (input|prompt) tokens|context window (is )?(full|too small)"
    r"|prompt\s{0,3}超长|超(过|出).{0,20}(上下文|最大长度)|\"code\":\s?\"1261\"",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"rate.?limit|throttl|tokens per (minute|day)|requests per (minute|day)|too many requests|\b(TPM|RPM|TPD|RPD)\b",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"exceeded_current_quota|insufficient_quota|insufficient[ _](account )?(balance|credits|funds)"
    r"|account is suspended|credit balance|out of credits|billing_hard_limit|exceeded your current quota"
    r"|余额不足|欠费|账户已(停用|欠费)",
    re.IGNORECASE,
)
# Words about the key, not about a tool or a file of that name.
_KEY = re.compile(
    r"(incorrect|invalid|wrong|missing|expired|revoked|unknown|no|provide)\W{1,3}(an? |your |the |valid )?api[ _-]?key"
    r"|(?<!\w)api[ _-]?key\b.{0,40}(invalid|incorrect|not valid|expired|missing|required|not found|revoked)"
    r"|\bauthentication(_| )?(error|fail\w*|required)|(fail\w*|invalid|missing) (to )?authenticat\w*"
    r"|\bunauthori[sz]ed\b|\bunauthenticated\b",
    re.IGNORECASE,
)
_OVERLOADED_TYPE = re.compile(r"overloaded_error|engine_overloaded", re.IGNORECASE)
_RATE_TYPE = re.compile(r"rate_limit|throttling", re.IGNORECASE)
_OVERLOADED = re.compile(r"overload|at capacity|over capacity|no available (server|worker|instance)", re.IGNORECASE)
_CRASH = re.compile(
    r"engine ?core|engine ?dead|engine process|grammar|structural_tag|(compil|convert)\w{0,5}.{0,30}schema",
    re.IGNORECASE,
)
_TIMEOUT = re.compile(r"timed?[ -]?out\b|deadline (exceeded|expired)", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"support (tool|function|the requested param)|handle the requested param", re.IGNORECASE)
_PAGE = re.compile(r"\s{0,99}(<!doctype|<html|<head|<\?xml|<center)", re.IGNORECASE)
_CALL_MARKUP = re.compile(
    r"<\|(tool_call|python_tag|channel|open\|>\s?(tools|call))|<\|?(tool_calls?|function_calls?)\|?>|<function=|<arg_key>"
    r"|<(\w{1,20}:)?invoke\b|DSML|tool[▁_]calls?[▁_]begin|\[TOOL_CALLS\]|```(tool|function)_?(call|use)"
)
_TITLE = re.compile(r"<title>([^<]{0,300})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response that is no reply: its status, headers with lower-case names, body, the number of bytes that were
    sent, and the body of the request where it is known."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: int = 0
    request: Mapping[str, Json] | None = None


def failure(refusal: Refusal, name: str, clean: Callable[[str], str]) -> HarnessEvalError:
    """The error to raise for a refusal by the endpoint of this name; `clean` takes secrets out of the server's text.

    Its `label` says what happened. A `Transient` may be sent again; everything else is final.
    """
    message = _message(refusal.body)
    label = "infra.address_unknown" if 300 <= refusal.status < 400 else _label(refusal, message)
    said = re.sub(rf"^{refusal.status}\b[:\s-]*", "", _one_line(clean(message)))  # pages tend to begin with it
    error = _error(label, refusal, name, f"{refusal.status} {said}".rstrip())
    error.label = label
    return error


def failure_inside(error: Json, name: str, clean: Callable[[str], str], streamed: bool = False) -> HarnessEvalError:
    """The same for an error object inside a successful response; without a status of its own it is a server error."""
    status = _stated(error)
    body = json.dumps({"error": error}, ensure_ascii=False).encode(errors="replace")
    problem = failure(Refusal(status, body), name, clean)
    if isinstance(problem, Transient) or problem.label in ("infra.gateway", "infra.rate_limited"):
        problem.label = "infra.error_in_stream" if streamed else "infra.error_in_200"
    return problem


def accepted(reader: BodyReader, name: str, clean: Callable[[str], str]) -> Reply:
    """The reply that a successful response holds, its body read to the end.

    Raises:
        Transient: it holds none that can be relied on: cut off, garbled, an error or nothing instead of a reply, calls
            announced and not made.
        HarnessEvalError: an error inside a success, or a success of another API, which no retry can mend.
    """
    assembler = reader.assembler
    if assembler.error is not None:
        raise failure_inside(assembler.error, name, clean, bool(reader.streamed))
    if fault := _unreadable(reader, clean) or _without_choice(reader, clean):
        raise _fault(name, *fault)
    reply = assembler.reply()
    if fault := _failed_finish(reader, reply) or _without_calls(assembler, reply):
        raise _fault(name, *fault)
    return reply


def _error(label: str, refusal: Refusal, name: str, said: str) -> HarnessEvalError:
    status = refusal.status
    counted = f"{name}: {said} ({refusal.sent:,} bytes were sent)" if label in _OF_SIZE else f"{name}: {said}"
    if label == "limit.context_overflow":
        return ContextOverflow(f"{name}: {said}")
    if 300 <= status < 400:
        return EndpointDown(f"{name}: {status}: {redirects.advice(refusal.headers)}")
    if label in _FINAL:
        hint = _HINT if label == "infra.address_unknown" and "model" not in said.lower() else ""
        return EndpointDown(f"{name}: {_DOWN.get(status) or _OTHERWISE.get(label)}: {said}{hint}")
    if label.startswith("harness."):
        return HarnessFailure(counted)
    if status not in RETRIED:
        return EndpointFailure(counted)
    wait, throttled = stated_wait(refusal.headers), status in THROTTLED
    return Transient(f"{name}: {said}", label, wait=wait, throttled=throttled)


def _label(refusal: Refusal, message: str) -> str:
    """The label of a refusal: transport and accounts first, then what is wrong with the request."""
    status, body = refusal.status, refusal.body.decode(errors="replace")
    # Both are searched: the message may be escaped in the body, and the code may stand outside the message.
    text = f"{_ends(message)}\n{_ends(body)}"
    if status < 500 and _QUOTA.search(text):
        return "infra.quota_exhausted"
    if status in THROTTLED or (status < 500 and _RATE.search(text)):
        return _throttled(status, message, text)
    if status not in _DOWN and _OVERFLOW.search(text):
        return "limit.context_overflow"
    # A page with these statuses is what a wrong address gets; with any other it is a proxy that stepped in.
    is_page = status not in (401, 404, 405) and _PAGE.match(body) is not None
    if not 200 <= status < 500 or status in _OF_SERVERS or is_page:
        return _failed(refusal, is_page, text)
    if status in _DOWN and not (status == 404 and _UNSUPPORTED.search(text)):
        return {401: "infra.access_refused", 402: "infra.quota_exhausted", 403: "infra.access_refused"}.get(
            status, "infra.address_unknown"
        )
    fault = request_fault(_ends(message) or text, refusal.request, refusal.sent)
    return "infra.access_refused" if fault not in _OF_TOOLS and _KEY.search(text) else fault


def _throttled(status: int, message: str, text: str) -> str:
    """The type counts before the words: a limit of the plan may carry the sentence of an overload."""
    typed = _OVERLOADED_TYPE.search(text) or status == 529
    worded = _OVERLOADED.search(_ends(message)) and not _RATE.search(text)
    return "infra.overloaded" if typed or worded else "infra.rate_limited"


def _failed(refusal: Refusal, is_page: bool, text: str) -> str:
    if is_page or refusal.status == 413 or refusal.status < 200:  # the last is another protocol, or nonsense
        return "infra.gateway"
    if refusal.status in _TIMED_OUT or _TIMEOUT.search(text):
        return "infra.deadline"
    if refusal.status in _OF_PROXIES:
        return "infra.gateway"
    may_be_schema = refusal.request is None or bool(refusal.request.get("tools"))
    return "serving.crash_on_schema" if may_be_schema and _CRASH.search(text) else "infra.overloaded"


def _stated(error: Json) -> int:
    """The status that an error object states or stands for."""
    stated = [error.get(key) for key in ("code", "status_code", "status")] if isinstance(error, dict) else []
    for value in stated:
        if isinstance(value, int | str) and re.fullmatch(r"[45]\d\d", str(value)):
            return int(value)
    text = _ends(json.dumps(error, ensure_ascii=False))
    if _QUOTA.search(text) or _RATE.search(text):
        return 429
    return 400 if re.search(r"invalid_request|bad_?request", text, re.IGNORECASE) else 500


Fault: TypeAlias = tuple[str, str] | None  # a label, and what was seen


def _fault(name: str, label: str, seen: str) -> EndpointFailure:
    final = label == "infra.not_openai_shape"
    error = EndpointDown(f"{name}: {seen}") if final else Transient(f"{name}: {seen}")
    error.label = label
    return error


def _unreadable(reader: BodyReader, clean: Callable[[str], str]) -> Fault:
    """What keeps a body from being read to its end."""
    if reader.broken and not reader.ended:
        return "infra.stream_truncated", f"the connection broke: {reader.broken}"
    if reader.truncated:
        return "infra.stream_truncated", "the stream ended without finish reason and without end marker"
    if reader.torn_frames:
        return "infra.stream_truncated", f"{reader.torn_frames} unreadable frames in the stream"
    if not reader.unread:
        return None
    said = f"a success that is no JSON: {_one_line(clean(_message(reader.unread)))[:200]}"
    if reader.unread.startswith(b"{"):
        return "infra.stream_truncated", said
    return ("infra.not_openai_shape" if reader.foreign else "infra.gateway"), said


def _without_choice(reader: BodyReader, clean: Callable[[str], str]) -> Fault:
    assembler = reader.assembler
    if assembler.choices:
        return None
    if assembler.null_choices:
        kind = "infra.error_in_stream" if reader.streamed else "infra.error_in_200"
        return kind, "a success whose choices are null"
    if assembler.foreign:
        keys = clean(", ".join(assembler.foreign[:5]))
        return "infra.not_openai_shape", f"a success of another API, with the keys {keys[:100]}"
    return "infra.empty_choices", "a success without choices"


def _failed_finish(reader: BodyReader, reply: Reply) -> Fault:
    if reply.finish_reason == "insufficient_system_resource":
        return "infra.overloaded", f"finish reason {reply.finish_reason}"
    if reply.finish_reason not in _FAULTY_FINISHES:
        return None
    kind = "infra.error_in_stream" if reader.streamed else "infra.error_in_200"
    return kind, f"finish reason {reply.finish_reason}"


def _without_calls(assembler: ReplyAssembler, reply: Reply) -> Fault:
    announced = reply.finish_reason == "tool_calls"
    # Calls that were written as text are no phantoms: that is for the diagnosis to say.
    if reply.calls or _CALL_MARKUP.search(f"{reply.text}\n{reply.thinking or ''}"):
        return None
    if assembler.empty_deltas > (0 if announced else 1):
        return "serving.empty_tool_deltas", f"{assembler.empty_deltas} deltas of calls that hold nothing"
    return ("serving.phantom_tool_calls", "finish reason tool_calls without any call") if announced else None


def _message(body: bytes) -> str:
    """What a refusal says: the message of its JSON error, the title of its page, or its text."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body.decode(errors="replace")
        title = _TITLE.search(_ends(text))
        return title[1] if title else text
    error = content.get("error") or content if isinstance(content, dict) else content
    if isinstance(error, dict):
        told = [str(error[key]) for key in ("type", "code", "message", "msg", "detail") if error.get(key)]
        return " ".join(dict.fromkeys(told)) or json.dumps(error, ensure_ascii=False)
    return str(error)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _SEARCHED else f"{text[:_SEARCHED]} … {text[-_SEARCHED:]}"


def _one_line(text: str) -> str:
    line = " ".join(_ends(text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"

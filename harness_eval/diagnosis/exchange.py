"""A wire log read line by line: one recorded exchange a line, and what its response was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson

from harness_eval.diagnosis.labels import Finding, found
from harness_eval.diagnosis.reply import evidence_of
from harness_eval.endpoints.redaction import cleaner, without_secrets
from harness_eval.endpoints.refusals import Refusal, accepted, failure
from harness_eval.endpoints.stream import BodyReader
from harness_eval.errors import ConfigError, HarnessEvalError
from harness_eval.types import Json, Reply

# Most headers hold nothing secret, and their values may well stand in a text: what is one shows by name or by look.
_SECRET_NAME = re.compile(r"auth|key|token|secret|cookie|session|passw|credential|signature", re.IGNORECASE)
_SECRET_LOOK = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.=+/~-]{16,}")
_SHORTEST_SECRET = 4


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its response. `request` is the body, None where it was not recorded; `seconds` likewise.

    `body` is the response's, events with their blank lines; the names of `headers` are in lower case. `secrets` holds
    what stood in headers and must not be told.
    """

    request: Mapping[str, Json] | None
    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float | None = None
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an exchange: a reply, or else the finding that says why there is none."""

    reply: Reply | None
    finding: Finding | None = None


def read_exchanges(lines: Iterable[bytes], name: str) -> Iterator[Exchange]:
    """The exchanges of a wire log, each as soon as its line was read; empty lines are skipped.

    Raises:
        ConfigError: a line is torn or has another shape; the message has the log's name and the line's number.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}: line {number}"
        try:
            entry = _loaded(line)
        except (ValueError, RecursionError):
            torn = "" if line.endswith(b"\n") else " (the last line is torn)"
            raise ConfigError(f"{where} is not JSON{torn}") from None
        yield _exchange(entry, where)


def _loaded(text: bytes | str) -> Json:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)  # which reads the halves of surrogate pairs that some proxies leave behind


def _exchange(entry: Json, where: str) -> Exchange:
    if not isinstance(entry, dict) or "response" not in entry:
        raise ConfigError(f"{where}: an exchange is an object with the keys request and response")
    response = entry["response"]
    if not isinstance(response, dict) or not {"body", "chunks"} & response.keys():
        raise ConfigError(f"{where}: response must be an object with body or chunks")
    status, seconds = response.get("status", 200), entry.get("seconds")
    if not isinstance(status, int) or isinstance(status, bool) or not 100 <= status < 600:
        raise ConfigError(f"{where}: response.status must be an HTTP status")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float)):
        raise ConfigError(f"{where}: seconds must be a number")
    headers = _headers(response.get("headers"), f"{where}: response.headers")
    body, sent = _request(entry.get("request"), where)
    secrets = sorted({*_secrets(headers), *_secrets(sent)}, key=len, reverse=True)
    return Exchange(body, status, headers, _body(response, where), seconds, tuple(secrets))


def _request(request: Json, where: str) -> tuple[Mapping[str, Json] | None, Mapping[str, str]]:
    """The body of a request and its headers, where an object around the body has both."""
    if isinstance(request, str):
        try:
            request = _loaded(request)
        except (ValueError, RecursionError):
            raise ConfigError(f"{where}: request is a text that is not JSON") from None
    if request is None:
        return None, {}
    if not isinstance(request, dict):
        raise ConfigError(f"{where}: request must be an object or null")
    if isinstance(request.get("body"), dict):
        return request["body"], _headers(request.get("headers"), f"{where}: request.headers")
    return request, _headers(request.get("headers"), f"{where}: request.headers")


def _headers(headers: Json, where: str) -> dict[str, str]:
    if headers is None:
        return {}
    if not isinstance(headers, dict):
        raise ConfigError(f"{where} must be an object")
    return {str(key).lower(): str(value) for key, value in headers.items()}


def _secrets(headers: Mapping[str, str]) -> Iterator[str]:
    for key, value in headers.items():
        named = bool(_SECRET_NAME.search(key))
        for part in {value, *re.split(r"[\s;,]+", value)}:
            if len(part) >= _SHORTEST_SECRET and (named or _SECRET_LOOK.fullmatch(part)):
                yield part


def _body(response: Mapping[str, Json], where: str) -> bytes:
    chunks = response.get("chunks")
    if chunks is None:
        body = response.get("body")
        return b"" if body is None else _bytes(body if isinstance(body, str) else json.dumps(body))
    if not isinstance(chunks, list) or not all(isinstance(chunk, str) for chunk in chunks):
        raise ConfigError(f"{where}: response.chunks must be a list of texts")
    return _bytes("".join(f"{chunk}\n\n" for chunk in chunks))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def outcome_of(exchange: Exchange, name: str) -> Outcome:
    """What came of an exchange: stages 1 and 2 of the order of decision, and the reply where there is one."""
    clean = cleaner(exchange.secrets)
    try:
        reply = _reply(exchange, name)
    except HarnessEvalError as error:
        label = error.label or "infra.gateway"
        return Outcome(None, found(label, evidence_of(clean(_said(error, name)))))
    return Outcome(without_secrets(reply, exchange.secrets))


def _reply(exchange: Exchange, name: str) -> Reply:
    clean = cleaner(exchange.secrets)
    if exchange.status >= 400:
        sent = len(json.dumps(exchange.request)) if exchange.request else 0
        refusal = Refusal(exchange.status, exchange.body, exchange.headers, sent, exchange.request)
        raise failure(refusal, name, clean)
    reader = BodyReader()
    reader.feed(exchange.body)
    reader.close()
    return accepted(reader, name, clean)


def _said(error: HarnessEvalError, name: str) -> str:
    return str(error).removeprefix(f"{name}: ")

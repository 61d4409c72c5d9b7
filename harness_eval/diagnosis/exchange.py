"""A wire log read line by line: one recorded exchange a line, and what its response was."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson

from harness_eval.diagnosis.arguments import is_too_deep
from harness_eval.diagnosis.labels import Finding, found
from harness_eval.diagnosis.reply import evidence_of
from harness_eval.diagnosis.secrets import header_secrets, secrets_in
from harness_eval.endpoints.redaction import cleaner, without_secrets
from harness_eval.endpoints.refusals import Refusal, accepted, failure
from harness_eval.endpoints.stream import BodyReader
from harness_eval.errors import ConfigError, EndpointFailure, HarnessEvalError
from harness_eval.types import Json, Reply

_WITHOUT_BODY = (204, 205)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its response. `request` is the body, None where it was not recorded; `seconds` likewise.

    `body` is the response's, events with their blank lines; the names of `headers` are in lower case. `secrets` holds
    what stood beside the messages and must not be told.
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
        if is_too_deep(entry):
            raise ConfigError(f"{where} is nested too deeply")
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
    around = {key: value for key, value in entry.items() if key != "response"}
    hidden = {*header_secrets(headers), *header_secrets(sent), *secrets_in(around), *secrets_in(body)}
    secrets = sorted(hidden, key=len, reverse=True)
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
    if is_too_deep(request):
        raise ConfigError(f"{where}: request is nested too deeply")
    headers, body = _headers(request.get("headers"), f"{where}: request.headers"), request.get("body")
    if isinstance(body, str):
        try:
            body = _loaded(body)
        except (ValueError, RecursionError):
            body = None
    return (request if not isinstance(body, dict) or is_too_deep(body) else body), headers


def _headers(headers: Json, where: str) -> dict[str, str]:
    if headers is None:
        return {}
    if not isinstance(headers, dict):
        raise ConfigError(f"{where} must be an object")
    # Some clients log the values of a header as a list.
    joined = {key: ", ".join(map(str, value)) if isinstance(value, list) else value for key, value in headers.items()}
    return {str(key).lower(): str(value) for key, value in joined.items()}


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
    except RecursionError:
        return Outcome(None, found("infra.gateway", f"{exchange.status}, a body that is nested too deeply"))
    return Outcome(without_secrets(reply, exchange.secrets))


def _reply(exchange: Exchange, name: str) -> Reply:
    clean = cleaner(exchange.secrets)
    if exchange.status >= 400:
        sent = len(json.dumps(exchange.request)) if exchange.request else 0
        refusal = Refusal(exchange.status, exchange.body, exchange.headers, sent, exchange.request)
        raise failure(refusal, name, clean)
    if not 200 <= exchange.status < 300 or exchange.status in _WITHOUT_BODY:
        raise _no_answer(exchange.status, name)
    reader = BodyReader()
    reader.feed(exchange.body)
    reader.close()
    return accepted(reader, name, clean)


def _no_answer(status: int, name: str) -> HarnessEvalError:
    """A status that is no failure and cannot come with a reply: a redirect shows that the address is another one."""
    moved = 300 <= status < 400
    error = EndpointFailure(f"{name}: {status}, {'the address is another one' if moved else 'no answer to a request'}")
    error.label = "infra.address_unknown" if moved else "infra.gateway"
    return error


def _said(error: HarnessEvalError, name: str) -> str:
    return str(error).removeprefix(f"{name}: ")

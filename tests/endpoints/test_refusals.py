"""What a refusal means."""

from __future__ import annotations

import json

import pytest

from harness_eval.diagnosis.labels import LABELS
from harness_eval.endpoints.redaction import cleaner
from harness_eval.endpoints.refusals import Refusal, failure, failure_inside
from harness_eval.endpoints.retries import Transient
from harness_eval.errors import ContextOverflow, EndpointDown, EndpointFailure, HarnessEvalError, HarnessFailure

CLEAN = cleaner(("fake-key-0123", "blue-4411"))


def told(status: int, message: str, kind: str = "error", **headers: str) -> HarnessEvalError:
    body = json.dumps({"error": {"message": message, "type": kind}}).encode()
    return failure(Refusal(status, body, headers, 10), "kimi", CLEAN)


OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "Requested token count exceeds the model's maximum context length of 131072 tokens.",
    "the request exceeds the available context size (4096 tokens)",
    "Your input exceeds the context window of this model.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Prompt is too long",
    "Please reduce the length of the messages or completion.",
    "输入长度超过最大上下文限制",
]


@pytest.mark.parametrize("message", OVERFLOWS)
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_a_prompt_that_does_not_fit_is_recognised_in_many_wordings(status: int, message: str) -> None:
    assert isinstance(told(status, message), ContextOverflow)


@pytest.mark.parametrize(
    "message",
    [
        "Too many tokens, please wait before trying again.",
        "Rate limit reached: tokens per minute limit 600000",
        "context length exceeded for your tier this minute",
    ],
)
def test_a_rate_limit_is_never_taken_for_an_overflow(message: str) -> None:
    assert isinstance(told(429, message), Transient)


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'tools[43].function.name': string too long. Expected a string with maximum length 64",
        "tools[0].function.description exceeds the maximum length of 1024",
        "tool_call_id  is not found",
        "max_completion_tokens is too large: 200000",
    ],
)
def test_other_bad_requests_are_ours(message: str) -> None:
    assert isinstance(told(400, message), HarnessFailure)


def test_an_overload_asks_for_fewer_requests_and_a_rate_limit_for_patience_too() -> None:
    overload = told(429, "busy", "engine_overloaded_error")
    limit = told(429, "slow down", "rate_limit_reached_error", **{"retry-after": "7"})
    assert isinstance(overload, Transient)
    assert isinstance(limit, Transient)
    assert (overload.throttled, overload.patient) == (True, False)
    assert (limit.throttled, limit.patient, limit.wait) == (True, True, 7.0)


def test_a_server_error_asks_for_nothing() -> None:
    error = told(503, "busy")
    assert isinstance(error, Transient)
    assert (error.throttled, error.patient, error.wait) == (False, False, None)


@pytest.mark.parametrize("kind", ["exceeded_current_quota_error", "insufficient_quota"])
def test_an_exhausted_quota_is_final(kind: str) -> None:
    assert isinstance(told(429, "no", kind), EndpointDown)


def test_an_error_inside_a_success_counts_by_its_own_code() -> None:
    assert isinstance(failure_inside({"code": 502, "message": "x"}, "kimi", CLEAN), Transient)
    assert isinstance(failure_inside({"code": "400", "message": "x"}, "kimi", CLEAN), HarnessFailure)
    assert isinstance(failure_inside("engine died", "kimi", CLEAN), Transient)
    overflow = failure_inside({"message": "prompt is too long"}, "kimi", CLEAN)
    assert isinstance(overflow, ContextOverflow)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error":{"message":"m","type":"t","code":"c"}}', "kimi: 418 t c m"),
        (b'{"error":"upstream timeout"}', "kimi: 418 upstream timeout"),
        (b'{"detail":[{"msg":"bad"}]}', "kimi: 418 [{'msg': 'bad'}]"),
        (b'{"error":{"message":"no such","type":"gone","code":"gone"}}', "kimi: 418 gone no such"),
        (b"418: Teapot", "kimi: 418 Teapot"),
        (b"<html><head><title>502 Bad\nGateway</title></head></html>", "kimi: 418 502 Bad Gateway"),
        (b"plain\ntext", "kimi: 418 plain text"),
        (b"", "kimi: 418"),
        (b"\xff\xfe", "kimi: 418 \ufffd\ufffd"),
    ],
)
def test_what_the_server_said_becomes_one_line(body: bytes, said: str) -> None:
    assert str(failure(Refusal(418, body), "kimi", CLEAN)).startswith(said)


def test_a_long_message_is_cut_only_after_secrets_are_out_of_it() -> None:
    message = "x" * 290 + " fake-key-0123 blue-4411"
    text = str(told(400, message))
    assert "fake" not in text
    assert "blue" not in text
    assert len(text) < 400


def test_a_gateway_that_refuses_the_size_says_how_much_was_sent() -> None:
    error = failure(Refusal(413, b"", {}, 9_000_000), "kimi", CLEAN)
    assert isinstance(error, EndpointFailure)
    assert not isinstance(error, Transient)
    assert "9,000,000 bytes were sent" in str(error)


def test_an_address_that_is_unknown_brings_a_hint_unless_it_is_the_model() -> None:
    hint = "(does the base URL end in /v1?)"
    assert hint in str(failure(Refusal(404, b"404: Not Found"), "kimi", CLEAN))
    assert hint not in str(failure(Refusal(404, b'{"error":{"message":"model x not found"}}'), "kimi", CLEAN))


PAGE = "<html><head><title>{}</title></head><body>nginx</body></html>"
LABELLED: list[tuple[int, str, str, type[HarnessEvalError]]] = [
    (429, '{"error":{"type":"engine_overloaded_error","message":"x"}}', "infra.overloaded", Transient),
    (429, '{"error":{"type":"rate_limit_reached_error","message":"x"}}', "infra.rate_limited", Transient),
    (429, '{"error":{"type":"rate_limit_error","message":"engine is overloaded"}}', "infra.rate_limited", Transient),
    (429, '{"error":{"message":"The model is overloaded, try later"}}', "infra.overloaded", Transient),
    (429, "Too Many Requests", "infra.rate_limited", Transient),
    (429, '{"message":"ThrottlingException: Too many tokens"}', "infra.rate_limited", Transient),
    (429, '{"error":{"type":"insufficient_quota","message":"x"}}', "infra.quota_exhausted", EndpointDown),
    (529, '{"type":"error","error":{"type":"overloaded_error","message":"x"}}', "infra.overloaded", Transient),
    (503, "upstream busy", "infra.overloaded", Transient),
    (500, '{"error":{"message":"internal error"}}', "infra.overloaded", Transient),
    (500, '{"error":{"message":"EngineCore died"}}', "serving.crash_on_schema", Transient),
    (500, '{"error":{"message":"Failed to compile the JSON schema of tool x"}}', "serving.crash_on_schema", Transient),
    (500, '{"error":{"message":"request timed out"}}', "infra.deadline", Transient),
    (504, '{"error":"upstream timeout after 120s"}', "infra.deadline", Transient),
    (408, "", "infra.deadline", Transient),
    (524, "error code: 524", "infra.deadline", Transient),
    (502, "Bad gateway", "infra.gateway", Transient),
    (502, PAGE.format("502 Bad Gateway"), "infra.gateway", Transient),
    (503, PAGE.format("503"), "infra.gateway", Transient),
    (413, PAGE.format("413 Request Entity Too Large"), "infra.gateway", EndpointFailure),
    (400, PAGE.format("400 Bad Request"), "infra.gateway", EndpointFailure),
    (
        413,
        '{"error":{"message":"Request too large: tokens per minute (TPM): Limit 6000"}}',
        "infra.rate_limited",
        EndpointFailure,
    ),
    (400, '{"error":{"message":"Your credit balance is too low"}}', "infra.quota_exhausted", EndpointDown),
    (402, '{"error":{"message":"Insufficient Balance"}}', "infra.quota_exhausted", EndpointDown),
    (401, '{"error":{"message":"Incorrect API key"}}', "infra.access_refused", EndpointDown),
    (403, '{"error":{"message":"no access"}}', "infra.access_refused", EndpointDown),
    (404, "404 page not found", "infra.address_unknown", EndpointDown),
    (404, PAGE.format("404 Not Found"), "infra.address_unknown", EndpointDown),
    (403, PAGE.format("Attention Required!"), "infra.gateway", EndpointFailure),
    (404, '{"error":{"message":"No endpoints found that support tool use"}}', "harness.param_rejected", HarnessFailure),
    (405, "", "infra.address_unknown", EndpointDown),
    (
        400,
        '{"error":{"message":"invalid model: ","type":"invalid_model"}}',
        "undetermined.request_cut",
        EndpointFailure,
    ),
    (
        422,
        '{"detail":[{"type":"extra_forbidden","loc":["body","top_k"],"msg":"x"}]}',
        "harness.param_rejected",
        HarnessFailure,
    ),
    (400, '"auto" tool choice requires --enable-auto-tool-choice', "serving.parser_mismatch", EndpointFailure),
    (400, '{"error":{"message":"prompt is too long"}}', "limit.context_overflow", ContextOverflow),
    (418, "", "harness.param_rejected", HarnessFailure),
]


@pytest.mark.parametrize(("status", "body", "label", "kind"), LABELLED)
def test_every_refusal_has_a_label_and_the_error_that_goes_with_it(
    status: int, body: str, label: str, kind: type[HarnessEvalError]
) -> None:
    error = failure(Refusal(status, body.encode()), "kimi", CLEAN)
    assert (error.label, type(error)) == (label, kind)


@pytest.mark.parametrize("body", [b"", b"{}", b"<html>", b'{"error":{"message":"x"}}', b"[1]", b"null", b"\xff"])
def test_no_status_is_left_without_a_label_or_blamed_on_the_model(body: bytes) -> None:
    for status in range(400, 600):
        error = failure(Refusal(status, body), "kimi", CLEAN)
        label = LABELS[error.label]
        assert label.owner not in ("model", "none")
        # What aborts a cell is not sent again, save once where a crash may have been a coincidence.
        assert not (isinstance(error, Transient) and label.effect == "config_abort")
        assert not (400 <= status < 500 and status not in (408, 409, 429) and isinstance(error, Transient))


def test_a_crash_is_the_schema_s_only_where_there_are_tools() -> None:
    body = b'{"error":{"message":"EngineCore died"}}'
    tools = [{"type": "function", "function": {"name": "run"}}]
    for request, label in (({}, "infra.overloaded"), ({"tools": tools}, "serving.crash_on_schema")):
        assert failure(Refusal(500, body, {}, 0, request), "kimi", CLEAN).label == label


@pytest.mark.parametrize(
    "unit", [b"exceed", b"prompt length ", b"<title>", b"fail", b"tool ", b"reasoning_content ", b"model ", b" ", b"("]
)
def test_an_enormous_refusal_is_read_in_no_time(unit: bytes) -> None:
    # Without a bound on what is searched this takes minutes.
    error = failure(Refusal(400, unit * (4_000_000 // len(unit))), "kimi", CLEAN)
    assert len(str(error)) < 400


@pytest.mark.parametrize("status", [0, 99, 101, 407])
def test_a_status_of_a_proxy_or_of_no_answer_is_the_gateway_s(status: int) -> None:
    error = failure(Refusal(status, b"{}"), "kimi", CLEAN)
    assert (error.label, type(error)) == ("infra.gateway", EndpointFailure)

"""Which successful responses hold a reply, and what the others are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness_eval.endpoints.redaction import cleaner
from harness_eval.endpoints.refusals import accepted
from harness_eval.endpoints.retries import Transient
from harness_eval.endpoints.stream import BodyReader
from harness_eval.errors import ContextOverflow, EndpointDown, HarnessEvalError, HarnessFailure

from .server import chunk, events

USAGE = {"prompt_tokens": 9, "completion_tokens": 4}
SAID = {"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}
SECRET = "fake-0f4c9a77d1e2b6"


def read(body: bytes) -> BodyReader:
    reader = BodyReader()
    reader.feed(body)
    reader.close()
    return reader


def whole(content: Any) -> BodyReader:
    return read(content.encode() if isinstance(content, str) else json.dumps(content).encode())


def streamed(*chunks: dict[str, Any] | str, done: bool = True) -> BodyReader:
    return read(events(*chunks, done=done))


def problem(reader: BodyReader) -> HarnessEvalError:
    with pytest.raises(HarnessEvalError) as caught:
        accepted(reader, "kimi", cleaner((SECRET,)))
    return caught.value


@pytest.mark.parametrize(
    "content",
    [
        {"error": {"message": "upstream failed", "code": 502}},
        {"error": "upstream failed", "choices": None},
        {"object": "error", "message": "engine died"},
        {"type": "error", "error": {"type": "api_error", "message": "x"}},
        {"id": "x", "choices": None, "usage": None},
        {"id": "x", "choices": [None]},
        {"success": False, "code": 1234, "msg": "network error"},
        {"code": 500, "msg": "internal", "data": None},
        {"error_code": 18, "error_msg": "Open api qps request limit reached"},
        {"choices": None, "base_resp": {"status_code": 1000, "status_msg": "unknown error"}},
        {"choices": [{**SAID, "finish_reason": "error"}]},
    ],
)
def test_an_error_in_place_of_a_reply_is_an_error_in_200(content: Any) -> None:
    error = problem(whole(content))
    assert (error.label, type(error)) == ("infra.error_in_200", Transient)


@pytest.mark.parametrize(
    "reader",
    [
        streamed({"error": {"message": "engine died"}}, done=False),
        streamed(chunk({"content": "par"}), {"error": {"message": "engine died"}, "choices": []}),
        streamed(chunk({"content": "par"}), {"error": {"type": "rate_limit_error", "message": "slow down"}}),
        streamed(chunk({"content": "par"}), {"type": "error", "error": {"message": "x"}}),
        read(b'event: error\ndata: {"message": "engine died"}\n\n'),
        streamed(chunk({"content": "par"}, "error")),
        streamed(chunk({"content": "par"}, "network_error")),
    ],
)
def test_an_error_between_the_chunks_is_an_error_in_the_stream(reader: BodyReader) -> None:
    error = problem(reader)
    assert (error.label, type(error)) == ("infra.error_in_stream", Transient)


@pytest.mark.parametrize(
    ("error", "kind", "label"),
    [
        ({"type": "exceeded_current_quota_error", "message": "x"}, EndpointDown, "infra.quota_exhausted"),
        ({"message": "prompt is too long: 9 tokens > 8 maximum"}, ContextOverflow, "limit.context_overflow"),
        ({"code": 400, "message": "invalid temperature"}, HarnessFailure, "harness.param_rejected"),
        (
            {"type": "invalid_request_error", "message": "tool_call_id  is not found"},
            HarnessFailure,
            "harness.orphan_tool_result",
        ),
        ({"code": 401, "message": "no such key"}, EndpointDown, "infra.access_refused"),
    ],
)
def test_an_error_inside_a_success_that_no_retry_can_mend_keeps_its_own_label(
    error: Any, kind: type[HarnessEvalError], label: str
) -> None:
    for reader in (whole({"error": error}), streamed({"error": error}, done=False)):
        found = problem(reader)
        assert (type(found), found.label) == (kind, label)


@pytest.mark.parametrize(
    "reader",
    [
        whole({"id": "x", "choices": [], "usage": USAGE}),
        whole({}),
        whole({"id": "x", "object": "chat.completion"}),
        whole(""),
        streamed({"choices": [], "usage": USAGE}),
        streamed(),
    ],
)
def test_a_success_without_choices_is_one(reader: BodyReader) -> None:
    error = problem(reader)
    assert (error.label, type(error)) == ("infra.empty_choices", Transient)


@pytest.mark.parametrize(
    "content",
    [
        {"code": 0, "msg": "success", "data": {"choices": [SAID]}},
        {"success": True, "result": {"response": "4"}},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "4"}]},
        {"candidates": [{"content": {"parts": [{"text": "4"}]}}]},
        {"output": {"text": "4", "finish_reason": "stop"}, "request_id": "x"},
        {"model": "m", "message": {"role": "assistant", "content": "4"}, "done": True},
        {"model": "m", "response": "4", "done": True},
        [{"generated_text": "4"}],
        '"4"',
    ],
)
def test_a_success_of_another_api_is_final_and_names_its_keys(content: Any) -> None:
    error = problem(whole(content))
    assert (error.label, type(error)) == ("infra.not_openai_shape", EndpointDown)


def test_a_stream_of_another_api_is_known_too() -> None:
    reader = streamed({"type": "message_start", "message": {"id": "m"}}, {"type": "x", "delta": {"text": "4"}})
    assert problem(reader).label == "infra.not_openai_shape"


@pytest.mark.parametrize(
    ("body", "label"),
    [
        ("<html><head><title>502 Bad Gateway</title></head></html>", "infra.gateway"),
        ("upstream busy", "infra.gateway"),
        ('{"choices": [{"message": {"content": "ha', "infra.stream_truncated"),
    ],
)
def test_a_success_that_is_no_json_is_a_proxy_s_page_or_a_body_cut_short(body: str, label: str) -> None:
    error = problem(whole(body))
    assert (error.label, type(error)) == (label, Transient)


def test_a_stream_that_ends_early_breaks_or_holds_half_a_frame_is_truncated() -> None:
    broken = streamed(chunk({"content": "half"}), done=False)
    broken.broken = "ClientPayloadError"
    half_call = {"index": 0, "id": "a", "function": {"name": "run", "arguments": '{"x'}}
    for reader in (
        broken,
        streamed(chunk({"content": "half"}), done=False),
        streamed(chunk({"tool_calls": [half_call]}), done=False),
        read(b": keep-alive\n\n"),
        streamed(chunk({"content": "a"}), '{"choices": [{"delta": {"cont', chunk({}, "stop")),
    ):
        error = problem(reader)
        assert (error.label, type(error)) == ("infra.stream_truncated", Transient)
    assert "the connection broke: ClientPayloadError" in str(problem(broken))


def test_what_breaks_after_the_last_word_breaks_nothing() -> None:
    reader = streamed(chunk({"content": "all"}, "stop"), done=False)
    reader.broken = "ClientPayloadError"
    assert accepted(reader, "kimi", cleaner(())).text == "all"


def test_noise_beside_a_reply_is_skipped() -> None:
    reader = streamed(": GATEWAY PROCESSING", chunk({"content": "hello"}, "stop"), "null")
    assert (accepted(reader, "kimi", cleaner(())).text, reader.bad_frames) == ("hello", 2)


@pytest.mark.parametrize("calls", [None, [], [{}], [{"index": 0, "id": "", "function": {"name": "", "arguments": ""}}]])
def test_calls_that_are_announced_and_not_made_are_phantoms(calls: Any) -> None:
    message = {"content": "I look.", "tool_calls": calls}
    error = problem(whole({"choices": [{"message": message, "finish_reason": "tool_calls"}]}))
    assert (error.label, type(error)) == ("serving.phantom_tool_calls", Transient)


def test_a_call_written_as_text_is_no_phantom() -> None:
    for markup in ('<tool_call>{"name": "run"}</tool_call>', "<|tool_calls_section_begin|>", "<|open|>tools<|sep|>"):
        for place in ("content", "reasoning_content"):
            choice = {"message": {"content": "", place: markup}, "finish_reason": "tool_calls"}
            assert accepted(whole({"choices": [choice]}), "kimi", cleaner(())).calls == ()


EMPTY = chunk({"tool_calls": []})
NULLS = chunk({"content": None, "reasoning_content": None, "tool_calls": []})


@pytest.mark.parametrize(
    "reader",
    [
        streamed(chunk({"content": "Checking."}), EMPTY, chunk({}, "tool_calls")),
        streamed(chunk({"content": "Checking."}), *[EMPTY] * 9, chunk({}, "stop")),
        streamed(chunk({"content": "Checking."}), *[NULLS] * 9, chunk({}, "stop")),
    ],
)
def test_deltas_of_calls_that_hold_nothing_are_a_fault_of_the_parser(reader: BodyReader) -> None:
    error = problem(reader)
    assert (error.label, type(error)) == ("serving.empty_tool_deltas", Transient)


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk({"content": text, "tool_calls": []}) for text in "hello"] + [chunk({"tool_calls": []}, "stop")],
        [chunk({"content": "hello"}), EMPTY, chunk({}, "stop")],
        [chunk({"role": "assistant", "content": "", "tool_calls": []}), chunk({"content": "hello"}, "stop")],
    ],
)
def test_an_empty_list_of_calls_beside_a_text_means_nothing(chunks: list[Any]) -> None:
    assert accepted(streamed(*chunks), "kimi", cleaner(())).text == "hello"


def test_empty_deltas_around_a_real_call_mean_nothing() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "run", "arguments": "{}"}}
    reader = streamed(*[EMPTY] * 3, chunk({"tool_calls": [call]}), EMPTY, chunk({}, "tool_calls"))
    assert len(accepted(reader, "kimi", cleaner(())).calls) == 1


def test_a_secret_in_a_success_that_is_none_is_not_told() -> None:
    for content in (f"no json, but {SECRET}", {"data": 1, SECRET: 2}, {"error": SECRET}):
        assert SECRET not in str(problem(whole(content)))


def test_every_fault_names_the_endpoint() -> None:
    for reader in (whole(""), whole({"data": 1}), whole("x"), streamed(chunk({}, "tool_calls"))):
        assert str(problem(reader)).startswith("kimi: ")

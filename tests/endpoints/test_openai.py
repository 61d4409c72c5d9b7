"""The OpenAI dialect over real HTTP."""

from __future__ import annotations

import asyncio
import logging
import traceback

import pytest

from harness_eval.errors import ContextOverflow, EndpointDown, EndpointFailure, HarnessEvalError, HarnessFailure
from harness_eval.types import RawCall, Request, Usage

from .conftest import Connect
from .server import SAYS_HELLO, Answer, chunk, events, refused, stream, whole

pytestmark = pytest.mark.anyio

ASK = Request(messages=({"role": "user", "content": "hi"},))
SECRET = "fake-0f4c9a77d1e2b6"


def call(index: int, **parts: str) -> dict[str, object]:
    function = {key: value for key, value in parts.items() if key in ("name", "arguments")}
    return {"index": index, "function": function, **({"id": parts["id"]} if "id" in parts else {})}


async def test_a_streamed_tool_call_becomes_one_reply(connect: Connect) -> None:
    endpoint, server = await connect(
        stream(
            chunk({"role": "assistant", "reasoning_content": "Look "}),
            chunk({"reasoning_content": "first."}),
            chunk({"content": "I look."}),
            chunk({"tool_calls": [call(0, id="bash:0", name="bash", arguments="")]}),
            chunk({"tool_calls": [call(0, arguments='{"command":')]}),
            chunk({"tool_calls": [call(0, arguments=' "ls"}')]}),
            chunk({}, "tool_calls"),
            {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}},
        )
    )
    reply = await endpoint.complete(ASK)
    assert reply.text == "I look."
    assert reply.thinking == "Look first."
    assert reply.calls == (RawCall("bash:0", "bash", '{"command": "ls"}'),)
    assert reply.finish_reason == "tool_calls"
    assert reply.usage == Usage(prompt=9, completion=4)
    assert len(reply.faults) == 0
    assert server.received[0].path == "/v1/chat/completions"


async def test_the_request_asks_for_a_stream_with_usage_and_sends_no_sampling_parameter(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO)
    await endpoint.complete(Request(messages=ASK.messages, stop=("END",), seed=7))
    assert server.received[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stop": ["END"],
        "seed": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_a_server_that_does_not_stream_is_read_all_the_same(connect: Connect) -> None:
    message = {"role": "assistant", "content": "4", "reasoning": "2+2"}
    endpoint, _ = await connect(whole({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
    reply = await endpoint.complete(ASK)
    assert (reply.text, reply.thinking, reply.reasoning_key) == ("4", "2+2", "reasoning")


async def test_the_completions_wire_posts_the_prompt(connect: Connect) -> None:
    endpoint, server = await connect(stream({"choices": [{"index": 0, "text": "ls\n", "finish_reason": "stop"}]}))
    reply = await endpoint.complete(Request(messages=(), wire="completions", prompt="$ ", max_tokens=50))
    assert reply.text == "ls\n"
    assert server.received[0].path == "/v1/completions"
    assert server.received[0].body["prompt"] == "$ "
    assert server.received[0].body["max_tokens"] == 50
    assert "messages" not in server.received[0].body


async def test_earlier_reasoning_goes_back_under_the_key_last_received(connect: Connect) -> None:
    endpoint, server = await connect(stream(chunk({"reasoning": "hm", "content": "a"}), chunk({}, "stop")))
    history = Request(messages=({"role": "assistant", "content": "a", "reasoning_content": "hm"},))
    await endpoint.complete(history)
    await endpoint.complete(history)
    first, second = (received.body["messages"][0] for received in server.received)
    assert first == {"role": "assistant", "content": "a", "reasoning_content": "hm"}
    assert second == {"role": "assistant", "content": "a", "reasoning": "hm"}


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_passing_refusal_is_retried_and_the_attempts_are_counted(connect: Connect, status: int) -> None:
    endpoint, server = await connect(refused(status, "busy"), refused(status, "busy"), SAYS_HELLO)
    reply = await endpoint.complete(ASK)
    assert (reply.text, len(reply.faults), len(server.received)) == ("hello", 2, 3)


FAULTS = {
    "truncated stream": (stream(chunk({"content": "half"}), done=False), "infra.stream_truncated"),
    "connection dropped": (
        Answer(chunks=(events(chunk({"content": "half"}), done=False),), cut=True),
        "infra.stream_truncated",
    ),
    "half a frame": (stream('{"choices": [{"del', chunk({}, "stop")), "infra.stream_truncated"),
    "half a body": (whole('{"choices": [{"mes'), "infra.stream_truncated"),
    "stream without choices": (stream({"choices": [], "usage": {"prompt_tokens": 1}}), "infra.empty_choices"),
    "empty choices": (whole({"id": "x", "choices": [], "usage": None}), "infra.empty_choices"),
    "nothing": (Answer(), "infra.empty_choices"),
    "error in stream": (stream({"error": {"message": "engine died"}}, done=False), "infra.error_in_stream"),
    "error after text": (stream(chunk({"content": "a"}), {"error": {"message": "x"}}), "infra.error_in_stream"),
    "finish reason error": (stream(chunk({}, "error")), "infra.error_in_stream"),
    "error in body": (whole({"error": {"message": "upstream", "code": 502}}), "infra.error_in_200"),
    "null choices": (whole({"id": "x", "choices": None}), "infra.error_in_200"),
    "a page": (whole("<html><title>Bad gateway</title></html>"), "infra.gateway"),
    "a page of a status": (whole("<html><title>502</title></html>", 502), "infra.gateway"),
    "calls announced only": (stream(chunk({"content": "x"}), chunk({}, "tool_calls")), "serving.phantom_tool_calls"),
    "empty calls": (
        stream(chunk({"content": "x"}), *[chunk({"tool_calls": []})] * 3, chunk({}, "tool_calls")),
        "serving.empty_tool_deltas",
    ),
    "overload": (refused(503, "busy"), "infra.overloaded"),
    "throttling": (refused(429, "slow down", "rate_limit_error"), "infra.rate_limited"),
    "an outer limit": (refused(504, "upstream timeout"), "infra.deadline"),
    "a crash": (refused(500, "EngineCore died"), "infra.overloaded"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_an_attempt_that_brings_no_reply_is_repeated_and_its_label_kept(connect: Connect, name: str) -> None:
    fault, label = FAULTS[name]
    endpoint, server = await connect(fault, SAYS_HELLO)
    reply = await endpoint.complete(ASK)
    assert (reply.text, reply.faults, len(server.received)) == ("hello", (label,), 2)


@pytest.mark.parametrize("name", FAULTS)
async def test_when_every_attempt_fails_the_failure_has_the_label(connect: Connect, name: str) -> None:
    fault, label = FAULTS[name]
    endpoint, server = await connect(fault, retries=1)
    with pytest.raises(EndpointFailure) as caught:
        await endpoint.complete(ASK)
    assert (caught.value.label, caught.value.owner, len(server.received)) == (label, "endpoint", 2)


async def test_a_server_that_dies_of_the_tools_is_asked_twice(connect: Connect) -> None:
    endpoint, server = await connect(refused(500, "EngineCore died"))
    with pytest.raises(EndpointFailure) as caught:
        await endpoint.complete(Request(messages=ASK.messages, tools=({"type": "function", "function": {}},)))
    assert (caught.value.label, len(server.received)) == ("serving.crash_on_schema", 2)


async def test_a_success_of_another_api_takes_the_endpoint_down_at_once(connect: Connect) -> None:
    endpoint, server = await connect(whole({"code": 0, "data": {"choices": []}}))
    with pytest.raises(EndpointDown, match="another API, with the keys code, data") as caught:
        await endpoint.complete(ASK)
    assert (caught.value.label, len(server.received)) == ("infra.not_openai_shape", 1)


async def test_a_request_fault_is_told_from_the_request_too(connect: Connect) -> None:
    endpoint, server = await connect(refused(400, "Bad Request"))
    lone = ({"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "a", "content": "x"})
    with pytest.raises(HarnessFailure) as caught:
        await endpoint.complete(Request(messages=lone))
    assert (caught.value.label, len(server.received)) == ("harness.orphan_tool_result", 1)


async def test_noise_in_a_stream_costs_no_attempt(connect: Connect) -> None:
    endpoint, server = await connect(stream(": GATEWAY PROCESSING", chunk({"content": "x"}, "stop")))
    assert (await endpoint.complete(ASK)).faults == ()
    assert len(server.received) == 1


async def test_time_limits_and_missing_servers_have_labels(connect: Connect) -> None:
    silent, server = await connect(Answer(chunks=(b": wait\n\n",), held=True), timeout_seconds=0.1, retries=0)
    with pytest.raises(EndpointFailure) as caught:
        await silent.complete(ASK)
    assert caught.value.label == "infra.deadline"
    await server.stop()
    for endpoint in (silent, (await connect(SAYS_HELLO, base_url=server.url, retries=0))[0]):
        with pytest.raises(EndpointFailure) as caught:
            await endpoint.complete(ASK)
        assert caught.value.label == "infra.gateway"


async def test_a_silence_before_the_first_byte_is_a_time_limit(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO, timeout_seconds=0.1, retries=0)
    server.delay = 30.0
    with pytest.raises(EndpointFailure) as caught:
        await endpoint.complete(ASK)
    assert caught.value.label == "infra.deadline"


async def test_a_connection_that_breaks_after_the_finish_reason_costs_nothing(connect: Connect) -> None:
    complete = events(chunk({"content": "all"}, "stop"), done=False)
    endpoint, server = await connect(Answer(chunks=(complete,), cut=True))
    assert (await endpoint.complete(ASK)).text == "all"
    assert len(server.received) == 1


async def test_retries_end_and_the_failure_says_how_many_attempts_were_made(connect: Connect) -> None:
    endpoint, server = await connect(refused(503, "busy"), retries=2)
    with pytest.raises(EndpointFailure, match=r"kimi: 503 .*busy.*attempts: 3") as caught:
        await endpoint.complete(ASK)
    assert not isinstance(caught.value, EndpointDown)
    assert len(server.received) == 3


async def test_the_wait_that_a_server_states_is_kept(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def no_sleep(seconds: float) -> None:
        waits.append(seconds)

    endpoint, _ = await connect(refused(429, "slow down", retry_after="2"), SAYS_HELLO)
    monkeypatch.setattr("harness_eval.endpoints.retries.anyio.sleep", no_sleep)
    await endpoint.complete(ASK)
    assert len(waits) == 1
    assert 2.0 <= waits[0] <= 2.1


@pytest.mark.parametrize("status", [400, 422])
async def test_a_bad_request_is_never_sent_twice_and_is_ours(connect: Connect, status: int) -> None:
    endpoint, server = await connect(refused(status, "unknown field tools[0]"))
    with pytest.raises(HarnessFailure, match=rf"{status} .*unknown field"):
        await endpoint.complete(ASK)
    assert len(server.received) == 1


async def test_a_prompt_that_does_not_fit_is_an_overflow_and_not_sent_twice(connect: Connect) -> None:
    endpoint, server = await connect(refused(400, "This model's maximum context length is 262144 tokens."))
    with pytest.raises(ContextOverflow, match="262144"):
        await endpoint.complete(ASK)
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (401, "invalid_authentication_error", "the key is refused"),
        (403, "permission_denied", "access is refused"),
        (404, "resource_not_found_error", "the model or the URL is unknown"),
        (402, "payment", "the account cannot pay"),
        (429, "exceeded_current_quota_error", "the quota is exhausted"),
    ],
)
async def test_what_no_retry_can_mend_takes_the_endpoint_down(
    connect: Connect, status: int, kind: str, told: str
) -> None:
    endpoint, server = await connect(refused(status, "no", kind))
    with pytest.raises(EndpointDown, match=told) as caught:
        await endpoint.complete(ASK)
    assert len(server.received) == 1
    assert "\n" not in str(caught.value)


async def test_an_exhausted_quota_inside_a_success_takes_the_endpoint_down(connect: Connect) -> None:
    endpoint, _ = await connect(stream({"error": {"type": "insufficient_quota", "message": "pay"}}, done=False))
    with pytest.raises(EndpointDown, match="quota"):
        await endpoint.complete(ASK)


async def test_a_body_too_large_for_a_gateway_is_not_sent_twice(connect: Connect) -> None:
    endpoint, server = await connect(whole("<html><title>413 Request Entity Too Large</title></html>", 413))
    with pytest.raises(EndpointFailure, match=r"Request Entity Too Large \(\d+ bytes were sent\)"):
        await endpoint.complete(ASK)
    assert len(server.received) == 1


async def test_nothing_listening_at_first_contact_takes_the_endpoint_down_and_names_the_address(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_KEY", SECRET)
    endpoint, server = await connect(SAYS_HELLO, api_key_env="FAKE_KEY")
    await server.stop()
    with pytest.raises(EndpointDown, match=rf"nothing answers at {server.url} \(attempts: 3, "):
        await endpoint.complete(ASK)


async def test_a_server_that_goes_away_later_is_a_failure_of_the_trial_only(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO, retries=1)
    await endpoint.complete(ASK)
    await server.stop()
    with pytest.raises(EndpointFailure, match="attempts: 2") as caught:
        await endpoint.complete(ASK)
    assert not isinstance(caught.value, EndpointDown)


async def test_a_server_that_never_closes_after_the_end_marker_does_not_hold_the_reply_back(connect: Connect) -> None:
    endpoint, _ = await connect(Answer(chunks=SAYS_HELLO.chunks, held=True))
    async with asyncio.timeout(20):
        assert (await endpoint.complete(ASK)).text == "hello"


async def test_silence_longer_than_the_timeout_is_a_failed_attempt(connect: Connect) -> None:
    silent = Answer(chunks=(b": wait\n\n",), held=True)
    endpoint, server = await connect(silent, SAYS_HELLO, timeout_seconds=0.2)
    assert len((await endpoint.complete(ASK)).faults) == 1
    assert len(server.received) == 2


async def test_keep_alives_alone_do_not_hold_an_attempt_open_for_ever(connect: Connect) -> None:
    late = Answer(chunks=(*(b": ping\n\n",) * 60, events(chunk({"content": "late"}, "stop"))), pause=0.02)
    endpoint, _ = await connect(late, SAYS_HELLO, timeout_seconds=0.2)
    reply = await endpoint.complete(ASK)
    assert (reply.text, len(reply.faults)) == ("hello", 1)


async def test_keep_alives_after_the_last_word_do_not_lose_the_reply(connect: Connect) -> None:
    said = events(chunk({"content": "hello"}, "stop"), done=False)
    answer = Answer(chunks=(said, *(b": ping\n\n",) * 500), pause=0.02)
    endpoint, _ = await connect(answer, timeout_seconds=0.2, retries=0)
    assert (await endpoint.complete(ASK)).text == "hello"


async def test_a_reply_can_be_asked_for_in_one_piece(connect: Connect) -> None:
    message = {"role": "assistant", "content": "4", "tool_calls": []}
    endpoint, server = await connect(whole({"choices": [{"message": message, "finish_reason": "stop"}]}), stream=False)
    assert (await endpoint.complete(ASK)).text == "4"
    assert not {"stream", "stream_options"} & set(server.received[0].body)


async def test_a_proxy_in_the_environment_does_not_stand_before_a_local_server(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    endpoint, _ = await connect(SAYS_HELLO)
    assert (await endpoint.complete(ASK)).text == "hello"


async def test_one_connection_serves_many_requests(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO)
    for _ in range(3):
        await endpoint.complete(ASK)
    assert server.connections == 1


async def test_closing_releases_the_connections_and_a_later_request_opens_new_ones(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO)
    await endpoint.complete(ASK)
    await endpoint.close()
    await server.abandoned()
    assert (await endpoint.complete(ASK)).text == "hello"


async def test_no_more_requests_are_under_way_than_the_limit_allows(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO, concurrency=2)
    server.delay = 0.01
    await asyncio.gather(*(endpoint.complete(ASK) for _ in range(8)))
    assert server.most_under_way == 2


async def test_a_key_and_extra_headers_come_from_the_environment(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_KEY", SECRET)
    monkeypatch.setenv("FAKE_ROUTE", "blue")
    endpoint, server = await connect(SAYS_HELLO, api_key_env="FAKE_KEY", headers_env={"X-Route": "FAKE_ROUTE"})
    await endpoint.complete(ASK)
    assert server.received[0].headers["authorization"] == f"Bearer {SECRET}"
    assert server.received[0].headers["x-route"] == "blue"


@pytest.mark.parametrize("header", ["Authorization", "authorization"])
async def test_a_configured_authorization_header_stands_in_for_a_key(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    monkeypatch.setenv("FAKE_AUTH", "Basic Zm9v")
    endpoint, server = await connect(SAYS_HELLO, headers_env={header: "FAKE_AUTH"})
    await endpoint.complete(ASK)
    assert server.received[0].headers["authorization"] == "Basic Zm9v"


async def test_the_keys_of_other_services_are_never_sent_along(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-other")
    endpoint, server = await connect(SAYS_HELLO)
    await endpoint.complete(ASK)
    assert "authorization" not in server.received[0].headers
    assert "openai-organization" not in server.received[0].headers


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500])
async def test_a_key_that_the_server_repeats_reaches_no_exception_and_no_log(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    monkeypatch.setenv("FAKE_KEY", SECRET)
    monkeypatch.setenv("FAKE_ROUTE", "route-5517fa")
    said = f"Incorrect key {SECRET} on route-5517fa. Authorization: Bearer {SECRET}"
    endpoint, _ = await connect(
        refused(status, said), api_key_env="FAKE_KEY", headers_env={"X-Route": "FAKE_ROUTE"}, retries=1
    )
    with caplog.at_level(logging.DEBUG), pytest.raises(HarnessEvalError) as caught:
        await endpoint.complete(ASK)
    texts = [*_whole_chain(caught.value), caplog.text, repr(endpoint), repr(endpoint.config)]
    assert "Incorrect key" in str(caught.value)
    assert not any(SECRET in text or "route-5517fa" in text for text in texts)


async def test_a_key_that_a_successful_body_repeats_reaches_no_exception(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_KEY", SECRET)
    endpoint, _ = await connect(whole(f"no json, but {SECRET}"), api_key_env="FAKE_KEY", retries=0)
    with pytest.raises(EndpointFailure, match="no json, but") as caught:
        await endpoint.complete(ASK)
    assert not any(SECRET in text for text in _whole_chain(caught.value))


def _whole_chain(error: BaseException | None) -> list[str]:
    """Every exception that a traceback or a debugger could show, hidden ones too."""
    texts = []
    while error is not None:
        texts += [repr(error), "".join(traceback.format_exception(error))]
        error = error.__cause__ or error.__context__
    return texts


async def test_a_key_that_a_reply_repeats_is_not_recorded(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    said = call(0, id="c", name="bash", arguments=f'{{"command": "{SECRET}"}}')
    chunks = (chunk({"content": f"key {SECRET}", "reasoning_content": SECRET}), chunk({"tool_calls": [said]}))
    endpoint, _ = await connect(stream(*chunks, chunk({}, "tool_calls")), api_key_env="TEST_KEY")
    reply = await endpoint.complete(ASK)
    assert SECRET not in repr(reply)
    assert reply.text == "key [redacted]"


async def test_a_reply_without_end_is_cut_off_and_told_so(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_eval.endpoints.openai._LONGEST_REPLY", 5000)
    degenerate = Answer(chunks=tuple(events(chunk({"content": "!" * 100}), done=False) for _ in range(100)), held=True)
    endpoint, server = await connect(degenerate)
    with pytest.raises(EndpointFailure, match="a reply of more than 5000 bytes was cut off") as caught:
        await endpoint.complete(ASK)
    assert (caught.value.label, len(server.received)) == ("infra.stream_truncated", 1)


async def test_a_refusal_without_end_is_read_only_so_far(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_eval.endpoints.transport._LONGEST_REFUSAL", 5000)
    endless = Answer(status=400, chunks=(b"invalid temperature ",) * 500, held=True)
    endpoint, _ = await connect(endless, SAYS_HELLO)
    async with asyncio.timeout(20):
        with pytest.raises(HarnessFailure, match="invalid temperature"):
            await endpoint.complete(ASK)
        assert (await endpoint.complete(ASK)).text == "hello"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed_and_no_header_goes_along(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("FAKE_HEADER", SECRET)
    _, elsewhere = await connect(SAYS_HELLO)
    target = f"http://user:word@localhost:{elsewhere.port}/v1/chat/completions?token=abcdefgh"
    endpoint, _ = await connect(whole("moved", status, Location=target), headers_env={"X-Secret": "FAKE_HEADER"})
    with pytest.raises(EndpointDown) as caught:
        await endpoint.complete(ASK)
    assert elsewhere.received == []
    assert caught.value.label == "infra.address_unknown"
    assert str(caught.value).endswith(f"redirects to http://localhost:{elsewhere.port}; give that as base_url")


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, "does not say where to"),
        ({"Location": "/login?next=abcdefgh"}, "another path of the same server"),
        ({"Location": "http://[bad"}, "an address that is none"),
        ({"Location": "http://h:99999/"}, "an address that is none"),
        ({"Location": "javascript://x/"}, "an address that is none"),
    ],
)
async def test_a_redirect_to_nowhere_takes_the_endpoint_down(
    connect: Connect, headers: dict[str, str], said: str
) -> None:
    endpoint, server = await connect(whole("moved", 302, **headers))
    with pytest.raises(EndpointDown, match=said) as caught:
        await endpoint.complete(ASK)
    assert caught.value.label == "infra.address_unknown"
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided: abc.",
        "API key not valid. Please pass a valid API key.",
        "Authentication failed",
        "Unauthorized",
    ],
)
async def test_a_wrong_key_is_no_fault_of_a_parameter(connect: Connect, status: int, said: str) -> None:
    endpoint, _ = await connect(refused(status, said))
    with pytest.raises(EndpointDown, match="the key is refused") as caught:
        await endpoint.complete(ASK)
    assert caught.value.label == "infra.access_refused"


async def test_a_tool_named_after_a_key_is_no_wrong_key(connect: Connect) -> None:
    endpoint, _ = await connect(refused(400, "Invalid schema for function 'read_api_key': authentication must be text"))
    with pytest.raises(HarnessFailure) as caught:
        await endpoint.complete(ASK)
    assert caught.value.label == "harness.schema_rejected"

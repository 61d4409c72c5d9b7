"""What a served endpoint really does, statement by statement, each as the test's name says it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness_eval.axes.protocol.base import Wire
from harness_eval.axes.protocol.native import Native
from harness_eval.diagnosis.labels import LABELS
from harness_eval.diagnosis.reply import label_reply
from harness_eval.endpoints.body import request_body
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.profiles import PROFILES, SAMPLING
from harness_eval.endpoints.reply import read_usage
from harness_eval.endpoints.request_faults import request_fault
from harness_eval.endpoints.schemas import plain_schema
from harness_eval.errors import ConfigError, ContextOverflow, EndpointDown, EndpointFailure, HarnessFailure
from harness_eval.types import Action, Malformed, Observation, RawCall, Request, Step, ToolCall, Usage, View

from .conftest import Connect
from .server import SAYS_HELLO, Answer, chunk, refused, stream, whole

ASK = Request(messages=({"role": "user", "content": "hi"},))
K3 = [name for name in PROFILES if name.startswith("kimi-k3")]
TOOL = {"type": "function", "function": {"name": "Bash", "parameters": {"type": "object", "properties": {}}}}


def config(**options: Any) -> EndpointConfig:
    return EndpointConfig.model_validate({"name": "k", "model": "m", "base_url": "https://host/v1", **options})


def body(request: Request, **options: Any) -> dict[str, Any]:
    settings = config(**options)
    return request_body(request, settings, settings.quirks.reasoning_key)


def encoded(*steps: Step) -> list[dict[str, Any]]:
    """What a native harness sends after these steps, without system prompt and task."""
    wire = Wire((), "", lambda _, observation: observation.shown)
    return list(Native().encode(View("system", "task", steps), wire).messages[2:])


def step(text: str, thinking: str | None, *calls: ToolCall | Malformed, shown: tuple[str, ...] = ()) -> Step:
    good = tuple(call for call in calls if isinstance(call, ToolCall))
    bad = tuple(call for call in calls if isinstance(call, Malformed))
    return Step(Action(text, thinking, good, bad), tuple(Observation(each, len(each)) for each in shown))


def bash(id_: str, command: str) -> ToolCall:
    return ToolCall(id_, "Bash", {"command": command})


# Kimi K3, hosted by Moonshot: the request


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("kimi-k3", {"base_url": "https://api.moonshot.ai/v1", "profile": "kimi-k3"}),
        ("kimi-k3", {"base_url": "https://api.moonshot.cn/v1", "profile": "kimi-k3"}),
        ("moonshotai/kimi-k3", {"base_url": "https://openrouter.ai/api/v1", "profile": "kimi-k3-openrouter"}),
        ("accounts/fireworks/models/kimi-k3", {"profile": "kimi-k3-fireworks"}),
        ("bedrock/moonshotai.kimi-k3", {"kind": "litellm", "base_url": "", "profile": "kimi-k3-bedrock"}),
    ],
)
def test_k3_has_these_names_and_a_context_of_1048576_tokens(model: str, options: dict[str, Any]) -> None:
    settings = config(model=model, **options)
    assert settings.context_window == 1_048_576
    assert body(ASK, model=model, **options)["model"] == model


def test_the_price_at_launch_is_3_in_and_0_30_cached_in_and_15_out_for_a_million_tokens() -> None:
    at_moonshot = config(profile="kimi-k3")
    assert at_moonshot.cost(Usage(prompt=1_000_000)) == pytest.approx(3.00)
    assert at_moonshot.cost(Usage(prompt=1_000_000, cached=1_000_000)) == pytest.approx(0.30)
    assert at_moonshot.cost(Usage(completion=1_000_000)) == pytest.approx(15.00)
    price = at_moonshot.quirks.price
    assert price is not None
    assert "at launch" in price.as_of


def test_a_price_that_nobody_stated_is_unknown_and_a_stated_one_has_its_date() -> None:
    priced = {name: profile.price for name, profile in PROFILES.items() if profile.price}
    assert set(priced) == {"kimi-k3"}
    assert all(price.as_of for price in priced.values())
    assert config(profile="kimi-k3-fireworks").cost(Usage(prompt=5)) is None


@pytest.mark.parametrize("profile", K3)
def test_sampling_is_fixed_so_none_of_it_is_sent(profile: str) -> None:
    assert not set(body(Request(messages=ASK.messages, seed=1), profile=profile)) & set(SAMPLING)
    for parameter in SAMPLING:
        with pytest.raises(ConfigError, match=f"extra_body must not set {parameter}"):
            config(profile=profile, extra_body={parameter: 1})


@pytest.mark.parametrize("profile", K3)
def test_reasoning_effort_is_low_high_or_max_and_nothing_else(profile: str) -> None:
    for effort in ("low", "high", "max"):
        assert effort in json.dumps(body(ASK, profile=profile, reasoning_effort=effort))
    for effort in ("medium", "minimal", "none", "High"):
        with pytest.raises(ConfigError, match="must be one of low, high, max"):
            config(profile=profile, reasoning_effort=effort)


def test_the_effort_is_not_sent_unless_asked_for_because_the_server_has_a_default() -> None:
    assert not {"reasoning_effort", "thinking"} & set(body(ASK, profile="kimi-k3"))


def test_unknown_values_and_unknown_fields_are_ignored_by_the_server_and_so_refused_here() -> None:
    for extra, told in (
        ({"reasoning_effort": "medium"}, "extra_body.reasoning_effort must be one of low, high, max"),
        ({"reasoning_efort": "max"}, "does not know extra_body.reasoning_efort; did you mean 'reasoning_effort'"),
        ({"chat_template_kwargs": {"thinking": True}}, "does not know extra_body.chat_template_kwargs"),
    ):
        with pytest.raises(ConfigError, match=told):
            config(profile="kimi-k3", extra_body=extra)
    assert config(extra_body={"anything": 1}).extra_body == {"anything": 1}


@pytest.mark.parametrize(
    "both",
    [
        {"thinking": True, "reasoning_effort": "max"},
        {"thinking": True, "extra_body": {"reasoning_effort": "max"}},
        {"reasoning_effort": "max", "extra_body": {"thinking": {"type": "enabled"}}},
        {"extra_body": {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}},
    ],
)
def test_either_thinking_or_reasoning_effort_is_sent_and_never_both(both: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="either thinking or reasoning_effort"):
        config(profile="kimi-k3", **both)


def test_no_thinking_and_an_effort_contradict_each_other_anywhere() -> None:
    with pytest.raises(ConfigError, match="either thinking or reasoning_effort"):
        config(profile="deepseek-v4", thinking=False, reasoning_effort="max")


def test_the_limit_of_completion_tokens_is_max_completion_tokens() -> None:
    made = body(ASK, profile="kimi-k3", max_tokens=65536)
    assert (made["max_completion_tokens"], "max_tokens" in made) == (65536, False)
    assert "max_completion_tokens" not in body(ASK, profile="kimi-k3")


@pytest.mark.parametrize("profile", ["deepseek-v4", "qwen-hosted", "glm", "openrouter", "kimi-k3-fireworks"])
def test_servers_that_know_only_max_tokens_get_that(profile: str) -> None:
    made = body(ASK, profile=profile, max_tokens=65536)
    assert (made["max_tokens"], "max_completion_tokens" in made) == (65536, False)


@pytest.mark.anyio
async def test_a_cap_that_thinking_uses_up_gives_an_empty_success_and_no_failure(connect: Connect) -> None:
    endpoint, _ = await connect(stream(chunk({"reasoning_content": "Long."}), chunk({"content": ""}, "length")))
    reply = await endpoint.complete(ASK)
    assert (reply.text, reply.thinking, reply.finish_reason, reply.faults) == ("", "Long.", "length", ())


def test_a_tool_choice_may_be_auto_or_none_or_required_but_no_named_function() -> None:
    for choice in ("auto", "none", "required"):
        assert body(ASK, profile="kimi-k3", extra_body={"tool_choice": choice})["tool_choice"] == choice
    with pytest.raises(ConfigError, match=r"extra_body.tool_choice must be one of auto, none, required"):
        config(profile="kimi-k3", extra_body={"tool_choice": {"type": "function", "function": {"name": "Bash"}}})


def test_a_tool_choice_is_never_sent_unasked() -> None:
    for profile in PROFILES:
        assert "tool_choice" not in body(Request(messages=(), tools=(TOOL,)), profile=profile)


def test_tool_schemas_are_plain_with_references_inlined_and_a_type_everywhere_and_no_union_at_the_root() -> None:
    schema = {
        "$defs": {"v": {"description": "d1", "enum": ["a"]}},
        "anyOf": [{"properties": {"a": {"$ref": "#/$defs/v"}}}, {"properties": {"b": {}}}],
    }
    tool = {"type": "function", "function": {"name": "t", "parameters": schema}}
    sent = body(Request(messages=(), tools=(tool,)), profile="kimi-k3")["tools"][0]["function"]["parameters"]
    assert sent == plain_schema(schema)
    assert "$ref" not in json.dumps(sent)
    assert "anyOf" not in sent
    assert sent["properties"] == {"a": {"type": "string", "description": "d1", "enum": ["a"]}, "b": {"type": "string"}}


def test_a_schema_or_a_tool_name_that_is_not_plain_is_a_400_of_the_harness() -> None:
    said = "tools.function.parameters is not a valid moonshot flavored json schema, details: <...>"
    assert request_fault(said) == "harness.schema_rejected"
    assert request_fault("Invalid 'tools[0].function.name': string too long") == "harness.tool_name_rejected"


def test_a_prompt_cache_key_is_accepted() -> None:
    assert body(ASK, profile="kimi-k3", extra_body={"prompt_cache_key": "run-7"})["prompt_cache_key"] == "run-7"


def test_an_assistant_message_with_neither_content_nor_calls_is_never_sent() -> None:
    for empty in (step("", None), step("", "only thought")):
        (message,) = encoded(empty)
        assert message["content"]
    assert request_fault("the message at position 4 with role 'assistant' must not be empty") == (
        "harness.empty_history_message"
    )


def test_empty_content_beside_calls_is_sent_as_an_empty_string() -> None:
    messages = encoded(step("", "hm", bash("Bash_0", "ls"), shown=("ok",)))
    sent = body(Request(messages=tuple(messages)), profile="kimi-k3")["messages"][0]
    assert (sent["content"], len(sent["tool_calls"])) == ("", 1)
    null = ({"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},)
    assert body(Request(messages=null), profile="kimi-k3")["messages"][0]["content"] == ""


def test_arguments_are_written_anew_so_that_what_is_replayed_is_always_json() -> None:
    broken = Malformed("Bash_0", "Bash", '{"command": "ls', "unterminated")
    for message in encoded(
        step("", None, broken, shown=("bad",)), step("", None, bash("Bash_1", 'echo "\n"'), shown=("",))
    ):
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)


# The response


@pytest.mark.anyio
async def test_a_message_has_content_and_reasoning_content_and_tool_calls(connect: Connect) -> None:
    function = {"name": "Bash", "arguments": '{"command":"ls"}'}
    calls = [{"id": "Bash_0", "type": "function", "function": function}]
    message = {"role": "assistant", "content": "I look.", "reasoning_content": "hm", "tool_calls": calls}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 3}
    body_ = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage}
    endpoint, _ = await connect(whole(body_), stream=False)
    reply = await endpoint.complete(ASK)
    assert (reply.text, reply.thinking, reply.reasoning_key) == ("I look.", "hm", "reasoning_content")
    assert reply.calls == (RawCall("Bash_0", "Bash", '{"command":"ls"}'),)
    assert (reply.usage, reply.oddities) == (Usage(9, 4, 0, 3), ())


REASONING, CONTENT = chunk({"role": "assistant", "reasoning_content": "hm"}), chunk({"content": "I look."})
CALL = chunk({"tool_calls": [{"index": 0, "id": "Bash_0", "function": {"name": "Bash", "arguments": "{}"}}]})
COUNTS = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


def last(where: str) -> list[dict[str, Any]]:
    """The end of a stream with usage in the last choice, or in a chunk of its own after it."""
    end = chunk({}, "tool_calls")
    if where == "choice":
        end["choices"][0]["usage"] = {**COUNTS, "cached_tokens": 3}
        return [end]
    return [end, {"choices": [], "usage": {**COUNTS, "cached_tokens": 3}}]


@pytest.mark.anyio
@pytest.mark.parametrize("where", ["choice", "last chunk"])
async def test_a_stream_brings_reasoning_then_content_then_calls_and_usage_in_either_place(
    connect: Connect, where: str
) -> None:
    endpoint, server = await connect(stream(REASONING, CONTENT, CALL, *last(where)))
    reply = await endpoint.complete(ASK)
    assert (reply.thinking, reply.text, len(reply.calls)) == ("hm", "I look.", 1)
    assert (reply.usage, reply.oddities) == (Usage(9, 4, 0, 3), ())
    assert server.received[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.anyio
async def test_usage_is_not_asked_for_where_it_comes_anyway_and_the_field_is_unknown(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO, profile="glm")
    await endpoint.complete(ASK)
    assert server.received[0].body["stream"] is True
    assert "stream_options" not in server.received[0].body


@pytest.mark.parametrize(
    "place",
    [{"cached_tokens": 3}, {"prompt_cache_hit_tokens": 3}, {"prompt_tokens_details": {"cached_tokens": 3}}],
    ids=["Moonshot", "DeepSeek", "others"],
)
def test_cached_tokens_stand_in_one_of_three_places(place: dict[str, Any]) -> None:
    assert read_usage({**COUNTS, **place}) == Usage(9, 4, 0, 3)


@pytest.mark.anyio
@pytest.mark.parametrize("reason", ["stop", "length", "content_filter", "unexpected_state", "stop_163586"])
async def test_a_finish_reason_may_be_one_that_nobody_knows(connect: Connect, reason: str) -> None:
    endpoint, server = await connect(stream(CONTENT, chunk({}, reason)))
    assert (await endpoint.complete(ASK)).finish_reason == reason
    assert len(server.received) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "label"),
    [
        ("engine_overloaded_error", "infra.overloaded"),
        ("rate_limit_reached_error", "infra.rate_limited"),
    ],
)
async def test_an_overload_and_a_rate_limit_are_retried(connect: Connect, kind: str, label: str) -> None:
    endpoint, server = await connect(refused(429, "…max RPM…", kind, retry_after="0"), SAYS_HELLO)
    assert (await endpoint.complete(ASK)).faults == (label,)
    assert len(server.received) == 2


@pytest.mark.anyio
async def test_an_exhausted_quota_is_never_retried(connect: Connect) -> None:
    endpoint, server = await connect(refused(429, "pay", "exceeded_current_quota_error"))
    with pytest.raises(EndpointDown) as caught:
        await endpoint.complete(ASK)
    assert (len(server.received), caught.value.label) == (1, "infra.quota_exhausted")


@pytest.mark.anyio
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_these_statuses_are_retried(connect: Connect, status: int) -> None:
    endpoint, server = await connect(refused(status, "busy"), SAYS_HELLO)
    assert len((await endpoint.complete(ASK)).faults) == 1
    assert len(server.received) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    "said",
    [
        "invalid temperature: only 1 is allowed for this model",
        "tool_call_id  is not found",
        "This model's maximum context length is 262144 tokens.",
        "invalid model: ",
        "Your credit balance is too low",
        "The engine is overloaded",
        "slow down, rate limit",
        "",
    ],
)
async def test_a_400_or_422_is_never_sent_twice_and_never_a_failure_of_the_model(
    connect: Connect, status: int, said: str
) -> None:
    endpoint, server = await connect(refused(status, said))
    with pytest.raises((HarnessFailure, ContextOverflow, EndpointFailure)) as caught:
        await endpoint.complete(ASK)
    assert len(server.received) == 1
    assert LABELS[caught.value.label].owner != "model"


# Ids of calls


@pytest.mark.parametrize(
    "ids",
    [("Bash_0", "Bash_1"), ("Bash:0", "Bash:0"), ("functions.Bash:0", "functions.Bash:1"), ("x9f", "q2z"), ("", "")],
    ids=["name and number", "anew each turn", "K2", "random", "none"],
)
def test_ids_are_no_keys_and_each_result_stands_right_after_its_own_call(ids: tuple[str, str]) -> None:
    sent = encoded(
        step("", "hm", bash(ids[0], "ls"), shown=("first",)), step("", "hm", bash(ids[1], "pwd"), shown=("second",))
    )
    assert [message["role"] for message in sent] == ["assistant", "tool", "assistant", "tool"]
    for call, result in ((sent[0], sent[1]), (sent[2], sent[3])):
        assert result["tool_call_id"] == call["tool_calls"][0]["id"]
    assert [sent[1]["content"], sent[3]["content"]] == ["first", "second"]


@pytest.mark.parametrize("id_", ["functions.Bash:0", "Bash_0", "call_00_XyZ"])
@pytest.mark.parametrize("profile", PROFILES)
def test_ids_are_replayed_verbatim(profile: str, id_: str) -> None:
    messages = tuple(encoded(step("", "hm", bash(id_, "ls"), shown=("ok",))))
    sent = body(Request(messages=messages), profile=profile)["messages"]
    assert (sent[0]["tool_calls"][0]["id"], sent[1]["tool_call_id"]) == (id_, id_)


def test_two_calls_of_one_turn_with_one_id_are_told_apart() -> None:
    sent = encoded(step("", None, bash("d", "ls"), bash("d", "pwd"), shown=("first", "second")))
    ids = [call["id"] for call in sent[0]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [message["tool_call_id"] for message in sent[1:]] == ids


# Thinking in the history


@pytest.mark.parametrize("profile", sorted(set(PROFILES) - {"kimi-k2.6"}))
def test_dropped_thinking_and_empty_thinking_are_two_different_requests(profile: str) -> None:
    dropped, empty = (
        body(Request(messages=tuple(encoded(step("a", thinking)))), profile=profile)["messages"][0]
        for thinking in (None, "")
    )
    key = PROFILES[profile].reasoning_key
    assert key not in dropped
    assert empty[key] == ([{"type": "reasoning.text", "text": ""}] if key == "reasoning_details" else "")


def test_k2_6_takes_empty_thinking_for_missing_and_gets_a_blank() -> None:
    messages = tuple(encoded(step("a", "")) + encoded(step("b", None)) + encoded(step("c", "hm")))
    sent = body(Request(messages=messages), profile="kimi-k2.6")["messages"]
    assert [message.get("reasoning_content") for message in sent] == [" ", None, "hm"]


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
async def test_both_keys_are_read_and_thinking_goes_back_under_the_key_last_received(
    connect: Connect, key: str
) -> None:
    other = "reasoning" if key == "reasoning_content" else "reasoning_content"
    endpoint, server = await connect(stream(chunk({key: "hm", "content": "a"}, "stop")))
    assert (await endpoint.complete(ASK)).thinking == "hm"
    await endpoint.complete(Request(messages=tuple(encoded(step("a", "hm")))))
    sent = server.received[1].body["messages"][0]
    assert (sent[key], other in sent) == ("hm", False)


@pytest.mark.anyio
async def test_vllm_gets_reasoning_before_it_has_ever_answered(connect: Connect) -> None:
    endpoint, server = await connect(SAYS_HELLO, profile="kimi-k3-vllm")
    await endpoint.complete(Request(messages=tuple(encoded(step("a", "hm")))))
    sent = server.received[0].body["messages"][0]
    assert (sent["reasoning"], "reasoning_content" in sent) == ("hm", False)


@pytest.mark.anyio
async def test_details_go_back_as_details_and_inlined_thinking_goes_back_inline(connect: Connect) -> None:
    history = Request(messages=tuple(encoded(step("\nChecking.", "Run.", bash("c", "ls"), shown=("ok",)))))
    details = chunk({"content": "Checking.", "reasoning_details": [{"type": "reasoning.text", "text": "Run."}]}, "stop")
    inline = chunk({"content": "<think>Run.</think>\nChecking."}, "stop")
    for answer, key, expected in (
        (details, "reasoning_details", [{"type": "reasoning.text", "text": "Run."}]),
        (inline, "content", "<think>Run.</think>\nChecking."),
    ):
        endpoint, server = await connect(stream(answer), profile="minimax")
        assert (await endpoint.complete(ASK)).thinking == "Run."
        await endpoint.complete(history)
        sent = server.received[1].body["messages"][0]
        assert sent[key] == expected
        assert "reasoning_content" not in sent


@pytest.mark.parametrize(
    "said",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        "preserved thinking requires reasoning_content on every assistant message, but index 6 is missing it",
    ],
    ids=["DeepSeek V4", "Kimi K2.5", "Kimi K2.6"],
)
def test_where_missing_thinking_is_rejected_the_integration_is_unsupported(said: str) -> None:
    label = LABELS[request_fault(said)]
    assert label.name in ("harness.reasoning_dropped", "harness.reasoning_policy_mismatch")
    assert (label.owner, label.effect) == ("harness", "config_abort")


@pytest.mark.parametrize(
    ("profile", "on", "key"),
    [
        ("deepseek-v4", {"thinking": {"type": "enabled"}}, "reasoning_content"),
        (
            "qwen",
            {"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
            "reasoning_content",
        ),
        ("qwen-hosted", {"enable_thinking": True}, "reasoning_content"),
        ("glm", {"thinking": {"type": "enabled", "clear_thinking": False}}, "reasoning_content"),
        ("kimi-k2.6", {"thinking": {"type": "enabled", "keep": "all"}}, "reasoning_content"),
        ("kimi-k3-vllm", {"chat_template_kwargs": {"thinking": True}}, "reasoning"),
        ("kimi-k3-sglang", {"chat_template_kwargs": {"thinking": True}}, "reasoning_content"),
    ],
)
def test_each_server_has_its_own_switch_for_thinking_and_its_own_field(
    profile: str, on: dict[str, Any], key: str
) -> None:
    assert body(ASK, profile=profile, thinking=True) == {"model": "m", "messages": list(ASK.messages), **on}
    assert PROFILES[profile].reasoning_key == key


def test_minimax_is_asked_to_split_its_reasoning() -> None:
    assert body(ASK, profile="minimax")["reasoning_split"] is True
    assert PROFILES["minimax"].reasoning_key == "reasoning_details"


def test_k3_on_vllm_and_sglang_takes_the_effort_among_the_arguments_of_its_template() -> None:
    for profile in ("kimi-k3-vllm", "kimi-k3-sglang"):
        made = body(ASK, profile=profile, reasoning_effort="low")
        assert made["chat_template_kwargs"] == {"thinking_effort": "low"}


def test_deepseek_v4_knows_three_efforts_and_ignores_the_temperature() -> None:
    assert body(ASK, profile="deepseek-v4", reasoning_effort="max")["reasoning_effort"] == "max"
    for wrong in ({"reasoning_effort": "medium"}, {"extra_body": {"temperature": 0}}):
        with pytest.raises(ConfigError):
            config(profile="deepseek-v4", **wrong)


# Wire samples


@pytest.mark.anyio
async def test_the_request_looks_like_the_sample(connect: Connect) -> None:
    endpoint, server = await connect(
        SAYS_HELLO, model="kimi-k3", profile="kimi-k3", reasoning_effort="max", max_tokens=65536
    )
    await endpoint.complete(Request(messages=ASK.messages, tools=(TOOL,)))
    assert server.received[0].body == {
        "model": "kimi-k3",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [TOOL],
        "reasoning_effort": "max",
        "max_completion_tokens": 65536,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_turn_of_the_history_looks_like_the_sample() -> None:
    messages = tuple(encoded(step("", "…verbatim…", bash("Bash_0", "ls"), shown=("ok",))))
    assert body(Request(messages=messages), profile="kimi-k3")["messages"] == [
        {
            "role": "assistant",
            "content": "",
            "reasoning_content": "…verbatim…",
            "tool_calls": [
                {"id": "Bash_0", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "ls"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "Bash_0", "content": "ok"},
    ]


@pytest.mark.anyio
async def test_the_last_chunk_of_the_sample_ends_a_reply_without_counting_it(connect: Connect) -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "cached_tokens": 0}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls", "usage": usage}]}
    endpoint, _ = await connect(stream(CALL, end))
    reply = await endpoint.complete(ASK)
    assert (reply.finish_reason, reply.usage, reply.oddities) == ("tool_calls", Usage(), ("ok.usage_missing",))


# Faults of serving


@pytest.mark.anyio
async def test_identical_requests_that_fail_and_fail_and_pass_are_one_reply_with_two_faults(connect: Connect) -> None:
    phantom = stream(chunk({"reasoning_content": "I call."}), chunk({}, "tool_calls"))
    endpoint, server = await connect(phantom, phantom, stream(REASONING, CALL, chunk({}, "tool_calls")))
    reply = await endpoint.complete(ASK)
    assert (len(reply.calls), reply.faults) == (1, ("serving.phantom_tool_calls",) * 2)
    assert server.received[0].body == server.received[2].body


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "text", "thinking"),
    [
        (stream(chunk({"content": "Plan.\n</think>\n4"}, "stop")), "4", "Plan."),
        (stream(chunk({"reasoning_content": "Plan."}, "stop")), "", "Plan."),
        (stream(chunk({"content": "<|open|>tools<|sep|>"}, "stop")), "<|open|>tools<|sep|>", None),
        (stream(chunk({"content": "!" * 50}, "length")), "!" * 50, None),
    ],
    ids=["reasoning in the content", "reasoning alone", "tokens of the template", "degeneration"],
)
async def test_other_faults_of_serving_reach_the_diagnosis_and_are_never_the_model_s(
    connect: Connect, answer: Answer, text: str, thinking: str | None
) -> None:
    endpoint, server = await connect(answer)
    reply = await endpoint.complete(ASK)
    assert (reply.text, reply.thinking, len(server.received)) == (text, thinking, 1)
    assert label_reply(reply, None).owner not in ("model", "none")

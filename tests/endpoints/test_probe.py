"""A few calls tell what an endpoint can do, whatever it does; what they cannot tell stays unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.probe import CHECKS, MOST_CALLS, Asking, Check, Examined, examine, questions
from harness_eval.errors import EndpointDown
from harness_eval.types import Reply, Request

from .obedient import Body, ObedientServer, Said, calls_in, obedient, silent, without_reasoning
from .server import Answer, refused

pytestmark = pytest.mark.anyio


def label_of(reply: Reply, request: Request) -> str:
    del request
    return "undetermined.markup_leak" if "<call>" in reply.text else ""


async def examined(server: ObedientServer, **options: Any) -> tuple[Examined, Asking]:
    settings = {"name": "kimi", "model": "m", "base_url": server.url, "backoff_seconds": 0.001, **options}
    asking = Asking(EndpointConfig.model_validate(settings), MOST_CALLS)
    try:
        return await examine(asking, label_of), asking
    finally:
        await asking.close()


async def checks(options: dict[str, Any] | None = None, delay: float = 0.0, **ways: Any) -> dict[str, Check]:
    async with obedient(**ways) as server:
        server.delay = delay
        found, asking = await examined(server, **(options or {}))
    assert asking.calls <= MOST_CALLS
    return {check.check: check for check in found.checks}


def ids(make: Callable[[int], str]) -> Callable[[Said, Body], Said]:
    return lambda said, body: replace(said, ids=tuple(make(len(calls_in(body))) for _ in said.calls))


async def test_a_sound_server_passes_every_check() -> None:
    found = await checks()
    assert tuple(found) == CHECKS
    assert {check.status for check in found.values()} == {"yes"}, found
    assert {check.label for check in found.values()} == {""}


async def test_every_call_is_counted_with_its_tokens() -> None:
    async with obedient() as server:
        found, asking = await examined(server)
        assert asking.calls == len(server.received) == asking.replies
    assert asking.usage.prompt > 0
    assert found.alive


async def test_an_answer_without_the_results_is_no_round_trip() -> None:
    def forgetful(body: Body) -> Body:
        return {**body, "messages": body["messages"][:1]}

    found = (await checks(hear=forgetful))["tool_round_trip"]
    assert (found.status, "no result was used" in found.detail) == ("no", True)


async def test_calls_that_leak_as_text_are_no_round_trip_and_keep_their_label() -> None:
    found = await checks(say=lambda said, _: replace(silent(said), text=f"<call>{said.calls}"))
    assert (found["tool_round_trip"].status, found["tool_round_trip"].label) == ("no", "undetermined.markup_leak")
    assert found["call_ids"].status == found["concurrency"].status == "unknown"


async def test_one_turn_without_a_call_gets_another_chance() -> None:
    asked: list[Body] = []

    def shy(said: Said, body: Body) -> Said:
        asked.append(body)
        return silent(said) if len(asked) == 1 else said

    found = await checks(say=shy)
    assert found["tool_round_trip"].status == "yes"
    assert "1 of 4 plain orders brought no native call" in found["tool_round_trip"].detail
    orders = [body["messages"][0]["content"] for body in asked[:2]]
    assert orders[0] != orders[1]


async def test_a_later_turn_without_a_call_gets_another_chance_too() -> None:
    def shy(said: Said, body: Body) -> Said:
        return silent(said) if len(calls_in(body)) == 1 and "This is about" not in str(body["messages"][0]) else said

    found = (await checks(say=shy))["tool_round_trip"]
    assert (found.status, "1 of 4 plain orders brought no native call" in found.detail) == ("yes", True), found.detail


async def test_calls_that_are_missing_in_some_requests_only_are_no_proof() -> None:
    def drops(said: Said, body: Body) -> Said:
        return silent(said) if body.get("stream") and any(name == questions.TOOL for name, _ in said.calls) else said

    found = await checks(say=drops)
    assert {found[check].status for check in ("tool_round_trip", "streaming", "concurrency")} == {"unknown"}
    assert found["tool_round_trip"].detail == "2 of 2 plain orders brought no native call, though another request did"
    assert "streamed in 1 of 3, whole in 2 of 2" in found["streaming"].detail


async def test_attempts_that_are_made_again_are_no_difference_between_one_and_many() -> None:
    async with obedient() as server:
        server.delay = 0.05
        server.hear = lambda body: refused(429, "too many requests", "rate_limit") if server.under_way > 5 else body
        found, asking = await examined(server, retries=2)
    concurrency = {check.check: check for check in found.checks}["concurrency"]
    assert (concurrency.status, concurrency.label) == ("yes", "")
    assert "made again" in concurrency.detail
    assert set(asking.faults) == {"infra.rate_limited"}


async def test_tools_that_are_refused_are_no_round_trip() -> None:
    def toolless(body: Body) -> Body | Answer:
        return refused(404, "No endpoints found that support tool use") if body.get("tools") else body

    async with obedient(hear=toolless) as server:
        found, _ = await examined(server)
    assert found.alive
    assert (found.checks[0].status, "support tool use" in found.checks[0].detail) == ("no", True)


async def test_reasoning_that_does_not_reach_the_prompt_is_told_by_the_tokens() -> None:
    found = (await checks(hear=without_reasoning))["history_reasoning"]
    assert (found.status, found.label) == ("no", "serving.history_reasoning_ignored")


async def test_a_template_that_keeps_only_the_newest_reasoning_is_told_apart() -> None:
    def forgets(body: Body) -> Body:
        *earlier, said, result = body["messages"] if len(body["messages"]) > 2 else [{}, {}, body["messages"][0]]
        earlier = [{k: v for k, v in m.items() if k != "reasoning_content"} for m in earlier]
        return {**body, "messages": [*earlier, said, result]}

    found = (await checks(hear=forgets))["history_reasoning"]
    assert (found.status, found.detail.startswith("only a part")) == ("yes", True)


async def test_a_server_that_rejects_history_without_its_reasoning_is_recognised() -> None:
    def strict(body: Body) -> Body | Answer:
        dropped = any("tool_calls" in m and "reasoning_content" not in m for m in body["messages"])
        return refused(400, "thinking is enabled but reasoning_content is missing") if dropped else body

    found = (await checks(hear=strict))["history_reasoning"]
    assert (found.status, found.label) == ("yes", "harness.reasoning_dropped")


async def test_a_server_that_rejects_history_with_reasoning_is_recognised() -> None:
    def strict(body: Body) -> Body | Answer:
        kept = any("reasoning_content" in message for message in body["messages"])
        return refused(400, "reasoning_content must not be part of the input") if kept else body

    found = (await checks(hear=strict))["history_reasoning"]
    assert (found.status, found.label) == ("no", "harness.reasoning_policy_mismatch")


@pytest.mark.parametrize(
    ("make", "profile", "status", "label"),
    [
        (lambda n: f"call_{n * 7919:08x}", "generic", "yes", ""),
        (lambda n: f"functions.next_step:{n}", "kimi-k2", "yes", ""),
        (lambda _: "call_0", "generic", "yes", "ok.id_constant"),
        (lambda _: "next_step:0", "generic", "yes", "ok.id_reused_across_turns"),
        (lambda n: f"call_{n * 7919:08x}", "kimi-k2", "no", "serving.id_format_foreign"),
    ],
)
async def test_the_style_of_ids_is_told_over_three_turns(
    make: Callable[[int], str], profile: str, status: str, label: str
) -> None:
    found = (await checks({"profile": profile}, say=ids(make)))["call_ids"]
    assert (found.status, found.label) == (status, label), found.detail


@pytest.mark.parametrize(("stream", "missing"), [(True, "streamed"), (False, "whole")])
async def test_a_call_that_comes_one_way_only_is_found(stream: bool, missing: str) -> None:
    def drops(said: Said, body: Body) -> Said:
        return silent(said) if bool(body.get("stream")) is stream else said

    found = await checks(say=drops)
    assert (found["streaming"].status, found["streaming"].label) == ("no", "serving.tool_call_dropped")
    assert f"not {missing}: " in found["streaming"].detail
    assert f"{missing} in 0 of 2" in found["streaming"].detail


async def test_a_call_that_misses_once_is_no_difference_between_two_ways() -> None:
    wholes: list[Said] = []

    def shy(said: Said, body: Body) -> Said:
        if not body.get("stream"):
            wholes.append(said)
        return silent(said) if len(wholes) == 1 and not body.get("stream") else said

    assert (await checks(say=shy))["streaming"].status == "unknown"


async def test_a_call_of_an_unknown_tool_that_is_cut_out_of_the_history_is_found() -> None:
    def filtering(body: Body) -> Body:
        known = {tool["function"]["name"] for tool in body.get("tools", ())}
        kept = [m for m in body["messages"] if all(c["function"]["name"] in known for c in m.get("tool_calls", ()))]
        return {**body, "messages": kept}

    found = (await checks(hear=filtering))["unknown_tools"]
    assert (found.status, found.label) == ("no", "serving.unknown_tool_filtered")


@pytest.mark.parametrize("text", ["", "I do what is asked."])
async def test_a_call_of_an_unknown_tool_that_does_not_come_back_is_found(text: str) -> None:
    def filtering(said: Said, body: Body) -> Said:
        known = {tool["function"]["name"] for tool in body.get("tools", ())}
        dropped = [name for name, _ in said.calls if name not in known]
        return replace(silent(said), text=text, completion=90) if dropped else said

    found = (await checks(say=filtering))["unknown_tools"]
    assert (found.status, found.label) == ("no", "serving.unknown_tool_filtered")


async def test_a_model_that_declines_to_call_an_unknown_tool_proves_nothing() -> None:
    def declines(said: Said, body: Body) -> Said:
        del body
        named = any(name == questions.FOREIGN for name, _ in said.calls)
        return replace(silent(said), text="I have no such tool.", completion=12) if named else said

    found = (await checks(say=declines))["unknown_tools"]
    assert (found.status, found.detail) == ("yes", "a call of a tool that is not offered stays in the history")


async def test_a_server_that_refuses_unknown_tools_in_the_history_is_found() -> None:
    def strict(body: Body) -> Body | Answer:
        known = {tool["function"]["name"] for tool in body.get("tools", ())}
        foreign = [c for c in calls_in(body) if c["function"]["name"] not in known]
        return refused(400, "messages: a call of a tool that is not in tools") if foreign else body

    async with obedient(hear=strict) as server:
        found, _ = await examined(server)
    assert not found.foreign_calls
    assert {c.check: c.status for c in found.checks}["unknown_tools"] == "no"


async def test_missing_usage_is_found_and_nothing_is_concluded_from_it() -> None:
    found = await checks(say=lambda said, _: replace(said, prompt=0))
    assert (found["usage"].status, found["usage"].label) == ("yes", "ok.usage_missing")
    assert found["history_reasoning"].status == "unknown"


def thoughtless(completion: int) -> Callable[[Said, Body], Said]:
    return lambda said, _: replace(said, thinking=None, completion=completion)


ASKED = {"profile": "deepseek-v4", "thinking": True}
OFF = {"profile": "deepseek-v4", "thinking": False}


@pytest.mark.parametrize(
    ("options", "say", "status", "label"),
    [
        (ASKED, thoughtless(3), "no", "gateway.thinking_not_applied"),
        (ASKED, thoughtless(500), "unknown", ""),
        (ASKED, lambda said, _: said, "yes", ""),
        ({}, thoughtless(3), "no", ""),
        (OFF, thoughtless(3), "no", ""),
        (OFF, lambda said, _: said, "no", ""),
    ],
)
async def test_thinking_is_compared_with_what_was_asked_for(
    options: dict[str, Any], say: Callable[[Said, Body], Said], status: str, label: str
) -> None:
    found = (await checks(options, say=say))["thinking"]
    assert (found.status, found.label) == (status, label), found.detail


async def test_calls_that_get_lost_among_others_are_found() -> None:
    async with obedient() as server:
        server.delay = 0.05  # long enough for eight requests to meet
        server.say = lambda said, _: silent(said) if server.under_way > 4 else said
        found, _ = await examined(server)
    concurrency = {check.check: check for check in found.checks}["concurrency"]
    assert concurrency.status == "no"
    assert "of 8 at once 0 failed, 3 brought no call" in concurrency.detail


async def test_errors_that_one_request_alone_does_not_meet_are_found() -> None:
    async with obedient() as server:
        server.delay = 0.05
        server.hear = lambda body: refused(429, "too many requests", "rate_limit") if server.under_way > 5 else body
        found, _ = await examined(server, retries=0)
    concurrency = {check.check: check for check in found.checks}["concurrency"]
    assert (concurrency.status, concurrency.label) == ("no", "infra.rate_limited")
    assert "2 failed" in concurrency.detail


async def test_one_request_at_a_time_is_nothing_to_compare() -> None:
    assert (await checks({"concurrency": 1}))["concurrency"].status == "unknown"


async def test_a_server_that_refuses_token_limits_is_asked_without_any() -> None:
    def strict(body: Body) -> Body | Answer:
        return refused(400, "max_completion_tokens is not supported") if "max_completion_tokens" in body else body

    assert {check.status for check in (await checks(hear=strict)).values()} == {"yes"}


async def test_no_more_tokens_are_asked_for_than_the_configuration_allows() -> None:
    async with obedient() as server:
        await examined(server, max_tokens=100)
        assert max(request.body["max_completion_tokens"] for request in server.received) == 100


async def test_a_server_that_only_fails_is_asked_twice_and_everything_is_unknown() -> None:
    async with obedient(hear=lambda _: refused(500, "internal error")) as server:
        found, asking = await examined(server, retries=0)
    assert (found.alive, asking.calls) == (False, 2)
    assert {check.status for check in found.checks} == {"unknown"}


@pytest.mark.parametrize("answer", [refused(401, "invalid key"), refused(404, "no such model")])
async def test_an_endpoint_that_is_down_is_no_finding(answer: Answer) -> None:
    async with obedient(hear=lambda _: answer) as server:
        with pytest.raises(EndpointDown):
            await examined(server)


async def test_an_account_that_runs_empty_among_other_requests_is_told_as_such() -> None:
    def empty(body: Body) -> Body | Answer:
        return refused(429, "Your account is suspended", "exceeded_current_quota_error") if calls_in(body) else body

    async with obedient(hear=empty) as server:
        with pytest.raises(EndpointDown):
            await examined(server)


async def test_nothing_is_asked_beyond_the_bound() -> None:
    async with obedient() as server:
        asking = Asking(EndpointConfig(name="kimi", model="m", base_url=server.url), most=3)
        answers = [await asking.ask(questions.greeting()) for _ in range(5)]
        await asking.close()
        assert len(server.received) == 3
    assert [isinstance(answer, Reply) for answer in answers] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("next_step:0", ["next_step:0", "next_step:1", "next_step:2"]),
        ("call_9", ["call_9", "call_10", "call_11"]),
        ("chatcmpl-tool-a9Zz", ["chatcmpl-tool-a9Zz", "chatcmpl-tool-b0Aa", "chatcmpl-tool-c1Bb"]),
        ("", ["0", "1", "2"]),
    ],
)
def test_further_ids_have_the_form_of_the_first(first: str, others: list[str]) -> None:
    assert [questions.like([first], number) for number in range(3)] == others

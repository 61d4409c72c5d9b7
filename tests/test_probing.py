"""Which harnesses an endpoint refuses, and which axes compare nothing there, before trials are paid for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness_eval import probing
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.probe import Check
from harness_eval.errors import ConfigError
from harness_eval.harness import Harness, canonical, load_harness, make_harness
from harness_eval.probing import Probe, Unsupported, Void
from harness_eval.probing.shapes import as_sent, shapes_of
from harness_eval.reference.server import ReferenceConfig, listening
from harness_eval.reference.wire import FINGERPRINT, MODEL
from harness_eval.types import Usage
from tests.doubles import make_task
from tests.endpoints.obedient import Body, ObedientServer, Said, calls_in, obedient, silent, without_reasoning
from tests.endpoints.server import Answer, refused

pytestmark = pytest.mark.anyio


def varied(name: str, **levels: Any) -> Harness:
    return make_harness({"name": name, **levels}, name)


async def probed(server: ObedientServer, *harnesses: Harness, **options: Any) -> Probe:
    settings = {"name": "kimi", "model": "m", "base_url": server.url, "backoff_seconds": 0.001, **options}
    found = await probing.probe(EndpointConfig.model_validate(settings), harnesses)
    assert found.calls <= found.bound
    return found


async def probe_with(*harnesses: Harness, options: dict[str, Any] | None = None, **ways: Any) -> Probe:
    async with obedient(**ways) as server:
        return await probed(server, *harnesses, **(options or {}))


async def test_the_reference_endpoint_passes_every_check_with_every_kind_of_harness(tmp_path: Path) -> None:
    names = ("canonical", "claude-code-like", "openhands-text", "terminus-xml", "roo-like")
    plain = varied("plain", protocol="worked-completion", toolset="shell-only")
    served = ReferenceConfig((make_task(tmp_path / "suite").folder,))
    async with listening(served) as base_url:
        config = EndpointConfig(name="reference", model=MODEL, base_url=base_url)
        found = await probing.probe(config, [*map(load_harness, names), plain])
    assert {check.status for check in found.checks} == {"yes"}, found.checks
    assert (found.void, found.unsupported, found.cost) == ((), (), None)
    assert found.served == (f"model {MODEL}", f"fingerprint {FINGERPRINT}")


@pytest.mark.parametrize(
    ("fault", "check", "status", "label"),
    [
        ("history-reasoning-ignored", "history_reasoning", "no", "serving.history_reasoning_ignored"),
        ("no-usage", "usage", "yes", "ok.usage_missing"),
        ("constant-ids", "call_ids", "yes", "ok.id_constant"),
    ],
)
async def test_a_fault_of_the_reference_endpoint_is_found(
    tmp_path: Path, fault: str, check: str, status: str, label: str
) -> None:
    served = ReferenceConfig((make_task(tmp_path / "suite").folder,), faults={fault: 1.0})
    async with listening(served) as base_url:
        found = await probing.probe(EndpointConfig(name="r", model=MODEL, base_url=base_url), [canonical()])
    assert found.status(check) == status
    assert next(each.label for each in found.checks if each.check == check) == label
    assert any(label in line for line in probing.in_words("r", found, 1))


@pytest.mark.parametrize(
    ("faults", "label", "told"),
    [
        (("index-missing", "think-tag-leak"), "serving.think_tag_leak", "serving.index_missing"),
        (("markup-leak",), "undetermined.markup_leak", "not as it should be in"),
        (("overloaded",), "infra.overloaded", "made again: infra.overloaded"),
    ],
)
async def test_what_had_to_be_put_right_is_told(tmp_path: Path, faults: tuple[str, ...], label: str, told: str) -> None:
    strengths = {fault: 0.4 if fault == "overloaded" else 1.0 for fault in faults}
    served = ReferenceConfig((make_task(tmp_path / "suite").folder,), faults=strengths)
    async with listening(served) as base_url:
        settings = {"name": "r", "model": MODEL, "base_url": base_url, "backoff_seconds": 0.001}
        found = await probing.probe(EndpointConfig.model_validate(settings), [canonical()])
    wire = next(check for check in found.checks if check.check == "wire")
    assert (wire.status, wire.label) == ("no", label), wire
    assert told in wire.detail
    assert ("put right here in" in wire.detail) is ("think-tag-leak" in faults)


def nested(body: Body) -> Body | Answer:
    kinds = [p for t in body.get("tools", ()) for p in t["function"]["parameters"]["properties"].values()]
    wrong = [kind for kind in kinds if kind.get("items", {}).get("type") == "object"]
    return refused(400, "tools.function.parameters is not a valid schema: nested objects") if wrong else body


async def test_a_schema_that_is_refused_makes_its_harness_unsupported_and_names_the_tool() -> None:
    found = await probe_with(canonical(), load_harness("claude-code-like"), hear=nested)
    (refusal,) = found.unsupported
    assert (refusal.harness, refusal.label) == ("claude-code-like", "harness.schema_rejected")
    assert refusal.reason.startswith("the tool TodoWrite: kimi: 400")
    assert found.status("harnesses") == "no"
    assert found.status("tool_round_trip") == "yes"


async def test_a_tool_that_the_server_names_is_not_searched_for() -> None:
    def named(body: Body) -> Body | Answer:
        wrong = any(tool["function"]["name"] == "TodoWrite" for tool in body.get("tools", ()))
        return refused(400, "Invalid schema for function 'TodoWrite': no items") if wrong else body

    async with obedient(hear=named) as server:
        found = await probed(server, load_harness("claude-code-like"))
        asked = sum("TodoWrite" in str(request.body) for request in server.received)
    assert (len(found.unsupported), asked) == (1, 1)


async def test_history_without_its_reasoning_rules_out_the_harnesses_that_drop_it_alone() -> None:
    def strict(body: Body) -> Body | Answer:
        dropped = any("tool_calls" in m and "reasoning_content" not in m for m in body.get("messages", ()))
        return refused(400, "thinking is enabled but reasoning_content is missing") if dropped else body

    found = await probe_with(canonical(), varied("dropping", thinking="drop"), hear=strict)
    assert [(each.harness, each.label) for each in found.unsupported] == [("dropping", "harness.reasoning_dropped")]
    assert found.void == ()


async def test_calls_of_unknown_tools_that_are_refused_rule_no_harness_out() -> None:
    def strict(body: Body) -> Body | Answer:
        known = {tool["function"]["name"] for tool in body.get("tools", ())}
        foreign = [c for c in calls_in(body) if c["function"]["name"] not in known]
        return refused(400, "messages: a call of a tool that is not in tools") if foreign else body

    found = await probe_with(canonical(), hear=strict)
    assert (found.status("unknown_tools"), found.unsupported) == ("no", ())


async def test_a_server_without_the_completions_api_rules_out_that_wire_alone() -> None:
    def chat_only(body: Body) -> Body | Answer:
        return body if "messages" in body else refused(404, "not found")

    plain = varied("plain", protocol="worked-completion", toolset="shell-only")
    found = await probe_with(canonical(), plain, hear=chat_only)
    assert [each.harness for each in found.unsupported] == ["plain"]


async def test_an_error_that_may_pass_rules_no_harness_out() -> None:
    def busy(body: Body) -> Body | Answer:
        return refused(503, "upstream busy") if "seed" in body else body

    found = await probe_with(canonical(), hear=busy, options={"retries": 0})
    assert (found.status("harnesses"), found.unsupported) == ("unknown", ())


async def test_thinking_that_is_asked_for_and_not_done_rules_all_harnesses_out() -> None:
    def thoughtless(said: Said, body: Body) -> Said:
        del body
        return Said(said.text, None, said.calls, said.ids, said.prompt, 3)

    asked = {"profile": "deepseek-v4", "thinking": True}
    found = await probe_with(canonical(), load_harness("openhands-text"), say=thoughtless, options=asked)
    assert {each.label for each in found.unsupported} == {"gateway.thinking_not_applied"}
    assert len(found.unsupported) == 2


async def test_a_parser_that_cannot_read_calls_rules_out_those_who_rely_on_it(tmp_path: Path) -> None:
    served = ReferenceConfig((make_task(tmp_path / "suite").folder,), faults={"parser-mismatch": 1.0})
    async with listening(served) as base_url:
        config = EndpointConfig(name="r", model=MODEL, base_url=base_url)
        found = await probing.probe(config, [canonical(), load_harness("openhands-text")])
    assert [(each.harness, each.label) for each in found.unsupported] == [("canonical", "serving.parser_mismatch")]


async def test_a_model_that_just_does_not_call_leaves_its_harnesses_in_place() -> None:
    found = await probe_with(canonical(), say=lambda said, _: silent(said))
    assert (found.status("tool_round_trip"), found.unsupported) == ("no", ())


async def test_reasoning_that_does_not_reach_the_prompt_makes_its_axis_void() -> None:
    found = await probe_with(canonical(), varied("dropping", thinking="drop"), hear=without_reasoning)
    reason = "the thinking axis compares nothing here: earlier reasoning does not reach the prompt"
    assert found.void == (Void("thinking", reason),)


async def test_reasoning_that_is_sent_as_text_reaches_the_prompt_all_the_same() -> None:
    found = await probe_with(canonical(), varied("text", thinking="as-text"), hear=without_reasoning)
    reason = "the thinking axis compares nothing here: earlier reasoning does not reach the prompt"
    reason += ", unless it is sent as text"
    assert found.void == (Void("thinking", reason, ("as-text",)),)


async def test_a_model_without_reasoning_makes_the_axis_void_too() -> None:
    def thoughtless(said: Said, body: Body) -> Said:
        del body
        return Said(said.text, None, said.calls, said.ids, said.prompt, 3)

    found = await probe_with(canonical(), say=thoughtless)
    assert [void.reason for void in found.void] == [
        "the thinking axis compares nothing here: the model returns no reasoning"
    ]


async def test_what_a_probe_costs_is_stated_where_a_price_is_known() -> None:
    price = {"prompt": 1.0, "cached": 1.0, "completion": 2.0}
    found = await probe_with(canonical(), options={"price": price})
    assert found.cost == pytest.approx((found.usage.prompt + 2 * found.usage.completion) / 1e6)


async def test_ids_in_what_a_harness_would_send_are_such_as_the_server_gives() -> None:
    async with obedient() as server:
        await probed(server, canonical())
        sent = next(request.body for request in server.received if "seed" in request.body)
    ids = [call["id"] for call in calls_in(sent)]
    assert len(set(ids)) == len(ids) > 3
    assert all(call_id.startswith("call_") and len(call_id) == 10 for call_id in ids)
    assert [m["tool_call_id"] for m in sent["messages"] if m["role"] == "tool"] == ids


def test_harnesses_that_differ_in_words_only_share_a_request() -> None:
    worded = varied("worded", prompt="handbook")
    several = [canonical(), worded, varied("numbered", errors="terse"), load_harness("mini-swe-native")]
    assert [shape.harnesses for shape in shapes_of(several)] == [
        ["canonical", "worded", "numbered"],
        ["mini-swe-native"],
    ]


def test_what_a_harness_would_send_is_cheap_and_keeps_its_shape() -> None:
    (shape,) = shapes_of([load_harness("pi-like")])
    sent = as_sent(shape.request, (), foreign_calls=False)
    assert len(str(sent.messages)) < len(str(shape.request.messages)) / 3
    assert [m.keys() for m in sent.messages] == [m.keys() for m in shape.request.messages]
    assert all("reasoning_content" in m for m in sent.messages if m["role"] == "assistant")
    offered = {tool["function"]["name"] for tool in sent.tools}
    assert {c["function"]["name"] for m in sent.messages for c in m.get("tool_calls", ())} <= offered


PROBE = Probe(
    "m",
    (Check("usage", "yes", "counted"), Check("thinking", "no", "none came", "gateway.thinking_not_applied")),
    (Void("thinking", "the thinking axis compares nothing here: no reason"),),
    (Unsupported("a", "kimi: 400 no", "harness.schema_rejected"), Unsupported("b", "kimi: 400 no", "")),
    7,
    40,
    Usage(100, 10),
    0.5,
    ("model m", "fingerprint fp_1"),
)


def test_a_probe_is_read_as_it_was_written(tmp_path: Path) -> None:
    probing.write(tmp_path, {"kimi": PROBE})
    assert probing.read(tmp_path) == {"kimi": PROBE}
    assert [path.name for path in tmp_path.iterdir()] == ["probe.json"]


def test_a_probe_of_before_servers_were_asked_who_they_are_is_still_read(tmp_path: Path) -> None:
    probing.write(tmp_path, {"kimi": PROBE})
    record = json.loads((tmp_path / "probe.json").read_text())
    del record["endpoints"]["kimi"]["served"]
    (tmp_path / "probe.json").write_text(json.dumps(record))
    assert probing.read(tmp_path) == {"kimi": replace(PROBE, served=())}


def test_where_there_was_no_probe_nothing_is_read(tmp_path: Path) -> None:
    assert probing.read(tmp_path) == {}


def test_a_damaged_record_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "probe.json").write_text('{"endpoints": {"kimi": 3}}')
    with pytest.raises(ConfigError, match=r"probe\.json: is damaged"):
        probing.read(tmp_path)


def test_a_few_lines_say_what_is_not_as_wanted() -> None:
    assert probing.in_words("kimi", PROBE, 3) == [
        "probe of kimi: 1 of 2 checks are as wanted (7 calls, 110 tokens, $0.50)",
        "  thinking: no; none came [gateway.thinking_not_applied]",
        "  the thinking axis compares nothing here: no reason",
        "  2 of 3 harnesses cannot run here:",
        "    a: kimi: 400 no [harness.schema_rejected]",
        "    b: kimi: 400 no",
    ]


@pytest.mark.parametrize(
    ("label", "is_so"),
    [
        ("harness.schema_rejected", True),
        ("serving.crash_on_schema", True),
        ("gateway.thinking_not_applied", True),
        ("infra.quota_exhausted", False),
        ("infra.not_openai_shape", False),
        ("infra.rate_limited", False),
        ("", False),
    ],
)
def test_only_what_stops_one_harness_rules_it_out(label: str, is_so: bool) -> None:
    assert probing.impossible(label) is is_so

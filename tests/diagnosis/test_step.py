"""The labels of one step: what the reply, the harness's reading of it and its calls add up to."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import yaml

from harness_eval.diagnosis.labels import LABELS
from harness_eval.diagnosis.step import label_step, without_leaks
from harness_eval.harness import Harness, make_harness
from harness_eval.types import Malformed, RawCall, Reply, Request, Step, Usage, View

NATIVE = make_harness({"name": "native"}, "native")
TAGGED = make_harness({"name": "tagged", "protocol": "xml-json"}, "tagged")


def label(harness: Harness, reply: Reply, *checked: str, prompt: str = "") -> list[str]:
    """The labels of a step in which the harness read this reply, the primary one first."""
    request = harness.encode(View(f"{harness.system}\n{prompt}", "the task"))
    step = Step(harness.decode(reply), usage=Usage(9, 9), reply=reply)
    finding = label_step(step, request, harness.protocol.native, checked)
    assert {finding.label, *finding.also} <= set(LABELS)
    return [finding.label, *finding.also]


def bash(arguments: str, name: str = "bash") -> RawCall:
    return RawCall("c1", name, arguments)


GOOD = bash('{"command": "ls"}')


# Calls beside the text


def test_a_call_that_can_be_read_is_one() -> None:
    assert label(NATIVE, Reply("", None, (GOOD,), "tool_calls"), "ok.tool_call") == ["ok.tool_call"]


def test_an_answer_without_a_call_is_one() -> None:
    assert label(NATIVE, Reply("Done.", finish_reason="stop")) == ["ok.final_answer"]


def test_what_was_put_right_in_a_reply_is_kept_beside_it() -> None:
    reply = Reply("", None, (GOOD,), "tool_calls", oddities=("serving.index_missing",))
    assert "serving.index_missing" in label(NATIVE, reply, "ok.tool_call")


def test_a_call_that_the_limit_of_tokens_cut_is_not_the_model_s_mistake() -> None:
    reply = Reply("", None, (bash('{"command": "ls'),), "length")
    assert label(NATIVE, reply)[0] == "limit.output_tokens_in_call"


def test_arguments_that_break_off_without_a_limit_may_be_the_server_s() -> None:
    sound = RawCall("c2", "bash", '{"command": "pwd"}')
    reply = Reply("", None, (bash('{"command": "ls -l'), sound), "tool_calls")
    assert label(NATIVE, reply, "ok.tool_call")[0] == "undetermined.bad_args_json"


def test_arguments_that_are_wrong_in_the_middle_are_the_model_s_mistake() -> None:
    reply = Reply("", None, (bash('{"command": ls}'),), "tool_calls")
    assert label(NATIVE, reply)[0] == "model.bad_args_json"


def test_what_the_harness_found_wrong_with_a_call_is_the_label() -> None:
    reply = Reply("", None, (bash('{"command": 5}'),), "tool_calls")
    assert label(NATIVE, reply, "model.args_wrong_type")[0] == "model.args_wrong_type"


def test_a_parameter_that_the_harness_itself_asked_for_is_no_mistake() -> None:
    reply = Reply("", None, (bash('{"command_line": "ls"}'),), "tool_calls")
    assert label(NATIVE, reply, "ok.tool_call") == ["ok.tool_call"]


def test_a_further_call_where_one_alone_was_wanted_is_no_bad_call() -> None:
    single = make_harness({"name": "single", "protocol": "native-single"}, "single")
    labels = label(single, Reply("", None, (GOOD, RawCall("c2", "bash", '{"command": "pwd"}')), "tool_calls"))
    assert labels == ["ok.tool_call", "serving.tool_choice_ignored"]
    assert {LABELS[name].effect for name in labels} == {"tolerated"}


def test_an_empty_turn_is_labelled() -> None:
    assert label(NATIVE, Reply("", None, (), "stop"))[0] == "undetermined.empty_turn"


LEAKED = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'


def test_a_call_in_the_text_is_a_leak() -> None:
    assert label(NATIVE, Reply(LEAKED, finish_reason="stop"))[0] == "undetermined.markup_leak"


def test_leak_13_the_model_copies_the_notation_of_the_harness(shared: Path) -> None:
    case = yaml.safe_load((shared / "cases" / "LEAK-13.yaml").read_text())
    text = json.loads(case["responses"][0]["body"])["choices"][0]["message"]["content"]
    request = Request(({"role": "system", "content": "Work.\nCall tools as [Calling tool: NAME(ARGUMENTS)].\nStop."},))
    reply = Reply(text, finish_reason="stop")
    finding = label_step(Step(NATIVE.decode(reply), reply=reply), request, native=True)
    expected = case["expected_classification"]
    assert (finding.label, finding.owner, finding.effect) == (
        expected["label"],
        expected["owner"],
        expected["score_effect"],
    )
    assert "Call tools as [Calling tool: NAME(ARGUMENTS)]." in finding.evidence


def test_a_notation_that_the_prompt_does_not_have_was_not_taught() -> None:
    assert label(NATIVE, Reply(LEAKED, finish_reason="stop"), prompt="Answer in JSON.")[0] == "undetermined.markup_leak"


def test_a_notation_that_a_tool_s_result_shows_was_not_taught() -> None:
    messages = ({"role": "system", "content": "Work."}, {"role": "tool", "tool_call_id": "c", "content": LEAKED})
    reply = Reply(LEAKED, finish_reason="stop")
    finding = label_step(Step(NATIVE.decode(reply), reply=reply), Request(messages), native=True)
    assert finding.label == "undetermined.markup_leak"


def test_tcid_02_markup_after_good_calls_under_foreign_ids(shared: Path) -> None:
    case = yaml.safe_load((shared / "cases" / "TCID-02.yaml").read_text())
    messages = [json.loads(response["body"])["choices"][0]["message"] for response in case["responses"]]
    (called,) = messages[0]["tool_calls"]
    first = Reply("", None, (RawCall(called["id"], "read_file", called["function"]["arguments"]),), "tool_calls")
    reply = Reply(messages[1]["content"], finish_reason="stop")
    finding = label_step(Step(NATIVE.decode(reply), reply=reply), Request(()), True, (), (first, first))
    expected = case["expected_classification"]
    assert (finding.label, finding.owner, finding.effect) == (
        expected["label"],
        expected["owner"],
        expected["score_effect"],
    )


# Calls in the text


def test_a_call_in_the_harness_s_own_notation_is_one() -> None:
    assert label(TAGGED, Reply(f"I look.\n{LEAKED}", finish_reason="stop"), "ok.tool_call") == ["ok.tool_call"]


def test_a_call_in_another_notation_than_the_harness_s_is_a_leak() -> None:
    other = "<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>"
    assert label(TAGGED, Reply(other, finish_reason="stop"))[0] == "undetermined.markup_leak"


def test_a_native_call_that_nobody_asked_for_is_a_leak_too() -> None:
    assert label(TAGGED, Reply("", None, (GOOD,), "tool_calls"))[0] == "undetermined.markup_leak"


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ('<tool_call>\n{"name": "bash", "argu', "length", "limit.output_tokens_in_call"),
        ('<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n', "stop", "undetermined.bad_args_json"),
        ('<tool_call>\n{"name": "bash", "arguments": {command: ls}}\n</tool_call>', "stop", "model.bad_args_json"),
    ],
    ids=["cut by the limit", "not closed", "no JSON"],
)
def test_a_call_in_the_text_that_cannot_be_read_is_labelled_by_why(text: str, finish: str, expected: str) -> None:
    assert label(TAGGED, Reply(text, finish_reason=finish)) == [expected]


def test_a_json_call_that_breaks_off_is_told_from_one_that_is_wrong() -> None:
    harness = make_harness({"name": "json", "protocol": "json-text"}, "json")
    cut = Reply('{"tool": "bash", "arguments": {"command": "ls', finish_reason="stop")
    wrong = Reply('{"tool": "bash", "arguments": {command}} and so on', finish_reason="stop")
    assert label(harness, cut) == ["undetermined.bad_args_json"]
    assert label(harness, wrong) == ["model.bad_args_json"]


def test_a_step_without_a_reply_has_a_label_as_well() -> None:
    bad = Malformed("", "", "<tool_call>", "not closed", cut=True)
    step = Step(dataclasses.replace(TAGGED.decode(Reply("x")), malformed=(bad,)))
    assert label_step(step, Request(()), native=False).label == "undetermined.bad_args_json"


def test_a_text_without_its_leaks_is_what_was_said_beside_them() -> None:
    assert without_leaks(f"I look.\n{LEAKED}") == "I look."
    assert without_leaks("Nothing leaked here.") == "Nothing leaked here."

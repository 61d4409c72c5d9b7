"""What one reply is: caps, names, JSON and schemas of calls, and what a turn without calls may be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_eval.diagnosis.labels import LABELS
from harness_eval.diagnosis.offer import offer_in
from harness_eval.diagnosis.reply import is_empty, label_reply
from harness_eval.types import RawCall, Reply, Usage

READ = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}},
    "required": ["path"],
}
PLAN = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
EDIT = {
    "type": "object",
    "properties": {"path": {}, "old_str": {"type": "string"}, "new_str": {"type": "string"}},
    "required": ["path", "old_str", "new_str"],
}
NOW = {"type": "object", "properties": {}}


def tool(name: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema, **more}}


TOOLS = [tool("read_file", READ), tool("update_plan", PLAN), tool("edit", EDIT), tool("now", NOW), tool("bash", {})]


def request(*, system: str = "You work here.", tools: Any = TOOLS, **more: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Do it."}]
    return {"model": "m", "messages": messages, "tools": tools, **more}


def call(name: str = "bash", arguments: Any = None, call_id: str = "c1") -> RawCall:
    return RawCall(call_id, name, arguments if isinstance(arguments, str) else json.dumps(arguments or {}))


def calling(*calls: RawCall, **more: Any) -> Reply:
    return Reply(calls=calls, **{"finish_reason": "tool_calls", "usage": Usage(900, 40), **more})


def said(text: str, **more: Any) -> Reply:
    return Reply(text, **{"finish_reason": "stop", "usage": Usage(900, 40), **more})


def labelled(reply: Reply, body: Any = None, before: tuple[Reply, ...] = ()) -> str:
    return label_reply(reply, body, before).label


# What is fine


def test_calls_are_plain_whatever_the_finish_reason_says() -> None:
    for finish in ("tool_calls", "stop", "stop_163586", "", "unexpected_state"):
        assert labelled(calling(call("bash", {"cmd": "ls"}), finish_reason=finish), request()) == "ok.tool_call"


def test_an_answer_is_plain_whatever_the_finish_reason_says() -> None:
    for finish in ("stop", "stop_163586", "", "eos"):
        assert labelled(said("The answer is 12.", finish_reason=finish), request()) == "ok.final_answer"


def test_a_call_without_arguments_is_fine_where_none_are_required() -> None:
    for arguments in ("", "{}", " ", "null"):
        assert labelled(calling(call("now", arguments)), request()) == "ok.tool_call"


def test_an_optional_argument_may_be_null_and_an_unknown_key_may_be_harmless() -> None:
    arguments = {"path": "a", "offset": None, "zzz": 1}
    assert labelled(calling(call("read_file", arguments)), request()) == "ok.tool_call"


def test_a_draft_in_the_reasoning_is_no_second_call() -> None:
    draft = 'Maybe <tool_call>{"name": "bash", "arguments": {"cmd": "a"}}</tool_call>? No.'
    finding = label_reply(calling(call(), thinking=draft), request())
    assert (finding.label, finding.also) == ("ok.draft_in_reasoning", ())


def test_missing_counts_are_noted_beside_what_a_turn_is() -> None:
    finding = label_reply(said("Done.", oddities=("ok.usage_missing",)), None)
    assert (finding.label, finding.also) == ("ok.final_answer", ("ok.usage_missing",))


@pytest.mark.parametrize(
    "oddity",
    ["serving.index_collision", "serving.args_placeholder", "gateway.args_snapshots", "serving.terminator_leak"],
)
def test_what_was_put_right_names_an_otherwise_plain_turn(oddity: str) -> None:
    finding = label_reply(calling(call(), oddities=("ok.usage_missing", oddity)), request())
    assert (finding.label, finding.also) == (oddity, ("ok.usage_missing",))


def test_what_was_put_right_stands_behind_a_mistake() -> None:
    finding = label_reply(calling(call("nothing"), oddities=("serving.index_missing",)), request())
    assert (finding.label, finding.also) == ("model.unknown_tool_invented", ("serving.index_missing",))


# Names


@pytest.mark.parametrize(
    "name", ["str_replace_editor", "todo_write", "TodoWrite", "apply_patch", "Bash_Output", "glob"]
)
def test_a_tool_of_another_harness_is_known_by_name(name: str) -> None:
    finding = label_reply(calling(call(name)), request())
    assert finding.label == "model.unknown_tool_foreign"
    assert "a tool of" in finding.evidence


@pytest.mark.parametrize("name", ["math_sqrt", "pandas.read_csv", "frobnicate"])
def test_a_tool_that_nobody_has_is_invented(name: str) -> None:
    assert labelled(calling(call(name)), request()) == "model.unknown_tool_invented"


@pytest.mark.parametrize("name", ["Read_File", "BASH", "Edit"])
def test_the_right_name_in_the_wrong_case_is_told_apart(name: str) -> None:
    arguments = {"path": "a", "old_str": "b", "new_str": "c"}
    assert labelled(calling(call(name, arguments)), request()) == "model.tool_name_case"


@pytest.mark.parametrize(
    "name",
    [
        "now</arg_value>",
        "now<|tool_call_end|>",
        "bash<arg_key>cmd</arg_key><arg_value>ls</arg_value>",
        "bash:0",
        "functions.bash",
    ],
)
def test_markup_glued_to_a_name_is_the_server_s(name: str) -> None:
    assert labelled(calling(call(name)), request()) == "serving.markup_in_name"


def test_markup_in_a_name_shows_without_the_request() -> None:
    assert labelled(calling(call("get_time</tool_call>")), None) == "serving.markup_in_name"
    assert labelled(calling(call("get_time")), None) == "ok.tool_call"


def test_a_list_of_names_is_an_offer_too() -> None:
    assert labelled(calling(call("apply_patch")), {"tools": ["bash", "read"]}) == "model.unknown_tool_foreign"


# JSON


@pytest.mark.parametrize(
    "arguments",
    [
        '{"cmd":"first\nsecond"}',
        '{"path": "a", "range": \\n[1, 2]\\n}',
        "{'question': 'ok?', 'multi': True, 'default': None}",
        '{"cmd":"sleep 1",note":"x"}',
        '{"a": 1,}',
        '{cmd: "ls"}',
        "[1, 2]",
        '{"a": NULL}',
        '{"a": "C:\\x"}',
    ],
)
def test_arguments_that_are_no_json_are_the_model_s_mistake(arguments: str) -> None:
    assert labelled(calling(call("bash", arguments)), None) == "model.bad_args_json"


@pytest.mark.parametrize(
    "arguments", ['{"cmd":"ls -l', '{"cmd":', '{"cmd"', '{"input":"{\\"k\\":1}"', '{"a":[1,2', "{", '{"a":tr']
)
def test_arguments_that_break_off_below_the_cap_cannot_be_blamed_on_anybody(arguments: str) -> None:
    assert labelled(calling(call("bash", arguments)), request(max_tokens=4096)) == "undetermined.bad_args_json"


def test_a_sound_call_after_a_broken_one_does_not_hide_it() -> None:
    reply = calling(call("bash", '{"cmd":"ls'), call("bash", {"cmd": "pwd"}, "c2"))
    assert labelled(reply) == "undetermined.bad_args_json"


def test_two_objects_in_one_slot_are_not_of_the_model() -> None:
    assert labelled(calling(call("bash", '{"a":1}{"b":2}'))) == "undetermined.bad_args_json"


def test_the_token_limit_in_a_call_is_the_harness_s_or_hidden_by_the_server() -> None:
    cut = call("write_file", '{"path":"a","text":"# Ti')
    told = label_reply(calling(cut, finish_reason="length"), None)
    hidden = label_reply(calling(cut, usage=Usage(900, 3000)), {"max_tokens": 3000})
    assert (told.label, told.owner) == ("limit.output_tokens_in_call", "harness")
    assert (hidden.label, hidden.owner) == ("limit.output_tokens_in_call", "serving")


def test_a_whole_call_at_the_token_limit_is_a_call() -> None:
    assert labelled(calling(call("bash", {"cmd": "ls"}), finish_reason="length"), request()) == "ok.tool_call"


def test_the_whole_arguments_as_a_string_may_be_the_server_s() -> None:
    assert labelled(calling(call("bash", json.dumps('{"cmd": "ls"}')))) == "undetermined.args_double_encoded"


@pytest.mark.parametrize(
    "value", ["ls</parameter>\n</function>", "a.py<|tool_call_end|>", "ls\n</parameter>\n<parameter=cwd>\n/w"]
)
def test_markup_at_the_end_of_a_value_is_the_server_s(value: str) -> None:
    assert labelled(calling(call("bash", {"cmd": value}))) == "serving.markup_in_arguments"


@pytest.mark.parametrize(
    "value",
    [
        "grep -r '<|tool_call_end|>' .",
        "<function=x><parameter=a>b</parameter></function>",
        "# Template\n`<tool_call>` opens\n" + "text\n" * 200,
        "<a></a>",
    ],
)
def test_a_value_that_is_about_markup_is_content(value: str) -> None:
    assert labelled(calling(call("bash", {"cmd": value}))) == "ok.tool_call"


# Schemas


@pytest.mark.parametrize("items", ['[{"step":"read"}]', "[]", '["a", "b"]'])
def test_an_array_as_a_string_is_double_encoded(items: str) -> None:
    assert labelled(calling(call("update_plan", {"items": items})), request()) == "model.args_double_encoded"


def test_line_breaks_around_the_json_of_a_value_speak_of_a_parser() -> None:
    arguments = {"items": '\n[{"q": "ok?"}]\n'}
    assert labelled(calling(call("update_plan", arguments)), request()) == "undetermined.args_double_encoded"
    assert labelled(calling(call("ask", arguments)), None) == "undetermined.args_double_encoded"


def test_json_as_the_text_of_a_file_is_what_it_should_be() -> None:
    arguments = {"path": "a", "old_str": '{"a": 1}', "new_str": '\n[{"a": 2}]\n'}
    assert labelled(calling(call("edit", arguments)), request()) == "ok.tool_call"
    assert labelled(calling(call("write", {"path": "a.json", "text": '{"a": 1}\n'})), None) == "ok.tool_call"


@pytest.mark.parametrize("arguments", [{"path": "a", "offset": "130"}, {"path": "a", "limit": 1.5}, {"path": 5}])
def test_a_value_of_the_wrong_type_is_a_mistake(arguments: dict[str, Any]) -> None:
    assert labelled(calling(call("read_file", arguments)), request()) == "model.args_wrong_type"


def test_a_number_as_a_string_is_named_so() -> None:
    finding = label_reply(calling(call("read_file", {"path": "a", "offset": "130"})), request())
    assert "offset is numeric string" in finding.evidence


def test_missing_keys_are_named() -> None:
    finding = label_reply(calling(call("read_file"), call("read_file", {"path": "b"}, "c2")), request())
    assert finding.label == "model.missing_required"
    assert "without path" in finding.evidence


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"file_path": "a"}),
        ("read_file", {"filename": "a"}),
        ("read_file", {"path": "a", "line_offset": 3}),
        ("edit", {"path": "a", "old_string": "x", "new_string": "y"}),
        ("edit", {"path": "a", "oldText": "x", "newText": "y"}),
    ],
)
def test_parameter_names_of_another_harness_are_told_apart(name: str, arguments: dict[str, Any]) -> None:
    finding = label_reply(calling(call(name, arguments)), request())
    assert finding.label == "model.foreign_param_names"
    assert "where" in finding.evidence


@pytest.mark.parametrize(
    "system",
    ["Always pass file_path.", "Give every tool its `file_path`.", "Use the file_path parameter."],
)
def test_a_parameter_that_only_the_prompt_knows_is_the_harness_s(system: str) -> None:
    finding = label_reply(calling(call("read_file", {"file_path": "a"})), request(system=system))
    assert finding.label == "harness.prompt_schema_mismatch"
    assert system in finding.evidence


def test_a_plain_word_of_the_prompt_is_no_lesson() -> None:
    reply = calling(call("read_file", {"file": "a"}))
    assert labelled(reply, request(system="Read the file before you edit it.")) == "model.foreign_param_names"
    assert labelled(reply, request(system="Set `file` in each call.")) == "harness.prompt_schema_mismatch"


def test_a_parameter_that_another_tool_has_is_not_taught_by_the_prompt() -> None:
    other = tool("view", {"type": "object", "properties": {"file_path": {"type": "string"}}})
    reply = calling(call("read_file", {"file_path": "a"}))
    assert (
        labelled(reply, request(system="Always pass file_path.", tools=[*TOOLS, other])) == "model.foreign_param_names"
    )


STRICT = {"type": "object", "properties": {"x": {"type": "integer", "minimum": 10}}, "required": ["x"]}


@pytest.mark.parametrize("arguments", [{"x": 1}, {"x": "11"}, {}])
def test_a_strict_schema_that_is_broken_was_not_enforced(arguments: dict[str, Any]) -> None:
    finding = label_reply(calling(call("set", arguments)), request(tools=[tool("set", STRICT, strict=True)]))
    assert finding.label == "serving.grammar_not_enforced"
    assert any(name.startswith("model.") for name in finding.also)


def test_bounds_count_only_where_they_were_to_be_enforced() -> None:
    assert labelled(calling(call("set", {"x": 1})), request(tools=[tool("set", STRICT)])) == "ok.tool_call"
    assert (
        labelled(calling(call("set", {"x": 12})), request(tools=[tool("set", STRICT, strict=True)])) == "ok.tool_call"
    )


UNION = {
    "type": "object",
    "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "v": {"$ref": "#/$defs/v"}},
    "$defs": {"v": {"type": "object", "properties": {"k": {"enum": ["a", "b"]}}, "required": ["k"]}},
    "anyOf": [{"required": ["n"]}, {"required": ["v"]}],
}


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        ({"n": 1}, "ok.tool_call"),
        ({"n": None}, "ok.tool_call"),
        ({"v": {"k": "a"}}, "ok.tool_call"),
        ({"n": "1"}, "model.args_wrong_type"),
        ({"v": {"k": "c"}}, "model.args_wrong_type"),
        ({"v": {}}, "model.missing_required"),
        ({"v": '{"k": "a"}'}, "model.args_double_encoded"),
        ({}, "model.missing_required"),
    ],
)
def test_unions_and_references_are_followed(arguments: dict[str, Any], label: str) -> None:
    assert labelled(calling(call("t", arguments)), request(tools=[tool("t", UNION)])) == label


def test_a_schema_that_refers_to_itself_without_end_is_borne() -> None:
    endless = {"anyOf": [{"$ref": "#"}, {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}], "properties": {"a": {"$ref": "#"}}}
    reply = calling(call("t", {"a": {"a": {"a": {}}}}))
    assert labelled(reply, request(tools=[tool("t", endless)])) in LABELS


# Tool choice, and tools that are no longer offered


def test_a_tool_choice_of_none_that_brings_calls_is_ignored() -> None:
    assert labelled(calling(call()), {"tool_choice": "none"}) == "serving.tool_choice_ignored"


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "bash"}}, "none"])
def test_a_forced_call_may_end_with_stop(choice: Any) -> None:
    assert labelled(calling(call(), finish_reason="stop"), {"tool_choice": choice}) == "serving.tool_choice_finish"


def test_a_forced_tool_that_is_not_called_was_ignored() -> None:
    choice = {"type": "function", "function": {"name": "now"}}
    assert labelled(calling(call()), request(tool_choice=choice)) == "serving.tool_choice_ignored"
    assert labelled(said("No."), request(tool_choice="required")) == "serving.tool_choice_ignored"
    assert labelled(calling(call()), request(tool_choice="auto")) == "ok.tool_call"


@pytest.mark.parametrize("tools", [None, []])
def test_calls_after_all_tools_were_taken_away_do_not_heed_the_end(tools: Any) -> None:
    assert labelled(calling(call()), {"tools": tools}) == "model.ignores_stop"


def test_a_call_after_the_notice_that_none_is_wanted_does_not_heed_it() -> None:
    said_before = [{"role": "assistant", "content": "I look."}, {"role": "user", "content": "No more tool calls."}]
    assert labelled(calling(call()), request(tools=[], messages=said_before)) == "model.ignores_stop"
    assert labelled(calling(call()), request(tools=[], messages=said_before[1:])) == "ok.tool_call"


@pytest.mark.parametrize(
    "tools",
    [
        None,
        [],
        "x",
        {},
        [None, 1],
        [{"function_declarations": [{"name": "bash"}]}],
        [{"type": "custom", "custom": {"name": "bash"}}],
        [{"toolSpec": {"name": "bash", "inputSchema": {"json": {}}}}],
        [{"type": "mcp", "server_label": "x"}],
        [tool("now", NOW), {"type": "custom", "custom": {"name": "bash"}}],
        [tool("now", NOW), {"type": "mcp", "server_label": "x"}],
        [tool("now", NOW), {"type": "custom"}],
    ],
)
def test_tools_that_are_unknown_or_of_another_api_make_no_call_a_mistake(tools: Any) -> None:
    assert labelled(calling(call()), request(tools=tools)) == "ok.tool_call"


def test_names_are_read_in_the_shapes_of_other_apis() -> None:
    shapes = [{"function_declarations": [{"name": "a"}]}, {"type": "custom", "custom": {"name": "b"}}]
    shapes += [{"toolSpec": {"name": "c"}}, {"name": "d", "input_schema": {}}, {"type": "function", "name": "e"}]
    assert offer_in(request(tools=shapes)).names == frozenset("abcde")


# Markup that an answer shows

SHOWN = '<tool_call>\n{"name": "bash", "arguments": {"cmd": "ls"}}\n</tool_call>'
INLINE = SHOWN.replace("\n", "")


@pytest.mark.parametrize(
    "text",
    [
        f"The template writes calls like this:\n\n{SHOWN}\n\nand the parser reads them, so I fixed the parser.",
        "The log had this:\n\n    " + SHOWN.replace("\n", "\n    ") + "\n\nThat is the cause.",
        "The log had this:\n\n    " + SHOWN.replace("\n", "\n    "),
        f"The log says:\n> {INLINE}\n\nThat is the cause.",
        f"The log says:\n> {INLINE}",
        f"<pre>{INLINE}</pre> is what it printed.",
        f"It printed\n<pre>{INLINE}</pre>",
        f"| dialect | example |\n|---|---|\n| hermes | {INLINE} |\n\nDone.",
        f"| dialect | example |\n|---|---|\n| hermes | {INLINE}",
        'What I did:\n- Tool: bash {"cmd": "ls"}\n- Tool: now {}\n\nAll tests pass.',
        'What I did:\n- Tool: bash {"cmd": "ls"}\n- Tool: now {}',
        'The transcript says\n[Calling tool: bash {"cmd": "ls"}]\nwhich was called earlier.',
        'Use <invoke name="bash"> to begin. I documented that.',
        "The model must start with <tool_call>",
        '{"name": "read_file", "parameters": {"speed": 3}}',
        '[TOOL_CALLS][{"name": "bash", "arguments": {"cmd": "ls"}}]\nwas in the file, I removed it.',
    ],
)
def test_an_answer_that_shows_markup_is_an_answer(text: str) -> None:
    assert labelled(said(text), request()) == "ok.final_answer"


def test_json_that_was_asked_for_is_the_answer() -> None:
    text = '{"name": "bash", "arguments": {"cmd": "ls"}}'
    assert labelled(said(text), request()) == "undetermined.markup_leak"
    assert labelled(said(text), request(response_format={"type": "json_object"})) == "ok.final_answer"


@pytest.mark.parametrize(
    "text", [f"I look.\n{SHOWN}\n", f"{INLINE}</s>", f"    {INLINE}", f"{INLINE}\n{INLINE}", SHOWN[:-20]]
)
def test_a_call_that_ends_the_text_leaked(text: str) -> None:
    assert labelled(said(text), request()) == "undetermined.markup_leak"


def test_a_draft_in_the_reasoning_beside_an_answer_is_none() -> None:
    assert labelled(said("The answer is 42.", thinking=f"I could {INLINE}"), request()) == "ok.final_answer"
    assert labelled(said("I now call it:", thinking=f"I do. {INLINE}"), request()) == "undetermined.call_in_reasoning"


# No calls: markup


LEAK = '<tool_call>{"name": "bash", "arguments": {"cmd": "ls"}}</tool_call>'
SECTION = '<|tool_call_begin|>functions.bash:2<|tool_call_argument_begin|>{"cmd": "b"}<|tool_call_end|>'
CHANNELLED = '<|open|>tools<|sep|><|open|>call tool="bash" index="0"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>'


@pytest.mark.parametrize(
    "text", [LEAK, f"I look.\n{LEAK}", SECTION, CHANNELLED, "<｜DSML｜function_calls>", LEAK[:-20]]
)
@pytest.mark.parametrize("body", [None, request()])
def test_a_call_as_text_is_a_leak(text: str, body: Any) -> None:
    assert labelled(said(text), body) == "undetermined.markup_leak"


@pytest.mark.parametrize(
    "text",
    [
        f"It looks like `{LEAK}`.",
        f"```\n{LEAK}\n```\nThat is the format.",
        f'Write "{LEAK}" to call it.',
        "A section starts with <|tool_calls_section_begin|> and holds calls.",
        LEAK.replace("bash", "get_weather"),
    ],
)
def test_an_answer_about_markup_is_an_answer(text: str) -> None:
    assert labelled(said(text), request()) == "ok.final_answer"


def test_a_leak_that_the_token_limit_cut_is_the_limit_s() -> None:
    assert labelled(said(LEAK[:40], finish_reason="length"), request()) == "limit.output_tokens_in_call"


def test_spaces_between_control_tokens_mean_that_no_call_will_ever_be_read() -> None:
    spaced = CHANNELLED.replace("<|", " <|").replace("|>", "|> ")
    assert labelled(said(spaced), request()) == "serving.parser_mismatch"


def test_markup_after_calls_with_ids_of_another_kind_is_laid_at_the_ids() -> None:
    foreign = calling(call(call_id="chatcmpl-tool-5f0c"))
    native = calling(call(call_id="functions.bash:0"))
    assert labelled(said(SECTION), request(), (foreign,)) == "serving.id_format_foreign"
    assert labelled(said(SECTION), request(), (native,)) == "undetermined.markup_leak"
    assert labelled(said(LEAK), request(), (foreign,)) == "undetermined.markup_leak"


NOTATIONS = [
    ('[Calling tool: bash({"cmd": "ls"})]', "Earlier: [Calling tool: read_file({})]"),
    ('Action: bash\nAction Input: {"cmd": "ls"}', "Use this format:\nAction: NAME\nAction Input: JSON"),
    (LEAK, 'Call like this:\n```\n<tool_call>{"name": NAME, "arguments": {...}}</tool_call>\n```'),
    ("<function=bash><parameter=cmd>ls</parameter></function>", "Write <function=NAME> to call a function."),
    ('{"name": "bash", "arguments": {"cmd": "ls"}}', 'Answer with {"name": "...", "arguments": {...}} to call a tool.'),
]


@pytest.mark.parametrize(("text", "system"), NOTATIONS)
def test_a_notation_that_the_prompt_teaches_is_the_harness_s(text: str, system: str) -> None:
    assert labelled(said(text), request(system=system)) == "harness.taught_text_dialect"
    assert labelled(said(text), request()) == "undetermined.markup_leak"


@pytest.mark.parametrize(("text", "system"), NOTATIONS)
def test_where_no_tools_travel_beside_the_text_a_call_as_text_is_a_call(text: str, system: str) -> None:
    body = request(system=system)
    del body["tools"]
    assert labelled(said(text), body) == "ok.tool_call"


def test_a_body_that_says_nothing_of_tools_blames_nobody_for_calls() -> None:
    body = request()
    del body["tools"]
    assert labelled(calling(call("frobnicate")), body, (calling(call()),)) == "ok.tool_call"


def test_earlier_calls_that_were_flattened_into_the_history_teach_a_notation() -> None:
    body = request()
    body["messages"] += [
        {"role": "assistant", "content": "[Calling tool: read_file]"},
        {"role": "user", "content": "x"},
    ]
    reply = said('[Calling tool: bash({"cmd": "ls"})]')
    assert labelled(reply, body) == "harness.taught_text_dialect"
    assert labelled(reply, body, (said("[Calling tool: read_file]"),)) == "undetermined.markup_leak"


def test_a_call_in_the_reasoning_is_told_apart_from_one_in_the_text() -> None:
    assert labelled(said("", thinking=f"I need it. {LEAK}"), request()) == "undetermined.call_in_reasoning"
    assert labelled(said("Done.", thinking=f"{LEAK} was my plan."), request()) == "ok.final_answer"


@pytest.mark.parametrize("text", ["", "I look."])
def test_a_call_that_vanished_with_the_reasoning_was_dropped(text: str) -> None:
    assert labelled(said(text, thinking=f"Need it. {CHANNELLED}"), request()) == "serving.tool_call_dropped"


# No calls: nothing, or only reasoning


@pytest.mark.parametrize(
    "text", ["", "  \n", "(empty content)", "[no response]", "(Empty)", "<empty message>", "...", "\u200b"]
)
def test_placeholders_are_empty(text: str) -> None:
    assert is_empty(text)
    assert labelled(said(text, thinking="go on with step 3"), request()) == "undetermined.thought_only"
    assert labelled(said(text), request()) == "undetermined.empty_turn"


@pytest.mark.parametrize("text", ["42", "None", "[]", "{}", "No.", "(none of them)", "Empty."])
def test_short_answers_are_answers(text: str) -> None:
    assert labelled(said(text, thinking="so"), request()) == "ok.final_answer"


@pytest.mark.parametrize("mark", ["<|close|>response<|sep|><|close|>message<|sep|>", "<|im_end|>", "</response>"])
def test_reasoning_that_ends_with_an_end_marker_is_the_answer(mark: str) -> None:
    assert labelled(said("", thinking=f"The capital is Canberra.{mark}"), None) == "serving.answer_in_reasoning"


def test_reasoning_that_used_up_the_limit_is_the_limit_s() -> None:
    told = said("", thinking="long", finish_reason="length")
    hidden = label_reply(said("", thinking="long", usage=Usage(9, 512)), request(max_completion_tokens=512))
    assert labelled(told, request()) == "limit.output_tokens_reasoning"
    assert (hidden.label, hidden.owner) == ("limit.output_tokens_reasoning", "serving")


def test_a_text_that_is_nothing_but_a_reasoning_block_has_no_answer() -> None:
    reply = said("", thinking="We need to look", oddities=("serving.think_tag_leak",))
    assert labelled(reply, request()) == "undetermined.reasoning_in_content"


def test_thinking_aloud_without_an_answer_is_told_from_an_answer() -> None:
    aloud = "Okay, so the user wants a list. Hmm, where? Wait, maybe in /srv. Actually, let me check."
    assert labelled(said(aloud), request()) == "undetermined.reasoning_in_content"
    assert labelled(said(aloud, thinking="x"), request()) == "ok.final_answer"
    assert labelled(said("The user wants a list, and it is in list.txt."), request()) == "ok.final_answer"


@pytest.mark.parametrize(
    "words", ["[reasoning unavailable]", "(thinking omitted)", "Reasoning hidden", "[thoughts redacted]"]
)
def test_a_placeholder_for_reasoning_is_the_gateway_s(words: str) -> None:
    assert labelled(calling(call(), thinking=words), request()) == "gateway.reasoning_placeholder"
    assert labelled(calling(call(), thinking="next"), request()) == "ok.tool_call"


# What stands beside


def test_an_announced_tool_that_is_not_called_is_noted_beside() -> None:
    body = request(tools=["Read", "Edit"])
    finding = label_reply(calling(call("Read"), thinking="Enough. I now call Edit."), body)
    assert (finding.label, finding.also) == ("ok.tool_call", ("model.intent_emission_mismatch",))
    assert label_reply(calling(call("Edit"), thinking="I now call Edit."), body).also == ()


def test_a_gap_in_counted_ids_is_noted_beside() -> None:
    gap = calling(call(call_id="c1"), call(call_id="c3"))
    assert label_reply(gap, request()).also == ("serving.unknown_tool_filtered",)
    for ids in (("c1", "c2"), ("call_a9", "call_b1"), ("x17", "x93")):
        assert label_reply(calling(*(call(call_id=each) for each in ids)), request()).also == ()


def test_a_call_as_text_beside_calls_is_noted() -> None:
    finding = label_reply(calling(call("now"), text=LEAK), request())
    assert (finding.label, finding.also) == ("ok.tool_call", ("undetermined.markup_leak",))


def test_credentials_do_not_reach_the_evidence() -> None:
    finding = label_reply(calling(call("bash", {"cmd": "curl -H 'Authorization: Bearer abcdef123456'"})), request())
    assert "abcdef123456" not in finding.evidence
    assert "\n" not in finding.evidence


# Anything at all


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    ["type", "properties", "required", "anyOf", "items", "enum", "$ref", "minimum", "pattern", "strict"]
)
SCHEMAS = st.dictionaries(WORDS, VALUES | st.sampled_from(["object", "array", "#", "(a+)+"]), max_size=4)
KEYS = ["tools", "messages", "tool_choice", "max_tokens", "schemas", "schema", "strict", "system", "model"]
BODIES = (
    st.none()
    | st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4)
    | SCHEMAS.map(lambda schema: {"tools": [tool("bash", schema, strict=True)]})
)
TEXTS = st.text(max_size=30) | st.sampled_from([LEAK, SECTION, CHANNELLED, "", "<think>", '{"cmd":"ls', "{}"])
CALLS = st.builds(RawCall, st.text(max_size=5), st.sampled_from(["bash", ""]) | st.text(max_size=8), TEXTS)


@given(
    st.builds(
        Reply, TEXTS, st.none() | TEXTS, st.lists(CALLS, max_size=3).map(tuple), st.sampled_from(["stop", "length", ""])
    ),
    BODIES,
)
def test_any_reply_to_any_request_has_one_known_label_and_short_evidence(reply: Reply, body: Any) -> None:
    finding = label_reply(reply, body, (reply,))
    assert {finding.label, *finding.also} <= set(LABELS)
    assert finding.label not in finding.also
    assert finding.effect == LABELS[finding.label].effect
    assert len(finding.evidence) <= 200
    assert "\n" not in finding.evidence

"""Calls that leaked into text: found in every dialect, quoted ones left alone, and no text is too long to be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_eval.diagnosis.leaks import is_last, is_quoted, leaks_in, recoverable
from harness_eval.types import RawCall, Reply

LS = {"cmd": "ls"}
SECTION = "<|tool_calls_section_begin|><|tool_call_begin|>{id}<|tool_call_argument_begin|>{args}<|tool_call_end|>"
K3 = (
    '<|open|>tools<|sep|><|open|>call tool="run" index="0"<|sep|><|open|>argument key="cmd" type="string"<|sep|>ls'
    "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
)
JSON_IN_SECTION = '{"cmd": "ls"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
DIALECTS = [
    ("hermes", '<tool_call>\n{"name": "run", "arguments": {"cmd": "ls"}}\n</tool_call>'),
    ("hermes", '<function_call>{"name": "run", "arguments": "{\\"cmd\\": \\"ls\\"}"}</function_call>'),
    ("hermes", '<tool_call>{"function": {"name": "run", "arguments": {"cmd": "ls"}}}</tool_call>'),
    ("hermes", '<tool_call>{"name": "run", "parameters": {"cmd": "ls"}}'),
    (
        "qwen_xml",
        "<tool_call>\n<function=run>\n<parameter=cmd>\nls\n</parameter>\n</function>\n</tool_call>",
    ),
    ("qwen_xml", '<function=run>{"cmd": "ls"}</function>'),
    (
        "invoke",
        '<function_calls>\n<invoke name="run">\n<parameter name="cmd">ls</parameter>\n</invoke>\n</function_calls>',
    ),
    (
        "invoke",
        "<minimax:tool_call><invoke name='run'><parameter name='cmd'>ls</parameter></invoke></minimax:tool_call>",
    ),
    ("glm", "<tool_call>run\n<arg_key>cmd</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>"),
    ("glm", "run<arg_key>cmd</arg_key><arg_value>ls</arg_value>"),
    ("kimi_k2", SECTION.format(id="functions.run:3", args='{"cmd": "ls"}') + "<|tool_calls_section_end|>"),
    ("kimi_k2", '<|tool_call_begin|> run:0 <|tool_call_argument_begin|> {"cmd": "ls"} <|tool_call_end|>'),
    ("kimi_k3", K3),
    ("kimi_k3", K3.replace("<|", " <|").replace("|>", "|> ").strip()),
    (
        "deepseek",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>run\n```json\n" + JSON_IN_SECTION,
    ),
    ("deepseek", '<｜tool▁call▁begin｜>run<｜tool▁sep｜>{"cmd": "ls"}<｜tool▁call▁end｜>'),
    ("harmony", '<|channel|>commentary to=functions.run <|constrain|>json<|message|>{"cmd": "ls"}<|call|>'),
    ("mistral", '[TOOL_CALLS][{"name": "run", "arguments": {"cmd": "ls"}}]'),
    ("mistral", '[TOOL_CALLS]run[ARGS]{"cmd": "ls"}'),
    ("llama", '<|python_tag|>{"name": "run", "parameters": {"cmd": "ls"}}<|eom_id|>'),
    ("fenced", '```tool_call\n{"name": "run", "arguments": {"cmd": "ls"}}\n```'),
    ("json", '{"name": "run", "arguments": {"cmd": "ls"}}'),
    ("words", '[Calling tool: run({"cmd": "ls"})]'),
    ("words", '[Called run with {"cmd": "ls"}]'),
    ("words", 'I am calling tool: run({"cmd": "ls"})'),
    (
        "dsml",
        "<｜DSML｜invoke name=run><｜DSML｜parameter name=cmd string=true>ls<｜DSML｜/parameter><｜DSML｜/invoke>",
    ),
    ("kimi_k2", SECTION.format(id="functions.run:0", args='{"cmd": "ls"}').replace("<|tool_call_begin|>", "")),
    ("words", 'Tool call: `run` {"cmd": "ls"}'),
    ("words", 'Action: run\nAction Input: {"cmd": "ls"}'),
]
BARS = ["｜", "|", "‖", "｜｜", "||", "∥", "丨", "︱", ""]
WRAPPERS = ["function_calls", "tool_calls", "calls", None]


@pytest.mark.parametrize(("dialect", "text"), DIALECTS)
def test_a_call_is_read_in_the_markup_of_every_template(dialect: str, text: str) -> None:
    (leak,) = leaks_in(text)
    assert (leak.name, leak.arguments, leak.complete, leak.dialect) == ("run", LS, True, dialect)
    assert (leak.start, leak.end) == (0, len(text))


@pytest.mark.parametrize(("dialect", "text"), [pair for pair in DIALECTS if pair[0] != "json"])
def test_words_before_a_call_are_no_part_of_it(dialect: str, text: str) -> None:
    said = f"I look.\n{text}"
    (leak,) = leaks_in(said)
    assert (leak.name, leak.dialect, leak.start) == ("run", dialect, len("I look.\n"))


@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("between", ["", "\n", "\n  "])
def test_dsml_has_one_dialect_in_all_its_spellings(bar: str, wrapper: str | None, between: str) -> None:
    tag = f"{bar}DSML{bar}"
    inner = between.join(
        [
            f'<{tag}invoke name="run">',
            f'<{tag}parameter name="cmd" string="true">ls</{tag}parameter>',
            f'<{tag}parameter name="n" string="false">[1]</{tag}parameter>',
            f"</{tag}invoke>",
        ]
    )
    text = f"<{tag}{wrapper}>{between}{inner}{between}</{tag}{wrapper}>" if wrapper else inner
    (leak,) = leaks_in(text)
    assert (leak.name, leak.arguments, leak.complete, leak.dialect) == ("run", {"cmd": "ls", "n": [1]}, True, "dsml")
    assert is_last(text, [leak])


@pytest.mark.parametrize(
    "text",
    [
        "<｜DSML｜function_calls>",
        "<|DSML|function_calls|>",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="ru',
        "<|tool_calls_section_begin|><|tool_call_be",
        '<｜DSML｜invoke name="run">',
        '<tool_call>{"name": "run", "arguments": {"cmd": "l',
        "<tool_call>\n<function=run>\n<parameter=cmd>\nls",
        "Now. <|tool_calls_section_begin|>",
        '<|tool_call_begin|>functions.run:0<|tool_call_argument_begin|>{"cmd": "l',
        '<|open|>tools<|sep|><|open|>call tool="run" index="0"<|sep|><|open|>argument',
        "<tool_call>",
    ],
)
def test_a_call_without_an_end_is_a_leak_that_is_not_complete(text: str) -> None:
    (leak,) = leaks_in(text)
    assert not leak.complete
    assert leak.name in {"run", ""}


@pytest.mark.parametrize(
    "text",
    [
        "It starts with `<|tool_calls_section_begin|>`, and a call is `<tool_call>{...}</tool_call>`.",
        "It starts with <|tool_calls_section_begin|>, and a call is <tool_call>{...}</tool_call>.",
        '```\n<tool_call>{"name": "run", "arguments": {}}</tool_call>\n```',
        '~~~xml\n<tool_call>{"name": "run", "arguments": {}}</tool_call>\n~~~',
        '- so:\n  ```xml\n  <invoke name="run"></invoke>\n  ```',
        '``a ` <tool_call>{"name": "run", "arguments": {}}</tool_call>``',
        "The tag <tool_call> opens a call, </tool_call> closes it.",
        'A block begins with "<tool_call>" and has a name.',
        '{"name": "run", "version": 2}',
        "The tool: run it with care. Action: none needed.",
        "",
    ],
)
def test_markup_that_is_only_quoted_is_no_leak(text: str) -> None:
    assert leaks_in(text) == ()


def test_a_call_between_quotation_marks_or_amid_a_sentence_is_seen_to_be_quoted() -> None:
    call = '<tool_call>{"name": "run", "arguments": {}}</tool_call>'
    assert [is_quoted(text, leaks_in(text)[0]) for text in (f'as "{call}"', f"Maybe {call}? No.", f"ok {call}")] == [
        True,
        True,
        False,
    ]


def test_a_code_span_ends_with_its_paragraph() -> None:
    assert [leak.name for leak in leaks_in("a lone ` here\n\n<function=run></function> ` there")] == ["run"]


def test_an_empty_tag_is_a_call_without_arguments() -> None:
    (leak,) = leaks_in('<｜DSML｜invoke name="run"/>')
    assert (leak.name, leak.arguments, leak.complete) == ("run", {}, True)


def test_a_tag_of_the_tool_s_own_name_is_a_call_where_the_tool_is_offered() -> None:
    text = "I look.\n<run>\n<cmd>ls</cmd>\n</run>"
    (leak,) = leaks_in(text, {"run"})
    assert (leak.name, leak.arguments, leak.dialect) == ("run", LS, "own_tags")
    assert leaks_in(text) == leaks_in(f"`{text}`", {"run"}) == leaks_in("<run> it with care", {"run"}) == ()


def test_several_calls_are_found_in_their_order() -> None:
    text = "<function=a></function>\n<function=b></function>"
    leaks = leaks_in(text)
    assert [leak.name for leak in leaks] == ["a", "b"]
    assert is_last(text, leaks)


def test_backticks_inside_a_call_quote_nothing() -> None:
    text = '<tool_call>{"name": "write", "arguments": {"text": "```py\\nx\\n```"}}</tool_call>'
    assert leaks_in(text)[0].arguments == {"text": "```py\nx\n```"}


def test_an_id_that_holds_no_name_leaves_the_call_without_one() -> None:
    (leak,) = leaks_in(SECTION.format(id="call_9ab3", args='{"name": "list_files", "path": "/home"}'))
    assert (leak.name, leak.variant, leak.complete) == ("", "no_tool_name", True)


def test_spaces_between_control_tokens_are_a_variant() -> None:
    (leak,) = leaks_in(K3.replace("<|", " <|").replace("|>", "|> "))
    assert leak.variant == "spaced"


CALL = '<tool_call>{"name": "run", "arguments": {"cmd": "ls"}}</tool_call>'


def test_a_last_and_complete_call_of_an_offered_tool_is_recovered() -> None:
    (call,) = recoverable(Reply(text=f"I look. {CALL}\n"), {"run"}, "content")
    assert (call.name, call.arguments) == ("run", LS)


@pytest.mark.parametrize(
    ("reply", "offered"),
    [
        (Reply(text=CALL), {"read"}),
        (Reply(text=CALL), None),
        (Reply(text=f"{CALL} and more"), {"run"}),
        (Reply(text=CALL[:-5]), set()),
        (Reply(text=CALL, calls=(RawCall("1", "run", "{}"),)), {"run"}),
        (Reply(text=f"`{CALL}`"), {"run"}),
        (Reply(text=f"It says:\n> {CALL}"), {"run"}),
        (Reply(text='<tool_call>{"name": "run", "arguments": {"cmd": "l'), {"run"}),
        (Reply(text=f"{CALL}\n<function=other></function>"), {"run"}),
    ],
)
def test_nothing_else_is_recovered(reply: Reply, offered: set[str] | None) -> None:
    assert recoverable(reply, offered, "content") == ()


def test_a_call_in_reasoning_is_recovered_only_when_nothing_was_said() -> None:
    assert [call.name for call in recoverable(Reply(thinking=CALL), {"run"}, "reasoning")] == ["run"]
    assert recoverable(Reply(text="Done.", thinking=CALL), {"run"}, "reasoning") == ()
    assert recoverable(Reply(thinking=CALL), {"run"}, "content") == ()
    assert recoverable(Reply(thinking=f"{CALL} No, wait."), {"run"}, "reasoning") == ()


PIECES = [
    *(text for _, text in DIALECTS),
    "<",
    ">",
    "`",
    "```",
    "\n",
    "\n\n",
    '{"',
    "}",
    "[",
    "x",
    "</",
    "|",
    "DSML",
    "…",
]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join))
def test_any_text_can_be_read_and_calls_stand_in_it_one_after_the_other(text: str) -> None:
    leaks = leaks_in(text)
    edges = [edge for leak in leaks for edge in (leak.start, leak.end)]
    assert all(0 <= edge <= len(text) for edge in edges)
    assert sorted(edges) == edges or len({(leak.start, leak.end) for leak in leaks}) < len(leaks)


@pytest.mark.parametrize(
    "unit",
    [
        "<tool_call>",
        '<tool_call>{"name":"a","arguments":"',
        '[TOOL_CALLS]a{"x":',
        "<function=a><parameter=b>",
        '<|tool_call_begin|>a<|tool_call_argument_begin|>{"',
        "<｜DSML｜",
        "```\n```x\n",
        "`\n\n``",
        'Action: a {"b":\n',
        "{",
        "<|channel|> to=",
    ],
)
def test_a_megabyte_of_openings_is_read(unit: str) -> None:
    # A time quadratic in the text would keep this from ever ending.
    assert isinstance(leaks_in(unit * (1_000_000 // len(unit))), tuple)

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.axes import levels
from harness_eval.errors import ConfigError
from harness_eval.harness import Harness, make_harness
from harness_eval.reference.skills import Call
from harness_eval.reference.turns import Turn
from harness_eval.reference.ways import fits
from harness_eval.reference.wire import spoken
from harness_eval.reference.writing import utter
from harness_eval.types import ToolCall

from .conversation import reply_of

DIALECTS = {
    "native": "native",
    "native-single": "native",
    "worked-completion": "command-line",
    "worked-json-text": "json-text",
    "worked-fenced-bash": "fenced-bash",
}
PROTOCOLS = list(levels("protocol"))
BARE = {"fenced-bash", "worked-fenced-bash", "worked-completion"}
HARD = "if a < b && c > \"d\":\n\tprint('{x}\\n')  # é ｜ $HOME\n\n"
VALUES = ["plain", HARD, "two\nlines\n", '{"tool": "x"}', "<tool_call>{}</tool_call>", "// no comment", ""]


def harness_of(protocol: str) -> Harness:
    try:
        return make_harness({"name": "x", "protocol": protocol, "toolset": "camel-case"}, "x")
    except ConfigError:
        return make_harness({"name": "x", "protocol": protocol}, "x")


def decoded(protocol: str, turn: Turn) -> Any:
    dialect = DIALECTS.get(protocol, protocol)
    return harness_of(protocol).decode(reply_of(spoken(utter(turn, dialect), {})))


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("protocol", [p for p in PROTOCOLS if p not in BARE])
def test_a_call_arrives_exactly_as_it_was_meant(protocol: str, value: str) -> None:
    arguments = {"filePath": "a.txt", "oldString": value, "newString": HARD, "replaceAll": True}
    action = decoded(protocol, Turn("work", "Step 1 of 2: I edit.", "", Call("edit", arguments)))
    assert action.calls == (ToolCall(action.calls[0].id, "edit", arguments),)
    assert action.malformed == ()
    assert action.text == "Step 1 of 2: I edit."


def test_a_command_arrives_in_a_fenced_block() -> None:
    action = decoded("fenced-bash", Turn("work", "I look.", "", Call("bash", {"command": "cat <<'E'\nx\nE"})))
    assert [dict(call.arguments) for call in action.calls] == [{"command": "cat <<'E'\nx\nE"}]


def test_a_command_line_says_its_text_in_a_comment() -> None:
    action = decoded("worked-completion", Turn("work", "I look.\nNow.", "", Call("bash", {"command": "ls"})))
    assert [dict(call.arguments) for call in action.calls] == [{"command": "ls # I look. Now."}]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_words_alone_are_no_call(protocol: str) -> None:
    action = decoded(protocol, Turn("words", 'Step 1 of 2 (a="{}"): I plan.', "I think."))
    assert (action.calls, action.malformed) == ((), ())
    assert action.text == 'Step 1 of 2 (a="{}"): I plan.'


@pytest.mark.parametrize("mark", ["</function>", "</parameter>", "<｜DSML｜invoke", "```"])
@pytest.mark.parametrize("protocol", [p for p in PROTOCOLS if p not in BARE])
def test_what_a_dialect_cannot_carry_is_known_beforehand(protocol: str, mark: str) -> None:
    call = Call("write", {"filePath": "a", "content": f"x\n{mark}\ny"})
    carried = harness_of(protocol).protocol.carries(ToolCall("", call.name, call.arguments))
    assert fits(call, DIALECTS.get(protocol, protocol)) == carried

"""What each wire makes of the requests that harnesses really send."""

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.gateway.chat import Chat
from harness_eval.gateway.messages import Messages
from harness_eval.gateway.responses import Responses
from harness_eval.gateway.wires import Asked
from harness_eval.types import RawCall, Reply
from tests.gateway.front import PARAMETERS

IMAGE = "data:image/png;base64,AAAA"


def chat(*messages: Any, **more: Any) -> Asked:
    return Chat().read({"model": "m", "messages": list(messages) or [{"role": "user", "content": "go"}], **more})


def responses(*items: Any, **more: Any) -> Asked:
    return Responses().read({"model": "m", "input": list(items) or "go", **more})


def messages(*given: Any, **more: Any) -> Asked:
    return Messages().read({"model": "m", "messages": list(given) or [{"role": "user", "content": "go"}], **more})


def roles(asked: Asked) -> list[str]:
    return [message["role"] for message in asked.request.messages]


def test_a_developer_is_the_system_and_parts_of_a_message_stay_parts() -> None:
    parts = [{"type": "text", "text": "see", "cache_control": {}}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    asked = chat({"role": "developer", "content": "be good"}, {"role": "user", "content": parts})
    system, user = asked.request.messages
    assert system == {"role": "system", "content": "be good"}
    assert user["content"] == [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": IMAGE}}]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_earlier_reasoning_is_read_under_either_name(key: str) -> None:
    asked = chat({"role": "user", "content": "go"}, {"role": "assistant", "content": "ok", key: "hm"})
    assert asked.request.messages[1] == {"role": "assistant", "content": "ok", "reasoning_content": "hm"}


def test_what_is_asked_of_sampling_is_recorded_and_not_sent_on() -> None:
    asked = chat(temperature=0.2, max_tokens=9, stop="END", parallel_tool_calls=False, user="me", surprise=1)
    assert asked.settings == {"temperature": 0.2, "max_tokens": 9}
    request = asked.request
    assert (request.max_tokens, request.seed, request.stop, request.parallel) == (None, None, ("END",), False)
    assert asked.untranslated == ("the key surprise of the request",)


@pytest.mark.parametrize(
    ("choice", "offered", "told"), [("auto", 1, 0), ("none", 0, 1), ("required", 1, 1), ({"type": "function"}, 1, 1)]
)
def test_a_tool_choice_is_told_unless_it_is_left_to_the_model(choice: Any, offered: int, told: int) -> None:
    tool = {"type": "function", "function": {"name": "bash", "parameters": PARAMETERS}}
    asked = chat(tools=[tool], tool_choice=choice)
    assert (len(asked.request.tools), len(asked.untranslated)) == (offered, told)


def test_tools_that_only_a_server_can_run_are_told() -> None:
    assert chat(tools=[{"type": "web_search"}]).untranslated == ("a tool of type web_search",)
    assert responses(tools=[{"type": "local_shell"}]).untranslated == ("a tool of type local_shell",)
    served = {"type": "web_search_20250305", "name": "web_search"}
    assert messages(tools=[served]).untranslated == ("a tool of type web_search_20250305",)


def test_a_tool_of_a_namespace_is_offered_under_a_name_of_its_own_and_called_back_by_both() -> None:
    inner = {"type": "function", "name": "spawn", "description": "Start one.", "parameters": PARAMETERS}
    asked = responses(tools=[{"type": "namespace", "name": "agents", "description": "Helpers.", "tools": [inner]}])
    (tool,) = asked.request.tools
    assert tool["function"]["name"] == "agents__spawn"
    assert tool["function"]["description"] == "Helpers.\n\nStart one."
    (item,) = Responses().whole(Reply(calls=(RawCall("c", "agents__spawn", "{}"),)), asked)["output"]
    assert (item["type"], item["namespace"], item["name"]) == ("function_call", "agents", "spawn")
    again = responses({"role": "user", "content": "go"}, item)
    assert again.request.messages[1]["tool_calls"][0]["function"]["name"] == "agents__spawn"


def test_a_free_form_tool_is_a_function_with_one_text_and_is_called_back_as_what_it_is() -> None:
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: patch"}
    asked = responses(tools=[{"type": "custom", "name": "apply_patch", "description": "Edit.", "format": grammar}])
    function = asked.request.tools[0]["function"]
    assert list(function["parameters"]["properties"]) == ["input"]
    assert function["description"].endswith("lark grammar:\nstart: patch")
    calls = (RawCall("c", "apply_patch", '{"input": "a\\nb"}'), RawCall("d", "apply_patch", "no json"))
    first, second = Responses().whole(Reply(calls=calls), asked)["output"]
    assert (first["type"], first["input"], second["input"]) == ("custom_tool_call", "a\nb", "no json")
    output = {"type": "custom_tool_call_output", "call_id": "c", "output": "done"}
    asked = responses({"role": "user", "content": "go"}, first, output)
    assert asked.request.messages[1]["tool_calls"][0]["function"]["arguments"] == '{"input": "a\\nb"}'
    assert asked.request.messages[2] == {"role": "tool", "tool_call_id": "c", "content": "done"}


def test_results_stand_behind_their_calls_in_whatever_order_items_come() -> None:
    def call(made: str) -> dict[str, str]:
        return {"type": "function_call", "call_id": made, "name": "bash", "arguments": "{}"}

    def output(made: str) -> dict[str, str]:
        return {"type": "function_call_output", "call_id": made, "output": f"of {made}"}

    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    note = {"role": "user", "content": "by the way"}
    asked = responses({"role": "user", "content": "go"}, thought, call("a"), call("b"), note, output("b"), output("a"))
    assert roles(asked) == ["user", "assistant", "tool", "tool", "user"]
    assert [each.get("tool_call_id") for each in asked.request.messages[2:4]] == ["b", "a"]
    asked = responses({"role": "user", "content": "go"}, call("a"), thought, call("b"), output("a"), output("b"))
    assert roles(asked) == ["user", "assistant", "tool", "assistant", "tool"]


def test_reasoning_comes_back_from_our_own_seal_from_text_or_from_a_summary() -> None:
    (sealed,) = Responses().whole(Reply(thinking="all of it"), responses())["output"]
    only_seal = {**sealed, "summary": []}
    text = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "in words"}]}
    foreign = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    said = {"role": "user", "content": "go"}
    asked = responses(said, only_seal, said, text, said, foreign)
    found = [each.get("reasoning_content") for each in asked.request.messages if each["role"] == "assistant"]
    assert found == ["all of it", "in words"]
    assert asked.untranslated == ("reasoning that somebody else has encrypted",)


def test_a_response_that_should_be_remembered_is_refused() -> None:
    for key in ("previous_response_id", "conversation"):
        with pytest.raises(ValueError, match=f"{key}: no response is stored here"):
            responses(**{key: "resp_1"})


def test_a_system_message_may_stand_among_messages() -> None:
    asked = messages({"role": "user", "content": "go"}, {"role": "system", "content": "be brief"}, system="be good")
    assert [(each["role"], each["content"]) for each in asked.request.messages] == [
        ("system", "be good"),
        ("user", "go"),
        ("system", "be brief"),
    ]


def test_results_of_messages_stand_first_and_say_by_themselves_that_they_failed() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    blocks = [
        {"type": "text", "text": "and then?"},
        {"type": "tool_result", "tool_use_id": "a", "content": "no such file", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b", "content": "Error: none", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "image", "source": source}]},
    ]
    uses = [{"type": "tool_use", "id": made, "name": "bash", "input": {}} for made in "abc"]
    asked = messages(
        {"role": "user", "content": "go"}, {"role": "assistant", "content": uses}, {"role": "user", "content": blocks}
    )
    assert roles(asked) == ["user", "assistant", "tool", "tool", "tool", "user", "user"]
    shown = [each["content"] for each in asked.request.messages[2:]]
    assert shown[:3] == ["Error: no such file", "Error: none", "(an image follows)"]
    assert shown[3:] == [[{"type": "image_url", "image_url": {"url": IMAGE}}], "and then?"]


def test_reasoning_that_others_have_hidden_is_told() -> None:
    hidden = {"type": "redacted_thinking", "data": "x"}
    asked = messages({"role": "user", "content": "go"}, {"role": "assistant", "content": [hidden]})
    assert asked.untranslated == ("reasoning that somebody else has encrypted",)


def test_settings_of_messages_are_recorded() -> None:
    thinking = {"type": "enabled", "budget_tokens": 9}
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    asked = messages(
        thinking=thinking, max_tokens=5, stop_sequences=["END"], tool_choice=choice, metadata={"user_id": "u"}
    )
    assert asked.settings == {"thinking": thinking, "max_tokens": 5}
    assert (asked.request.stop, asked.request.parallel, asked.untranslated) == (("END",), False, ())

"""A harness drafted from what an agent was seen to send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness_eval.dialogue import requests_of
from harness_eval.draft import draft_harness
from harness_eval.errors import ConfigError
from harness_eval.harness import load_harness, make_harness


def _log(path: Path, requests: list[Any]) -> Path:
    path.write_text("".join(json.dumps({"request": request, "response": {}}) + "\n" for request in requests))
    return path


def _recorded(name: str) -> list[Any]:
    return [{"messages": list(r.messages), "tools": list(r.tools)} for r in requests_of(load_harness(name))]


@pytest.mark.parametrize("name", ["claude-code-like", "kimi-code-like", "codex-like", "pi-like", "opencode-like"])
def test_a_draft_has_the_tools_and_roles_of_the_recorded_harness(tmp_path: Path, name: str) -> None:
    draft = draft_harness(_log(tmp_path / "wire.jsonl", _recorded(name)))
    drafted, original = make_harness(draft.data, "draft"), load_harness(name)
    assert [tool.name for tool in drafted.tools] == [tool.name for tool in original.tools]
    for one, other in zip(drafted.toolset.work_tools(), original.toolset.work_tools(), strict=True):
        assert one.operation == other.operation
        roles = {key: p.role for key, p in other.parameters.items() if p.required and p.role}
        assert {key: one.parameters[key].role for key in roles} == roles


def test_a_draft_takes_over_prompt_stop_rule_and_thinking(tmp_path: Path) -> None:
    draft = draft_harness(_log(tmp_path / "wire.jsonl", _recorded("openhands-native")))
    drafted = make_harness(draft.data, "draft")
    assert drafted.stopping.label == "submit-tool(tool=finish)"
    assert drafted.thinking.label == "keep"
    assert load_harness("openhands-native").system in drafted.system


def test_a_draft_is_a_yaml_file_that_loads_and_says_what_is_open(tmp_path: Path) -> None:
    draft = draft_harness(_log(tmp_path / "wire.jsonl", _recorded("goose-like")))
    path = tmp_path / "draft.yaml"
    path.write_text(draft.yaml())
    assert load_harness(path).tools
    assert path.read_text().startswith("# to decide: truncation")


def test_anthropic_messages_are_understood(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    tool = {"name": "Bash", "description": "Run it.", "input_schema": schema}
    request = {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "tools": [tool],
    }
    draft = draft_harness(_log(tmp_path / "wire.jsonl", [request]))
    assert draft.data["prompt"]["text"] == "Be brief."
    assert draft.data["toolset"]["tools"][0]["parameters"]["command"]["role"] == "command"


def test_a_tool_that_does_nothing_known_is_left_out_and_named(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "weather", "description": "Tell it.", "parameters": {}}}
    request = {"messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
    draft = draft_harness(_log(tmp_path / "wire.jsonl", [request]))
    assert "toolset" not in draft.data
    assert any("weather" in question for question in draft.open_questions)


@pytest.mark.parametrize(("text", "message"), [("", "no request"), ("{nonsense\n", "line 1 is not JSON")])
def test_a_file_that_is_no_wire_log_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wire.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        draft_harness(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        draft_harness(tmp_path / "none.jsonl")


ODD = [
    {"messages": [{"role": "user"}], "tools": "x"},
    {"messages": [{"role": "user", "content": [{"type": 5}]}], "tools": [{"function": 5}, 7]},
    {"messages": [{"role": "assistant", "content": 7}], "tools": [{"function": {"name": 7, "parameters": 5}}]},
    {
        "messages": [{"role": "user", "content": "a"}],
        "tools": [{"name": "bash", "parameters": {"properties": {"a": 5, "command": {"type": ["string"], "enum": 5}}}}],
    },
]


@pytest.mark.parametrize("request_body", ODD, ids=range(len(ODD)))
def test_odd_parts_of_a_recorded_request_are_passed_over(tmp_path: Path, request_body: dict[str, object]) -> None:
    log = tmp_path / "odd.jsonl"
    log.write_text(json.dumps(request_body) + "\n")
    assert draft_harness(log).data["name"] == "odd"

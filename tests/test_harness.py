"""Harness files: what they settle, what they refuse, what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.dialogue import requests_of
from harness_eval.errors import ConfigError
from harness_eval.harness import CANONICAL, canonical, load_harness, make_harness
from harness_eval.types import View

NOTHING = View("system", "task")


def test_the_canonical_harness_has_the_canonical_level_on_every_axis() -> None:
    assert {axis: level.level_name() for axis, level in canonical().levels.items()} == CANONICAL


def test_axes_that_a_file_leaves_out_are_canonical(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("truncation: {level: head, cap: 500}\n")
    harness = load_harness(path)
    assert harness.name == "mine"
    assert harness.labels["truncation"] == "head(cap=500)"
    assert harness.labels["context"] == "full"


def test_a_text_protocol_settles_the_results_that_were_not_chosen() -> None:
    assert make_harness({"name": "x", "protocol": "json-text"}, "x").labels["results"] == "user-message"


def test_a_fenced_protocol_settles_toolset_and_stopping() -> None:
    labels = make_harness({"name": "x", "protocol": "fenced-bash"}, "x").labels
    assert (labels["toolset"], labels["stopping"]) == ("shell-only", "sentinel")


def test_a_chosen_contradiction_is_refused_with_its_reason() -> None:
    with pytest.raises(ConfigError, match="every turn must hold a command"):
        make_harness({"name": "x", "protocol": "fenced-bash", "stopping": "no-call"}, "x.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("protocl: native", "protocl: unknown key; did you mean 'protocol'"),
        ("truncation: hed", "unknown level 'hed'; did you mean 'head'"),
        ("truncation: {level: head, cp: 1}", "cp: unknown key; did you mean 'cap'"),
        ("truncation: {level: head, cap: many}", "cap"),
        ("context: {level: summary, at: 2}", "at"),
        ("toolset: {level: custom}", "tools: is required"),
        ("- a list", "must hold a mapping"),
        ("name: a/b", "without '/'"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line_that_names_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_harness(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'canonical'"):
        load_harness("canonicl")


def test_a_custom_toolset_names_its_own_tools() -> None:
    spec = {
        "level": "custom",
        "tools": [
            {
                "name": "Terminal",
                "operation": "shell",
                "description": "Run.",
                "parameters": {"keys": {"role": "command", "description": "What to run."}},
            }
        ],
    }
    harness = make_harness({"name": "x", "toolset": spec}, "x")
    assert [tool.name for tool in harness.tools] == ["Terminal"]
    assert harness.encode(NOTHING).tools[0]["function"]["parameters"]["required"] == ["keys"]


def test_an_unknown_operation_of_a_custom_tool_suggests_the_nearest() -> None:
    tool = {"name": "T", "operation": "shel", "description": "Run."}
    with pytest.raises(ConfigError, match="did you mean 'shell'"):
        make_harness({"name": "x", "toolset": {"level": "custom", "tools": [tool]}}, "x.yaml")


def test_native_tools_travel_in_the_request_and_others_in_the_prompt() -> None:
    native, text = canonical(), make_harness({"name": "x", "protocol": "json-text"}, "x")
    assert "str_replace_editor" not in native.system
    assert "str_replace_editor" in text.system
    assert native.encode(NOTHING).tools
    assert not text.encode(NOTHING).tools


@pytest.mark.parametrize("value", [None, True, 3])
def test_a_level_that_is_no_name_is_refused_in_one_line(value: object) -> None:
    with pytest.raises(ConfigError, match="errors: a level's name or a mapping is wanted"):
        make_harness({"name": "x", "errors": value}, "x.yaml")


def test_a_number_that_json_readers_would_change_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"truncation\.middle\.cap: 1000000000000000000000000 is too large"):
        make_harness({"name": "vast", "truncation": {"level": "middle", "cap": 10**24}}, "vast")


def test_a_toolset_without_a_shell_has_a_dialogue() -> None:
    parameters = {"path": {"role": "path", "description": "Which file."}}
    tool = {"name": "look", "operation": "read", "description": "Reads.", "parameters": parameters}
    harness = make_harness({"name": "reader", "toolset": {"level": "custom", "tools": [tool]}}, "reader")
    assert requests_of(harness)

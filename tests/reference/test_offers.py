from __future__ import annotations

from typing import Any

import pytest

from harness_eval.axes import levels, make_level
from harness_eval.axes.tool import Tool
from harness_eval.axes.toolset import Toolset
from harness_eval.harness import make_harness
from harness_eval.reference.offers import described_offers, native_offers
from harness_eval.reference.skills import skills_of

from .conversation import tools_of

NOTATIONS = list(levels("description"))
TOOLSETS = [name for name, kind in levels("toolset").items() if kind.model_fields.keys().isdisjoint({"tools"})]
PLANNING = ["unplanned", "todo", "plan-field"]


def amended(toolset: str, planning: str) -> tuple[Tool, ...]:
    choice = {"toolset": toolset, "planning": planning, "stopping": "submit-tool", "distractors": "few"}
    return make_harness({"name": "x", **choice}, "x").tools


def rendered(notation: str, tools: tuple[Tool, ...]) -> str:
    description: Any = make_level("description", notation)
    return f"You are an agent.\n\n{description.render(tools)}\n\nCall them wisely."


@pytest.mark.parametrize("planning", PLANNING)
@pytest.mark.parametrize("toolset", TOOLSETS)
@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_notation_tells_names_descriptions_and_what_is_required(
    notation: str, toolset: str, planning: str
) -> None:
    tools = amended(toolset, planning)
    read = {offer.name: offer for offer in described_offers(rendered(notation, tools))}
    assert list(read) == [tool.name for tool in tools]
    for tool in tools:
        offer = read[tool.name]
        assert offer.description == tool.description
        told = {p.name: (p.required, p.choices, p.description.partition(" One of:")[0]) for p in offer.parameters}
        assert told == {p.name: (p.required, p.choices, p.description) for p in tool.parameters}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_notation_tells_lists_from_texts(notation: str) -> None:
    read = {offer.name: offer for offer in described_offers(rendered(notation, amended("shell-only", "todo")))}
    assert [parameter.type for parameter in read["todo_write"].parameters] == ["array"]
    assert [parameter.type for parameter in read["bash"].parameters] == ["string"]


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_native_tools_are_read_like_described_ones(toolset: str) -> None:
    native = native_offers(tools_of({"toolset": toolset, "planning": "todo"}))
    described = described_offers(rendered("json-schema", amended(toolset, "todo")))
    assert native == tuple(offer for offer in described if offer.name in {each.name for each in native})


def test_a_prompt_without_tools_offers_none() -> None:
    assert described_offers("You are an agent. The tool of your choice is thought.\n{not json}\n{}") == ()


EXPECTED = {
    "shell-and-editor": {"shell": "bash", "editor": "str_replace_editor"},
    "shell-only": {"shell": "bash"},
    "pascal-case": {"shell": "Bash", "read": "Read", "write": "Write", "replace": "Edit"},
    "snake-case": {"shell": "run_shell_command", "read": "read_file", "write": "write_file", "replace": "replace"},
    "camel-case": {"shell": "bash", "read": "read", "write": "write", "replace": "edit"},
    "path-old-text": {"shell": "bash", "read": "read", "write": "write", "replace": "edit"},
    "verb-noun": {"shell": "execute_command", "read": "read_file", "write": "write_to_file", "patch": "apply_diff"},
    "apply-patch": {"shell": "exec_command", "patch": "apply_patch"},
    "opaque-aliases": {"shell": "t1", "read": "t2", "write": "t3", "replace": "t4"},
}


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("planning", PLANNING)
@pytest.mark.parametrize("toolset", EXPECTED)
def test_what_a_tool_is_for_is_understood_from_its_description(toolset: str, planning: str, notation: str) -> None:
    skills = skills_of(described_offers(rendered(notation, amended(toolset, planning))))
    found = {kind: skill.offer.name for kind, skill in skills.items() if kind != "other"}
    helpers = {"submit": "submit"} | ({"todo": "todo_write"} if planning == "todo" else {})
    assert found == EXPECTED[toolset] | helpers


def test_every_toolset_is_expected_here() -> None:
    assert set(EXPECTED) == {name for name in TOOLSETS if isinstance(make_level("toolset", name), Toolset)}


@pytest.mark.parametrize("planning", PLANNING)
def test_none_of_many_unrelated_tools_is_taken_for_a_useful_one(planning: str) -> None:
    crowd = native_offers(tools_of({"toolset": "opaque-aliases", "distractors": "crowd", "planning": planning}))
    kinds = {kind: skill.offer.name for kind, skill in skills_of(tuple(reversed(crowd))).items() if kind != "other"}
    todo = {"todo": "todo_write"} if planning == "todo" else {}
    assert kinds == EXPECTED["opaque-aliases"] | todo

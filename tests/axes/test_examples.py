"""Tasks that were worked before: how each protocol shows them, and that none of it is taken for the trial's own."""

from __future__ import annotations

import pytest

from harness_eval.axes.protocol.examples import EXAMPLES
from harness_eval.bundled import folder
from harness_eval.harness import Harness, make_harness
from harness_eval.reference.reading import read_request
from harness_eval.reference.transcript import read_prompt
from harness_eval.types import Action, Observation, Request, Step, ToolCall, View

PAIRS = {"worked-json-text": "json-text", "worked-fenced-bash": "fenced-bash"}
COMMANDS = [command for _, commands in EXAMPLES for command in commands]


def harness(protocol: dict[str, object]) -> Harness:
    return make_harness({"name": "x", "toolset": "shell-only", "protocol": protocol}, "x")


def asked(one: Harness, *commands: str) -> Request:
    name = one.tools[0].name
    steps = [
        Step(Action("", None, (ToolCall("a", name, {"command": c}),)), (Observation("seen", 4),)) for c in commands
    ]
    return one.encode(View(one.system, "Make the file answer.", tuple(steps)))


@pytest.mark.parametrize("name", PAIRS)
def test_worked_tasks_come_as_calls_that_can_be_read_and_take_turns_with_the_user(name: str) -> None:
    one = harness({"level": name})
    messages = asked(one).messages
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * len(COMMANDS), "user"]
    read = [one.protocol.read(m["content"], one.tools) for m in messages if m["role"] == "assistant"]  # type: ignore[attr-defined]
    assert [call.arguments["command"] for reading in read for call in reading.calls] == COMMANDS
    assert messages[-1]["content"].endswith("Next task: Make the file answer.")


@pytest.mark.parametrize("name", PAIRS)
def test_without_worked_tasks_the_conversation_begins_with_the_task(name: str) -> None:
    roles = [(message["role"], message["content"]) for message in asked(harness({"level": PAIRS[name]})).messages]
    assert roles[1:] == [("user", "Make the file answer.")]


@pytest.mark.parametrize("name", PAIRS)
def test_the_scripted_agent_takes_no_worked_task_for_its_own(name: str) -> None:
    request = asked(harness({"level": name}), "ls")
    situation = read_request({"messages": list(request.messages)})
    assert situation.task == "Make the file answer."
    assert len(situation.turns) == 1
    assert situation.turns[0].results


@pytest.mark.parametrize("blank", [False, True])
def test_the_scripted_agent_reads_a_prompt_of_worked_tasks_however_it_ends(blank: bool) -> None:
    prompt = asked(harness({"level": "worked-completion", "trailing_blank": blank})).prompt
    assert prompt.endswith("\n$ " if blank else "\n$")
    situation = read_prompt({"prompt": prompt})
    assert situation.task == "Make the file answer."
    assert situation.dialect == "command-line"
    assert not situation.turns


def test_no_bundled_task_is_one_of_the_worked_ones() -> None:
    instructions = [path.read_text() for path in folder("tasks").glob("*/*/instruction.md")]
    assert not [task for task, _ in EXAMPLES if any(task in instruction for instruction in instructions)]

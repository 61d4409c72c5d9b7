"""What real harnesses do to a conversation, and the scripted agent understands all the same."""

from __future__ import annotations

import pytest

from harness_eval.reference.offers import native_offers
from harness_eval.reference.plan import Plan, PlanStep
from harness_eval.reference.player import Player
from harness_eval.reference.reading import read_request
from harness_eval.reference.results import unframed
from harness_eval.reference.scripts import Script, Scripts
from harness_eval.reference.skills import skills_of, todo_item
from harness_eval.types import Json

TASK = "Find the port in app.log."
STEPS = (
    PlanStep("I read the log.", "read", {"path": "logs/app.log"}, {"port": "port ([0-9]+)"}),
    PlanStep("I write ${port} down.", "run", {"command": "echo ${port} > answer.txt"}),
)
PLAYER = Player(Scripts([Script("a task", TASK, Plan(STEPS, "Done."))]))
PLAN_NOTE = "<system-reminder>Do NOT call AskUser; ExitPlanMode approves a plan at once.</system-reminder>"


def tool(name: str, about: str, required: tuple[str, ...], **properties: Json) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}


SHELL = tool("Bash", "Runs a bash command.", ("command",), command={"type": "string", "description": "The command"})
READ = tool(
    "Read",
    "Reads a file.",
    ("file_path",),
    file_path={"type": "string", "description": "The absolute path to the file to read"},
)
GLOB = tool(
    "Glob",
    "Find files by pattern; shows matching files.",
    ("pattern",),
    pattern={"type": "string", "description": "The glob pattern"},
    path={"type": "string", "description": "The directory to search in."},
)
SKILL = tool(
    "Skill",
    "Execute a skill. When asked for something, see whether a skill helps to complete the task. " + "More words. " * 40,
    ("skill",),
    skill={"type": "string", "description": "The name of the skill."},
)


def asked(*messages: Json, tools: tuple[Json, ...] = (GLOB, READ, SKILL, SHELL)) -> Json:
    return {"messages": list(messages), "tools": list(tools)}


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def test_a_task_is_found_behind_words_about_the_machine() -> None:
    said = PLAYER.reply(asked(user("<environment_context>bash, 2031</environment_context>"), user(TASK)))
    assert [call.name for call in said.calls] == ["Read"]


def test_what_a_harness_whispers_asks_for_no_plan() -> None:
    assert PLAYER.reply(asked(user(TASK), user(PLAN_NOTE))).calls
    assert read_request(asked(user(TASK), user("Write a plan first. Call no tool."))).asks_plan


def test_a_path_is_absolute_where_it_must_be_and_the_folder_is_known() -> None:
    system = {"role": "system", "content": "# Environment\nPrimary working directory: /srv/app\nPlatform: linux"}
    (call,) = PLAYER.reply(asked(system, user(TASK))).calls
    assert call.arguments == {"file_path": "/srv/app/logs/app.log"}
    (call,) = PLAYER.reply(asked(user(TASK))).calls
    assert call.arguments == {"file_path": "logs/app.log"}


def test_a_search_is_no_way_to_read_and_a_skill_no_way_to_end() -> None:
    skills = skills_of(native_offers([GLOB, SKILL, READ, SHELL]))
    assert skills["read"].offer.name == "Read"
    assert "submit" not in skills


def test_a_tool_that_speaks_of_plans_at_length_keeps_no_list() -> None:
    items = {"type": "array", "items": {"type": "object"}, "description": "What to hand over"}
    spawn = tool("spawn_agent", "Starts an agent. " + "Make a plan before. " * 30, ("items",), items=items)
    assert "todo" not in skills_of(native_offers([spawn]))


def test_a_list_of_things_to_do_has_the_fields_and_words_that_its_tool_wants() -> None:
    item = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "status": {"type": "string", "enum": ["pending", "in_progress", "done"]},
            "priority": {"type": "string"},
        },
        "required": ["title", "status", "priority"],
    }
    todos = {"type": "array", "items": item, "description": "The updated todo list"}
    skill = skills_of(native_offers([tool("Todo", "Keeps a todo list.", ("todos",), todos=todos)]))["todo"]
    assert todo_item(skill, "Look", True) == {"title": "Look", "status": "done", "priority": "medium"}
    assert todo_item(skill, "Look", False)["status"] == "pending"


@pytest.mark.parametrize(
    ("text", "output", "failed"),
    [
        ("Command: ls\nDirectory: (root)\nOutput: a\nb\nError: (none)\nExit Code: 0\nSignal: (none)", "a\nb", False),
        ("Command: false\nDirectory: (root)\nOutput: \nError: (none)\nExit Code: 1\nSignal: (none)", "", True),
        ("Chunk ID: 3\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\na: 1\nb\n", "a: 1\nb\n", False),
        ("port 80\n<system-reminder>Be brief.</system-reminder>", "port 80", None),
        ("Output: of a program that speaks so itself", "Output: of a program that speaks so itself", None),
    ],
)
def test_the_output_of_a_command_is_found_among_what_is_said_of_it(text: str, output: str, failed: bool | None) -> None:
    result = unframed(text)
    assert (result.text.rstrip("\n"), result.failed) == (output.rstrip("\n"), failed)


def test_calls_that_are_shown_as_text_have_results() -> None:
    place = "Step 1 of 2: I read the log."
    said = {"role": "assistant", "content": f"{place}\nCalling tools:\n[{{'name': 'Read', 'arguments': {{}}}}]"}
    (call,) = PLAYER.reply(asked(user(TASK), said, user("Observation:\nport 8080"))).calls
    assert call.arguments == {"command": "echo 8080 > answer.txt"}


def test_the_word_that_ends_the_work_may_stand_beside_the_task() -> None:
    assert read_request(asked(user(f"{TASK}\nEnd with: echo COMPLETE_THE_TASK"))).sentinel == "COMPLETE_THE_TASK"

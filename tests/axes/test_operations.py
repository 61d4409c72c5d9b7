"""What tools do, in a real box: whatever a model passes, it gets an answer and never breaks the trial."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings

from harness_eval.axes import levels, make_level
from harness_eval.axes.desk import Desk
from harness_eval.axes.tool import Outcome, Parameter, Tool
from harness_eval.axes.toolset import Toolset
from harness_eval.axes.toolset.spec import OPERATIONS
from harness_eval.harness import load_harness, named_harnesses
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import BoxSpec
from tests.axes.strategies import calls

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with provider("local").open(BoxSpec("test")) as sandbox:
        yield Desk(sandbox, command_timeout=5)


async def do(desk: Desk, operation: str, **arguments: Any) -> Outcome:
    return await OPERATIONS[operation](desk, arguments)


async def test_a_shell_tells_output_exit_code_and_time_out(desk: Desk) -> None:
    assert (await do(desk, "shell", command="echo a; exit 3")).text == "a\n[exit code 3]"
    assert (await do(desk, "shell", command=["echo", "a b"])).text == "a b"
    assert (await do(desk, "shell", command="true")).text == "[no output]"
    late = await do(desk, "shell", command="echo a; sleep 9", milliseconds=300)
    assert late.failed
    assert late.text.startswith("a\n[timed out")


async def test_commands_of_a_batch_run_in_order(desk: Desk) -> None:
    done = await do(desk, "shells", commands=[{"keystrokes": "echo a > f\n"}, {"keystrokes": "cat f"}])
    assert done.text == "[no output]\na"


async def test_reading_shows_the_lines_that_were_asked_for(desk: Desk) -> None:
    await do(desk, "write", path="d/f", text="a\nb\nc\n")
    assert (await do(desk, "read", path="d/f", first=2, count=1, numbering="tab")).text == "     2\tb"
    assert (await do(desk, "read", path="d/f", numbering="colon")).text == "1: a\n2: b\n3: c"
    assert (await do(desk, "editor", command="view", path="d/f", range=[2])).text == "     2\tb\n     3\tc"
    assert (await do(desk, "read", path="d/f", first=9)).failed
    assert (await do(desk, "read", path="d")).failed
    assert "no such file" in (await do(desk, "read", path="none")).text


async def test_a_replacement_must_be_unique_unless_all_are_meant(desk: Desk) -> None:
    await do(desk, "write", path="f", text="x x")
    assert "2 times" in (await do(desk, "replace", path="f", old="x", new="y")).text
    assert not (await do(desk, "replace", path="f", old="x", new="y", every=True)).failed
    assert (await desk.sandbox.read("f")) == b"y y"
    assert (await do(desk, "replace", path="f", old="z", new="y")).failed
    assert (await do(desk, "replace", path="f", old="", new="y")).failed


async def test_the_editor_creates_replaces_and_inserts(desk: Desk) -> None:
    await do(desk, "editor", command="create", path="f", text="a\nc\n")
    await do(desk, "editor", command="insert", path="f", line=1, new="b")
    await do(desk, "editor", command="str_replace", path="f", old="c", new="d")
    assert (await desk.sandbox.read("f")) == b"a\nb\nd\n"
    assert (await do(desk, "editor", command="insert", path="f", line=9, new="b")).failed


PATCH = """*** Begin Patch
*** Update File: f
@@
 port = 10
-port = 1
+port = 2
*** Add File: new
+hello
*** Delete File: old
*** End Patch"""


async def test_a_patch_updates_adds_and_deletes(desk: Desk) -> None:
    await do(desk, "write", path="f", text="port = 10\nport = 1\n")
    await do(desk, "write", path="old", text="x")
    assert not (await do(desk, "patch", patch=PATCH)).failed
    assert (await desk.sandbox.read("f")) == b"port = 10\nport = 2\n"
    assert (await desk.sandbox.read("new")) == b"hello\n"
    assert (await do(desk, "read", path="old")).failed


async def test_a_patch_that_does_not_fit_changes_nothing(desk: Desk) -> None:
    await do(desk, "write", path="f", text="other\n")
    assert (await do(desk, "patch", patch=PATCH)).failed
    assert (await do(desk, "read", path="new")).failed


async def test_search_and_replace_blocks_are_a_patch_too(desk: Desk) -> None:
    await do(desk, "write", path="f", text="a\nb\n")
    blocks = "<<<<<<< SEARCH\na\n=======\nA\n>>>>>>> REPLACE"
    assert not (await do(desk, "patch", path="f", patch=blocks)).failed
    assert (await desk.sandbox.read("f")) == b"A\nb\n"


async def test_searching_finds_texts_and_files(desk: Desk) -> None:
    await do(desk, "write", path="src/a.py", text="needle\n")
    assert (await do(desk, "find-text", pattern="need.e")).text == "./src/a.py:1:needle"
    assert (await do(desk, "find-text", pattern="nothing")).text == "no match"
    assert (await do(desk, "find-files", pattern="*.py")).text == "./src/a.py"
    assert (await do(desk, "find-files", pattern="**/src/*.py")).text == "./src/a.py"
    assert (await do(desk, "list-files", path=".")).text == "src/"


async def test_a_plan_is_kept(desk: Desk) -> None:
    done = await do(desk, "plan", items=[{"step": "a", "status": "done"}, {"content": "b"}])
    assert done.text == "plan noted: 2 items, 1 done"


def _tools() -> list[Tool]:
    specs = [each for name in named_harnesses() for each in load_harness(name).tools]
    for name, kind in levels("toolset").items():
        if not kind.model_fields:
            level = make_level("toolset", name)
            assert isinstance(level, Toolset)
            specs += [spec.tool() for spec in level.work_tools()]
    return specs


TOOLS = tuple(tool for tool in _tools() if "command" not in {p.role for p in tool.parameters if not p.choices})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(call=calls(tuple(tool for tool in TOOLS if "commands" not in {p.role for p in tool.parameters})))
def test_no_call_that_fits_its_schema_breaks_a_tool(call: Any) -> None:
    tool = next(tool for tool in TOOLS if tool.name == call.name and tool.problem(call.arguments) is None)

    async def once() -> Outcome:
        async with provider("local").open(BoxSpec("test")) as sandbox:
            return await tool.call(Desk(sandbox, command_timeout=5), call.arguments)

    assert isinstance(anyio.run(once).text, str)


@pytest.mark.parametrize(
    ("kind", "items", "value"),
    [
        ("string", None, 1),
        ("integer", None, True),
        ("integer", None, "1"),
        ("boolean", None, 0),
        ("object", None, []),
        ("array", None, "ab"),
        ("array", {"type": "integer"}, [1, "2"]),
        ("array", {"type": "object"}, ["a"]),
    ],
)
def test_a_value_of_another_type_does_not_fit(kind: Any, items: Any, value: object) -> None:
    assert not Parameter("p", "", "A parameter.", kind, items=items).accepts(value)

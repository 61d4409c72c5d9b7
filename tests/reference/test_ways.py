from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.axes.patch import apply_patch_text
from harness_eval.reference.edits_as_text import patch_add, patch_update, search_and_replace, whole_lines
from harness_eval.reference.offers import Offer, Parameter, native_offers
from harness_eval.reference.shell_programs import edit_file, isolated, make_file, on_one_line, only_matches
from harness_eval.reference.skills import skills_of
from harness_eval.reference.ways import ways_to
from harness_eval.sandboxes.base import BoxSpec
from harness_eval.sandboxes.local import LocalProvider

from .conversation import tools_of

TEXT = "one\ntwo = 'x' \"y\" `z` $HOME \\n ｜\nthree\n"


def bash(command: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("text", [TEXT, "no end", "", "END_OF_FILE\n", "```\n</function>\n", "\r\n\t\n", "plain\n"])
@pytest.mark.parametrize("shape", [str, on_one_line])
def test_a_shell_command_makes_exactly_the_file(text: str, shape: type[str], tmp_path: Path) -> None:
    said = bash(shape(make_file("new/a b.txt", text)), tmp_path)
    assert (tmp_path / "new/a b.txt").read_bytes().decode() == text, said


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40))
def test_any_text_can_be_made_by_one_line(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("made")
    command = on_one_line(make_file("it", text))
    assert len(command.splitlines()) == 1
    said = bash(command, folder)
    assert (folder / "it").read_bytes().decode() == text, said


@pytest.mark.parametrize(("old", "new"), [("two = 'x'", "2"), ("one\n", ""), ("three\n", "three\nfour\n")])
def test_a_shell_edit_done_twice_changes_nothing_more(old: str, new: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(TEXT)
    said = [bash(edit_file("f", old, new), tmp_path) for _ in range(2)]
    assert (tmp_path / "f").read_text() == TEXT.replace(old, new)
    assert said == ["edited f\n", "already edited f\n"]


@pytest.mark.parametrize("old", ["absent", "o"])
def test_a_shell_edit_whose_text_is_not_there_once_fails_loudly(old: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(TEXT)
    assert "times" in bash(edit_file("f", old, "new"), tmp_path)
    assert (tmp_path / "f").read_text() == TEXT


def test_a_kept_shell_stays_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert bash(f"{isolated('cd in && pwd')}; pwd", tmp_path).splitlines() == [f"{tmp_path}/in", str(tmp_path)]


def test_only_what_was_looked_for_is_printed(tmp_path: Path) -> None:
    command = "for i in 1 2 3; do echo line $i of '<it>'; done; ls nowhere"
    assert bash(only_matches(command, [r"^line 2 of <\w+>$", "nowhere", "x"]), tmp_path) == "line 2 of <it>\nnowhere\n"


def test_an_edit_inside_a_line_grows_to_whole_lines_where_the_file_was_seen() -> None:
    content = "a\nkey = 1 # old\nb"
    assert whole_lines("1", "22", content) == ("key = 1 # old\n", "key = 22 # old\n")
    assert whole_lines("b", "c", content) == ("b\n", "c\n")
    assert whole_lines("= 1 # old\nb", "= 2", content) == ("key = 1 # old\nb\n", "key = 2\n")


def test_an_edit_in_an_unseen_file_is_text_only_when_it_ends_with_its_line() -> None:
    assert whole_lines("key = 1\n", "key = 2\n", None) == ("key = 1\n", "key = 2\n")
    assert whole_lines("key = 1", "key = 2", None) is None


@pytest.mark.anyio
@pytest.mark.parametrize(("old", "new"), [("two", "2"), ("one\n", ""), ("three", "three\n\nfour")])
async def test_patches_are_read_by_a_patch_tool_as_they_are_meant(old: str, new: str) -> None:
    content = "one\ntwo or twelve\nthree\n"
    lines = whole_lines(old, new, content)
    assert lines is not None
    async with LocalProvider().open(BoxSpec("patched")) as box:
        await box.write("f", content.encode())
        await apply_patch_text(box, patch_update("f", *lines))
        await apply_patch_text(box, patch_add("g", "x\n\n-y\n"))
        assert (await box.read("f")).decode() == content.replace(old, new)
        assert (await box.read("g")).decode() == "x\n\n-y\n"
        if lines[1]:
            await box.write("f", content.encode())
            await apply_patch_text(box, search_and_replace(*lines), "f")
            assert (await box.read("f")).decode() == content.replace(old, new)


EDIT = {"path": "f", "old": "a\n", "new": "b\n"}
WORK = {"run": {"command": "ls"}, "read": {"path": "f"}, "create": {"path": "f", "text": "a\n"}, "edit": EDIT}
FIRST = {
    "shell-and-editor": ("bash", "str_replace_editor", "str_replace_editor", "str_replace_editor"),
    "shell-only": ("bash", "bash", "bash", "bash"),
    "pascal-case": ("Bash", "Read", "Write", "Edit"),
    "verb-noun": ("execute_command", "read_file", "write_to_file", "apply_diff"),
    "apply-patch": ("exec_command", "exec_command", "apply_patch", "apply_patch"),
    "opaque-aliases": ("t1", "t2", "t3", "t4"),
}


@pytest.mark.parametrize("toolset", FIRST)
def test_the_most_direct_tool_comes_first_and_the_shell_last(toolset: str) -> None:
    skills = skills_of(native_offers(tools_of({"toolset": toolset})))
    for kind, first in zip(WORK, FIRST[toolset], strict=True):
        names = [call.name for call in ways_to(kind, WORK[kind], skills, "said", None)]
        assert (names[0], names[-1]) == (first, skills["shell"].offer.name)


@pytest.mark.parametrize("toolset", [*FIRST, "snake-case", "camel-case", "path-old-text"])
@pytest.mark.parametrize("planning", ["unplanned", "plan-field"])
def test_no_call_lacks_what_its_tool_requires(toolset: str, planning: str) -> None:
    from harness_eval.harness import make_harness

    harness = make_harness({"name": "x", "toolset": toolset, "planning": planning}, "x")
    skills = skills_of(native_offers(tools_of({"toolset": toolset, "planning": planning})))
    tools = {tool.name: tool for tool in harness.tools}
    for kind, wanted in WORK.items():
        for call in ways_to(kind, wanted, skills, "I do it.", "a\n"):
            assert tools[call.name].problem(call.arguments) is None


def shell_offer(name: str, **about: object) -> Offer:
    about = {"name": name, "description": "", **about}
    return Offer("run", "Run commands in a shell.", (Parameter(**about),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("offer", "value"),
    [
        (shell_offer("command", type="array", item="string"), ["bash", "-c", "ls"]),
        (shell_offer("commands", type="array", item="string"), ["ls"]),
        (shell_offer("commands", type="array", fields=("keystrokes", "duration")), [{"keystrokes": "ls"}]),
        (shell_offer("commands", type="array", description="Objects with keystrokes."), [{"keystrokes": "ls"}]),
    ],
)
def test_a_shell_that_wants_a_list_gets_one(offer: Offer, value: object) -> None:
    (call,) = ways_to("run", {"command": "ls"}, skills_of((offer,)), "said", None)
    assert list(call.arguments.values()) == [value]


@pytest.mark.parametrize(("kind", "wrapped"), [("object", False), ("array", True)])
def test_an_edit_in_an_object_or_list_is_wrapped_so(kind: str, wrapped: bool) -> None:
    edit = Parameter("edit", type=kind, fields=("old", "new", "replace_all"))
    offer = Offer("StrReplaceFile", "Edit a file.", (Parameter("path"), edit))
    (call,) = ways_to("edit", EDIT, skills_of((offer,)), "said", None)
    inner = {"old": "a\n", "new": "b\n"}
    assert call.arguments == {"path": "f", "edit": [inner] if wrapped else inner}

"""What every command has in common: help, exit codes, one line for a mistake, JSON alone on stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

import pytest

from harness_eval import __version__
from harness_eval.cli import COMMANDS
from harness_eval.harness import CANONICAL
from tests.cli.conftest import Said, finish, start

Run = Callable[..., Said]


def test_the_overview_names_every_command(harness_eval: Run) -> None:
    said = harness_eval("--help")
    assert said.code == 0
    assert all(f" {name} " in said.out for name in COMMANDS)


def test_the_overview_imports_nothing_slow() -> None:
    code = (
        "import sys\nfrom harness_eval.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    slow = {"pydantic", "anyio", "openai", "numpy", "docker", "yaml", "orjson", "litellm", "pandas", "scipy", "aiohttp"}
    assert not slow & set(done.stderr.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_module_and_explains_itself(harness_eval: Run, name: str) -> None:
    assert import_module(f"harness_eval.cli.{name}{'_' * iskeyword(name)}").app
    assert harness_eval(name, "--help").code == 0


def test_the_version_is_printed(harness_eval: Run) -> None:
    assert harness_eval("--version").out.strip() == __version__


@pytest.mark.parametrize(
    ("arguments", "hint"), [(["rnu"], "'run'"), (["harness", "lst"], "'list'"), (["axes", "--jso"], "--json")]
)
def test_a_mistyped_command_or_flag_is_a_usage_error_with_a_hint(
    harness_eval: Run, arguments: list[str], hint: str
) -> None:
    said = harness_eval(*arguments)
    assert (said.code, said.out) == (2, "")
    assert hint in said.err


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("name: x\nreference: {}\ntusks: {suite: core}\n", "tusks: unknown key; did you mean 'tasks'?"),
        ("name: [\n", "is not YAML"),
        ("- a\n", "must hold a mapping"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_wrong_study_is_one_line_on_stderr(tmp_path: Path, text: str | None, hint: str) -> None:
    path = tmp_path / "study.yaml"
    if text is not None:
        path.write_text(text)
    for command in ("run", "plan"):
        said = finish(command, path, cwd=tmp_path)
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith(f"error: {path}: ")
        assert hint in said.err
        assert said.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["harness", "show", "canonicl"], "did you mean 'canonical'?"),
        (["tasks", "list", "coer"], "did you mean 'core'?"),
        (["tasks", "check", "core", "--sandbox", "dcoker"], "did you mean 'docker'?"),
        (["run", "--coupling", "x=strong"], "coupling 'x=strong': expected NAME=STRENGTH"),
        (["run", "--design", "random:many"], "--design random:many: the size must be a whole number"),
        (["run", "--sandbox", "dcoker"], "did you mean 'docker'?"),
        (["show", "/nowhere"], "no study.json here"),
        (["report", "/nowhere"], "no study.json here"),
    ],
)
def test_a_wrong_name_is_one_line_with_the_nearest_choice(harness_eval: Run, arguments: list[str], hint: str) -> None:
    said = harness_eval(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert hint in said.err
    assert said.err.count("\n") == 1


def test_a_reader_that_goes_away_is_borne_in_silence() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with start("axes", "--json", stdout=writing) as process:
        os.close(writing)
        err = process.communicate(timeout=60)[1]
    assert err == ""


def test_axes_as_json_hold_every_axis_with_its_levels(harness_eval: Run) -> None:
    said = harness_eval("axes", "--json")
    axes = json.loads(said.out)["axes"]
    assert said.err == ""
    assert [axis["axis"] for axis in axes] == list(CANONICAL)
    for axis in axes:
        assert all(level.keys() == {"level", "doc", "parameters"} and level["doc"] for level in axis["levels"])
        assert CANONICAL[axis["axis"]] in [level["level"] for level in axis["levels"]]


def test_axes_as_a_table_names_every_level(harness_eval: Run) -> None:
    said = harness_eval("axes")
    assert all(name in said.out for axis in CANONICAL.items() for name in axis)


def test_a_harness_is_shown_with_all_that_a_model_sees_of_it(harness_eval: Run) -> None:
    shown = json.loads(harness_eval("harness", "show", "canonical", "--json").out)
    assert shown["labels"]["protocol"] == "native"
    (first,) = shown["requests"]
    assert first["messages"][0]["content"] == shown["system"]
    assert [tool["function"]["name"] for tool in first["tools"]] == shown["tools"]
    assert shown["system"] in harness_eval("harness", "show", "canonical").out


def test_the_whole_dialogue_of_a_harness_can_be_read(harness_eval: Run) -> None:
    shown = json.loads(harness_eval("harness", "show", "canonical", "--dialogue", "--json").out)
    assert len(shown["requests"]) > 3
    assert "=== request 2" in harness_eval("harness", "show", "canonical", "--dialogue").out


def test_the_listed_harnesses_can_all_be_shown(harness_eval: Run) -> None:
    listed = json.loads(harness_eval("harness", "list", "--json").out)["harnesses"]
    assert "canonical" in [harness["name"] for harness in listed]
    assert len({harness["id"] for harness in listed}) == len(listed)


def test_two_harnesses_are_compared_axis_by_axis(harness_eval: Run, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("stopping: submit-tool\n")
    differ = json.loads(harness_eval("harness", "diff", "canonical", tmp_path / "other.yaml", "--json").out)["differ"]
    assert differ == [{"axis": "stopping", "first": "no-call", "second": "submit-tool"}]
    assert "the same harness" in harness_eval("harness", "diff", "canonical", "canonical").err

"""`harness-eval tasks new`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from harness_eval.task import load_suite
from harness_eval.templates import load_template, template_names, write_instances
from tests.cli.conftest import Said, start

Run = Callable[..., Said]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_new_tasks_are_ordinary_tasks_and_what_to_do_next_is_said(harness_eval: Run, tmp_path: Path) -> None:
    said = harness_eval(
        "tasks", "new", "shift-plan", "--seed", 9, "--instances", 2, "--out", tmp_path / "new", "--json"
    )
    made = json.loads(said.out)["tasks"]
    assert said.code == 0
    assert [Path(task["folder"]).name for task in made] == ["shift-plan-9-000", "shift-plan-9-001"]
    assert [task.name for task in load_suite(tmp_path / "new")] == ["shift-plan-9-000", "shift-plan-9-001"]
    assert f"tasks check {tmp_path / 'new'}" in said.err
    assert f"run --suite {tmp_path / 'new'}" in said.err


def test_without_a_name_there_is_one_of_each_bundled_template(harness_eval: Run, tmp_path: Path) -> None:
    assert harness_eval("tasks", "new", "--seed", 2, "--out", tmp_path).code == 0
    assert names(tmp_path) == [f"{name}-2-000" for name in sorted(template_names())]


def test_a_repeated_call_keeps_what_stands_and_adds_the_rest(harness_eval: Run, tmp_path: Path) -> None:
    harness_eval("tasks", "new", "rebuild-order", "--out", tmp_path)
    said = harness_eval("tasks", "new", "rebuild-order", "--instances", 3, "--out", tmp_path, "--json")
    assert [task["kept"] for task in json.loads(said.out)["tasks"]] == [True, False, False]


def test_a_changed_instance_is_not_overwritten(harness_eval: Run, tmp_path: Path) -> None:
    harness_eval("tasks", "new", "rebuild-order", "--out", tmp_path)
    instruction = tmp_path / "rebuild-order-1-000" / "instruction.md"
    instruction.write_text("Changed.\n")
    said = harness_eval("tasks", "new", "rebuild-order", "--out", tmp_path)
    assert (said.code, instruction.read_text()) == (2, "Changed.\n")
    assert "rebuild-order-1-000: holds something else" in said.err


def test_an_unknown_template_gets_the_nearest_name(harness_eval: Run, tmp_path: Path) -> None:
    said = harness_eval("tasks", "new", "shift-plam", "--out", tmp_path)
    assert (said.code, names(tmp_path)) == (2, [])
    assert "did you mean 'shift-plan'" in said.err


def test_the_list_says_which_tasks_are_templates(harness_eval: Run) -> None:
    tasks = json.loads(harness_eval("tasks", "list", "core", "--json").out)["tasks"]
    assert sorted(task["name"] for task in tasks if task["template"]) == sorted(template_names())


def test_a_killed_call_leaves_whole_tasks_only(tmp_path: Path) -> None:
    arguments = ("rebuild-order", "--instances", 60, "--out", tmp_path)
    with start("tasks", "new", *arguments) as process:
        while process.poll() is None and not names(tmp_path):
            time.sleep(0.002)
        process.kill()
    left = names(tmp_path)
    assert left
    instances = write_instances(load_template("rebuild-order"), 1, 60, tmp_path)
    assert sorted(instance.folder.name for instance in instances if instance.kept) == left
    assert len(names(tmp_path)) == 60


def test_a_folder_without_a_name_and_a_file_are_refused(harness_eval: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "it is empty" in refused(harness_eval, "")
    assert "it is a file" in refused(harness_eval, tmp_path / "file")


def refused(harness_eval: Run, out: object) -> str:
    said = harness_eval("tasks", "new", "shift-plan", "--out", out)
    assert said.code == 2
    return said.err


def test_what_a_data_set_says_cannot_steer_the_terminal(harness_eval: Run, tmp_path: Path) -> None:
    row = {"question": "?", "answer": "a", "level": "\x1b[31mred", "kind": ["a\x1b[2J\nb"]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({**row, "answer": "\x1b[2J "}) + "\n")
    keys = "{path: rows.jsonl, shape: question, checker: number}"
    (tmp_path / "bad.yaml").write_text(keys)
    keys = "{path: rows.jsonl, shape: question, difficulty: {column: level}, stresses: {column: kind}}"
    (tmp_path / "asked.yaml").write_text(keys)
    for words in (["list"], ["check", "--sandbox", "local"], ["new", "--out", tmp_path / "a\x1b[2J"]):
        for mapping in ("bad.yaml", "asked.yaml"):
            said = harness_eval("tasks", *words, tmp_path / mapping)
            assert "\x1b" not in said.out + said.err
    assert "[31mred" in harness_eval("tasks", "list", tmp_path / "asked.yaml").out


def test_the_name_of_a_folder_cannot_steer_the_terminal(harness_eval: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[2J"
    (folder / "b\x1b[2J\nc").mkdir(parents=True)
    (folder / "b\x1b[2J\nc" / "task.toml").write_text("=")
    for words in (["list"], ["check", "--sandbox", "local"]):
        said = harness_eval("tasks", *words, folder)
        assert "\x1b" not in said.out + said.err
    said = harness_eval("tasks", "list", tmp_path / "none\x1b[2J")
    assert (said.code, "\x1b" in said.err) == (2, False)

"""Laws over every task of the core suite: what it says of itself, and that neither luck nor rubbish solves it."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_eval.bundled import folder as bundled_folder
from harness_eval.judging import verify
from harness_eval.task import load_suite
from tests.solved import SolvedTask

TASKS = {task.name: task for task in load_suite("core")}
EACH = pytest.mark.parametrize("name", sorted(TASKS))
EACH_SOLVED = pytest.mark.parametrize("solved_task", sorted(TASKS), indirect=True, scope="module")
STRESSES = {
    *("long-output", "long-horizon", "sub-goals", "exact-edit", "search", "misleading-error"),
    *("shell-state", "knowing-when-to-stop", "recovery", "constraint"),
}
LARGEST = 60_000  # bytes of a task's folder: what is larger is made in the box
SHARED = ("workspace.py", "solver.py", "repository.py", "score.py")  # of the tests folders of several tasks
READS = {"open", "read_bytes", "read_text", "copy", "copy2", "copyfile", "copytree", "move"}
MOST = 3  # files of a task that are spoiled, one after another
RUBBISH = {
    "back as it was": "",
    "bytes that are no text": r"printf '\377\000\376{{' > {path}",
    "a folder in its place": "mkdir {path}",
    "a link to what never ends": "ln -s /dev/zero {path}",
    "a link to its verifier": 'ln -s "$(realpath -m --relative-to="$(dirname {path})" {tests}/check.py)" {path}',
    "a pipe in its place": "mkfifo {path}",
    "far too deep": """python3 -c 'print("[" * 100_000)' > {path}""",
}
FORGED = "printf 'import os\\nos._exit(0)\\n' > {path}"


@EACH
def test_a_task_says_what_it_stresses_and_how_hard_it_is_in_the_suites_words(name: str) -> None:
    task = TASKS[name]
    assert task.stresses
    assert set(task.stresses) <= STRESSES
    assert task.difficulty in {"easy", "medium", "hard"}


@EACH
def test_a_tasks_folder_is_small(name: str) -> None:
    files = [path for path in TASKS[name].folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) <= LARGEST


def test_the_suite_has_every_stress_and_difficulty_often_enough_to_compare() -> None:
    assert len(TASKS) >= 60
    stresses = Counter(stress for task in TASKS.values() for stress in task.stresses)
    assert min(stresses[stress] for stress in STRESSES) >= 5, stresses
    difficulties = Counter(task.difficulty for task in TASKS.values())
    assert min(difficulties.values()) >= len(TASKS) / 6, difficulties


def test_what_verifiers_have_in_common_is_the_same_in_each() -> None:
    for name in SHARED:
        texts = {path.read_text() for path in bundled_folder("tasks").glob(f"core/*/tests/{name}")}
        assert len(texts) == 1, name


def unchecked_reads(module: ast.AST) -> Iterator[str]:
    """Where a verifier reads or copies files without asking whether they are plain ones of the working directory."""
    for node in ast.iter_child_nodes(module):
        if isinstance(node, ast.FunctionDef) and node.name == "text_of" and "resolve" in ast.unparse(node):
            continue  # what templates have in place of workspace.py
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if called.rpartition(".")[2] in READS and "__file__" not in called and not called.startswith("tarfile."):
            yield called
        yield from unchecked_reads(node)


@EACH
def test_a_verifier_reads_and_copies_only_plain_files_of_the_working_directory(name: str) -> None:
    modules = [path for path in TASKS[name].folder.glob("tests/*.py") if path.name != "workspace.py"]
    assert not [read for path in modules for read in unchecked_reads(ast.parse(path.read_text()))]


def some(paths: list[str]) -> list[str]:
    """At most MOST of them, spread over the folder."""
    return paths[:: max(1, -(-len(paths) // MOST))]


def spoiled(changed: list[str], tests: str, before: Path) -> Iterator[tuple[str, str]]:
    """What is done to one changed file after another, the most to the first; `tests` is the verifier's folder."""
    old = shlex.quote(str(before))
    for number, path in enumerate(changed):
        where = shlex.quote(path)
        restore = f"rm -rf {where}; [ ! -e {old}/{where} ] || cp -a {old}/{where} {where}"
        for what, command in list(RUBBISH.items())[: 1 if number else None]:
            filled = command.format(path=where, tests=tests)
            yield f"{path}: {what}", f"rm -rf {where}; {filled}" if command else restore
        if path.endswith(".py"):
            yield f"{path}: a program that only succeeds", FORGED.format(path=where)


# Files that a solution writes on its way and that nobody asked for, by task: what a program keeps beside its journal.
BY_THE_WAY: dict[str, set[str]] = {
    "archive-round": {"desk/sessions.json"},
    "fifo-robot": {"line/sessions"},
    "fleet-upgrade": {"fleet/state.json"},
}


@pytest.mark.anyio
@EACH_SOLVED
async def test_spoiling_any_file_of_a_solution_is_judged_and_is_not_solved(solved_task: SolvedTask) -> None:
    task, box, wrong = solved_task.task, solved_task.box, []
    solved_task.restore()
    verdict = await verify(task, box)
    assert verdict.solved, verdict.detail
    changed = [path for path in some(solved_task.written()) if path not in BY_THE_WAY.get(task.name, ())]
    for what, command in spoiled(changed, f"{shlex.quote(box.root)}/tests", solved_task.before):
        solved_task.restore()
        await box.run(command)
        if (await verify(task, box)).solved:
            wrong.append(what)
    assert not wrong


@pytest.mark.anyio
@EACH_SOLVED
async def test_the_instruction_in_place_of_every_answer_earns_nothing(solved_task: SolvedTask) -> None:
    task, box = solved_task.task, solved_task.box
    solved_task.restore(solved_task.before)
    for path in some(solved_task.written()):
        if not (solved_task.before / path).exists():
            text = json.dumps(task.instruction) if path.endswith(".json") else task.instruction
            await box.write(path, text.encode())
    verdict = await verify(task, box)
    assert verdict.score < 1 / 2, verdict.detail


def test_the_files_left_out_by_name_exist() -> None:
    for name in BY_THE_WAY:
        assert Path(bundled_folder("tasks") / "core" / name).is_dir()


def test_a_clone_of_the_repository_has_every_file_and_folder_of_the_tasks() -> None:
    places = [path for path in bundled_folder("tasks").rglob("*") if "__pycache__" not in path.parts]
    assert not [path for path in places if path.is_dir() and not any(path.iterdir())]
    said = subprocess.run(
        ["git", "check-ignore", "--stdin", "-z"],
        input="\0".join(map(str, places)),
        cwd=bundled_folder("tasks"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout == ""

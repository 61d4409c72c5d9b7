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
from harness_eval.sandboxes.base import Sandbox
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import Task, load_suite

TASKS = {task.name: task for task in load_suite("core")}
EACH = pytest.mark.parametrize("name", sorted(TASKS))
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
FILES = "find . -type f -not -path '*/.git/*' -not -path '*/__pycache__/*' -print0 | xargs -0 -r sha256sum"


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


async def digests(box: Sandbox) -> dict[str, str]:
    """SHA-256 of each file in the working directory, by path; what is in a repository's own folder is left out."""
    ran = await box.run(FILES)
    return {line[66:]: line[:64] for line in ran.output.splitlines() if line[64:66] == "  "}


async def solved_box(task: Task, box: Sandbox) -> list[str]:
    """Solve the task; the files that changed, spread over the folder. `../before` and `../after` keep both states."""
    before = await digests(box)
    await box.run("cp -a . ../before")
    await box.upload(task.folder / "solution", "/solution")
    solved = await box.run(f"bash {shlex.quote(box.root)}/solution/solve.sh", timeout=120)
    assert solved.exit_code == 0, solved.output
    await box.run("cp -a . ../after")
    changed = sorted(path for path, digest in (await digests(box)).items() if before.get(path) != digest)
    return changed[:: max(1, -(-len(changed) // MOST))]


def spoiled(changed: list[str], tests: str) -> Iterator[tuple[str, str]]:
    """What is done to one changed file after another, the most to the first; `tests` is the verifier's folder."""
    for number, path in enumerate(changed):
        where = shlex.quote(path)
        restore = f"rm -rf {where}; [ ! -e ../before/{where} ] || cp -a ../before/{where} {where}"
        for what, command in list(RUBBISH.items())[: 1 if number else None]:
            filled = command.format(path=where, tests=tests)
            yield f"{path}: {what}", f"rm -rf {where}; {filled}" if command else restore
        if path.endswith(".py"):
            yield f"{path}: a program that only succeeds", FORGED.format(path=where)


# Files that a solution writes on its way and that nobody asked for, by task: what a program keeps beside its journal.
BY_THE_WAY: dict[str, set[str]] = {
    "archive-round": {"./desk/sessions.json"},
    "fifo-robot": {"./line/sessions"},
    "fleet-upgrade": {"./fleet/state.json"},
}


@pytest.mark.anyio
@EACH
async def test_spoiling_any_file_of_a_solution_is_judged_and_is_not_solved(name: str) -> None:
    task, wrong = TASKS[name], []
    async with LocalProvider().open(task.spec) as box:
        changed = [path for path in await solved_box(task, box) if path not in BY_THE_WAY.get(name, ())]
        for what, command in spoiled(changed, f"{shlex.quote(box.root)}/tests"):
            await box.run(f"find . -mindepth 1 -delete; cp -a ../after/. .; {command}")
            if (await verify(task, box)).solved:
                wrong.append(what)
    assert not wrong


@pytest.mark.anyio
@EACH
async def test_the_instruction_in_place_of_every_answer_earns_nothing(name: str) -> None:
    task = TASKS[name]
    async with LocalProvider().open(task.spec) as box:
        changed = await solved_box(task, box)
        await box.run("find . -mindepth 1 -delete; cp -a ../before/. .")
        fresh = [path for path in changed if (await box.run(f"test -e {shlex.quote(path)}")).exit_code]
        for path in fresh:
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

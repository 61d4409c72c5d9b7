"""The starter suite: small tasks that judge strictly and that the scripted agent plays; and the local model's study."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from harness_eval.bundled import folder
from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.endpoints.openai import OpenAIEndpoint
from harness_eval.harness import Harness, canonical, load_harness
from harness_eval.judging import verify
from harness_eval.reference.process import serve
from harness_eval.reference.server import ReferenceConfig
from harness_eval.reference.wire import MODEL
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import Task, load_suite
from tests.doubles import played

pytestmark = pytest.mark.anyio

TASKS = {task.name: task for task in load_suite("starter")}
HARNESSES = [canonical(), *(load_harness(path) for path in sorted((folder("harnesses") / "starter").glob("*.yaml")))]
EXAMPLE = Path(__file__).resolve().parents[1] / "reports" / "example"
EVERY_TASK = pytest.mark.parametrize("name", TASKS)

# Task, what is spoiled after its own solution, and the command that spoils it.
NEAR_MISSES = [
    ("write-number", "a word more", "echo the number 42 > answer.txt"),
    ("write-number", "a blank before it", "echo ' 42' > answer.txt"),
    ("write-number", "a line too many", "echo >> answer.txt"),
    ("write-number", "a link to it", "mv answer.txt real.txt; ln -s real.txt answer.txt"),
    ("write-number", "a folder of that name", "rm answer.txt; mkdir answer.txt"),
    ("write-number", "a byte of zero", "printf '4\\0002' > answer.txt"),
    ("write-number", "far too long", "yes | head -c 20000 > answer.txt"),
    ("write-word", "capital letter", "echo Ready > status.txt"),
    ("write-city", "no capital letter", "echo lisbon > city.txt"),
    ("write-version", "the full stop of the sentence", "echo 3.1. > version.txt"),
    ("write-words", "quoted", "echo '\"good morning\"' > note.txt"),
    ("write-two-lines", "on one line", "echo red blue > colors.txt"),
    ("write-two-lines", "other order", "printf 'blue\\nred\\n' > colors.txt"),
    ("write-two-files", "the same word twice", "echo north > right.txt"),
    ("write-in-folder", "beside the folder", "mv config/port.txt port.txt"),
    ("write-year", "only two digits", "echo 87 > year.txt"),
    ("write-color", "another color", "echo blue > color.txt"),
    ("write-price", "with a currency", "echo '$250' > price.txt"),
    ("write-day", "cut short", "echo Tue > day.txt"),
    ("write-zero", "nothing", ": > counter.txt"),
    ("write-port", "another file", "mv port.txt ports.txt"),
    ("write-yes", "no", "echo no > reply.txt"),
    ("write-animal", "in the plural", "echo otters > animal.txt"),
    ("write-score", "in words", "echo fifteen > score.txt"),
    ("append-line", "the rest is lost", "echo milk > shopping.txt"),
    ("append-line", "at the beginning", "printf 'milk\\nbread\\napples\\nrice\\n' > shopping.txt"),
    ("append-line", "twice", "echo milk >> shopping.txt"),
    ("make-folder", "a file of that name", "rmdir reports; touch reports"),
    ("make-folder-music", "another name", "mv music Music"),
    ("make-folder-tree", "one beside the other", "mv site/images images"),
    ("make-empty-file", "a line in it", "echo > done.txt; echo >> done.txt"),
    ("make-empty-file", "a word in it", "echo done > done.txt"),
    ("copy-file", "moved", "rm draft.txt"),
    ("copy-file", "only the first line", "head -n 1 draft.txt > final.txt"),
    ("rename-file", "copied", "cp new.txt old.txt"),
    ("rename-file", "emptied", ": > new.txt"),
    ("move-file", "copied", "cp archive/invoice.txt ."),
    ("move-file", "the folder is gone", "mv archive/invoice.txt . && rm -r archive && mv invoice.txt archive"),
    ("delete-file", "both", "rm keep.txt"),
    ("count-lines", "with the name of the file", "wc -l poem.txt > count.txt"),
    ("count-lines", "one too few", "echo 3 > count.txt"),
    ("first-line", "the last one", "tail -n 1 names.txt > first.txt"),
    ("sum-numbers", "as a sentence", "echo 12 + 30 + 7 = 49 > sum.txt"),
    ("sum-numbers", "the numbers changed", "echo 49 > prices.txt"),
    ("find-word", "the word instead of the file", "echo lighthouse > found.txt"),
    ("find-word", "with its line", "grep lighthouse *.txt > found.txt"),
    ("filter-errors", "the other lines", "grep -v ERROR app.log > errors.txt"),
    ("filter-errors", "the log itself", "mv errors.txt app.log; cp app.log errors.txt"),
    ("sort-names", "backwards", "sort -r guests.txt > sorted.txt"),
    ("sort-names", "in place", "sort -o guests.txt guests.txt"),
    ("extract-field", "the whole line", "grep Turin cities.csv > country.txt"),
    ("replace-word", "both words", "sed -i 's/Friday/Monday or Friday/' letter.txt"),
    ("replace-word", "nothing else is left", "echo Friday > letter.txt"),
    ("join-files", "other order", "cat part2.txt part1.txt > whole.txt"),
    ("join-files", "a part is gone", "rm part1.txt"),
]


async def score(task: Task, *commands: str, solved: bool = False) -> float:
    async with LocalProvider().open(task.spec) as box:
        if solved:
            await box.upload(task.folder / "solution", "/solution")
            await box.run(f"bash {box.root}/solution/solve.sh")
        for command in commands:
            await box.run(command)
        return (await verify(task, box)).score


def test_there_are_enough_tasks_of_one_to_three_commands() -> None:
    assert len(TASKS) >= 20
    for task in TASKS.values():
        script = (task.folder / "solution" / "solve.sh").read_text().splitlines()
        assert script[:2] == ["#!/bin/bash", "set -euo pipefail"]
        assert len(script) == 3, task.name
        assert 1 <= len([part for part in script[2].replace("&&", ";").split(";") if " " in part.strip()]) <= 3
        assert len(task.instruction.split()) <= 40


def test_every_task_is_judged_by_the_same_program() -> None:
    assert len({(task.folder / "tests" / "check.py").read_text() for task in TASKS.values()}) == 1
    assert len({(task.folder / "tests" / "test.sh").read_text() for task in TASKS.values()}) == 1


def test_every_task_has_a_near_miss() -> None:
    assert {name for name, _, _ in NEAR_MISSES} == set(TASKS)


@pytest.mark.parametrize(("name", "what", "command"), NEAR_MISSES, ids=[f"{n}: {what}" for n, what, _ in NEAR_MISSES])
async def test_a_near_miss_is_not_solved(name: str, what: str, command: str) -> None:
    assert await score(TASKS[name], command, solved=True) == 0, what


@pytest.mark.parametrize("lines", ["touch scratch.txt", "mkdir scratch; echo x > scratch/notes"])
async def test_what_else_lies_around_does_not_count(lines: str) -> None:
    assert await score(TASKS["write-number"], lines, solved=True) == 1


async def test_a_missing_line_end_is_forgiven() -> None:
    assert await score(TASKS["write-number"], "printf 42 > answer.txt") == 1


@EVERY_TASK
async def test_the_instruction_itself_is_no_answer(name: str) -> None:
    task = TASKS[name]
    wanted = json.loads((task.folder / "tests" / "expected.json").read_text())
    told = task.instruction.strip().replace("'", "'\\''")
    echoes = [f"mkdir -p $(dirname {path}); echo '{told}' > {path}" for path in wanted.get("files", {})]
    assert await score(task, *echoes, *([] if echoes else [f"echo '{told}' > answer.txt"])) == 0


@pytest.fixture(scope="module")
async def reference(anyio_backend: str) -> AsyncIterator[OpenAIEndpoint]:
    assert anyio_backend == "asyncio", "asked for so that it is there for the whole module"
    async with serve(ReferenceConfig((folder("tasks") / "starter",))) as base_url:
        config = EndpointConfig(name="reference", model=MODEL, base_url=base_url, scripted=True)
        endpoint = open_endpoint(config)
        assert isinstance(endpoint, OpenAIEndpoint)
        yield endpoint
        await endpoint.close()


@EVERY_TASK
async def test_the_scripted_agent_solves_every_task(reference: OpenAIEndpoint, name: str) -> None:
    await played(reference, canonical(), TASKS[name])


@pytest.mark.parametrize("harness", HARNESSES, ids=lambda harness: harness.name)
@pytest.mark.parametrize("name", ["sum-numbers", "replace-word"])
async def test_the_scripted_agent_plays_under_every_harness_of_the_study(
    reference: OpenAIEndpoint, harness: Harness, name: str
) -> None:
    await played(reference, harness, TASKS[name])


def harness_eval(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness_eval", *arguments]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, check=False)


@pytest.mark.local_model
@pytest.mark.bubblewrap
def test_the_study_runs_every_task_under_every_harness_of_the_folder(tmp_path: Path) -> None:
    planned = json.loads(harness_eval("plan", "--local-model", "--json", cwd=tmp_path).stdout)
    assert {harness["name"] for harness in planned["harnesses"]} == {harness.name for harness in HARNESSES}
    assert planned["planned"] == planned["repeats"] * len(TASKS) * len(HARNESSES)


@pytest.mark.local_model
def test_the_study_refuses_a_sandbox_that_protects_from_nothing(tmp_path: Path) -> None:
    done = harness_eval("run", "--local-model", "--sandbox", "local", cwd=tmp_path)
    assert done.returncode == 2
    assert "protects this machine from nothing that the model at 'smollm2' does" in done.stderr


@pytest.mark.local_model
@pytest.mark.bubblewrap
def test_the_local_model_runs_a_small_study_of_its_own(tmp_path: Path) -> None:
    study = tmp_path / "small.yaml"
    harness = folder("harnesses") / "starter" / "completion.yaml"
    study.write_text(f"tasks: {{suite: starter, include: [write-score]}}\nharnesses: [{harness}]\n")
    flags = ["--local-model", "--no-probe", "--max-steps", "1", "--out", "run"]
    done = harness_eval("run", str(study), *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert {(row["task"], row["harness"]) for row in rows} == {
        ("write-score", harness) for harness in ("canonical", "completion")
    }
    assert ("write-score", "completion") in {(row["task"], row["harness"]) for row in rows if row["solved"]}
    assert not any(row["failure"] for row in rows)
    [endpoint] = json.loads((tmp_path / "run" / "study.json").read_text())["endpoints"]
    assert endpoint["local_model"]["quantisation"] == "Q4_1"
    assert len(endpoint["local_model"]["sha256"]) == 64


@pytest.mark.local_model
@pytest.mark.bubblewrap
@pytest.mark.parametrize("flags", [["--base-url", "http://127.0.0.1:9/v1"], ["--model", "other"]])
def test_the_local_model_stands_beside_no_other_endpoint(tmp_path: Path, flags: list[str]) -> None:
    done = harness_eval("plan", "--local-model", *flags, cwd=tmp_path)
    assert done.returncode == 2
    assert "--local-model stands for the endpoint" in done.stderr


def test_the_example_shows_a_spread_whose_interval_excludes_zero() -> None:
    assert json.loads((EXAMPLE / "report.json").read_text())["spread"]["low"] > 0


def test_the_example_has_the_numbers_of_its_trials(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / EXAMPLE.name)
    assert harness_eval("report", EXAMPLE.name, cwd=tmp_path).returncode == 0
    for name in ("report.json", "report.md"):
        again = (tmp_path / EXAMPLE.name / name).read_text()
        assert again == (EXAMPLE / name).read_text(), "harness-eval report reports/example makes it anew"


def test_the_readme_has_the_numbers_of_the_example() -> None:
    rows = [json.loads(line) for line in (EXAMPLE / "results.jsonl").read_text().splitlines()]
    readme = (EXAMPLE.parents[1] / "README.md").read_text()
    for harness in {row["harness"] for row in rows}:
        mine = [row for row in rows if row["harness"] == harness]
        solved = f"{sum(row['solved'] for row in mine)} of {len(mine)}"
        assert re.search(rf"^\| `?{harness}`? \|.*\| {solved} \|$", readme, re.MULTILINE), (harness, solved)


def test_the_example_is_small_and_names_no_place_of_the_machine_that_ran_it() -> None:
    files = [path for path in EXAMPLE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    told = [path for path in files if path.suffix in {".json", ".jsonl", ".md", ".html", ".yaml"}]
    assert len(told) >= 8
    assert not [path for path in told if re.search(r"/(root|home|tmp|work)/", path.read_text())]


def test_the_study_of_the_example_is_the_bundled_one() -> None:
    bundled = parsed((folder("harnesses") / "studies" / "starter.yaml").read_text())
    assert bundled == parsed((EXAMPLE / "study.yaml").read_text())


def parsed(text: str) -> dict[str, object]:
    study = yaml.safe_load(text)
    return {**study, "harnesses": [Path(path).name for path in study["harnesses"]]}

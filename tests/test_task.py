"""How verdicts come about, in real boxes, and laws over all bundled tasks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness_eval.bundled import folder as bundled_folder
from harness_eval.errors import TaskFailure
from harness_eval.judging import prove, verify
from harness_eval.reference.plan import load_plan
from harness_eval.sandboxes.bubblewrap import BubblewrapProvider
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import load_task
from harness_eval.types import Verdict

pytestmark = pytest.mark.anyio

FOLDERS = sorted(path.parent for path in bundled_folder("tasks").glob("*/*/task.toml"))
CORE = [path for path in FOLDERS if path.parent.name == "core"]
EVERY_TASK = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
BUBBLEWRAP = BubblewrapProvider()  # one for all: it finds out once what can be had here
SOLVED_BY_ANSWER = 'if [ -f answer ]; then echo 1; else echo 0; fi > "$VERIFIER_DIR/reward.txt"'


def make_folder(place: Path, test_sh: str, solve_sh: str = "touch answer", toml: str = "") -> Path:
    """A task whose verifier and solution are these scripts."""
    folder = place / "task"
    for part in ("tests", "solution", "environment/files"):
        (folder / part).mkdir(parents=True)
    (folder / "task.toml").write_text(toml)
    (folder / "instruction.md").write_text("Make the file answer.\n")
    (folder / "tests" / "test.sh").write_text(test_sh)
    (folder / "solution" / "solve.sh").write_text(solve_sh)
    return folder


async def judge(folder: Path, before: str = "true") -> Verdict:
    """The verdict in a local box in which a command ran before."""
    task = load_task(folder)
    async with LocalProvider().open(task.spec) as box:
        await box.run(before)
        return await verify(task, box)


def writes(name: str, content: str) -> str:
    return f"printf '%s' '{content}' > \"$VERIFIER_DIR/{name}\""


@pytest.mark.parametrize(
    ("name", "content", "score"),
    [
        ("reward.txt", "1", 1),
        ("reward.txt", " 0.25\n", 0.25),
        ("reward.json", "0.5", 0.5),
        ("reward.json", '{"reward": 0.75, "seconds": 31}', 0.75),
        ("reward.json", '{"style": 0.5, "tests": 1}', 0.75),
        ("reward.json", "0", 0),
    ],
)
async def test_a_reward_is_one_number_or_the_mean_of_named_ones(
    tmp_path: Path, name: str, content: str, score: float
) -> None:
    assert (await judge(make_folder(tmp_path, writes(name, content)))).score == score


async def test_the_json_reward_is_looked_at_first(tmp_path: Path) -> None:
    both = writes("reward.txt", "1") + "\n" + writes("reward.json", "0.5")
    assert (await judge(make_folder(tmp_path, both))).score == 0.5


@pytest.mark.parametrize(
    ("test_sh", "message"),
    [
        ("true", "neither reward.json nor reward.txt"),
        (writes("reward.txt", " "), "reward.txt: no number is in it"),
        (writes("reward.json", ""), "reward.json: no number is in it"),
        (writes("reward.txt", "good"), "could not convert"),
        (writes("reward.txt", "nan"), "no number in 0..1"),
        (writes("reward.txt", "inf"), "no number in 0..1"),
        (writes("reward.txt", "1.01"), "no number in 0..1"),
        (writes("reward.txt", "-0.1"), "no number in 0..1"),
        (writes("reward.json", "true"), "no number in 0..1"),
        (writes("reward.json", '"1"'), "no number in 0..1"),
        (writes("reward.json", "NaN"), "no number in 0..1"),
        (writes("reward.json", "1" + "0" * 400), "no number in 0..1"),
        (writes("reward.json", "{}"), "empty object"),
        (writes("reward.json", '{"a": 2, "b": 0}'), "no number in 0..1"),
        (writes("reward.json", "[1]"), "no number in 0..1"),
        (writes("reward.json", "{"), "reward.json:"),
        ('mkdir "$VERIFIER_DIR/reward.txt"', "reward.txt:"),
    ],
)
async def test_a_reward_that_is_no_number_is_a_failure_of_the_task(tmp_path: Path, test_sh: str, message: str) -> None:
    with pytest.raises(TaskFailure) as raised:
        await judge(make_folder(tmp_path, f"echo the verifier was here\n{test_sh}\n"))
    assert message in str(raised.value)
    assert "the verifier was here" in str(raised.value)


async def test_a_verifier_beyond_its_time_limit_is_a_failure_of_the_task(tmp_path: Path) -> None:
    slow = f"{writes('reward.txt', '1')}\necho half way\nsleep 60\n"
    folder = make_folder(tmp_path, slow, toml="[verifier]\ntimeout_sec = 0.5\n")
    with pytest.raises(TaskFailure, match=r"(?s)longer than 0.5 s.*half way"):
        await judge(folder)


async def test_the_exit_code_of_the_verifier_does_not_decide(tmp_path: Path) -> None:
    assert (await judge(make_folder(tmp_path, writes("reward.txt", "1") + "\nexit 3\n"))).solved


async def test_a_reward_that_the_agent_left_behind_is_not_taken(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, "true")
    task = load_task(folder)
    async with LocalProvider().open(task.spec) as box:
        for name in ("reward.json", "reward.txt/nested"):
            await box.write(f"{box.root}/logs/verifier/{name}", b"1")
        with pytest.raises(TaskFailure, match="neither"):
            await verify(task, box)


async def test_what_the_agent_left_beside_the_tests_is_removed(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, 'ls "$(dirname "$0")"; ' + writes("reward.txt", "1"))
    task = load_task(folder)
    async with LocalProvider().open(task.spec) as box:
        await box.write(f"{box.root}/tests/json.py", b"raise SystemExit")
        assert (await verify(task, box)).detail == "test.sh"


async def test_the_verifier_starts_in_the_working_directory_with_its_variables(tmp_path: Path) -> None:
    says = f'cat answer; echo " level $LEVEL"; {writes("reward.txt", "1")}'
    folder = make_folder(tmp_path, says, toml='[verifier.env]\nLEVEL = "7"\n')
    assert (await judge(folder, "printf yes > answer")).detail == "yes level 7"


async def test_the_verdict_holds_the_tail_of_the_output_without_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_EVAL_TEST_TOKEN", "opensesame")
    says = f'seq 5000; echo "token $TOKEN, Bearer abcdefghij"; {writes("reward.txt", "0.5")}'
    folder = make_folder(tmp_path, says, toml='[verifier.env]\nTOKEN = "${HARNESS_EVAL_TEST_TOKEN}"\n')
    detail = (await judge(folder)).detail
    assert detail.endswith("5000\ntoken [redacted], Bearer [redacted]")
    assert len(detail) <= 2100


async def test_a_task_is_proven_by_failing_untouched_and_passing_when_solved(tmp_path: Path) -> None:
    proof = await prove(load_task(make_folder(tmp_path, SOLVED_BY_ANSWER)), LocalProvider())
    assert proof.ok
    assert proof.untouched == Verdict(0.0)
    assert proof.solved == Verdict(1.0)


@pytest.mark.parametrize(
    ("test_sh", "solve_sh", "toml", "message"),
    [
        (writes("reward.txt", "1"), "true", "", "solved before anything was done"),
        (SOLVED_BY_ANSWER, "echo cannot; exit 4", "", "exit code 4 (last output: cannot)"),
        (SOLVED_BY_ANSWER, "sleep 60", "[agent]\ntimeout_sec = 0.5\n", "stopped at its time limit"),
        ("[ -f answer ] || exit; " + writes("reward.txt", "1"), "touch answer", "", "neither reward.json"),
        ('[ -f answer ] || echo 0 > "$VERIFIER_DIR/reward.txt"', "touch answer", "", "neither reward.json"),
        (SOLVED_BY_ANSWER, "touch answer", "[environment]\ngpus = 1\n", "cannot run here: it needs 1 GPU(s)"),
    ],
)
async def test_a_task_that_cannot_judge_is_not_proven_and_says_why(
    tmp_path: Path, test_sh: str, solve_sh: str, toml: str, message: str
) -> None:
    proof = await prove(load_task(make_folder(tmp_path, test_sh, solve_sh, toml)), LocalProvider())
    assert not proof.ok
    assert message in proof.detail


async def test_a_task_without_a_solution_is_not_proven(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, SOLVED_BY_ANSWER)
    (folder / "solution" / "solve.sh").unlink()
    assert "no solution/solve.sh" in (await prove(load_task(folder), LocalProvider())).detail


async def test_the_solution_gets_the_variables_of_its_section(tmp_path: Path) -> None:
    toml = '[solution.env]\nNAME = "answer"\n'
    assert (await prove(load_task(make_folder(tmp_path, SOLVED_BY_ANSWER, 'touch "$NAME"', toml)), LocalProvider())).ok


@EVERY_TASK
@pytest.mark.bubblewrap
async def test_a_bundled_task_fails_untouched_and_passes_after_its_solution(folder: Path) -> None:
    proof = await prove(load_task(folder), BUBBLEWRAP)
    assert proof.ok, proof.detail
    assert proof.untouched is not None
    assert proof.untouched.score == 0


@EVERY_TASK
def test_a_bundled_task_is_complete(folder: Path) -> None:
    task = load_task(folder)
    assert task.unsupported is None
    assert not task.spec.limits.network
    assert load_plan(folder / "solution" / "plan.yaml").steps


@pytest.mark.parametrize("folder", CORE, ids=lambda folder: folder.name)
def test_an_instruction_of_the_core_suite_says_enough_and_not_too_much(folder: Path) -> None:
    assert 80 <= len(load_task(folder).instruction.split()) <= 400


@EVERY_TASK
def test_a_bundled_instruction_names_no_absolute_path(folder: Path) -> None:
    instruction = load_task(folder).instruction
    assert not re.findall(r"(?:^|[\s`'\"(])(?:/app|/home|/logs|/root|/solution|/tests|/tmp)\b", instruction)


@EVERY_TASK
def test_a_bundled_dockerfile_can_be_built_on_any_base_image(folder: Path) -> None:
    dockerfile = (folder / "environment" / "Dockerfile").read_text()
    assert dockerfile.startswith("ARG BASE=python:3.12-bookworm\nFROM ${BASE}\n")
    assert ("setup.sh" in dockerfile) == (folder / "environment" / "setup.sh").is_file()


@EVERY_TASK
def test_an_edit_of_a_plan_names_a_text_that_its_file_holds_once(folder: Path) -> None:
    for step in load_plan(folder / "solution" / "plan.yaml").steps:
        path = folder / "environment" / "files" / step.arguments.get("path", "")
        said = step.arguments.get("path", "") + step.arguments.get("old", "")
        if step.kind == "edit" and "${" not in said and path.is_file():
            assert path.read_text().count(step.arguments["old"]) == 1, step.say

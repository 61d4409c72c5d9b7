"""Laws over all bundled templates, and writing instances of them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval import templates
from harness_eval.draws import Draws, draw
from harness_eval.errors import ConfigError
from harness_eval.judging import judge, prove
from harness_eval.reference.plan import load_plan
from harness_eval.sandboxes import owner
from harness_eval.sandboxes.bubblewrap import BubblewrapProvider
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.task import Task, load_suite, load_task
from harness_eval.templates import (
    FILE,
    committed_draws,
    load_template,
    restore,
    template_names,
    write_instances,
)
from harness_eval.types import Verdict
from harness_eval.unfinished import unfinished
from tests.test_task_plans import found, play

NAMES = sorted(template_names())
EVERY_TEMPLATE = pytest.mark.parametrize("name", NAMES)
SEEDS = st.integers(0, 2**31)
FEW = settings(max_examples=2, deadline=None, derandomize=True)
LOCAL = LocalProvider()
GIVEN = ("given", "module")  # of expected values: what the solver had, and not what was wanted


def files_of(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def wanted(files: Mapping[str, str]) -> str:
    """What the verifier wants, without what the solver was given."""
    expected = json.loads(files["tests/expected.json"])
    return json.dumps({key: value for key, value in expected.items() if key not in GIVEN})


def in_folder(name: str, seed: int, use: Callable[[list[Task]], None], count: int = 1) -> None:
    with TemporaryDirectory() as out:
        instances = write_instances(load_template(name), seed, count, Path(out))
        use([load_task(instance.folder) for instance in instances])


def a_template(folder: Path, body: str) -> Path:
    path = folder / "own.py"
    path.write_text(f'"""A template."""\n\n{body}\n')
    return path


SMALL = """
def instance(draws):
    \"""A task of one word.\"""
    word = draws.choice(["yes", "no", "maybe"])
    return {
        "task.toml": 'schema_version = "1.4"\\n',
        "instruction.md": "Write the word.\\n",
        "tests/test.sh": f"grep -qx {word} answer.txt && echo 1 > $VERIFIER_DIR/reward.txt\\n",
    }
"""


def test_at_least_six_core_tasks_are_templates_of_three_difficulties() -> None:
    tasks = [load_task(path.parent) for path in template_names().values()]
    assert len(tasks) >= 6
    assert {task.difficulty for task in tasks} == {"easy", "medium", "hard"}


@EVERY_TEMPLATE
def test_the_committed_folder_is_what_its_template_makes(name: str) -> None:
    template = load_template(name)
    committed = files_of(template.path.parent)
    del committed[FILE]
    made = template.instance(committed_draws(template))
    assert made == committed, f"harness_eval.templates.restore({name!r}) writes it again"


@EVERY_TEMPLATE
@FEW
@given(seed=SEEDS)
def test_one_seed_gives_the_same_bytes_and_another_one_other_answers(name: str, seed: int) -> None:
    template = load_template(name)
    once, again, other = (template.instance(Draws(each)) for each in (seed, seed, f"{seed} other"))
    assert once == again
    assert wanted(once) != wanted(other)
    assert once["instruction.md"] != other["instruction.md"] or once.keys() != other.keys()


@EVERY_TEMPLATE
def test_fifty_instances_want_fifty_different_answers(name: str) -> None:
    template = load_template(name)
    answers = [wanted(template.instance(Draws("fifty", number))) for number in range(50)]
    assert all(one != other for one, other in combinations(answers, 2))


@EVERY_TEMPLATE
@FEW
@given(seed=SEEDS)
def test_an_instance_has_the_metadata_of_its_template_and_holds_no_template(name: str, seed: int) -> None:
    committed = load_task(template_names()[name].parent)

    def check(tasks: list[Task]) -> None:
        assert (tasks[0].difficulty, tasks[0].stresses) == (committed.difficulty, committed.stresses)
        assert not list(tasks[0].folder.rglob(FILE))
        assert all(path.stat().st_mode & 0o111 for path in tasks[0].folder.rglob("*.sh"))
        assert sum(path.stat().st_size for path in tasks[0].folder.rglob("*") if path.is_file()) < 40_000

    in_folder(name, seed, check)


@EVERY_TEMPLATE
@FEW
@given(seed=SEEDS)
def test_an_instance_names_no_answer_in_its_instruction(name: str, seed: int) -> None:
    def check(tasks: list[Task]) -> None:
        plan = load_plan(tasks[0].folder / "solution" / "plan.yaml")
        for step in plan.steps:
            assert found(step, tasks[0].instruction) == {}, step.say
        assert len(plan.steps) >= 3

    in_folder(name, seed, check)


@EVERY_TEMPLATE
@FEW
@given(seed=SEEDS)
def test_an_instance_is_solved_by_its_solution_and_not_before(name: str, seed: int) -> None:
    def check(tasks: list[Task]) -> None:
        proof = anyio.run(prove, tasks[0], LOCAL)
        assert proof.ok, proof.detail
        assert proof.untouched is not None
        assert proof.untouched.score == 0

    in_folder(name, seed, check)


@EVERY_TEMPLATE
@settings(max_examples=1, deadline=None, derandomize=True)
@given(seed=SEEDS, whole=st.booleans())
def test_an_instance_is_solved_by_its_plan_whole_or_cut(name: str, seed: int, whole: bool) -> None:
    async def played(task: Task) -> Verdict:
        async with LOCAL.open(task.spec) as box:
            await play(box, load_plan(task.folder / "solution" / "plan.yaml"), whole=whole)
            return await judge(task, box, LOCAL)

    def check(tasks: list[Task]) -> None:
        verdict = anyio.run(played, tasks[0])
        assert verdict.solved, verdict.detail

    in_folder(name, seed, check)


@EVERY_TEMPLATE
def test_what_solves_one_instance_does_not_solve_another(name: str) -> None:
    async def judged_by_the_other(task: Task, other: Task) -> Verdict:
        async with LOCAL.open(task.spec) as box:
            await box.upload(task.folder / "solution", "/solution")
            ran = await box.run(f"bash {box.root}/solution/solve.sh")
            assert ran.exit_code == 0, ran.output
            return await judge(replace(task, folder=other.folder), box, LOCAL)

    def check(tasks: list[Task]) -> None:
        assert anyio.run(judged_by_the_other, *tasks).score < 1

    in_folder(name, 3, check, count=2)


@pytest.mark.bubblewrap
@pytest.mark.parametrize("name", ["planted-fault", "revert-regression", "request-trace"])
def test_an_instance_can_judge_in_bubblewrap_too(name: str) -> None:
    def check(tasks: list[Task]) -> None:
        proof = anyio.run(prove, tasks[0], BubblewrapProvider())
        assert proof.ok, proof.detail

    in_folder(name, 11, check)


def test_instances_can_be_added_to_those_that_stand(tmp_path: Path) -> None:
    template = load_template("shift-plan")
    first = write_instances(template, 5, 2, tmp_path)
    more = write_instances(template, 5, 4, tmp_path)
    assert [instance.folder.name for instance in more] == [f"shift-plan-5-{number:03d}" for number in range(4)]
    assert [instance.kept for instance in more] == [True, True, False, False]
    assert [instance.folder for instance in first] == [instance.folder for instance in more[:2]]


def test_a_folder_that_holds_something_else_is_not_overwritten_and_nothing_is_written(tmp_path: Path) -> None:
    mine = tmp_path / "shift-plan-5-001" / "instruction.md"
    mine.parent.mkdir()
    mine.write_text("Mine.\n")
    with pytest.raises(ConfigError, match=r"shift-plan-5-001: holds something else"):
        write_instances(load_template("shift-plan"), 5, 3, tmp_path)
    assert files_of(tmp_path) == {"shift-plan-5-001/instruction.md": "Mine.\n"}


def test_what_a_killed_run_left_is_no_task_and_is_removed(tmp_path: Path) -> None:
    template = load_template("shift-plan")
    ended = re.sub(r"\.\d+$", ".1", owner.token())  # this process's number, but started at another time
    left, running = (tmp_path / f".unfinished-{token}-x" for token in (ended, owner.token()))
    for folder in (left, running):
        shutil.copytree(template.path.parent, folder / "shift-plan-5-000")
    write_instances(template, 5, 1, tmp_path)
    assert [task.name for task in load_suite(tmp_path)] == ["shift-plan-5-000"]
    assert (left.exists(), running.exists()) == (False, True)


def test_several_may_write_the_same_instances_at_once(tmp_path: Path) -> None:
    made = "import sys; from pathlib import Path; from harness_eval.templates import load_template, write_instances\n"
    made += "write_instances(load_template('shift-plan'), 5, 8, Path(sys.argv[1]))"
    running = [subprocess.Popen([sys.executable, "-c", made, str(tmp_path)]) for _ in range(3)]
    assert [each.wait() for each in running] == [0, 0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"shift-plan-5-{number:03d}" for number in range(8)]


@pytest.mark.parametrize("instruction", [None, "Mine.\n"])
def test_an_equal_folder_that_appears_meanwhile_is_kept_and_another_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, instruction: str | None
) -> None:
    (standing,) = write_instances(load_template("shift-plan"), 5, 1, tmp_path / "other")
    if instruction:
        (standing.folder / "instruction.md").write_text(instruction)

    @contextmanager
    def meanwhile(out: Path) -> Iterator[Path]:
        shutil.copytree(standing.folder, out / standing.folder.name)
        with unfinished(out) as scratch:
            yield scratch

    monkeypatch.setattr(templates, "unfinished", meanwhile)
    with pytest.raises(ConfigError, match="holds something else") if instruction else nullcontext():
        write_instances(load_template("shift-plan"), 5, 1, tmp_path / "out")
    assert files_of(tmp_path / "out" / standing.folder.name) == files_of(standing.folder)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [standing.folder.name]


def test_a_template_that_draws_too_little_says_how_many_there_are(tmp_path: Path) -> None:
    template = load_template(a_template(tmp_path, SMALL))
    assert len(write_instances(template, 1, 3, tmp_path / "out")) == 3
    with pytest.raises(ConfigError, match=r"own\.py: only 3 different instances"):
        write_instances(template, 1, 4, tmp_path / "out")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def instance(draws:", "SyntaxError"),
        ("def instance(draws): draws.randint(1, 2)", "choices: choice, integer, sample, shuffled"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("made = 1", "no function instance"),
        ("def instance(draws):\n    return {}[draws]", "KeyError"),
        ("def instance(draws):\n    return {'task.toml': ''}", "instruction.md, tests/test.sh missing"),
        ("def instance(draws):\n    return {'../task.toml': ''}", "no path of a file within"),
        ("def instance(draws):\n    return {'template.py': ''}", "no path of a file within"),
        ("def instance(draws):\n    return {'task.toml': 1}", "paths and contents are texts"),
        ("def instance(draws):\n    return 7", "TypeError"),
    ],
)
def test_what_is_wrong_with_a_template_is_said_with_its_file(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ConfigError, match=rf"own\.py: .*{said}"):
        load_template(a_template(tmp_path, body)).instance(Draws(1))


def test_an_unknown_template_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="did you mean 'request-trace'"):
        load_template("request-traces")
    with pytest.raises(ConfigError, match="missing; a template is a Python file"):
        load_template(template_names()["request-trace"].parents[1])


def test_a_bundled_template_has_a_short_and_a_long_name_and_a_path() -> None:
    path = template_names()["rebuild-order"]
    loaded = [load_template(each) for each in ("rebuild-order", "core/rebuild-order", path, path.parent)]
    assert {(template.name, template.path) for template in loaded} == {("rebuild-order", path.resolve())}


def test_a_committed_folder_is_restored_from_its_template(tmp_path: Path) -> None:
    origin = template_names()["layered-settings"].parent
    copy = shutil.copytree(origin, tmp_path / "layered-settings", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "instruction.md").write_text("spoiled")
    (copy / "environment" / "files" / "stale.txt").write_text("of an earlier version")
    restore(str(copy))
    assert files_of(copy) == files_of(origin)


def test_draws_are_the_same_for_ever() -> None:
    draws = Draws("a seed", 7)
    assert [draws.integer(1, 1000) for _ in range(5)] == [810, 83, 609, 350, 222]
    assert draws.choice("abcdefgh") == "f"
    assert draws.shuffled(range(8)) == [5, 7, 2, 6, 1, 3, 4, 0]
    assert draws.sample(range(100), 3) == [49, 18, 80]
    assert draw(1, "place") == 0.13232834817938754


@given(seed=SEEDS, low=st.integers(-1000, 1000), size=st.integers(0, 50))
def test_a_drawn_integer_lies_within_its_bounds_and_each_can_come(seed: int, low: int, size: int) -> None:
    draws = Draws(seed)
    assert all(low <= draws.integer(low, low + size) <= low + size for _ in range(20))
    assert sorted(draws.sample(range(size), size)) == list(range(size))


@pytest.mark.parametrize("attempt", [lambda d: d.integer(2, 1), lambda d: d.choice([]), lambda d: d.sample([1], 2)])
def test_what_cannot_be_drawn_is_refused(attempt: Callable[[Draws], object]) -> None:
    with pytest.raises(ValueError, match=r"whole number|cannot be drawn"):
        attempt(Draws(1))

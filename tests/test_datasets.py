"""Tasks from the rows of data sets: what a mapping file may say, and that what comes out of it judges as it should."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

from harness_eval import row_source
from harness_eval.errors import ConfigError
from harness_eval.judging import judge, prove
from harness_eval.readiness import check
from harness_eval.rows import cached, materialise
from harness_eval.sandboxes import provider
from harness_eval.shapes.inside.question_check import accepts
from harness_eval.task import Task, load_suite
from harness_eval.types import Verdict
from tests.sandboxes.conftest import BASE_IMAGE

pytestmark = pytest.mark.anyio

in_boxes = pytest.mark.parametrize("kind", ["local", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)])


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


Mapped = Callable[..., Path]


@pytest.fixture
def mapped(tmp_path: Path) -> Mapped:
    """Writes rows as JSONL and a mapping file that names them."""

    def write(rows: list[dict[str, Any]], **keys: Any) -> Path:
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        mapping = tmp_path / "asked.yaml"
        mapping.write_text(yaml.safe_dump({"path": "rows.jsonl", "shape": "question", **keys}))
        return mapping

    return write


async def attempt(task: Task, kind: str, command: str) -> Verdict:
    """What the verifier says after a command in a fresh box."""
    boxes = provider(kind)
    async with boxes.open(task.spec) as box:
        ran = await box.run(command, timeout=20)
        assert ran.exit_code == 0, ran.output
        return await judge(task, box, boxes)


# Rows and columns


CAPITALS = [
    {"question": "What is the capital of France?", "answer": "Paris", "level": "easy", "lot": 1},
    {"question": "What is the capital of Peru?", "answer": "Lima", "level": "hard", "lot": 2},
    {"question": "What is the capital of Chad?", "answer": "N'Djamena", "level": "hard", "lot": 1},
]


def test_rows_become_ordinary_tasks(mapped: Mapped) -> None:
    mapping = mapped(CAPITALS, difficulty={"column": "level"}, stresses=["search"], verifier_timeout=30)
    tasks = load_suite(str(mapping))
    assert [(task.name, task.suite, task.difficulty) for task in tasks] == [
        ("row-1", "asked", "easy"),
        ("row-2", "asked", "hard"),
        ("row-3", "asked", "hard"),
    ]
    assert tasks[0].instruction.startswith("What is the capital of France?\n\nWrite the answer")
    assert (tasks[0].stresses, tasks[0].verifier_timeout, tasks[0].spec.limits.network) == (("search",), 30, False)


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_file_may_be_parquet_csv_or_jsonl(tmp_path: Path, mapped: Mapped, ending: str) -> None:
    mapping = mapped(CAPITALS, path=f"table.{ending}", where={"lot": 1}, limit=5, columns={"id": "answer"})
    frame = pandas.DataFrame(CAPITALS)
    if ending == "jsonl":
        frame.to_json(tmp_path / "table.jsonl", orient="records", lines=True)
    else:
        getattr(frame, f"to_{ending}")(tmp_path / f"table.{ending}", index=False)
    assert [task.name for task in load_suite(mapping)] == ["Paris", "N-Djamena"]


def test_a_csv_is_read_as_text(tmp_path: Path, mapped: Mapped) -> None:
    (tmp_path / "codes.csv").write_text("question,answer\nWhich agent?,007\nWhat is missing?,NA\n")
    made = cached(mapped([], path="codes.csv"))
    expected = [json.loads((task / "tests/expected.json").read_text())["answers"] for task in made.tasks]
    assert expected == [["007"], ["NA"]]


def test_the_same_rows_are_the_same_folders_and_others_are_not(mapped: Mapped) -> None:
    first = load_suite(mapped(CAPITALS))
    again = load_suite(mapped(CAPITALS))
    other = load_suite(mapped([{**CAPITALS[0], "answer": "Lyon"}, *CAPITALS[1:]]))
    assert [task.folder for task in first] == [task.folder for task in again]
    assert first[0].digest != other[0].digest
    assert first[1].digest == other[1].digest


def test_what_was_cut_off_while_it_was_written_is_made_anew(
    mapped: Mapped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapping = mapped(CAPITALS)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "chmod", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cached(mapping)
    assert list((tmp_path / "cache" / "harness-eval" / "data-sets").iterdir()) == []
    assert len(cached(mapping).tasks) == 3


def test_rows_that_become_no_task_stand_in_the_suite_with_number_and_reason(mapped: Mapped) -> None:
    tasks = load_suite(mapped([CAPITALS[0], {"question": "And now?", "answer": " "}, CAPITALS[1]]))
    assert [(task.name, task.unsupported) for task in tasks] == [
        ("row-1", None),
        ("row-3", None),
        ("row-2", "row 2 cannot become a task: its column 'answer' has no answer"),
    ]


def test_tasks_are_written_out_and_kept_and_nothing_is_overwritten(mapped: Mapped, tmp_path: Path) -> None:
    mapping = mapped(CAPITALS)
    made = materialise(mapping, tmp_path / "out")
    assert [path.name for path in made.tasks] == ["row-1", "row-2", "row-3"]
    assert [task.name for task in load_suite(tmp_path / "out")] == ["row-1", "row-2", "row-3"]
    shutil.rmtree(made.tasks[2])
    again = materialise(mapping, tmp_path / "out")
    assert again.tasks == made.tasks
    assert again.kept == frozenset(made.tasks[:2])
    shutil.rmtree(made.tasks[2])
    (made.tasks[0] / "instruction.md").write_text("Changed.\n")
    with pytest.raises(ConfigError, match="row-1: holds something else than this row's task"):
        materialise(mapping, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["row-1", "row-2"]


def test_rows_are_named_by_a_column_that_is_called_id(mapped: Mapped) -> None:
    rows = [{**row, "id": f"c{number}"} for number, row in enumerate(CAPITALS)]
    assert [task.name for task in load_suite(mapped(rows))] == ["c0", "c1", "c2"]
    other = [{**row, "instance_id": f"i{number}"} for number, row in enumerate(CAPITALS)]
    assert [task.name for task in load_suite(mapped(other))] == ["i0", "i1", "i2"]
    assert [task.name for task in load_suite(mapped(rows, columns={"id": None}))] == ["row-1", "row-2", "row-3"]
    with pytest.raises(ConfigError, match=r"'c0' names several rows \(1, 2\).*columns\.id names another column"):
        load_suite(mapped([rows[0], {**rows[1], "id": "c0"}]))


def test_a_row_that_becomes_no_task_keeps_its_id(mapped: Mapped) -> None:
    rows = [{**CAPITALS[0], "id": "a-7"}, {**CAPITALS[1], "id": "b-7", "answer": " "}]
    assert [task.name for task in load_suite(mapped(rows))] == ["a-7", "b-7"]
    assert str(load_suite(mapped(rows))[1].unsupported).startswith("row 2 cannot become a task")


@pytest.mark.parametrize(
    ("line", "said"), [('{"question": "Why?", ', "line 3 is not valid JSON"), ("[1, 2]", "line 3 is no JSON object")]
)
def test_a_line_that_is_no_row_is_named(mapped: Mapped, tmp_path: Path, line: str, said: str) -> None:
    mapping = mapped(CAPITALS[:2])
    with (tmp_path / "rows.jsonl").open("a") as rows:
        rows.write(f"{line}\n")
    with pytest.raises(ConfigError, match=rf"rows\.jsonl: {said}"):
        load_suite(mapping)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"shape": "questoin"}, "shape: 'questoin' is not known; did you mean 'question'"),
        ({"checkr": "exact"}, "checkr: unknown key; did you mean 'checker'"),
        ({"columns": {"qustion": "q"}}, "columns.qustion: unknown key; did you mean 'question'"),
        (
            {"columns": {"answer": "anwser"}},
            "no column 'anwser'; did you mean 'answer'? choices: answer, level, lot, q",
        ),
        ({"where": {"lott": 1}}, "there is no column 'lott'; did you mean 'lot'"),
        ({"where": {"lot": 9}}, "no row is left"),
        ({"instruction": "{question} {levle}"}, "there is no column 'levle'"),
        ({"instruction": "{question} {answer}"}, "the answer (column 'answer') must not be shown"),
        ({"columns": {"id": "level"}}, "'hard' names several rows (2, 3)"),
        ({"dataset": "a/b"}, "one of dataset and path"),
        ({"path": "nosuch.jsonl"}, "nosuch.jsonl: there is no such file"),
        ({"path": "rows.xlsx"}, "rows are read from files that end with"),
        ({"checker": "choice"}, "needs columns.choices"),
        ({"checker": "program"}, "needs `program`"),
        ({"checker": "program", "program": "p.py"}, "p.py: there is no such file"),
        ({"answer_file": "../x"}, "answer_file"),
        ({"limit": 0}, "limit"),
    ],
)
def test_what_is_wrong_in_a_mapping_is_said_in_one_line(mapped: Mapped, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_suite(mapped(CAPITALS, **keys))
    assert message in str(raised.value)
    assert str(raised.value).startswith("/")
    assert "\n" not in str(raised.value)


def test_rows_that_cannot_be_read_are_one_line(mapped: Mapped, tmp_path: Path) -> None:
    mapping = mapped(CAPITALS)
    (tmp_path / "rows.jsonl").write_text('{"question": "a"\n')
    with pytest.raises(ConfigError, match=r"rows\.jsonl: line 1 is not valid JSON") as raised:
        load_suite(mapping)
    (tmp_path / "rows.parquet").write_text("PAR0")
    with pytest.raises(ConfigError, match=r"rows\.parquet: cannot be read"):
        load_suite(mapped(CAPITALS, path="rows.parquet"))
    assert "\n" not in str(raised.value)


def test_a_hub_that_cannot_be_reached_is_one_line_at_once(mapped: Mapped, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    mapping = mapped(CAPITALS)
    mapping.write_text("dataset: org/name\nshape: question\n")
    with pytest.raises(ConfigError, match=r"org/name: the hub cannot be reached \(127\.0\.0\.1: Connection refused\)"):
        load_suite(mapping)


def test_a_split_must_be_named_where_there_are_several(mapped: Mapped, tmp_path: Path) -> None:
    (tmp_path / "capitals").mkdir()
    mapping = mapped(CAPITALS)
    mapping.write_text("dataset: capitals\nshape: question\n")
    for split, rows in {"train": CAPITALS[:2], "test": CAPITALS[2:]}.items():
        (tmp_path / "capitals" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        if split == "train":
            assert len(load_suite(mapping)) == 2
    with pytest.raises(ConfigError, match="split: is required; choices: test, train"):
        load_suite(mapping)
    mapping.write_text("dataset: capitals\nsplit: test\nshape: question\n")
    assert len(load_suite(mapping)) == 1
    mapping.write_text("dataset: capitals\nsplit: tst\nshape: question\n")
    with pytest.raises(ConfigError, match=r"capitals: cannot be read: ValueError: .*tst"):
        load_suite(mapping)


def test_a_missing_mapping_file_is_one_line() -> None:
    with pytest.raises(ConfigError, match=r"nosuch\.yaml: cannot be read"):
        load_suite("nosuch.yaml")


def test_a_copy_of_a_data_set_is_used_where_the_user_says_that_there_is_no_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert row_source._unreachable() is None


# Questions


@in_boxes
async def test_a_question_is_solved_by_its_answer_alone(mapped: Mapped, kind: str) -> None:
    task = load_suite(mapped(CAPITALS, limit=1))[0]
    proof = await prove(task, provider(kind))
    assert proof.ok, proof.detail
    assert not (await attempt(task, kind, "echo Lyon > answer.txt")).solved


@in_boxes
async def test_the_answer_is_nowhere_in_the_box_before_it_is_judged(mapped: Mapped, kind: str) -> None:
    task = load_suite(mapped([{"question": "Which word?", "answer": "xyzzyplugh"}]))[0]
    async with provider(kind).open(task.spec) as box:
        places = " ".join(f"{box.root}{place}" for place in ("/app", "/tests", "/solution", "/logs", "/home", "/tmp"))
        ran = await box.run(f"env | grep -c xyzzy; grep -rl xyzzyplugh {places} 2>/dev/null; true")
    assert ran.output.split() == ["0"]


@pytest.mark.parametrize("left", ["ln -s /tests/expected.json answer.txt", "mkdir answer.txt", "mkfifo answer.txt"])
@in_boxes
async def test_what_is_no_file_in_the_place_of_the_answer_scores_nothing(mapped: Mapped, kind: str, left: str) -> None:
    task = load_suite(mapped([{"question": "Which word?", "answer": ".*xyz.*"}], checker="regex"))[0]
    assert (await attempt(task, kind, left)).score == 0


@pytest.mark.parametrize(
    ("expected", "right", "wrong"),
    [
        ({"checker": "exact", "answers": ["New  York"]}, ["New York\n", " New\tYork "], ["new york", "New York!", ""]),
        ({"checker": "exact", "answers": ["Zoë"], "ignore_case": True}, ["zoe\u0308", "ZOË"], ["zoe"]),
        (
            {"checker": "number", "answers": ["1,234.50"]},
            ["1234.5", "1,234.5", "+1.2345e3"],
            ["1234", "12,34.5", "one"],
        ),
        (
            {"checker": "number", "answers": ["100"], "tolerance": 0.5},
            ["100.5", "99.5"],
            ["100.51", "1e2 ", "nan"][::2],
        ),
        (
            {"checker": "number", "answers": ["-200"], "relative_tolerance": 0.01},
            ["-202", "\u2212198"],
            ["-203", "200"],
        ),
        (
            {"checker": "choice", "letter": "B", "choices": ["red", "blue"]},
            ["B", "(b)", "b.", "Blue"],
            ["A", "C", "red"],
        ),
        ({"checker": "regex", "answers": ["v?\\d+"]}, ["v12", " 7 "], ["v12x", "version v12"]),
        ({"checker": "set", "answers": ["a", "b c"]}, ["b  c\na\n", "a\n\nb c\na"], ["a", "a\nb c\nd", "a b c"]),
        ({"checker": "set", "answers": ["a", "b"], "separator": ","}, ["b, a", "a,b,"], ["a b", "a\nb"]),
    ],
)
def test_each_checker_accepts_every_form_and_no_near_miss(
    expected: dict[str, Any], right: list[str], wrong: list[str]
) -> None:
    assert [text for text in right if not accepts(text, expected)] == []
    assert [text for text in wrong if accepts(text, expected)] == []


async def test_a_choice_may_be_given_by_index_letter_label_or_text(mapped: Mapped) -> None:
    rows = [{"question": f"Which {n}?", "options": ["red", "blue"], "answer": a} for n, a in enumerate("1Bb")]
    rows.append({"question": "Which?", "options": ["red", "blue"], "answer": "blue"})
    rows.append({"question": "Which?", "options": ["red", "blue"], "answer": "green"})
    made = cached(mapped(rows, checker="choice", columns={"choices": "options"}))
    expected = [json.loads((task / "tests/expected.json").read_text())["letter"] for task in made.tasks]
    assert expected == ["B"] * 4
    assert [(row.number, row.reason) for row in made.unusable] == [(5, "its answer 'green' is none of its 2 choices")]
    assert "A. red\nB. blue\n" in (made.tasks[0] / "instruction.md").read_text()
    assert (
        await prove(load_suite(mapped(rows, checker="choice", columns={"choices": "options"}))[0], provider("local"))
    ).ok


def test_an_answer_may_be_taken_out_of_a_longer_text(mapped: Mapped) -> None:
    rows = [{"question": "How many?", "answer": "Six and seven make 13.\n#### 13"}, {"question": "?", "answer": "13"}]
    made = cached(mapped(rows, checker="number", answer_pattern="#### (.*)"))
    assert json.loads((made.tasks[0] / "tests/expected.json").read_text())["answers"] == ["13"]
    assert [row.number for row in made.unusable] == [2]


@pytest.mark.parametrize(
    ("answer", "checker", "reason"),
    [
        ("seven", "number", "is no number"),
        ("(", "regex", "no regular expression"),
        (".*", "regex", "the instruction itself would be right"),
        (None, "exact", "has no answer"),
    ],
)
def test_a_row_that_cannot_be_judged_is_left_out_with_its_reason(
    mapped: Mapped, answer: str | None, checker: str, reason: str
) -> None:
    made = cached(mapped([CAPITALS[0] | {"answer": "1"}, {"question": "How?", "answer": answer}], checker=checker))
    assert [row.number for row in made.unusable] == [2]
    assert reason in made.unusable[0].reason


async def test_context_is_files_beside_the_question(mapped: Mapped) -> None:
    rows = [
        {"question": "Sum?", "answer": "5", "files": {"data/a.txt": "2\n", "b.txt": "3\n"}},
        {"question": "Sum?", "answer": "5", "files": {"../a.txt": "2\n"}},
    ]
    made = load_suite(mapped(rows, columns={"context": "files"}, checker="number"))
    verdict = await attempt(made[0], "local", "echo $(($(cat data/a.txt) + $(cat b.txt))) > answer.txt")
    assert verdict.solved
    assert "'../a.txt' is no path" in str(made[1].unsupported)


async def test_a_program_of_the_data_set_may_judge(mapped: Mapped, tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text(
        "import json, sys\n"
        "wanted = json.load(open(sys.argv[2]))['answers'][0]\n"
        "print(len(set(wanted) & set(open(sys.argv[1]).read())) / len(set(wanted)))\n"
    )
    task = load_suite(mapped([{"question": "Letters?", "answer": "abcd"}], checker="program", program="judge.py"))[0]
    assert (await prove(task, provider("local"))).ok
    assert (await attempt(task, "local", "printf ab > answer.txt")).score == 0.5


# Repair


def git(place: Path, *arguments: str) -> str:
    identity = {
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@b.c",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@b.c",
    }
    env = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(["git", *arguments], cwd=place, capture_output=True, text=True, check=True, env=env)
    return done.stdout


BUGGY = '''"""Lengths of time."""


def minutes(text):
    """Minutes of a text such as 1:30 or 45."""
    hours, _, rest = text.partition(":")
    return int(hours) * 60 + int(rest)


def shown(number):
    """1:30 for 90."""
    return f"{number // 60}:{number % 60:02d}"
'''
FIXED = BUGGY.replace(
    '    hours, _, rest = text.partition(":")\n', '    hours, _, rest = text.rpartition(":")\n'
).replace("int(hours) * 60", "int(hours or 0) * 60")
OLD_TESTS = """import unittest

from spans import shown


class Shown(unittest.TestCase):
    def test_shown(self):
        self.assertEqual(shown(65), "1:05")
"""
NEW_TESTS = """import unittest

from spans import minutes


class Minutes(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(minutes("45"), 45)

    def test_hours(self):
        self.assertEqual(minutes("1:30"), 90)
"""


@pytest.fixture
def repository(tmp_path: Path) -> dict[str, Any]:
    """A small repository with a bug whose fix came with tests, as a row of SWE-bench says it."""
    place = tmp_path / "spans"
    (place / "tests").mkdir(parents=True)
    git(tmp_path, "init", "--quiet", "-b", "main", "spans")
    for name, text in {"spans.py": BUGGY, "tests/__init__.py": "", "tests/test_shown.py": OLD_TESTS}.items():
        (place / name).write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "--quiet", "-m", "First")
    base = git(place, "rev-parse", "HEAD").strip()
    (place / "spans.py").write_text(FIXED)
    patch = git(place, "diff")
    git(place, "commit", "--quiet", "-am", "Read plain minutes")
    (place / "tests" / "test_minutes.py").write_text(NEW_TESTS)
    git(place, "add", "-A")
    test_patch = git(place, "diff", "--cached")
    git(place, "commit", "--quiet", "-m", "Tests")
    git(place, "tag", "later")
    return {
        "instance_id": "demo__spans-1",
        "repo": "demo/spans",
        "base_commit": base,
        "problem_statement": "minutes('45') raises ValueError.",
        "patch": patch,
        "test_patch": test_patch,
        "FAIL_TO_PASS": json.dumps(["test_plain (tests.test_minutes.Minutes)"]),
        "PASS_TO_PASS": ["tests.test_minutes.Minutes.test_hours", "tests.test_shown.Shown.test_shown"],
    }


Repaired = Callable[..., Task]


@pytest.fixture
def repaired(mapped: Mapped, repository: dict[str, Any]) -> Repaired:
    """The task that a row with changes becomes."""

    def make(changes: dict[str, Any] | None = None, **keys: Any) -> Task:
        row = {**repository, **(changes or {})}
        lists = {
            name: json.dumps(row[name]) for name in ("FAIL_TO_PASS", "PASS_TO_PASS") if isinstance(row[name], list)
        }
        given = {"shape": "repair", "repository": "spans", **keys}
        return load_suite(mapped([row | lists], **given))[0]

    return make


@in_boxes
async def test_a_repair_fails_untouched_and_passes_with_its_patch(repaired: Repaired, kind: str) -> None:
    task = repaired()
    assert (task.name, task.unsupported) == ("demo__spans-1", None)
    assert task.instruction.startswith("minutes('45') raises ValueError.")
    proof = await prove(task, provider(kind))
    assert proof.ok, proof.detail
    assert proof.untouched is not None
    assert "2 of 3 tests pass" in proof.untouched.detail


FIX = "sed -i 's/partition/rpartition/; s/int(hours)/int(hours or 0)/' spans.py"
WRONG = {
    "a wrong patch": "sed -i 's/int(rest)/int(rest or 0)/' spans.py",
    "a patch that breaks what worked": f"{FIX}; sed -i 's/02d/d/' spans.py",
    "an early end": "echo 'import os; os._exit(0)' >> spans.py",
    "an early end that prints success": "echo 'import os; print(\"OK\", flush=True); os._exit(0)' >> spans.py",
    "sys.exit": "echo 'import sys; sys.exit(0)' >> spans.py",
    "tests that pass": "rm -r tests; mkdir tests; echo > tests/__init__.py; echo > tests/test_minutes.py",
    "a skip": "sed -i 's/class Shown/@unittest.skip(\"\")\\nclass Shown/' tests/test_shown.py",
    "no tests": "rm -r tests; ln -s /nowhere tests",
    "another unittest": "mkdir unittest; echo 'import os; os._exit(0)' > unittest/__init__.py",
    "nothing left": "rm -rf spans.py .git",
    "a git that is broken": "rm -rf .git; echo nonsense > .git",
}


@pytest.mark.parametrize("what", WRONG)
@in_boxes
async def test_a_repair_is_not_solved_by(repaired: Repaired, kind: str, what: str) -> None:
    assert (await attempt(repaired(), kind, WRONG[what])).score == 0


@in_boxes
async def test_tests_that_the_solver_changed_are_put_back(repaired: Repaired, kind: str) -> None:
    task = repaired()
    assert (await attempt(task, kind, FIX)).solved
    assert (await attempt(task, kind, f"{FIX}; echo 'raise SystemExit' > tests/test_shown.py")).solved
    assert (await attempt(task, kind, f"{FIX}; rm -rf tests; touch tests")).solved


async def test_the_box_knows_nothing_of_what_came_after(repaired: Repaired) -> None:
    task = repaired()
    asked = "git log --all --format=%s; git reflog; git tag; git remote -v; git stash list; git fsck --lost-found"
    async with provider("local").open(task.spec) as box:
        ran = await box.run(f"git status --short; {asked}; ls .git; grep -r spans .git/config; git count-objects -v")
        objects = await box.run("git cat-file --batch-all-objects --batch-check='%(objecttype)' | sort | uniq -c")
    assert ran.output.splitlines()[0] == "First"
    assert "Read plain" not in ran.output
    assert "later" not in ran.output
    assert "ORIG_HEAD" not in ran.output
    assert objects.output.split() == ["3", "blob", "1", "commit", "2", "tree"]


def test_a_shallow_past_can_be_asked_for(repaired: Repaired, tmp_path: Path) -> None:
    newest = git(tmp_path / "spans", "rev-parse", "HEAD").strip()
    task = repaired({"base_commit": newest, "patch": "", "test_patch": ""}, depth=2)
    files = task.folder / "environment" / "files"
    assert git(files, "log", "--format=%s").split("\n")[:-1] == ["Tests", "Read plain minutes"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"base_commit": "1" * 40}, "spans has no commit 1111"),
        ({"patch": "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n"}, "git apply fails"),
        ({"FAIL_TO_PASS": "[]"}, "names no test"),
        ({"FAIL_TO_PASS": "test_plain"}, "is no list in JSON"),
        ({"problem_statement": ""}, "'problem_statement' is empty"),
        ({"repo": "nosuch"}, "git clone fails"),
    ],
)
def test_a_row_that_cannot_be_repaired_is_left_out_with_its_reason(
    repaired: Repaired, changes: dict[str, Any], reason: str
) -> None:
    keys = {"repository": "elsewhere/{repo}"} if "repo" in changes else {}
    assert reason in str(repaired(changes, **keys).unsupported)


def test_a_row_without_a_patch_has_no_solution(repaired: Repaired) -> None:
    task = repaired({"patch": None})
    assert task.unsupported is None
    assert not (task.folder / "solution").exists()


def test_repositories_that_stand_in_a_folder_are_kept(repaired: Repaired, tmp_path: Path) -> None:
    repaired()
    made = materialise(tmp_path / "asked.yaml", tmp_path / "out")
    assert materialise(tmp_path / "asked.yaml", tmp_path / "out").kept == frozenset(made.tasks)


def test_an_image_is_named_by_a_template(repaired: Repaired) -> None:
    task = repaired(
        repository=None, image="registry.example/x86_64.{instance_id_1776}:v1", environment={"workdir": "/testbed"}
    )
    assert (task.spec.image, task.spec.workdir) == ("registry.example/x86_64.demo_1776_spans-1:v1", "/testbed")


@in_boxes
async def test_each_test_may_be_a_command_of_its_own(repaired: Repaired, kind: str) -> None:
    task = repaired(
        {"FAIL_TO_PASS": '["tests.test_minutes"]', "PASS_TO_PASS": '["tests.test_shown"]'},
        runner="each",
        test_command="python3 -m unittest {test}",
        passed="OK",
    )
    proof = await prove(task, provider(kind))
    assert proof.ok, proof.detail
    assert (await attempt(task, kind, WRONG["an early end"])).score == 0


def test_pytest_tells_the_outcomes_by_their_node_ids(repaired: Repaired, tmp_path: Path) -> None:
    task = repaired(
        {"FAIL_TO_PASS": '["tests/test_minutes.py::Minutes::test_plain"]', "PASS_TO_PASS": "[]"},
        runner="pytest",
        test_command="python3 -m pytest -q {files}",
    )
    work, out = tmp_path / "work", tmp_path / "out"
    out.mkdir()
    for patch, reward in (("", "0"), ("fix", "1"), ("forged", "0")):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(task.folder / "environment" / "files", work)
        if patch == "fix":
            git(work, "apply", str(task.folder / "solution" / "fix.patch"))
        if patch == "forged":
            (work / "spans.py").write_text("import os; os._exit(0)")
        environment = {
            **os.environ,
            "VERIFIER_DIR": str(out),
            "PATH": f"{Path(os.sys.executable).parent}:/usr/bin:/bin",
        }
        subprocess.run(["bash", task.folder / "tests" / "test.sh"], cwd=work, env=environment, check=True)
        assert (out / "reward.txt").read_text().strip() == reward, patch


@in_boxes
@pytest.mark.parametrize(
    ("runner", "command", "missing"),
    [
        ("pytest", "python3 -m nosuchrunner {tests}", "nosuchrunner"),
        ("pytest", "nosuchprogram {files}", "nosuchprogram"),
        ("each", "env A=1 python3 -m nosuchrunner {test}", "nosuchrunner"),
    ],
)
async def test_a_test_runner_that_is_not_in_the_sandbox_is_no_fault_of_the_task(
    repaired: Repaired, kind: str, runner: str, command: str, missing: str
) -> None:
    task = repaired(runner=runner, test_command=command, passed="OK")
    found = await check(task, provider(kind))
    assert found.state == "cannot-run"
    assert f"the test runner is not in this sandbox: {missing}" in found.reason


@pytest.fixture
def image(tmp_path: Path, repository: dict[str, Any]) -> Iterator[str]:
    """An image of its own that has the repository at its base commit, in another place than usual."""
    (tmp_path / "context").mkdir()
    git(tmp_path, "clone", "--quiet", "spans", "context/spans")
    git(tmp_path / "context" / "spans", "reset", "--quiet", "--hard", repository["base_commit"])
    (tmp_path / "context" / "Dockerfile").write_text(f"FROM {BASE_IMAGE}\nCOPY spans /testbed\nWORKDIR /testbed\n")
    name = "harness-eval-test-demo_1776_spans-1"
    subprocess.run(["docker", "build", "--quiet", "--tag", name, tmp_path / "context"], check=True, capture_output=True)
    yield name
    subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True)


@pytest.mark.docker
async def test_a_repair_may_bring_its_repository_in_an_image(repaired: Repaired, image: str) -> None:
    task = repaired(repository=None, image="harness-eval-test-{instance_id_1776}")
    assert task.spec.image == image
    proof = await prove(task, provider("docker"))
    assert proof.ok, proof.detail
    assert (await attempt(task, "docker", f"{FIX}; echo 'raise SystemExit' > tests/test_minutes.py")).solved
    assert (await attempt(task, "docker", f"{FIX}; sed -i s/02d/d/ spans.py")).score == 0
    assert (await attempt(task, "docker", WRONG["an early end"])).score == 0


def test_a_repository_that_went_on_is_copied_again(mapped: Mapped, repository: dict[str, Any], tmp_path: Path) -> None:
    keys = {"shape": "repair", "repository": "spans"}
    rows = [repository | {"PASS_TO_PASS": "[]"}]
    assert load_suite(mapped(rows, **keys))[0].unsupported is None
    (tmp_path / "spans" / "more.py").write_text("")
    git(tmp_path / "spans", "add", "-A")
    git(tmp_path / "spans", "commit", "--quiet", "-m", "More")
    newest = git(tmp_path / "spans", "rev-parse", "HEAD").strip()
    later = {"instance_id": "demo__spans-2", "base_commit": newest, "patch": "", "test_patch": ""}
    tasks = load_suite(mapped([*rows, rows[0] | later], **keys))
    assert [(task.name, task.unsupported) for task in tasks] == [("demo__spans-1", None), ("demo__spans-2", None)]
    assert (tasks[1].folder / "environment" / "files" / "more.py").exists()

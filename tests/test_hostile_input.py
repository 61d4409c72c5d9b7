"""Task folders, data sets and templates whose authors mean no good: each is refused in a line, and none hangs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from harness_eval import rows
from harness_eval.errors import ConfigError
from harness_eval.row_source import read_rows
from harness_eval.rows import cached, load_mapping, materialise
from harness_eval.shapes import UnusableRow
from harness_eval.shapes.patterns import search
from harness_eval.shapes.repository import _files_of, mirrored
from harness_eval.task import load_task
from harness_eval.task_files import digest
from harness_eval.templates import load_template, write_instances


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task folder in which nothing is wrong yet."""
    folder = tmp_path / "greet"
    for name, text in {"task.toml": "", "instruction.md": "Greet.\n", "tests/test.sh": "exit 0\n"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def deep(task: Path) -> Iterator[Path]:
    """The same with 1,500 folders one in the other."""
    place = os.open(task, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("in", dir_fd=place)
        inner = os.open("in", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    yield task
    subprocess.run(["rm", "-rf", str(task)], check=True)  # what Python removes must not be so deep


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigError) as refused:
        load_task(folder)
    assert "\n" not in str(refused.value)
    return str(refused.value)


# Task folders


def test_folders_that_nest_without_end_are_refused(deep: Path) -> None:
    assert refusal(deep).startswith(str(deep))


@pytest.mark.parametrize("part", ["task.toml", "instruction.md", "tests/test.sh"])
def test_a_part_that_is_a_pipe_is_named_and_not_waited_for(task: Path, part: str) -> None:
    (task / part).unlink()
    os.mkfifo(task / part)
    assert str(task / part) in refusal(task)


# Mapping files


def mapping(folder: Path, rows: list[dict[str, Any]], text: str = "shape: question") -> Path:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "asked.yaml").write_text(f"path: rows.jsonl\n{text}\n")
    return folder / "asked.yaml"


ASKED = {"question": "What is the capital of France?", "answer": "Paris"}
DEEP_PATTERN = "(" * 5000 + ")" * 5000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shape: question\nanswer_pattern: '('", "answer_pattern: '(' is no regular expression"),
        (f"shape: question\nanswer_pattern: '{DEEP_PATTERN}'", "answer_pattern: "),
        ("shape: question\nanswer_pattern: '(a{99999999999999})'", "answer_pattern: "),
        ("shape: repair\nimage: x\nrunner: each\ntest_command: 'run {test}'\npassed: '['", "passed: '[' is no regular"),
        ("shape: question\nanswer_file: a/", "answer_file: must be a file"),
        ("shape: question\nenvironment: {when: 2020-01-01}", "environment.when: must be a text"),
        ("shape: question\nenvironment: {env: {A: null}}", "environment.env.A: must be a text"),
        ("shape: question\nenvironment: {cpus: .inf}", "environment.cpus: must be a number"),
        ("shape: question\nenvironment: {cpus: .nan}", "environment.cpus: must be a number"),
        ("shape: question\nwhere: {question: !!binary aGk=}", "where.question: must be a text"),
        ("shape: question\n? [a]\n: b", "a key must be a single value"),
    ],
)
def test_a_mapping_file_that_is_wrong_is_one_line_that_names_the_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_mapping(mapping(tmp_path, [ASKED], text))
    assert said in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "asked.yaml"))
    assert "\n" not in str(refused.value)


def test_rows_may_be_chosen_by_a_date_and_by_nothing(tmp_path: Path) -> None:
    rows = [{**ASKED, "day": "2020-01-01", "by": None}, {**ASKED, "day": "2020-01-02", "by": None}]
    made = cached(mapping(tmp_path, rows, "shape: question\nwhere: {day: 2020-01-01 00:00:00, by: null}"))
    assert [task.name for task in made.tasks] == ["row-1"]


# Rows


def unusable(folder: Path, rows: list[dict[str, Any]], text: str) -> dict[int, str]:
    """The reasons by number; the first row is always right, and becomes a task."""
    made = materialise(mapping(folder, rows, text), folder / "out")
    assert [task.name for task in made.tasks] == ["row-1"]
    return {row.number: row.reason for row in made.unusable}


def test_answers_of_thousands_of_digits_are_no_choice(tmp_path: Path) -> None:
    rows = [{"question": "?", "answer": answer, "choices": ["x", "y"]} for answer in ("1", "9" * 5000, "²")]
    found = unusable(tmp_path, rows, "shape: question\nchecker: choice\ncolumns: {choices: choices}")
    assert {number: reason[-24:] for number, reason in found.items()} == dict.fromkeys(
        (2, 3), "is none of its 2 choices"
    )


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a\0b"], "is no path of a file"),
        (["a/" * 2000 + "b"], "more than 50 folders deep"),
        (["a", "a/b"], "'a' is a folder too, by 'a/b'"),
        (["a/b", "a"], "'a' is a folder too, by 'a/b'"),
        (["answer.txt/b"], "'answer.txt' is a folder too"),
        (["./answer.txt"], "is the same file as 'answer.txt'"),
        (["x" * 256], "is too long"),
        (["é" * 128], "is too long"),
        ([f"{'x' * 250}/{'y' * 250}/{'z' * 250}/{'u' * 250}"], "is too long"),
        (["."], "is no path of a file"),
    ],
)
def test_context_files_that_cannot_stand_in_a_folder_are_told(tmp_path: Path, names: list[str], said: str) -> None:
    rows = [{**ASKED, "files": [{"name": name, "text": "t"} for name in each]} for each in (["a/b", "a/c"], names)]
    assert said in unusable(tmp_path, rows, "shape: question\ncolumns: {context: files}")[2]


SLOW = "(a+)+b"


def test_a_pattern_that_never_ends_leaves_out_its_row(tmp_path: Path) -> None:
    rows = [{"question": "a" * 60, "answer": answer} for answer in ("c+", SLOW, "(")]
    found = unusable(tmp_path, rows, "shape: question\nchecker: regex\ninstruction: '{question}'")
    assert "'(a+)+b' was given up after 1 s" in found[2]
    assert "'(' is no regular expression" in found[3]


def test_a_pattern_that_never_ends_leaves_out_the_answers_that_it_is_searched_in(tmp_path: Path) -> None:
    rows = [{"question": "?", "answer": answer} for answer in ("ab", "a" * 60)]
    assert "was given up" in unusable(tmp_path, rows, "shape: question\nanswer_pattern: '((?:a+)+b)'")[2]


def test_searches_find_what_re_finds_and_those_after_one_that_was_given_up_too() -> None:
    assert search("(b)(c)?", "abd") == ["b", "b", None]
    assert search("b", "abd", whole=True) is None
    with pytest.raises(UnusableRow):
        search(SLOW, "a" * 60, whole=True)
    assert search("\\w+", "é\n", whole=False) == ["é"]


@pytest.mark.parametrize("instruction", [None, "Mine.\n"])
def test_an_equal_task_that_appears_meanwhile_is_kept_and_another_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, instruction: str | None
) -> None:
    asked = mapping(tmp_path, [ASKED])
    (standing,) = materialise(asked, tmp_path / "other").tasks
    if instruction:
        (standing / "instruction.md").write_text(instruction)

    def named(*given: Any) -> bool:
        shutil.copytree(standing, tmp_path / "out" / "row-1")
        return settled(*given)

    settled = rows.settle
    monkeypatch.setattr(rows, "settle", named)
    with pytest.raises(ConfigError, match="holds something else") if instruction else nullcontext():
        materialise(asked, tmp_path / "out")
    assert digest(tmp_path / "out" / "row-1") == digest(standing)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["row-1"]


# Files of commas


def read(folder: Path, text: str | bytes) -> list[tuple[int, Any]]:
    (folder / "rows.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "asked.yaml").write_text("path: rows.csv\nshape: question\n")
    return read_rows(load_mapping(folder / "asked.yaml"), folder / "asked.yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question,answer\nq,a\nr,b,\n", "row 2 has 3 fields, but there are 2 columns"),
        ("question,answer\nq,a,\nr,b,\n", "row 1 has 3 fields, but there are 2 columns"),
        ("question,answer\n\nq,a\nr\n", "row 2 has 1 fields, but there are 2 columns"),
        ("question,answer,answer\nq,a,b\n", "two columns have the same name"),
        ('question,answer\nq,"a\n', "is no file of commas"),
        ("", "there is no column 'answer'"),
        (b"question,answer\n\xff,a\n", "cannot be read"),
    ],
)
def test_a_file_of_commas_that_is_not_even_is_refused_by_the_number_of_the_row(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_commas_may_hold_what_spreadsheets_write(tmp_path: Path) -> None:
    text = '\ufeffquestion,answer,\r\n"a, ""b""\nc",007,x\r\n' + f"{'y' * 200_000},NA,\r\n"
    rows = [{name: row[name] for name in ("question", "answer")} for _, row in read(tmp_path, text)]
    assert rows == [{"question": 'a, "b"\nc', "answer": "007"}, {"question": "y" * 200_000, "answer": "NA"}]


# Rows that repair a repository

FIXED = "--- a/mod.py\n+++ b/mod.py\n@@ -1 +1 @@\n-n = 1\n+n = 2\n"
TESTED = "--- /dev/null\n+++ b/test_mod.py\n@@ -0,0 +1 @@\n+import mod\n"


@pytest.fixture
def fix(tmp_path: Path) -> dict[str, Any]:
    """A row that is right."""
    place = tmp_path / "project"
    place.mkdir()
    (place / "mod.py").write_text("n = 1\n")
    git = ["git", "-C", str(place), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    return {
        "instance_id": "row-1",
        "repo": "project",
        "base_commit": commit,
        "problem_statement": "n is 1",
        "patch": FIXED,
        "test_patch": TESTED,
        "FAIL_TO_PASS": ["test_mod.T.test_n"],
        "PASS_TO_PASS": [],
    }


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ({"base_commit": "a\0b"}, "is no commit's id"),
        ({"base_commit": "HEAD"}, "is no commit's id"),
        ({"base_commit": "--output=/x"}, "is no commit's id"),
        ({"base_commit": "abcdef"}, "is no commit's id"),
        ({"base_commit": "1" * 65}, "is no commit's id"),
        ({"repo": "a\0b"}, "is no address or folder"),
        ({"repo": "ext::sh -c 'touch pwned' ://"}, "is no address or folder"),
        ({"repo": "--upload-pack=touch pwned;://"}, "is no address or folder"),
        ({"repo": "~nobody-has-this-name/x"}, "is no address or folder"),
        ({"repo": "loop/x"}, "git clone fails"),
        ({"repo": "unheard-of://x"}, "git clone fails"),
        ({"FAIL_TO_PASS": "[" * 100_000}, "is no list in JSON"),
        ({"FAIL_TO_PASS": '["a\\u0000b"]'}, "is no list of names"),
        ({"patch": "a\0b"}, "git apply fails"),
    ],
)
def test_rows_that_git_must_not_see_are_told(
    tmp_path: Path, fix: dict[str, Any], spoiled: dict[str, Any], said: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    first = {**fix, "FAIL_TO_PASS": json.dumps(fix["FAIL_TO_PASS"])}
    found = unusable(
        tmp_path, [first, {**first, "instance_id": "two", **spoiled}], "shape: repair\nrepository: '{repo}'"
    )
    assert said in found[2]
    assert not list(tmp_path.rglob("pwned"))


def test_an_address_may_hold_two_colons_where_a_host_has_them(tmp_path: Path) -> None:
    with pytest.raises(UnusableRow, match="git clone fails"):  # nothing listens there
        mirrored("http://[::1]:9/x", tmp_path, "1" * 40)


def test_a_name_of_a_test_with_thousands_of_parts_is_looked_up_at_once() -> None:
    assert _files_of("a." * 1_000_000, {"a.py", "a/a.py"}) == {"a.py", "a/a.py"}


# Templates


def template(folder: Path, text: str) -> Path:
    (folder / "own.py").write_text(
        "BASE = {'task.toml': '', 'instruction.md': 'x', 'tests/test.sh': 'x'}\n\n\n" + text, encoding="utf-8"
    )
    return folder / "own.py"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return {**BASE, 'a\\0b': 'y'}", r"'a\x00b' is no path of a file"),
        ("return {**BASE, '\\ud800': 'y'}", r"'\ud800' is no text in UTF-8"),
        ("return {**BASE, 'a': '\\ud800'}", "'a': the text has characters that UTF-8 has not"),
        ("return {**BASE, 'a': 'y', 'a/b': 'z'}", "'a' is a folder too"),
        ("return {**BASE, 'a' * 300: 'y'}", "is too long"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("return instance(draws)", "RecursionError"),
    ],
)
def test_what_a_template_must_not_do_is_one_line_that_names_it(tmp_path: Path, body: str, said: str) -> None:
    path = template(tmp_path, f"def instance(draws):\n    {body}\n")
    with pytest.raises(ConfigError) as refused:
        write_instances(load_template(path), 1, 1, tmp_path / "out")
    assert str(refused.value).startswith(f"{path}: instance: ")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_template_that_ends_the_program_while_it_is_loaded_is_named(tmp_path: Path) -> None:
    path = template(tmp_path, "import sys\nsys.exit('bye')\n")
    with pytest.raises(ConfigError, match=r"own\.py: SystemExit: bye"):
        load_template(path)

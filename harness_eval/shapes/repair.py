"""Repair in the manner of SWE-bench: a repository at a commit, a problem, a patch, and tests that must pass then."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Literal, Self

from pydantic import PositiveInt, model_validator

from harness_eval.shapes.inside import verifier
from harness_eval.shapes.patterns import pattern_fault
from harness_eval.shapes.repository import check_out, hidden_tests, mirrored, require_applies
from harness_eval.shapes.row import (
    DOCKERFILE,
    PLACEHOLDER,
    Row,
    Section,
    Shape,
    UnusableRow,
    filled,
    scripted,
    text_of,
    write_files,
)
from harness_eval.types import Json

_SOLVE = """#!/usr/bin/env bash
set -e
git apply --whitespace=nowarn "$(cd "$(dirname "$0")" && pwd)/fix.patch"
"""
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_METHOD_FIRST = re.compile(r"(\w+) \(([\w.]+)\)")
_INSTRUCTION = """{problem_statement}

---

The working directory is a checkout of the project {repo} at the state in which this was reported. Change its code so
that what is reported above is put right. Tests that you do not see decide whether it is; all that works today must go
on to work. Changes of existing tests do not count.
"""


class RepairColumns(Section):
    """Where a repair row has what; the defaults are SWE-bench's."""

    instance_id: str = "instance_id"
    repo: str = "repo"
    base_commit: str = "base_commit"
    problem_statement: str = "problem_statement"
    patch: str = "patch"
    test_patch: str = "test_patch"
    fail_to_pass: str = "FAIL_TO_PASS"  # noqa: S105
    pass_to_pass: str = "PASS_TO_PASS"  # noqa: S105  (columns, no passwords)


class Repair(Shape):
    """A bug to be repaired, judged by the tests that its fix came with.

    Where the repository is: `image`, the name of a prebuilt image that has it (its working directory, or `workdir` in
    `environment`), or `repository`, a folder (relative to the mapping file) or address to copy it from, of which the
    newest `depth` commits are kept (default: the whole past) and nothing after the base commit. Both are templates with
    `{column}`; `{instance_id_1776}` is the instance's id as SWE-bench writes it in names of images.

    How tests are named and run: `unittest` (dotted names; needs the standard library alone), `pytest` (node ids;
    `test_command` with `{tests}` or `{files}`), or `each`, where `test_command` runs once for each `{test}`, must end
    with exit code 0 and print what the pattern `passed` finds. `python_path` are folders of the repository that Python
    looks into.
    """

    verifier_seconds = 1800.0

    shape: Literal["repair"]
    columns: RepairColumns = RepairColumns()
    instruction: str = _INSTRUCTION
    image: str | None = None
    repository: str | None = None
    depth: PositiveInt | None = None
    runner: Literal["unittest", "pytest", "each"] = "unittest"
    test_command: str | None = None
    passed: str | None = None
    python_path: tuple[str, ...] = (".",)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.image is None) == (self.repository is None):
            raise ValueError("one of image and repository says where the repository is")
        if self.runner == "unittest" and self.test_command is not None:
            raise ValueError("test_command: belongs to the runners pytest and each")
        if self.runner == "pytest" and not re.search(r"(?:^| )\{(tests|files)\}(?: |$)", self._command):
            raise ValueError("test_command: needs {tests} or {files} as a word of its own")
        if self.runner == "each" and ("{test}" not in self._command or self.passed is None):
            raise ValueError("the runner each needs a test_command with {test} and the pattern `passed`")
        if self.passed is not None and (fault := pattern_fault(self.passed)):
            raise ValueError(f"passed: {fault}")
        hidden = {self.columns.patch, self.columns.test_patch} & set(PLACEHOLDER.findall(self.instruction))
        if hidden:
            raise ValueError(f"instruction: the column {hidden.pop()!r} must not be shown to the solver")
        return self

    @property
    def _command(self) -> str:
        return self.test_command or ("python3 -m pytest -q {tests}" if self.runner == "pytest" else "")

    def own_columns(self) -> set[str]:
        """The columns that this shape reads."""
        places = PLACEHOLDER.findall(f"{self.image or ''} {self.repository or ''}")
        return set(self.columns.model_dump().values()) | {name for name in places if name not in _DERIVED}

    def used_columns(self) -> set[str]:
        """All columns that are read; in the instruction `{repo}` and the like stand for the columns of these roles."""
        return self.own_columns() | (super().used_columns() - set(RepairColumns.model_fields) - _DERIVED)

    def identity(self, row: Row, number: int) -> str:
        """The instance's id."""
        return text_of(row, self.columns.instance_id)

    def write(self, row: Row, folder: Path, beside: Path) -> None:
        """Write the row's task into an empty folder."""
        values = self._values(row)
        tests = self._tests(row)
        base = text_of(row, self.columns.base_commit).strip()
        if not _COMMIT.fullmatch(base):
            raise UnusableRow(f"its base commit {base[:60]!r} is no commit's id (7 to 64 hexadecimal digits)")
        patch, test_patch = (_patch(row, name) for name in (self.columns.patch, self.columns.test_patch))
        expected: dict[str, Json] = {
            "runner": self.runner,
            "command": self._command,
            "passed": self.passed,
            "python_path": self.python_path,
            "tests": tests,
            "seconds": 0.9 * (self.verifier_timeout or self.verifier_seconds),
            "base_commit": base,
            "absent": [],
            "restored": [],
        }
        files = verifier("repair_check.py", *_OUTCOMES[self.runner]) | {
            "instruction.md": filled(self.instruction, values),
        }
        if patch.strip():
            files |= {"solution/solve.sh": _SOLVE, "solution/fix.patch": patch}
            files |= scripted("fix.patch", patch, "git apply fix.patch && rm fix.patch", "git status --short")
        if self.image is not None:
            files["tests/test.patch"] = test_patch
            expected["restored"] = sorted({test.split("::")[0] for test in tests if "::" in test})
            files["task.toml"] = self.task_toml(row, docker_image=filled(self.image, values))
        else:
            mirror = mirrored(filled(self.repository or "", values), beside, base)
            require_applies(mirror, base, patch)
            files |= {"environment/Dockerfile": DOCKERFILE, "task.toml": self.task_toml(row)}
            check_out(mirror, base, folder / "environment" / "files", self.depth)
            expected["absent"] = hidden_tests(mirror, base, test_patch, tests, folder / "tests" / "files")
        write_files(folder, files | {"tests/expected.json": json.dumps(expected, indent=1) + "\n"})

    def _values(self, row: Row) -> dict[str, Json]:
        roles = {role: row.get(column) for role, column in self.columns.model_dump().items()}
        text_of(row, self.columns.problem_statement)
        identity = text_of(row, self.columns.instance_id)
        return {**row, **roles, "instance_id_1776": identity.lower().replace("__", "_1776_")}

    def _tests(self, row: Row) -> list[str]:
        """The names of all tests that must pass, those that fail today first."""
        failing, passing = (_names(row, name) for name in (self.columns.fail_to_pass, self.columns.pass_to_pass))
        if not failing:
            raise UnusableRow(f"its column {self.columns.fail_to_pass!r} names no test, so that nothing need be done")
        names = [*failing, *passing]
        if self.runner == "unittest":
            names = [_dotted(name) for name in names]
        return list(dict.fromkeys(names))


_DERIVED = {"instance_id_1776"}
_OUTCOMES = {"unittest": ["unittest_outcomes.py"], "pytest": ["pytest_outcomes.py"], "each": []}


def _patch(row: Row, column: str) -> str:
    text = str(row.get(column) or "")
    return text if not text.strip() or text.endswith("\n") else f"{text}\n"  # git takes no patch without its last one


def _names(row: Row, column: str) -> list[str]:
    """Names of tests, from a list or from JSON in a text."""
    value = row.get(column)
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else []
        except (ValueError, RecursionError) as error:
            raise UnusableRow(f"its column {column!r} is no list in JSON") from error
    if not isinstance(value, list | None) or not all(_is_name(name) for name in value or []):
        raise UnusableRow(f"its column {column!r} is no list of names of tests")
    return list(value or [])


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _dotted(name: str) -> str:
    """A test's dotted name; unittest prints `method (module.Class)`, since 3.11 `method (module.Class.method)`."""
    found = _METHOD_FIRST.fullmatch(name)
    if found is None:
        return name
    method, place = found.groups()
    return place if place.endswith(f".{method}") else f"{place}.{method}"

"""`harness-eval tasks`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Said
from tests.doubles import make_task

Run = Callable[..., Said]


def test_tasks_of_a_folder_are_listed(harness_eval: Run, suite: Path) -> None:
    tasks = json.loads(harness_eval("tasks", "list", suite, "--json").out)["tasks"]
    assert [task["name"] for task in tasks] == ["alpha", "beta", "gamma"]
    assert all(len(task["digest"]) == 64 for task in tasks)


def test_all_bundled_suites_are_listed(harness_eval: Run) -> None:
    tasks = json.loads(harness_eval("tasks", "list", "--json").out)["tasks"]
    assert ("core", "log-root-cause") in [(task["suite"], task["name"]) for task in tasks]


def test_a_suite_whose_tasks_can_all_judge_passes_the_check(harness_eval: Run, suite: Path) -> None:
    said = harness_eval("tasks", "check", suite, "--sandbox", "local", "--json")
    found = json.loads(said.out)
    assert said.code == 0
    assert found["ok"]
    assert [(task["task"], task["untouched"], task["solved"]) for task in found["tasks"]] == [
        ("alpha", 0.0, 1.0),
        ("beta", 0.0, 1.0),
        ("gamma", 0.0, 1.0),
    ]


def test_a_broken_task_fails_the_check_with_its_reason(harness_eval: Run, suite: Path) -> None:
    make_task(suite, "delta", test_sh='echo 0 > "$VERIFIER_DIR/reward.txt"\n')
    said = harness_eval("tasks", "check", suite, "--sandbox", "local")
    assert said.code == 1
    assert "score 0 after solve.sh" in said.out

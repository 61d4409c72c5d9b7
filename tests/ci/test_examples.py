"""The examples for CI systems, the action and the committed baseline fit the command line and the suite of today."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from harness_eval.cli import COMMANDS
from harness_eval.gate import snapshot
from harness_eval.harness import load_harness
from harness_eval.study_file import load_study, select_tasks
from tests.ci.conftest import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GITHUB = yaml.safe_load((ROOT / "docs/ci/github.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "docs/ci/gitlab-ci.yml").read_text())
OURS = "OWNER/harness-eval@"


def _steps() -> Iterator[dict[str, Any]]:
    for job in GITHUB["jobs"].values():
        yield from job["steps"]


def _jobs_of_gitlab() -> dict[str, dict[str, Any]]:
    """Jobs with what they extend merged in, as far as keys do not meet."""
    jobs = {}
    for name, job in GITLAB.items():
        if "script" in job:
            extended = job.get("extends", [])
            parts = [GITLAB[part] for part in ([extended] if isinstance(extended, str) else extended)]
            jobs[name] = {key: value for part in (*parts, job) for key, value in part.items()}
    return jobs


def _indented(path: str) -> str:
    return "\n".join(line.strip() for line in (ROOT / path).read_text().splitlines() if line.startswith("    harness-"))


SCRIPTS = {
    "github.yml": "\n".join(step["run"] for step in _steps() if "run" in step),
    "gitlab-ci.yml": "\n".join(line for job in _jobs_of_gitlab().values() for line in job["script"]),
    "gating.md": _indented("docs/gating.md"),
}


def _options(command: str) -> set[str]:
    parsed = typer.main.get_command(import_module(f"harness_eval.cli.{command}").app)
    return {name for parameter in parsed.params for name in (*parameter.opts, *parameter.secondary_opts)}


def _commands(script: str) -> Iterator[list[str]]:
    """Each call of harness-eval in a script, as words."""
    for line in script.replace("\\\n", " ").splitlines():
        for part in re.split(r"\|\||&&|;| {3,}", line):
            words = shlex.split(part)
            if words[:1] == ["harness-eval"]:
                yield words[1:]


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_command_and_flag_of_an_example_exists(name: str) -> None:
    commands = list(_commands(SCRIPTS[name]))
    assert {words[0] for words in commands} >= {"check", "baseline"}
    for command, *words in commands:
        assert command in COMMANDS
        assert {word for word in words if word.startswith("--")} <= _options(command), command


def test_every_flag_that_the_action_can_give_exists() -> None:
    script = next(step["run"] for step in ACTION["runs"]["steps"] if step.get("id") == "check")
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", script))
    assert len(flags) > 15
    assert flags <= _options("check")


def test_every_input_of_the_action_is_told_and_used() -> None:
    steps = ACTION["runs"]["steps"]
    used = set(re.findall(r"\$\{\{.*?inputs\.([\w-]+)", yaml.safe_dump(steps, width=10**6)))
    assert used == ACTION["inputs"].keys()
    assert all(each["description"] for each in ACTION["inputs"].values())
    for step in steps:
        assert all(re.search(rf"\${{?{name}\b", step["run"]) for name in step.get("env", {}))


def test_the_example_uses_inputs_and_outputs_that_the_action_has() -> None:
    ours = [step for step in _steps() if step.get("uses", "").startswith(OURS)]
    assert {job for job in GITHUB["jobs"] if job != "baseline"} == {"harnesses", "gate", "release"}
    assert len(ours) == 3
    assert all(step["with"].keys() <= ACTION["inputs"].keys() for step in ours)
    asked = {name for step in _steps() for name in re.findall(r"steps\.check\.outputs\.(\w+)", str(step))}
    assert asked
    assert asked <= ACTION["outputs"].keys()


def test_no_script_holds_an_expression() -> None:
    for step in (*_steps(), *ACTION["runs"]["steps"]):
        assert "${{" not in step.get("run", "")


def test_the_example_may_do_no_more_than_it_must() -> None:
    jobs = GITHUB["jobs"]
    assert GITHUB["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs.items() if "permissions" in job] == ["baseline"]
    assert "pull_request_target" not in GITHUB[True]  # YAML 1.1 reads the key `on` so
    assert all(job["timeout-minutes"] for job in jobs.values())
    assert "secrets." not in str(jobs["harnesses"])  # forks run it
    for step in _steps():
        assert "secrets." not in str({key: value for key, value in step.items() if key != "env"})


def test_what_the_jobs_of_gitlab_write_is_what_they_report() -> None:
    jobs = _jobs_of_gitlab()
    assert jobs.keys() == GITHUB["jobs"].keys()
    for name in ("harnesses", "gate", "release"):
        (check,) = (words for line in jobs[name]["script"] for words in _commands(line) if words[0] == "check")
        folder = check[check.index("--write") + 1]
        artifacts = jobs[name]["artifacts"]
        assert artifacts["reports"]["junit"] == f"{folder}/junit.xml"
        assert artifacts["when"] == "always"
        assert artifacts["paths"] == [f"{folder}/"]


def test_the_committed_baseline_is_of_the_tasks_and_the_canonical_harness_of_today() -> None:
    kept = snapshot.read(ROOT / "tests/ci/baseline.json")
    tasks = select_tasks(load_study(ROOT / "tests/ci/study.yaml").tasks)
    renew = "run `.ci/gate --renew`"
    assert {task.name: task.digest for task in kept.tasks} == {task.name: task.digest for task in tasks}, renew
    (harness,) = kept.harnesses
    today = load_harness("canonical")
    assert (harness.name, harness.id, harness.version) == (today.name, today.id, today.version), renew
    assert len(harness.solved) == 5


def test_the_baseline_is_small_enough_to_be_committed() -> None:
    assert Path(ROOT / "tests/ci/baseline.json").stat().st_size < 20_000

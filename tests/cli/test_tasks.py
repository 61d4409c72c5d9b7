"""`harness-eval tasks`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Said
from tests.doubles import make_task
from tests.sandboxes.conftest import BASE_IMAGE

Run = Callable[..., Said]


def test_tasks_of_a_folder_are_listed(harness_eval: Run, suite: Path) -> None:
    tasks = json.loads(harness_eval("tasks", "list", suite, "--json").out)["tasks"]
    assert [task["name"] for task in tasks] == ["alpha", "beta", "gamma"]
    assert all(len(task["digest"]) == 64 for task in tasks)


def test_all_bundled_suites_are_listed(harness_eval: Run) -> None:
    tasks = json.loads(harness_eval("tasks", "list", "--json").out)["tasks"]
    assert ("core", "log-root-cause") in [(task["suite"], task["name"]) for task in tasks]


def test_a_list_closes_with_t_by_difficulty_and_stress(harness_eval: Run, tmp_path: Path) -> None:
    for name, labels in {
        "a": 'difficulty = "hard"\nstresses = ["search"]',
        "b": 'difficulty = "easy"\nstresses = ["search", "recovery"]',
        "c": "",
    }.items():
        make_task(tmp_path / "suite", name, toml=f"[metadata]\n{labels}\n")
    said = harness_eval("tasks", "list", tmp_path / "suite")
    assert said.out.splitlines()[-1] == "T = 3; easy 1, hard 1, unknown 1; recovery 1, search 2"
    found = json.loads(harness_eval("tasks", "list", tmp_path / "suite", "--json").out)
    assert (found["T"], found["by_difficulty"], found["by_stress"]) == (
        3,
        {"easy": 1, "hard": 1, "unknown": 1},
        {"recovery": 1, "search": 2},
    )


def test_a_list_can_be_narrowed_to_a_stress_and_a_difficulty(harness_eval: Run) -> None:
    asked = ("tasks", "list", "core", "--stress", "long-output", "--difficulty", "hard", "--json")
    tasks = json.loads(harness_eval(*asked).out)["tasks"]
    assert tasks
    assert all(task["difficulty"] == "hard" and "long-output" in task["stresses"] for task in tasks)
    said = harness_eval("tasks", "list", "core", "--stress", "long-ouptut")
    assert (said.code, "did you mean 'long-output'?" in said.err) == (2, True)


def test_several_suites_are_listed_and_checked_at_once(harness_eval: Run, suite: Path, tmp_path: Path) -> None:
    make_task(tmp_path / "other", "delta")
    tasks = json.loads(harness_eval("tasks", "list", suite, tmp_path / "other", "--json").out)["tasks"]
    assert [task["name"] for task in tasks] == ["alpha", "beta", "gamma", "delta"]
    said = harness_eval("tasks", "check", suite / "alpha", tmp_path / "other", "--sandbox", "local", "--jobs", "1")
    assert [line.split()[1] for line in said.out.splitlines()[1:-1]] == ["suite/alpha", "other/delta"]
    assert said.out.splitlines()[-1] == "2 ok"


def test_a_suite_whose_tasks_can_all_judge_passes_the_check(harness_eval: Run, suite: Path) -> None:
    said = harness_eval("tasks", "check", suite, "--sandbox", "local", "--json")
    found = json.loads(said.out)
    assert said.code == 0
    assert found["ok"]
    assert found["counts"] == {"ok": 3, "broken": 0, "cannot-run": 0, "unproven": 0}
    assert set(found["tasks"][0]) == {
        "task",
        "suite",
        "state",
        "ok",
        "untouched",
        "solved",
        "detail",
        "network",
        "seconds",
    }
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


def test_a_task_that_cannot_be_loaded_does_not_stop_the_others(harness_eval: Run, suite: Path) -> None:
    (suite / "beta" / "task.toml").write_text("[agent]\ntimeout_secs = 3\n")
    error = "unknown key agent.timeout_secs; did you mean 'timeout_sec'?"
    said = harness_eval("tasks", "check", suite, "--sandbox", "local")
    assert (said.code, said.out.splitlines()[-1]) == (1, "2 ok, 1 broken")
    assert error in said.out
    rows = json.loads(harness_eval("tasks", "check", suite, "--sandbox", "local", "--json").out)["tasks"]
    assert [(row["task"], row["state"]) for row in rows] == [("alpha", "ok"), ("beta", "broken"), ("gamma", "ok")]
    assert error in rows[1]["detail"]
    listed = harness_eval("tasks", "list", suite)
    assert (listed.code, listed.out.splitlines()[-1]) == (0, "T = 3; 1 of them broken; unknown 3")
    assert "broken: " in listed.out
    found = json.loads(harness_eval("tasks", "list", suite, "--json").out)["tasks"]
    assert [bool(task["broken"]) for task in found] == [False, True, False]
    assert harness_eval("run", "--suite", suite, "--sandbox", "local").code == 2


def test_a_task_that_is_named_twice_is_checked_once(harness_eval: Run, suite: Path) -> None:
    said = harness_eval("tasks", "check", suite / "alpha", suite / "alpha", "--sandbox", "local")
    assert said.out.splitlines()[0] == "1 task in the local sandbox"
    assert said.out.splitlines()[-1] == "1 ok"


def test_a_check_that_proves_nothing_is_incomplete(harness_eval: Run, suite: Path) -> None:
    (suite / "alpha" / "environment" / "docker-compose.yaml").write_text("services: {}\n")
    assert harness_eval("tasks", "check", suite / "alpha", "--sandbox", "local").code == 3
    (suite / "beta" / "solution" / "solve.sh").unlink()
    assert harness_eval("tasks", "check", suite / "beta", "--sandbox", "local").code == 3
    assert harness_eval("tasks", "check", suite / "alpha", "--sandbox", "local", "--strict").code == 1


@pytest.mark.docker
def test_a_base_image_that_cannot_be_had_is_told_once(harness_eval: Run, suite: Path) -> None:
    own = f"FROM {BASE_IMAGE}\nWORKDIR /app\n"
    (suite / "beta" / "environment" / "Dockerfile").write_text(own)
    asked = ("tasks", "check", suite, "--sandbox", "docker", "--base-image", "nosuch.invalid/base:1")
    said = harness_eval(*asked)
    assert said.out.count("nosuch.invalid/base:1") == 1
    assert said.out.splitlines()[1].startswith("2 tasks cannot run here: the image nosuch.invalid/base:1 is not here")
    assert "--base-image NAME" in said.out.splitlines()[1]
    assert (said.code, said.out.splitlines()[-1]) == (0, "1 ok, 2 cannot run here")
    assert harness_eval(*asked[:2], suite / "alpha", *asked[3:]).code == 3


def test_what_is_told_of_a_long_output_is_its_end(harness_eval: Run, suite: Path) -> None:
    noise = "for n in $(seq 200); do printf 'Reading database ... %d%%\\r' $n; done; seq 400; echo telling"
    (suite / "alpha" / "tests" / "test.sh").write_text(f"{noise}\n")
    said = harness_eval("tasks", "check", suite / "alpha", "--sandbox", "local")
    line = said.out.splitlines()[2]
    assert line.startswith("    the verifier wrote neither reward.json nor reward.txt")
    assert line.endswith("400 telling")
    assert "database" not in said.out
    assert len(line) < 500


def test_each_task_is_printed_once(harness_eval: Run, suite: Path) -> None:
    said = harness_eval("tasks", "check", suite, "--sandbox", "local")
    assert [said.out.count(name) for name in ("alpha", "beta", "gamma")] == [1, 1, 1]
    assert said.err == ""


def test_what_cannot_run_here_or_has_no_solution_is_no_fault_of_a_task(harness_eval: Run, suite: Path) -> None:
    (suite / "alpha" / "solution" / "solve.sh").unlink()
    (suite / "beta" / "environment" / "docker-compose.yaml").write_text("services: {}\n")
    said = harness_eval("tasks", "check", suite, "--sandbox", "local")
    assert said.code == 0
    assert said.out.splitlines()[-1] == "1 ok, 1 cannot run here, 1 unproven"
    assert "no solution: cannot be proven" in said.out
    assert harness_eval("tasks", "check", suite, "--sandbox", "local", "--strict").code == 1


def test_a_task_that_asks_for_the_network_and_does_not_reach_it_is_not_broken(harness_eval: Run, suite: Path) -> None:
    toml = (suite / "alpha" / "task.toml").read_text().replace("no-network", "public")
    (suite / "alpha" / "task.toml").write_text(toml)
    (suite / "alpha" / "solution" / "solve.sh").write_text(
        "echo 'curl: (6) Could not resolve host: a.invalid'; exit 6\n"
    )
    found = json.loads(harness_eval("tasks", "check", suite / "alpha", "--sandbox", "local", "--json").out)
    assert (found["tasks"][0]["state"], found["tasks"][0]["network"]) == ("cannot-run", True)
    assert found["tasks"][0]["detail"].startswith("asks for the network, which it did not reach: score 0")


def test_a_broken_plan_is_the_tasks_fault(harness_eval: Run, suite: Path) -> None:
    (suite / "alpha" / "solution" / "plan.yaml").write_text("done: 3\n")
    found = json.loads(harness_eval("tasks", "check", suite, "--sandbox", "local", "--json").out)
    assert [task["state"] for task in found["tasks"]] == ["broken", "ok", "ok"]


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    rows = [{"question": "2 + 3?", "answer": "5"}, {"question": "3 + 3?", "answer": "six"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "sums.yaml").write_text("path: rows.jsonl\nshape: question\nchecker: number\n")
    return tmp_path / "sums.yaml"


def test_a_mapping_file_stands_wherever_a_suite_may(harness_eval: Run, mapping: Path) -> None:
    assert "row 2 cannot become a task" in harness_eval("tasks", "list", mapping).out
    said = harness_eval("tasks", "check", mapping, "--sandbox", "local")
    assert (said.code, said.out.splitlines()[-1]) == (0, "1 ok, 1 cannot run here")
    study = mapping.with_name("study.yaml")
    study.write_text("reference: {}\ntasks: {suite: sums.yaml}\nsandbox: local\n")
    planned = harness_eval("plan", study)
    assert "row-2 is left out: row 2 cannot become a task" in planned.out + planned.err
    ran = harness_eval("run", study, "--out", mapping.with_name("run"), "--json")
    assert (ran.code, json.loads(ran.out)["solved"]) == (0, 1)


def test_tasks_without_a_plan_are_left_out_of_what_the_scripted_agent_plays(
    harness_eval: Run, suite: Path, tmp_path: Path
) -> None:
    (suite / "beta" / "solution" / "plan.yaml").unlink()
    (tmp_path / "study.yaml").write_text(f"reference: {{}}\ntasks: {{suite: {suite}}}\nsandbox: local\n")
    said = harness_eval("plan", tmp_path / "study.yaml")
    assert (said.code, "task beta is left out: it has no solution/plan.yaml" in said.out + said.err) == (0, True)
    other = "endpoints: [{name: other, model: m, base_url: 'http://127.0.0.1:9/v1', scripted: true}]\n"
    with (tmp_path / "study.yaml").open("a") as study:
        study.write(other)
    said = harness_eval("plan", tmp_path / "study.yaml")
    assert said.code == 2
    assert "beta: has no solution/plan.yaml, so the scripted agent cannot play it; leave it out with --excl" in said.err


def test_new_tasks_are_made_from_a_mapping_file(harness_eval: Run, mapping: Path, tmp_path: Path) -> None:
    said = harness_eval("tasks", "new", mapping, "--out", tmp_path / "out", "--json")
    found = json.loads(said.out)
    assert said.code == 1
    assert [Path(task["folder"]).name for task in found["tasks"]] == ["row-1"]
    assert [(row["row"], row["name"]) for row in found["unusable"]] == [(2, "row-2")]
    assert harness_eval("tasks", "check", tmp_path / "out", "--sandbox", "local").code == 0


def test_a_repeated_call_keeps_the_tasks_of_a_mapping_file(harness_eval: Run, mapping: Path, tmp_path: Path) -> None:
    asked = ("tasks", "new", mapping, "--out", tmp_path / "out")
    harness_eval(*asked)
    assert [task["kept"] for task in json.loads(harness_eval(*asked, "--json").out)["tasks"]] == [True]
    (tmp_path / "out" / "row-1" / "instruction.md").write_text("Changed.\n")
    said = harness_eval(*asked)
    assert (said.code, "row-1: holds something else" in said.err) == (2, True)


@pytest.mark.parametrize("flag", ["--seed", "--instances"])
def test_what_draws_instances_is_refused_for_a_mapping_file(
    harness_eval: Run, mapping: Path, tmp_path: Path, flag: str
) -> None:
    said = harness_eval("tasks", "new", mapping, flag, 2, "--out", tmp_path / "out")
    assert (said.code, f"{flag}: belongs to templates" in said.err) == (2, True)
    assert not (tmp_path / "out").exists()

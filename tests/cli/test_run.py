"""`harness-eval run` from end to end on the embedded endpoint: whatever stops it, the same command resumes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval import store
from harness_eval.types import TrialKey
from tests.cli.conftest import Said, finish, start
from tests.doubles import make_task

Run = Callable[..., Said]
KEYS = {"task", "harness", "harness_id", "endpoint", "repeat", "solved", "score", "failure", "stop", "labels", "usage"}


@pytest.fixture
def study(tmp_path: Path, suite: Path) -> Path:
    path = tmp_path / "study.yaml"
    keys = {"name": "small", "reference": {}, "tasks": {"suite": str(suite)}, "sandbox": "local"}
    path.write_text(json.dumps({**keys, "family": "demo", "design": "smoke"}))
    return path


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A small study and the folder of its finished run under one task, to be copied."""
    place = tmp_path_factory.mktemp("ran")
    for name in ("alpha", "beta", "gamma"):
        make_task(place / "suite", name)
    keys = {"name": "small", "reference": {}, "tasks": {"suite": str(place / "suite")}, "sandbox": "local"}
    (place / "study.yaml").write_text(json.dumps({**keys, "family": "demo", "design": "smoke"}))
    said = finish("run", place / "study.yaml", "--limit", "1", "--out", place / "run")
    assert said.code == 0, said.err
    return place / "study.yaml", place / "run"


@pytest.fixture
def done(ran: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The study, and a copy of its finished run of eight trials."""
    study, run = ran
    return study, shutil.copytree(run, tmp_path / "run")


def planned(folder: Path) -> int:
    return int(store.read_study(folder)["planned"])


def keys(folder: Path) -> Counter[TrialKey]:
    return Counter(store.key_of(row) for row in store.rows(folder) if row["failure"] is None)


def until(process: subprocess.Popen[str], results: Path, lines: int) -> None:
    """Wait until so many results are recorded."""
    while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < lines):
        time.sleep(0.02)


def test_a_study_is_run_recorded_and_reported(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    said = finish("run", study, "--out", out, "--json")
    assert said.code == 0, said.err
    data = json.loads(said.out)
    assert data["trials"] == {"planned": 24, "judged": 24, "lost": 0}
    assert next(store.rows(out)).keys() >= KEYS
    assert {path.name for path in out.iterdir()} >= {
        "study.json",
        "results.jsonl",
        "report.md",
        "report.html",
        "report.json",
    }
    assert json.loads((out / "report.json").read_text())["trials"]["judged"] == 24
    assert len(list((out / "trajectories").rglob("*.zst"))) == 24
    assert "no language model" in said.err


def test_a_finished_run_has_nothing_left_to_do(harness_eval: Run, done: tuple[Path, Path]) -> None:
    study, out = done
    again = harness_eval("run", study, "--limit", "1", "--out", out)
    assert again.code == 0, again.err
    assert keys(out).total() == len(list(store.rows(out))) == 8


def test_the_same_seed_gives_the_same_results(harness_eval: Run, study: Path, tmp_path: Path) -> None:
    coupling = ("--coupling", "needs-thinking=.5")
    seen = []
    for name in ("one", "two"):
        said = harness_eval("run", study, *coupling, "--limit", "2", "--out", tmp_path / name)
        assert said.code == 0, said.err
        seen.append(
            {store.key_of(row): (row["score"], row["steps"], row["stop"]) for row in store.rows(tmp_path / name)}
        )
    assert seen[0] == seen[1]


def test_a_killed_run_is_resumed_with_no_trial_lost_and_none_twice(
    harness_eval: Run, study: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with start("run", study, "--limit", "2", "--out", out, start_new_session=True) as process:
        until(process, out / "results.jsonl", 6)
        process.kill()
    assert 6 <= keys(out).total() < planned(out)
    with (out / "results.jsonl").open("a") as results:
        results.write('{"task": "alpha", "harn')
    said = harness_eval("run", study, "--limit", "2", "--out", out)
    assert said.code == 0, said.err
    assert keys(out).total() == planned(out) == 16
    assert max(keys(out).values()) == 1


def test_a_background_job_that_begins_with_interrupts_ignored_ends_when_it_is_told_to(tmp_path: Path) -> None:
    code = "\n".join(
        [
            "import os, signal, sys, time",
            "signal.signal(signal.SIGINT, signal.SIG_IGN)",
            "from harness_eval import cli",
            "told = 'os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)'",
            "cli.app.command('wait')(lambda: exec(told))",  # an interrupt in here makes Python end by one
            "sys.argv = ['harness-eval', 'wait']; cli.main()",
        ]
    )
    (tmp_path / "waiting.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(Path(__file__).parents[2])))}
    words = [sys.executable, "-m", "waiting"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=50, check=False, env=environment)
    assert done.returncode == 130, done.stderr


def test_after_the_trials_an_interruption_is_not_lost_where_nothing_can_be_raised() -> None:
    code = "\n".join(
        [
            "import os, signal, sys, time, weakref",
            "from pathlib import Path",
            "from harness_eval.cli import running",
            "class Kept: pass",
            "kept = Kept()",
            "seen = weakref.ref(kept, lambda _: os.kill(os.getpid(), signal.SIGINT))",
            "sys.argv = ['harness-eval', 'run']",
            "with running.resumable(Path('somewhere')):",
            "    del kept",
            "    time.sleep(60)",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted. Resume with\n  harness-eval run --out somewhere\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_resume(
    harness_eval: Run, study: Path, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "run"
    with start("run", study, "--limit", "1", "--concurrency", "2", "--out", out) as process:
        until(process, out / "results.jsonl", 3)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"--out {out}" in err
    assert not (out / "report.html").exists()
    assert "Traceback" not in err
    assert harness_eval("run", study, "--limit", "1", "--out", out).code == 0
    assert keys(out).total() == planned(out)


def test_lost_trials_are_run_again_unless_that_is_not_wanted(harness_eval: Run, done: tuple[Path, Path]) -> None:
    study, out = done
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    lines[0] |= {"solved": None, "score": None, "failure": {"owner": "endpoint", "message": "busy"}}
    (out / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    left = harness_eval("run", study, "--limit", "1", "--out", out, "--no-retry-lost")
    assert left.code == 3
    assert "1 trials (12%) were lost, more than 10% (endpoint 1)" in left.err
    again = harness_eval("run", study, "--limit", "1", "--out", out, "--json")
    assert (again.code, json.loads(again.out)["trials"]) == (0, {"planned": 8, "judged": 8, "lost": 0})
    assert [row["attempt"] for row in store.rows(out)][-1] == 2


def test_a_changed_study_is_not_resumed(harness_eval: Run, done: tuple[Path, Path]) -> None:
    study, out = done
    said = harness_eval("run", study, "--limit", "1", "--seed", "9", "--out", out)
    assert said.code == 2
    assert "seed: 0, now 9" in said.err


def test_an_endpoint_that_is_down_ends_the_run_incomplete(harness_eval: Run, study: Path, tmp_path: Path) -> None:
    endpoint = ("--base-url", "http://127.0.0.1:9/v1", "--model", "kimi-k3", "--allow-local")
    said = harness_eval("run", study, *endpoint, "--out", tmp_path / "run")
    assert said.code == 3
    assert sum(line.startswith("incomplete: endpoint kimi-k3 cannot be used") for line in said.err.splitlines()) == 1
    assert "Traceback" not in said.err


def test_a_real_model_in_the_local_sandbox_needs_two_words(harness_eval: Run, study: Path, tmp_path: Path) -> None:
    said = harness_eval(
        "run", study, "--base-url", "http://127.0.0.1:9/v1", "--model", "kimi-k3", "--out", tmp_path / "run"
    )
    assert said.code == 2
    assert "--allow-local" in said.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("budgets", "flags", "hint"),
    [
        ({"money": 5}, (), "budgets.money: no price is known for endpoint 'kimi-k3'"),
        ({}, ("--api-key-env", "NOT_SET_ANYWHERE"), "the environment variable NOT_SET_ANYWHERE is not set"),
    ],
)
def test_what_an_endpoint_lacks_is_known_before_anything_runs(
    harness_eval: Run, study: Path, tmp_path: Path, budgets: dict[str, int], flags: tuple[str, ...], hint: str
) -> None:
    study.write_text(json.dumps({**json.loads(study.read_text()), "budgets": budgets}))
    endpoint = ("--base-url", "http://127.0.0.1:9/v1", "--model", "kimi-k3", "--allow-local")
    said = harness_eval("run", study, *endpoint, *flags, "--out", tmp_path / "run")
    assert said.code == 2
    assert hint in said.err
    assert not (tmp_path / "run").exists()


def test_a_broken_task_is_known_before_anything_runs(
    harness_eval: Run, study: Path, suite: Path, tmp_path: Path
) -> None:
    (suite / "beta" / "solution" / "solve.sh").write_text("#!/bin/bash\nexit 1\n")
    said = harness_eval("run", study, "--out", tmp_path / "run")
    assert said.code == 2
    assert "nothing was run: beta: score 0 after solve.sh" in said.err
    assert not (tmp_path / "run").exists()


def test_a_spent_budget_ends_the_run_incomplete_and_a_larger_one_resumes(
    harness_eval: Run, study: Path, tmp_path: Path
) -> None:
    small = json.loads(study.read_text())
    study.write_text(json.dumps({**small, "budgets": {"tokens": 1}}))
    said = harness_eval("run", study, "--concurrency", "1", "--limit", "1", "--out", tmp_path / "run")
    assert said.code == 3
    assert "incomplete: the budget of 1 tokens is used up" in said.err
    study.write_text(json.dumps(small))
    assert harness_eval("run", study, "--limit", "1", "--out", tmp_path / "run").code == 0

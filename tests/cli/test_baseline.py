"""`harness-eval baseline`: a finished run as a small file, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from harness_eval.gate import snapshot
from tests.cli.conftest import Said
from tests.report.synthetic import Plan, write_run

Run = Callable[..., Said]


def test_a_finished_run_becomes_a_file_that_says_what_is_in_it(tmp_path: Path, harness_eval: Run) -> None:
    run, out = write_run(tmp_path / "run", Plan(tasks=30, harnesses=3, repeats=2)), tmp_path / "baseline.json"
    said = harness_eval("baseline", run, "--out", out)
    assert said.code == 0, said.err
    assert f"{out.stat().st_size:,} bytes: 30 tasks, 3 harnesses, 2 repeats, model-served at served" in said.err
    assert "30 tasks, fewer than 100" in said.err
    assert "2 repeats of the harness canonical in the baseline, fewer than 5" in said.err
    assert snapshot.read(out) == snapshot.snapshot_of(run)
    told = harness_eval("baseline", run, "--out", out, "--json").json
    assert told["harnesses"] == {"canonical": 2, "random-01": 2, "random-02": 2}


def test_the_standard_output_holds_the_baseline_alone(tmp_path: Path, harness_eval: Run) -> None:
    run = write_run(tmp_path / "run", Plan(tasks=20, harnesses=3))
    said = harness_eval("baseline", run, "--harness", "random-02", "--out", "-")
    assert [each["name"] for each in json.loads(said.out)["harnesses"]] == ["canonical", "random-02"]
    assert harness_eval("baseline", run, "--out", "-", "--json").code == 2


def test_a_run_with_missing_trials_is_refused_unless_that_is_accepted(tmp_path: Path, harness_eval: Run) -> None:
    run, out = write_run(tmp_path / "run", Plan(tasks=20, harnesses=1, stop_after=15)), tmp_path / "baseline.json"
    said = harness_eval("baseline", run, "--out", out)
    assert said.code == 3
    assert "5 of 20 trials are missing" in said.err
    assert not out.exists()
    assert harness_eval("baseline", run, "--out", out, "--partial").code == 0


def test_a_run_that_lost_more_than_a_tenth_is_refused(tmp_path: Path, harness_eval: Run) -> None:
    run = write_run(tmp_path / "run", Plan(tasks=60, harnesses=2, lost=0.3))
    said = harness_eval("baseline", run, "--out", tmp_path / "baseline.json")
    assert said.code == 3
    assert "were lost, more than 10%" in said.err


def test_only_a_baseline_is_overwritten(tmp_path: Path, harness_eval: Run) -> None:
    run, out = write_run(tmp_path / "run", Plan(tasks=20, harnesses=1)), tmp_path / "notes.txt"
    out.write_text("precious")
    assert "is there and no baseline" in harness_eval("baseline", run, "--out", out).err
    assert "is there and no file" in harness_eval("baseline", run, "--out", tmp_path).err
    assert out.read_text() == "precious"


def test_an_unknown_harness_is_refused_with_the_nearest_one(tmp_path: Path, harness_eval: Run) -> None:
    run = write_run(tmp_path / "run", Plan(tasks=20, harnesses=2))
    said = harness_eval("baseline", run, "--harness", "random-1", "--out", tmp_path / "baseline.json")
    assert said.code == 2
    assert "did you mean 'random-01'" in said.err


def test_of_a_hunt_the_canonical_harness_alone_makes_a_baseline(tmp_path: Path, harness_eval: Run) -> None:
    run, out = write_run(tmp_path / "run", Plan(tasks=20, harnesses=3)), tmp_path / "baseline.json"
    study = json.loads((run / "study.json").read_text())
    tasks = [task["name"] for task in study["tasks"]]
    layout = {"allocate": "hunt", "tasks": tasks, "ends": [len(tasks)], "trials": 60}
    (run / "study.json").write_text(json.dumps({**study, "adaptive": layout}))
    said = harness_eval("baseline", run, "--out", out)
    assert said.code == 3
    assert "the run is a hunt, which dropped harnesses by their results; --harness canonical keeps that one" in said.err
    assert harness_eval("baseline", run, "--harness", "canonical", "--out", out).code == 0
    assert snapshot.read(out).adaptive

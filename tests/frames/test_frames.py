"""Runs as data frames: types, what counts, what is missing, and that nothing is read before it is asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import harness_eval
from harness_eval import store
from harness_eval.errors import ConfigError
from harness_eval.frames import Run
from tests.doubles import make_task
from tests.report.synthetic import Plan, write_run
from tests.runs import recorded


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = Plan(tasks=12, harnesses=5, repeats=2, lost=0.2, labelled=True, endpoints=("one", "two"))
    return write_run(tmp_path_factory.mktemp("frames") / "synthetic", plan)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    suite = tmp_path_factory.mktemp("frames") / "suite"
    make_task(suite)
    make_task(suite, "say-hello-again")
    return recorded(suite, repeats=2)


def _copy(folder: Path, to: Path) -> Path:
    for name in ("study.json", "results.jsonl"):
        to.mkdir(exist_ok=True)
        (to / name).write_bytes((folder / name).read_bytes())
    return to


def test_the_trials_are_those_of_the_lines(synthetic: Path) -> None:
    trials, lines = harness_eval.load(synthetic).trials, list(store.rows(synthetic))
    assert len(trials) == len(lines)
    assert trials.solved.sum() == sum(bool(line["solved"]) for line in lines)
    owners = Counter(line["failure"]["owner"] for line in lines if line["failure"])
    assert trials.lost_owner.value_counts().to_dict() == owners
    assert trials.tokens.sum() == sum(line["usage"]["prompt"] + line["usage"]["completion"] for line in lines)


def test_a_lost_trial_is_missing_and_no_zero(synthetic: Path) -> None:
    trials = harness_eval.load(synthetic).trials
    assert trials.lost.sum() > 0
    assert trials.solved[trials.lost].isna().all()
    assert trials.score[trials.lost].isna().all()
    assert trials.cause_owner[trials.solved.fillna(False)].isna().all()
    assert trials.cause_owner[trials.lost].notna().all()


def test_types_are_the_same_whatever_a_run_holds(synthetic: Path, real: Path) -> None:
    one, other = (harness_eval.load(folder) for folder in (synthetic, real))
    for frame in ("trials", "steps", "labels", "harnesses", "tasks"):
        kinds = [{name: str(kind) for name, kind in getattr(run, frame).dtypes.items()} for run in (one, other)]
        shared = kinds[0].keys() & kinds[1].keys()
        assert {name: kinds[0][name] for name in shared} == {name: kinds[1][name] for name in shared}
        assert "object" not in kinds[0].values()
    assert str(one.trials.solved.dtype) == "boolean"


def test_trials_have_the_levels_of_their_harness_and_the_traits_of_their_task(synthetic: Path) -> None:
    run = harness_eval.load(synthetic)
    levels = run.harnesses.set_index("harness")["axis.protocol"].astype(str)
    assert (run.trials["axis.protocol"].astype(str) == run.trials.harness.astype(str).map(levels)).all()
    assert set(run.trials.difficulty) == {"easy"}
    assert run.harnesses.canonical.sum() == 1


def test_a_trial_that_was_run_again_counts_once_with_its_latest_line(synthetic: Path, tmp_path: Path) -> None:
    folder = _copy(synthetic, tmp_path / "again")
    lost = next(line for line in store.rows(folder) if line["failure"])
    again = lost | {"failure": None, "score": 1.0, "solved": True, "attempt": 2}
    with (folder / "results.jsonl").open("a") as file:
        file.write(json.dumps(again) + "\n" + json.dumps(again)[:40])
    trials = harness_eval.load(folder).trials
    assert len(trials) == len(harness_eval.load(synthetic).trials)
    mine = trials[(trials.task == lost["task"]) & (trials.harness == lost["harness"])]
    mine = mine[(mine.endpoint == lost["endpoint"]) & (mine.repeat == lost["repeat"])]
    assert (mine.solved.tolist(), mine.attempt.tolist()) == ([True], [2])


def test_steps_say_what_the_trajectories_hold(real: Path) -> None:
    run = harness_eval.load(real)
    rows = list(store.latest(real))
    assert len(run.steps) == sum(row["steps"] for row in rows)
    record = store.read_trajectory(real, store.key_of(rows[0]))
    assert record is not None
    first = run.steps[(run.steps.task == rows[0]["task"]) & (run.steps.repeat == rows[0]["repeat"])].iloc[0]
    assert (first.step, first.calls) == (1, len(record.steps[0].action.calls))
    assert first.text_length == len(record.steps[0].action.text)
    assert first.full_length == sum(each.full_length for each in record.steps[0].observations)
    assert not run.steps.truncated.any()


def test_labels_stand_at_their_step_and_those_of_the_trial_at_none(real: Path, synthetic: Path) -> None:
    labels = harness_eval.load(real).labels
    assert set(labels.label[labels.step.notna()]) >= {"ok.tool_call"}
    assert labels.owner.notna().all()
    of_trials = harness_eval.load(synthetic).labels
    assert of_trials.step.isna().all()
    assert "infra.overloaded" in set(of_trials.label)  # what lost trials were lost to


def test_a_damaged_trajectory_is_a_row_with_a_warning(real: Path, tmp_path: Path) -> None:
    folder = _copy(real, tmp_path / "damaged")
    for number, frame in enumerate(sorted((real / "trajectories").rglob("*.zst"))):
        place = folder / frame.relative_to(real)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(frame.read_bytes()[: 40 if number == 0 else None])
    steps = harness_eval.load(folder).steps
    warned = steps[steps.warning.notna()]
    assert len(warned) == 1
    assert "is damaged" in warned.warning.iloc[0]
    assert warned.step.isna().all()
    assert steps.step.notna().sum() > 0


def test_several_runs_stand_one_after_the_other(synthetic: Path, real: Path) -> None:
    both = harness_eval.load(synthetic, str(real))
    apart = [harness_eval.load(synthetic), harness_eval.load(real)]
    assert both.trials.run.value_counts().to_dict() == {run.names[0]: len(run.trials) for run in apart}
    assert len(both.harnesses) == sum(len(run.harnesses) for run in apart)
    assert both.trials["axis.protocol"].notna().all()
    assert isinstance(both, Run)


def test_every_frame_is_a_dataset(synthetic: Path) -> None:
    run = harness_eval.load(synthetic)
    for frame in ("trials", "labels", "harnesses", "tasks"):
        data = run.to_dataset(frame)
        assert data.num_rows == len(getattr(run, frame))
        assert set(data.column_names) == set(getattr(run, frame).columns)
    with pytest.raises(ConfigError, match="no frame 'trails'; did you mean 'trials'"):
        run.to_dataset("trails")  # type: ignore[arg-type]


def test_what_is_no_run_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no study\.json here; is this the folder of a run\?"):
        harness_eval.load(tmp_path)
    with pytest.raises(ConfigError, match="name the folder of a run"):
        harness_eval.load()


def test_the_package_stays_light_until_a_frame_is_asked_for(synthetic: Path) -> None:
    program = (
        "import sys, harness_eval\n"
        "assert not {'harness_eval.frames', 'pydantic', 'orjson'} & set(sys.modules), sys.modules\n"
        "run = harness_eval.load(sys.argv[1])\n"
        "assert 'pandas' not in sys.modules\n"
        "run.trials\n"
        "assert 'pandas' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program, synthetic], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("wrong", [True, -1, 1e308, 10**30, "x", "\ud800", [1], {"a": 1}, float("nan")], ids=repr)
@pytest.mark.parametrize("key", ["task", "harness_id", "repeat", "score", "labels", "failure", "stop", "cost", "steps"])
def test_a_line_that_no_run_wrote_breaks_no_frame(key: str, wrong: object, synthetic: Path, tmp_path: Path) -> None:
    folder = _copy(synthetic, tmp_path / "damaged")
    first, second = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()[:2]]
    (folder / "results.jsonl").write_text(json.dumps(first | {key: wrong}) + "\n" + json.dumps(second) + "\n")
    run = harness_eval.load(folder)
    assert second["harness"] in set(run.trials.harness)
    assert run.steps.task.isna().sum() == run.labels.task.isna().sum() == 0


@pytest.mark.parametrize(
    ("study", "told"),
    [
        ({"tasks": 3}, "tasks: input should be a valid list"),
        ({"tasks": [{}]}, "tasks.0.name: is required"),
        ({"tasks": [{"name": "t", "stresses": 3}]}, "tasks.0.stresses: input should be a valid list"),
        ({"harnesses": [{"name": "h", "labels": {"tools": [1]}}]}, "harnesses.0.labels.tools: input should be"),
    ],
)
def test_a_study_of_another_shape_is_refused_with_its_key(study: object, told: str, tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(json.dumps(study))
    with pytest.raises(ConfigError, match=rf"study\.json: {told}"):
        harness_eval.load(tmp_path)


def test_a_run_that_is_named_twice_is_refused(synthetic: Path) -> None:
    with pytest.raises(ConfigError, match="is named twice"):
        harness_eval.load(synthetic, synthetic / "." / "")

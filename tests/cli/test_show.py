"""`harness-eval show`: finding a trial by the beginnings of its names, and reading it safely."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval import store
from harness_eval.types import (
    Action,
    Compaction,
    Lost,
    Malformed,
    Note,
    Observation,
    Result,
    Step,
    StopReason,
    ToolCall,
    Trajectory,
    TrialKey,
    Usage,
    Verdict,
)
from tests.cli.conftest import Said

Run = Callable[..., Said]
CALL = ToolCall("1", "bash", {"command": "ls"})
TRAJECTORY = Trajectory(
    "You are an agent.",
    "Fix it.",
    (
        Step(
            Action("I look.", "Where is it?", (CALL,), (Malformed("2", "edit", "{oops", "no closing brace"),)),
            (Observation("a\x1b]0;owned\x07b [bold]c", 900), Observation("not JSON", 8, failed=True)),
            Usage(1200, 34),
            1.25,
        ),
        Note("Carry on.", "nudge"),
        Compaction(2, "So far: looked."),
    ),
    StopReason.FINISHED,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    keys = [
        TrialKey(task, harness, "ref", n) for task in ("fix", "fix-it") for harness in ("h1", "h10") for n in (0, 1)
    ]
    with store.open_run(tmp_path / "run", {"name": "s"}) as run:
        for key in keys[:-1]:
            run.append(
                Result(key, "aa", Verdict(0.5, "half"), trajectory=TRAJECTORY, acted=("shell",), labels=("x.y",))
            )
        run.append(Result(keys[-1], "aa", failure=Lost("endpoint", "timed out")))
    return tmp_path / "run"


def test_all_trials_are_listed_with_their_outcome(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("show", folder)
    lines = said.out.splitlines()
    assert said.code == 0
    assert len(lines) == 1 + 8
    assert [word in lines[-1] for word in ("fix-it/h10/ref/1", "lost", "endpoint: timed out")] == [True] * 3


def test_the_list_as_json_has_all_keys_of_the_record(harness_eval: Run, folder: Path) -> None:
    trials = json.loads(harness_eval("show", folder, "--json").out)["trials"]
    assert trials[0]["trial"] == "fix/h1/ref/0"
    assert trials[0]["score"] == 0.5
    assert trials[-1]["failure"]["owner"] == "endpoint"


def test_a_trial_is_shown_step_by_step(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("show", folder, "fix/h1/0")
    order = ["You are an agent.", "Fix it.", "Where is it?", "I look.", '> bash {"command":"ls"}', "[bold]c", "of 900"]
    order += ["no closing brace: {oops", "not JSON", "Carry on.", "So far: looked.", "score 0.5", "x.y", "half"]
    places = [said.out.index(text) for text in order]
    assert places == sorted(places)
    assert "1234 tokens" in said.out


def test_what_a_model_wrote_cannot_steer_the_terminal(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("show", folder, "fix/h1/0")
    assert not {"\x1b", "\x07"} & set(said.out)
    assert "␛]0;owned␇" in said.out


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("fix/h1/ref/1", "fix/h1/ref/1"),
        ("fix/h1/1", "fix/h1/ref/1"),
        ("fix-/h10/re/0", "fix-it/h10/ref/0"),
        ("fix-it/h10/1/", "fix-it/h10/ref/1"),
    ],
)
def test_beginnings_of_names_find_a_trial_and_whole_names_go_first(
    harness_eval: Run, folder: Path, given: str, found: str
) -> None:
    shown = json.loads(harness_eval("show", folder, given, "--json").out)
    assert f"{shown['task']}/{shown['harness']}/{shown['endpoint']}/{shown['repeat']}" == found


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("fix/h1", "2 trials begin with 'fix/h1': fix/h1/ref/0, fix/h1/ref/1"),
        ("fxi-it/h10", "did you mean 'fix-it/h10'?"),
        ("zzz", "no trial 'zzz' in this run"),
    ],
)
def test_a_trial_that_is_not_clear_is_one_line(harness_eval: Run, folder: Path, given: str, hint: str) -> None:
    said = harness_eval("show", folder, given)
    assert (said.code, said.out) == (2, "")
    assert hint in said.err
    assert said.err.count("\n") == 1


def test_a_lost_trial_without_steps_says_so(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("show", folder, "fix-it/h10/1")
    assert "nothing is recorded of this trial's steps" in said.out
    assert "lost, endpoint: timed out" in said.out

"""`harness-eval replay`: what is said of a recorded run under today's code."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval import recording, rerun, store
from harness_eval.axes.prompt import Short
from harness_eval.errors import ConfigError
from harness_eval.sandboxes import provider
from tests.cli.conftest import Said
from tests.doubles import TEST_SH, make_task
from tests.runs import recorded

Run = Callable[..., Said]
KEYS = ["versions", "harnesses", "limits", "tasks", "endpoints", "seed", "sandbox", "notes", "sampled", "name"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    for name in ("alpha", "beta", "gamma"):
        make_task(place / "suite", name)
    recorded(place / "suite", harnesses=["mini-swe-native"])
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


@pytest.fixture
def suite(folder: Path) -> Path:
    return folder.parent / "suite"


def edit(folder: Path, change: Callable[[dict[str, object]], None]) -> None:
    study = store.read_study(folder)
    change(study)
    (folder / store.STUDY).write_text(json.dumps(study))


def test_a_run_that_is_as_recorded_is_good(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("replay", folder)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0] == "trials: 6 of 6 are as recorded, 0 differ"


def test_the_same_as_json(harness_eval: Run, folder: Path) -> None:
    found = harness_eval("replay", folder, "--json").json
    assert found["trials"] == {"compared": 6, "differing": 0, "without_record": 0, "of_no_harness": 0, "external": 0}
    assert found["requests"] == found["replies"]["read"] > 6
    assert (found["harnesses"], found["differences"]) == ({}, [])


@pytest.mark.parametrize(
    ("patterns", "trials"),
    [
        (["alpha"], 2),
        (["al", "gamma/canonical"], 3),
        (["beta/mini-swe-native/0"], 1),
        (["alpha", "alpha/canonical"], 2),
    ],
)
def test_trials_can_be_chosen_by_beginnings_of_their_names(
    harness_eval: Run, folder: Path, patterns: list[str], trials: int
) -> None:
    assert harness_eval("replay", folder, *patterns, "--json").json["trials"]["compared"] == trials


def test_a_trial_that_is_not_there_is_a_mistake(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("replay", folder, "alpha", "alhpa/canonical")
    assert (said.code, said.out) == (2, "")
    assert "no task 'alhpa' in this run; did you mean 'alpha'?" in said.err


def test_what_differs_is_listed_by_trial_turn_and_part(
    harness_eval: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Short, "instructions", lambda _: "Be quick.")
    said = harness_eval("replay", folder)
    assert said.code == 1
    assert "trials: 3 of 6 are as recorded, 3 differ" in said.out
    (line,) = [line for line in said.out.splitlines() if line.startswith("alpha/canonical")]
    assert line.split()[1:3] == ["all", "system"]
    assert "now 'Be quick." in line
    assert "note: harness canonical: what a model receives from it has changed" in said.err


def test_a_record_of_another_version_is_told(harness_eval: Run, folder: Path) -> None:
    edit(folder, lambda study: study.update(versions={"harness-eval": "0.0.1"}))
    said = harness_eval("replay", folder)
    assert said.code == 0
    assert "note: recorded by harness-eval 0.0.1, this is" in said.err


def test_what_is_no_run_or_holds_nothing_is_a_mistake(harness_eval: Run, folder: Path, tmp_path: Path) -> None:
    assert harness_eval("replay", tmp_path).code == 2
    for frame in (folder / store.TRAJECTORIES).glob("*/*"):
        frame.unlink()
    said = harness_eval("replay", folder)
    assert (said.code, said.out) == (2, "")
    assert "nothing is recorded of these trials" in said.err


@pytest.mark.parametrize("out", [(), ("--out", "again", "--allow-local")], ids=["check", "run"])
def test_a_damaged_record_is_named(harness_eval: Run, folder: Path, suite: Path, out: tuple[str, ...]) -> None:
    key = store.key_of(next(store.latest(folder)))
    path = folder / store.TRAJECTORIES / recording.file_name(key)
    path.write_bytes(b"not a frame")
    said = harness_eval("replay", folder, *out, *(("--suite", suite) if out else ()))
    assert (said.code, said.out) == (2, "")
    assert str(path) in said.err


@pytest.mark.parametrize("value", ["text", 3, [{"name": "canonical"}], {"harness-eval": [1]}])
@pytest.mark.parametrize("key", KEYS)
def test_a_study_that_no_run_has_written_ends_in_a_line(
    harness_eval: Run, folder: Path, suite: Path, key: str, value: object
) -> None:
    edit(folder, lambda study: study.update({key: value}))
    said = harness_eval("replay", folder)
    assert said.code in (0, 1, 2)
    assert "Traceback" not in said.err
    with contextlib.suppress(ConfigError):
        assert rerun.prepare(folder, store.latest(folder), provider("local"), str(suite)).trials


def test_trials_are_run_again_and_verdicts_that_changed_are_listed(
    harness_eval: Run, folder: Path, suite: Path, tmp_path: Path
) -> None:
    flags = ("--out", tmp_path / "again", "--suite", suite, "--allow-local")
    said = harness_eval("replay", folder, *flags)
    assert said.code == 0
    assert "verdicts: 6 as recorded, 0 changed; 0 trials lost" in said.out
    assert harness_eval("report", tmp_path / "again").code == 0
    assert harness_eval("show", tmp_path / "again", "alpha/canonical").code == 0

    make_task(suite, "beta", TEST_SH.replace("hello ]", "hullo ]"))
    (suite / "beta/solution/solve.sh").write_text("#!/bin/bash\necho hullo > answer.txt\n")
    flags = ("--out", tmp_path / "third", "--suite", suite, "--allow-local")
    said = harness_eval("replay", folder, "beta", *flags, "--json")
    assert said.code == 1
    assert {(each["trial"], each["was"], each["now"]) for each in said.json["changed"]} == {
        ("beta/canonical/reference/0", 1.0, 0.0),
        ("beta/mini-swe-native/reference/0", 1.0, 0.0),
    }


def test_a_request_that_was_not_recorded_is_listed(
    harness_eval: Run, folder: Path, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Short, "instructions", lambda _: "Be quick.")
    flags = ("--out", tmp_path / "again", "--suite", suite, "--allow-local")
    said = harness_eval("replay", folder, "alpha", *flags)
    assert said.code == 1
    (line,) = [line for line in said.out.splitlines() if line.startswith("alpha/canonical")]
    assert "harness" in line
    assert re.search("turn 1: request [0-9a-f]{12} was not recorded", line)


def test_recorded_commands_run_in_the_local_sandbox_only_where_that_is_asked_for(
    harness_eval: Run, folder: Path, suite: Path, tmp_path: Path
) -> None:
    said = harness_eval("replay", folder, "--out", tmp_path / "again", "--suite", suite)
    assert (said.code, said.out) == (2, "")
    assert "--allow-local" in said.err
    assert not (tmp_path / "again").exists()

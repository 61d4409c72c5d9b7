"""`harness-eval check --replay`: a recorded run gates the harnesses of today, without an endpoint."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval import store
from harness_eval.axes.prompt import Short
from harness_eval.harness import load_harness, named_harnesses
from harness_eval.types import Reply, Request
from tests.cli.conftest import Said
from tests.cli.test_replay import edit
from tests.doubles import TEST_SH, bash, make_task, solve
from tests.runs import recorded

Run = Callable[..., Said]
NAME = "mini-swe-native"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    for name in ("alpha", "beta"):
        make_task(place / "suite", name)
    recorded(place / "suite", harnesses=[NAME])
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


def a_file(folder: Path, text: str) -> Path:
    """The bundled harness with other lines, in a file of its name."""
    path = folder.parent / f"{NAME}.yaml"
    usual = named_harnesses()[NAME].read_text()
    keys = {line.partition(":")[0] for line in text.splitlines()}
    kept = [line for line in usual.splitlines() if line.partition(":")[0] not in keys]
    path.write_text("\n".join([*kept, text]))
    assert load_harness(path).name == NAME
    return path


def test_a_record_that_is_derived_as_it_was_passes(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("check", "--replay", folder, "--json")
    assert (said.code, said.json["verdict"]) == (0, "pass"), said.err
    (question,) = said.json["questions"]
    assert question["asked"] == "record"
    assert question["said"] == "4 of 4 recorded trials of 2 harnesses are derived as they were"
    assert said.json["trials"] == {"most": 4, "judged": 4, "lost": 0, "missing": 0}


def test_a_harness_that_sends_something_else_under_its_old_version_fails(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("check", "--replay", folder, "--harness", a_file(folder, "thinking: drop"), "--json")
    assert (said.code, said.json["verdict"], said.json["harness"]) == (1, "fail", NAME), said.err
    (changed,) = said.json["changed"]
    assert (changed["kind"], changed["what"]) == ("harness", NAME)
    assert changed["detail"].startswith("its version is still 1; its id is ")
    assert f"{NAME} changed what a model receives without a new version" in said.json["said"]


def test_what_is_to_be_done_stands_in_the_first_line(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("check", "--replay", folder, "--harness", a_file(folder, "thinking: drop"))
    assert said.out.startswith(
        f"FAIL: {NAME} changed what a model receives without a new version (raise it and record "
    )


def test_a_harness_whose_file_was_not_given_is_told_to_be_the_record_s_own(harness_eval: Run, tmp_path: Path) -> None:
    make_task(tmp_path / "suite", "alpha")
    file = tmp_path / "ours.yaml"
    file.write_text("version: '1'\nthinking: drop\n")
    folder = recorded(tmp_path / "suite", solve, harnesses=[str(file)])
    file.write_text("version: '1'\nthinking: keep\n")
    said = harness_eval("check", "--replay", folder, "--json")
    assert said.json["notes"] == ["ours: held against the record's own copy; name the file of today with --harness"]
    assert not harness_eval("check", "--replay", folder, "--harness", file, "--json").json["notes"]


def test_whom_a_change_reaches_is_counted_with_the_first_difference(
    harness_eval: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Short, "instructions", lambda _: "Be quick.")
    said = harness_eval("check", "--replay", folder, "--json")
    assert (said.code, said.json["harness"]) == (1, "canonical")
    (changed,) = said.json["changed"]
    assert "2 of 2 recorded trials would send something else" in changed["detail"]
    assert "first alpha/canonical/reference/0, system: " in changed["detail"]


def chatty(request: Request) -> Reply:
    """Solves the task with a command that prints 291 characters."""
    reply = solve(request)
    return bash("echo hello > answer.txt; seq 100") if reply.calls else reply


@pytest.mark.parametrize(("was", "now", "reached"), [(2000, 100, 1), (100, 2000, 1), (2000, 3000, 0)])
def test_trials_whose_results_may_be_cut_otherwise_are_counted(
    harness_eval: Run, tmp_path: Path, was: int, now: int, reached: int
) -> None:
    def file(cap: int) -> Path:
        return a_file(tmp_path / "run", f"truncation: {{level: head, cap: {cap}}}")

    make_task(tmp_path / "suite", "alpha")
    folder = recorded(tmp_path / "suite", chatty, harnesses=[str(file(was))])
    said = harness_eval("check", "--replay", folder, "--harness", file(now), "--json")
    assert (said.code, said.json["verdict"]) == (1, "fail"), said.err
    detail = said.json["changed"][0]["detail"]
    assert "0 of 1 recorded trial would send something else after the same results of tools" in detail
    assert ("1 had results that may be cut otherwise" in detail) == (reached == 1)


@pytest.mark.parametrize(("flags", "code"), [((), 0), (("--release",), 1)])
def test_a_change_with_a_new_version_wants_a_new_record(
    harness_eval: Run, folder: Path, flags: tuple[str, ...], code: int
) -> None:
    file = a_file(folder, "thinking: drop\nversion: '2'")
    said = harness_eval("check", "--replay", folder, "--harness", file, *flags, "--json")
    assert (said.code, said.json["verdict"]) == (code, "inconclusive")
    assert f"{NAME} changed with a new version, so record anew" in said.json["said"]
    assert said.json["changed"][0]["detail"].startswith("version 1 is now 2; ")


def test_a_new_version_under_which_nothing_differs_passes_with_a_note(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("check", "--replay", folder, "--harness", a_file(folder, "version: '2'"), "--json")
    assert (said.code, said.json["verdict"]) == (0, "pass")
    assert f"{NAME}: version 1 is now 2, and nothing that was recorded differs" in said.json["notes"]


def test_a_harness_that_cannot_be_built_today_fails(harness_eval: Run, folder: Path) -> None:
    edit(folder, lambda study: study["harnesses"][1].update(name="mine", spec={"prompt": "gone"}))
    lines = (folder / store.RESULTS).read_text().replace(f'"{NAME}"', '"mine"')
    (folder / store.RESULTS).write_text(lines)
    said = harness_eval("check", "--replay", folder, "--json")
    assert (said.code, said.json["harness"]) == (1, "mine")
    assert "unknown level 'gone'" in said.json["changed"][0]["detail"]


def test_a_harness_that_was_not_recorded_is_a_mistake(harness_eval: Run, folder: Path) -> None:
    said = harness_eval("check", "--replay", folder, "--harness", "codex-like")
    assert (said.code, said.out) == (2, "")
    assert f"no harness 'codex-like' was recorded; choices: canonical, {NAME}" in said.err


@pytest.mark.parametrize("spoiled", [{"endpoints": 1.5}, {"endpoints": [1]}, {"created": 7}, {"repeats": "many"}])
def test_a_damaged_study_is_a_mistake_in_one_line(harness_eval: Run, folder: Path, spoiled: dict[str, object]) -> None:
    study = store.read_study(folder)
    (folder / "study.json").write_text(json.dumps({**study, **spoiled}))
    said = harness_eval("check", "--replay", folder)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert f"study.json: {next(iter(spoiled))}" in said.err


def test_a_run_without_records_tells_nothing(harness_eval: Run, folder: Path) -> None:
    shutil.rmtree(folder / store.TRAJECTORIES)
    said = harness_eval("check", "--replay", folder)
    assert (said.code, said.out) == (2, "")
    assert "nothing is recorded of its trials that could be compared" in said.err


def test_trials_are_judged_again_and_a_verdict_that_changed_fails(
    harness_eval: Run, folder: Path, tmp_path: Path
) -> None:
    rerun = ("--rerun", "--suite", tmp_path / "suite", "--sandbox", "local", "--allow-local", "--out", tmp_path / "new")
    said = harness_eval("check", "--replay", folder, *rerun[:-1], tmp_path / "same", "--json")
    assert (said.code, said.json["verdict"]) == (0, "pass"), said.err
    assert "4 verdicts are as recorded and 0 changed" in said.json["said"]
    make_task(tmp_path / "suite", "beta", test_sh=TEST_SH.replace("= hello", "= bonjour")).folder.joinpath(
        "solution", "solve.sh"
    ).write_text("echo bonjour > answer.txt\n")
    said = harness_eval("check", "--replay", folder, *rerun, "--json")
    assert (said.code, said.json["verdict"]) == (1, "fail"), said.err
    assert "2 verdicts are as recorded and 2 changed" in said.json["said"]
    assert "beta/canonical/reference/0: the score was 1.0, now 0.0" in said.json["notes"]


def test_a_record_is_shown_as_text_and_written_in_every_form(harness_eval: Run, folder: Path, tmp_path: Path) -> None:
    said = harness_eval("check", "--replay", folder, "--write", tmp_path / "written")
    assert (said.code, said.out.split(":")[0]) == (0, "PASS")
    assert {path.name for path in (tmp_path / "written").iterdir()} == {
        "badge.json",
        "check.json",
        "check.md",
        "junit.xml",
    }

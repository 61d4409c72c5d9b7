"""`harness-eval show`: finding a trial by the beginnings of its names, and reading it safely."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from rich.console import Console

from harness_eval import recording, store
from harness_eval.types import (
    Action,
    Compaction,
    Lost,
    Malformed,
    Note,
    Observation,
    Reply,
    Result,
    Step,
    StopReason,
    ToolCall,
    Trajectory,
    TrialKey,
    Usage,
    Verdict,
)
from tests.cli.conftest import Said, start
from tests.report.trials import does, run_folder, says
from tests.report.trials import harness as of_levels
from tests.report.trials import record as made

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
    assert [
        word in " ".join(lines[-1].split()) for word in ("fix-it/h10/ref/1", "lost", "unlabelled endpoint timed out")
    ] == [True] * 3


def test_in_a_pipe_nothing_is_folded_or_filled_up(harness_eval: Run, folder: Path) -> None:
    long = "word " * 80
    with store.open_run(folder, {"name": "s"}) as run:
        trajectory = Trajectory("s", long, (Step(Action("", "", (CALL,)), (Observation(long, 400),)),), "finished")
        run.append(Result(TrialKey("fix", "h" * 250, "ref", 0), "aa", Verdict(0.5, "half"), trajectory=trajectory))
    printed = harness_eval("show", folder).out.splitlines()
    assert next(line for line in printed if "h" * 250 in line).startswith(f"fix/{'h' * 250}/ref/0  no ")
    assert len(printed) == 1 + 9
    assert all(line == line.rstrip() for line in printed)
    told = harness_eval("show", folder, f"fix/{'h' * 250}").out.splitlines()
    assert {long.rstrip(), f"    {long.rstrip()}"} <= {line.rstrip() for line in told}
    assert "── outcome ──" in told


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
        ("fxi-it/h10", "no task 'fxi-it' in this run; did you mean 'fix-it'? choices: fix, fix-it"),
        ("zzz", "no task 'zzz' in this run; choices: fix, fix-it"),
        ("h10", "no task 'h10' (but a harness: TASK/h10, or --harness h10) in this run"),
        ("fix-/h11", "no harness 'h11' of task 'fix-' in this run; did you mean 'h1'? choices: h1, h10"),
        ("fix/h10/7", "no trial 'fix/h10/7' in this run; choices: ref/0, ref/1"),
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


LEAKED = Trajectory(
    "You are an agent.",
    "Fix it.",
    (
        Step(
            Action("I look."),
            finish_reason="sto\x1bp",
            labels=("ok.tool_call", "undetermined.markup_leak"),
            reply=Reply(
                oddities=("serving.index_missing",),
                faults=("infra.overloaded", "infra.rate_limited", "infra.overloaded"),
            ),
        ),
        Compaction(1, "So far: looked.", Usage(900, 100), 2.5, reply=Reply(faults=("infra.deadline",))),
    ),
    StopReason.FINISHED,
)
RECOVERED = Trajectory("", "", (Step(Action("Now it is a call.", calls=(CALL,)), (Observation("seen", 4),)),))


def one_trial(folder: Path, trajectory: Trajectory | None = None, **keys: object) -> Path:
    """A run of one trial."""
    result = Result(TrialKey("t", "h", "e"), "aa", Verdict(0.0, ""), trajectory=trajectory)
    with store.open_run(folder, {"name": "s"}) as run:
        run.append(result)
    row = json.loads((folder / "results.jsonl").read_text()) | keys
    (folder / "results.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def replace_extra(folder: Path, trajectory: Trajectory, extra: dict[str, object]) -> None:
    key = TrialKey("t", "h", "e")
    (folder / "trajectories" / recording.file_name(key)).write_bytes(recording.pack(key, trajectory, extra))


def test_a_step_shows_its_labels_with_owners_its_finish_reason_and_what_was_retried(
    harness_eval: Run, tmp_path: Path
) -> None:
    said = harness_eval("show", one_trial(tmp_path / "run", LEAKED), "t/h").out
    assert "finish sto p" in said
    assert "undetermined.markup_leak (undetermined, reported separately), serving.index_missing (serving, toler" in said
    assert "ok.tool_call" not in said
    assert "after 3 failed requests: infra.overloaded x 2 (provider, excluded), infra.rate_limited (provider" in said


def test_a_compaction_shows_what_it_covers_and_costs(harness_eval: Run, tmp_path: Path) -> None:
    said = harness_eval("show", one_trial(tmp_path / "run", LEAKED), "t/h").out
    assert "compaction, 1000 tokens, 2.5 s: these notes replace the first 1 event" in said
    assert "after 1 failed request: infra.deadline (gateway, excluded)" in said


def test_the_recovered_reading_follows_the_strict_end_under_its_own_heading(harness_eval: Run, tmp_path: Path) -> None:
    folder = one_trial(tmp_path / "run", LEAKED, recovered={"score": 1.0, "solved": True})
    replace_extra(folder, LEAKED, {"recovered": recording.as_record(RECOVERED)})
    said = harness_eval("show", folder, "t/h").out
    order = ["score 0", "RECOVERED READING", "Now it is a call.", '> bash {"command":"ls"}', "seen"]
    order += ["recovered score 1.0; the strict score stands"]
    places = [said.index(text) for text in order]
    assert places == sorted(places)
    shown = json.loads(harness_eval("show", folder, "t/h", "--json").out)
    assert shown["recovered_trajectory"]["events"][0]["action"]["text"] == "Now it is a call."


def test_a_recovered_reading_that_failed_says_why_it_has_no_score(harness_eval: Run, tmp_path: Path) -> None:
    folder = one_trial(tmp_path / "run", LEAKED)
    record = recording.as_record(RECOVERED)
    kept = {"score": None, "failure": "gone", "stop": None, "events": record["events"]}
    replace_extra(folder, LEAKED, {"recovered": kept})
    said = harness_eval("show", folder, "t/h").out
    assert "Now it is a call." in said
    assert "without a score: gone" in said
    assert "recovered score" not in said


def test_what_steers_a_terminal_is_made_visible_wherever_it_stands(harness_eval: Run, tmp_path: Path) -> None:
    evil = "a\x9b31m b\u202ec d\ud800e \x1b[2J"
    step = Step(Action(evil, evil, (ToolCall("1", evil, {evil: evil}),)), (Observation(evil, 9),), finish_reason=evil)
    trajectory = Trajectory(evil, evil, (step, Note(evil, evil)), StopReason.FINISHED)
    failure = {"owner": "endpoint", "message": evil, "label": evil}
    folder = one_trial(tmp_path / "run", trajectory, failure=failure, detail=evil, labels=[evil])
    for arguments in ((), ("t/h",)):
        said = harness_eval("show", folder, *arguments).out
        assert all(line.replace("\t", "").isprintable() for line in said.splitlines())
    assert "a\\x9b31m b\\u202ec d\\ud800e \u241b[2J" in said


def test_trials_are_listed_by_harness_then_task_then_repeat(harness_eval: Run, tmp_path: Path) -> None:
    keys = [
        TrialKey("b", "h2", "e", 0),
        TrialKey("a", "h2", "e", 1),
        TrialKey("a", "h2", "e"),
        TrialKey("c", "h1", "e"),
    ]
    with store.open_run(tmp_path / "run", {"name": "s"}) as run:
        for key in keys:
            run.append(Result(key, "aa", Verdict(1.0, "")))
    lines = harness_eval("show", tmp_path / "run").out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["c/h1/e/0", "a/h2/e/0", "a/h2/e/1", "b/h2/e/0"]


def test_a_trial_without_score_and_failure_is_lost_and_no_traceback(harness_eval: Run, tmp_path: Path) -> None:
    folder = one_trial(tmp_path / "run", LEAKED, score=None, solved=None, labels=None, acted=3, stop=None)
    assert "lost" in harness_eval("show", folder).out
    assert "neither a verdict nor a failure was recorded" in harness_eval("show", folder, "t/h").out


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff", b"[" * 100_000])
def test_a_damaged_study_is_one_line(harness_eval: Run, tmp_path: Path, content: bytes) -> None:
    folder = one_trial(tmp_path / "run", LEAKED)
    (folder / "study.json").write_bytes(content)
    said = harness_eval("show", folder)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "study.json" in said.err


@pytest.mark.parametrize("record", [[], {}, {"system": 1, "prompt": 2, "stop": None, "events": ["step"]}, "no frame"])
def test_a_damaged_trajectory_is_one_line(harness_eval: Run, tmp_path: Path, record: object) -> None:
    folder = one_trial(tmp_path / "run", LEAKED)
    (path,) = (folder / "trajectories").glob("*/*.zst")
    frame = zstandard.compress(json.dumps(record).encode()) if record != "no frame" else path.read_bytes()[:-9]
    path.write_bytes(frame)
    said = harness_eval("show", folder, "t/h")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "is damaged" in said.err


def test_a_damaged_recovered_reading_is_one_line(harness_eval: Run, tmp_path: Path) -> None:
    folder = one_trial(tmp_path / "run", LEAKED)
    replace_extra(folder, LEAKED, {"recovered": {"events": [{"event": "step"}]}})
    said = harness_eval("show", folder, "t/h")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "recovered reading is damaged" in said.err


def test_the_list_names_cause_owner_and_recovered_score(harness_eval: Run, tmp_path: Path) -> None:
    keys = {"labels": ["model.bad_args_json", "serving.markup_in_name"], "recovered": {"score": 0.75, "solved": False}}
    folder = one_trial(tmp_path / "run", LEAKED, **keys)
    head, line = harness_eval("show", folder).out.splitlines()
    assert head.split()[:6] == ["trial", "solved", "score", "recovered", "label", "owner"]
    assert line.split()[:6] == ["t/h/e/0", "no", "0.00", "0.75", "serving.markup_in_name", "serving"]
    (trial,) = json.loads(harness_eval("show", folder, "--json").out)["trials"]
    assert trial["cause"] == {"label": "serving.markup_in_name", "owner": "serving"}


def test_a_solved_trial_has_no_cause(harness_eval: Run, tmp_path: Path) -> None:
    folder = one_trial(tmp_path / "run", score=1.0, solved=True, labels=["model.bad_args_json"])
    assert harness_eval("show", folder).out.splitlines()[1].split()[3:6] == ["-", "-", "-"]


def test_thinking_is_marked_apart_from_what_was_said(harness_eval: Run, folder: Path) -> None:
    lines = [line.rstrip() for line in harness_eval("show", folder, "fix/h1/0").out.splitlines()]
    place = lines.index("thinking:")
    assert lines[place + 1 : place + 3] == ["    Where is it?", "I look."]


def test_the_recovered_reading_goes_on_with_the_number_of_the_step(harness_eval: Run, tmp_path: Path) -> None:
    folder = one_trial(tmp_path / "run", LEAKED)
    replace_extra(folder, LEAKED, {"recovered": recording.as_record(RECOVERED)})
    said = harness_eval("show", folder, "t/h").out
    assert said.index("step 1,") < said.index("RECOVERED READING") < said.index("step 2,")
    assert said.count("step 1,") == 1


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    left = made(does("bash", "r", command="cat a"), does("bash", "r", command="cat b"), says("Done."))
    right = made(does("bash", "r", command="cat a"), says("I stop."))
    run_folder(
        tmp_path / "pair", {"canonical": left, "short": right}, of_levels(), of_levels("short", truncation="head")
    )
    return tmp_path / "pair"


@pytest.mark.parametrize(
    "partner", [["canonical"], ["--beside", "canonical"], ["fix/canonical"], ["--beside", "canon"]]
)
def test_two_trials_stand_beside_each_other_with_their_divergence_marked(
    harness_eval: Run, pair: Path, partner: list[str]
) -> None:
    said = harness_eval("show", pair, "fix/short", *partner).out
    assert "They go different ways at step 2: short finishes, canonical reads b." in said
    assert "1 step with the same deeds and results: short step 1; canonical step 1" in said
    assert said.count(">>> first divergence: they do something else") == 1
    line = next(line for line in said.splitlines() if "I stop." in line)
    assert line.startswith("I stop.")
    assert "> bash" in line


def test_a_narrow_terminal_has_them_one_after_the_other(
    harness_eval: Run, pair: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_eval.cli.show.out", lambda: Console(width=60, highlight=False))
    said = harness_eval("show", pair, "fix/short", "canonical").out
    assert "[short]" in said
    assert max(map(len, said.splitlines())) <= 60
    assert not any("I stop." in line and "> bash" in line for line in said.splitlines())


@pytest.mark.parametrize("width", [20, 80])
def test_a_list_in_a_narrow_terminal_keeps_names_whole(
    harness_eval: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr("harness_eval.cli.show.out", lambda: Console(width=width, highlight=False))
    monkeypatch.setattr("harness_eval.cli.output.out", lambda: Console(width=width, highlight=False))
    said = harness_eval("show", folder).out.splitlines()
    names = [each["trial"] for each in json.loads(harness_eval("show", folder, "--json").out)["trials"]]
    assert all(any(line.startswith(name) for line in said) for name in names)


def test_an_alignment_as_json_has_its_rows(harness_eval: Run, pair: Path) -> None:
    told = json.loads(harness_eval("show", pair, "fix/short", "canonical", "--json").out)
    assert (told["first"], told["parted"]) == (1, 1)
    assert told["rows"][1]["why"] == "short finishes, canonical reads b"
    assert [row["state"] for row in told["rows"]] == ["same", "done", "done"]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["fix/h1/ref/0", "fix-it/h1/ref/0"], "is of another task than fix/h1/ref/0"),
        (["--beside", "canonical"], "name the trial that it stands beside"),
        (["fix/h1/ref/0", "--task", "fix"], "are for the list"),
        (["fix/h1/ref/0", "h11"], "no trial of fix under 'h11'"),
        (["--harness", "h3"], "--harness: none of this run is named 'h3'; did you mean 'h1'?"),
        (["--label", "none"], "--label: none of this run is named 'none'"),
    ],
)
def test_a_pair_or_a_filter_that_is_not_clear_is_one_line(
    harness_eval: Run, folder: Path, arguments: list[str], hint: str
) -> None:
    said = harness_eval("show", folder, *arguments)
    assert said.code == 2
    assert hint in said.err
    assert said.err.count("\n") == 1


def test_the_list_can_be_narrowed(harness_eval: Run, folder: Path) -> None:
    def named(*arguments: str) -> list[str]:
        return [line.split()[0] for line in harness_eval("show", folder, *arguments).out.splitlines()[1:]]

    assert named("--harness", "h1", "--task", "fix") == ["fix/h1/ref/0", "fix/h1/ref/1"]
    assert named("--harness", "*0", "--unsolved") == ["fix/h10/ref/0", "fix/h10/ref/1", "fix-it/h10/ref/0"]
    assert len(named("--label", "x.y")) == 7
    assert json.loads(harness_eval("show", folder, "--task", "fix-it", "--json").out)["trials"][0]["task"] == "fix-it"


def test_a_long_list_is_the_same_table_and_bears_a_reader_that_goes_away(tmp_path: Path) -> None:
    with store.open_run(tmp_path / "run", {"name": "s"}) as run:
        run.append(Result(TrialKey("fix", "h", "ref"), "id", Verdict(1.0)))
    line = (tmp_path / "run" / "results.jsonl").read_bytes()
    many = b"".join(line.replace(b'"repeat":0', b'"repeat":%d' % number) for number in range(2_500))
    (tmp_path / "run" / "results.jsonl").write_bytes(many)
    with start("show", tmp_path / "run") as process:
        assert process.stdout is not None
        head = process.stdout.readline().split()
        first = process.stdout.readline().split()
        process.stdout.close()
        err = process.stderr.read() if process.stderr else ""
    assert head[:6] == ["trial", "solved", "score", "recovered", "label", "owner"]
    assert first[:3] == ["fix/h/ref/0", "yes", "1.00"]
    assert err == ""

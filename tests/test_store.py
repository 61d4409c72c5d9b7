"""A run's folder: what is written, what survives a crash, what is owed again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness_eval import recording, store
from harness_eval.errors import ConfigError
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

STUDY = {"name": "s", "created": "now", "seed": 1, "harnesses": [{"name": "canonical", "id": "aa", "version": 1}]}
KEY = TrialKey("fix-it", "canonical", "ref", 0)
TRAJECTORY = Trajectory(
    "system",
    "prompt",
    (
        Step(
            Action("look", "hm", (ToolCall("1", "shell", {"command": "ls"}),), (Malformed("2", "x", "{", "no end"),)),
            (Observation("a\nb", 3), Observation("bad call", 8, failed=True)),
            Usage(10, 4, 2, 1),
            0.5,
            "tool_calls",
            ("TOOL-01",),
            "d1",
        ),
        Note("go on", "nudge"),
        Compaction(1, "so far", Usage(5, 5), 0.1, "d2"),
    ),
    StopReason.FINISHED,
)
JUDGED = Result(KEY, "aa", Verdict(1.0, "ok"), None, TRAJECTORY, ("protocol",), ("TOOL-01",), Usage(15, 9), 0.25, 1.5)


def lost(key: TrialKey, attempt: int = 1) -> Result:
    return Result(key, "aa", failure=Lost("endpoint", "timed out"), extra={"attempt": attempt})


def judged(key: TrialKey, score: float = 1.0) -> Result:
    return Result(key, "aa", Verdict(score), usage=Usage(100, 10), cost=0.5)


def write(folder: Path, *results: Result) -> None:
    with store.open_run(folder, STUDY) as run:
        for result in results:
            run.append(result)


def test_a_line_has_exactly_the_documented_keys(tmp_path: Path) -> None:
    write(tmp_path, JUDGED)
    line = json.loads((tmp_path / "results.jsonl").read_text())
    assert line == {
        "task": "fix-it",
        "harness": "canonical",
        "harness_id": "aa",
        "harness_version": None,
        "harness_wire": None,
        "endpoint": "ref",
        "repeat": 0,
        "solved": True,
        "score": 1.0,
        "failure": None,
        "stop": "finished",
        "labels": ["TOOL-01"],
        "turns": {"TOOL-01": 1},
        "retried": {},
        "recovered": None,
        "usage": {"prompt": 15, "completion": 9, "reasoning": 0, "cached": 0},
        "cost": 0.25,
        "seconds": 1.5,
        "acted": ["protocol"],
        "steps": 1,
        "attempt": 1,
        "detail": "ok",
    }


def test_a_lost_trial_has_an_owner_and_no_score(tmp_path: Path) -> None:
    write(tmp_path, lost(KEY, attempt=3))
    row = next(store.rows(tmp_path))
    assert row["failure"] == {"owner": "endpoint", "message": "timed out", "label": ""}
    assert (row["solved"], row["score"], row["stop"], row["cost"], row["attempt"]) == (None, None, None, None, 3)


def test_a_line_counts_turns_and_retries_by_label_and_has_both_readings(tmp_path: Path) -> None:
    again = Reply(faults=("infra.overloaded", "infra.overloaded"))
    steps = (
        Step(Action(), labels=("ok.tool_call",)),
        Step(Action(), labels=("ok.tool_call", "serving.index_missing"), reply=again),
    )
    record = Trajectory("s", "p", (*steps, Compaction(1, "so far", reply=Reply(faults=("infra.gateway",)))))
    write(tmp_path, Result(KEY, "aa", Verdict(0.0), trajectory=record, recovered=Verdict(1.0)))
    row = next(store.rows(tmp_path))
    assert row["turns"] == {"ok.tool_call": 2, "serving.index_missing": 1}
    assert row["retried"] == {"infra.overloaded": 2, "infra.gateway": 1}
    assert (row["score"], row["recovered"]) == (0.0, {"score": 1.0, "solved": True})


def test_what_was_tried_in_vain_before_a_trial_was_lost_is_counted(tmp_path: Path) -> None:
    failure = Lost("endpoint", "timed out", "infra.deadline")
    write(tmp_path, Result(KEY, "aa", failure=failure, extra={"faults": ("infra.gateway", "infra.gateway")}))
    row = next(store.rows(tmp_path))
    assert (row["retried"], row["failure"]["label"]) == ({"infra.gateway": 2}, "infra.deadline")


def test_a_trajectory_comes_back_as_it_was(tmp_path: Path) -> None:
    write(tmp_path, JUDGED)
    assert store.read_trajectory(tmp_path, KEY) == TRAJECTORY


def test_a_trial_without_trajectory_has_none(tmp_path: Path) -> None:
    write(tmp_path, lost(KEY))
    assert store.read_trajectory(tmp_path, KEY) is None


def test_what_no_json_encoder_likes_is_kept(tmp_path: Path) -> None:
    call = ToolCall("1", "shell", {"huge": 10**40, "odd": "\ud800", "deep": {"a": [None, 1.5]}})
    wild = Trajectory("s", "p", (Step(Action(calls=(call,))),), StopReason.MALFORMED)
    write(tmp_path, Result(KEY, "aa", Verdict(0.0, "\udfff"), trajectory=wild))
    assert store.read_trajectory(tmp_path, KEY) == wild
    assert next(store.rows(tmp_path))["detail"] == "\udfff"


def test_a_damaged_frame_is_reported_with_its_file(tmp_path: Path) -> None:
    write(tmp_path, JUDGED)
    (frame,) = (tmp_path / "trajectories").rglob("*.zst")
    frame.write_bytes(frame.read_bytes()[:-9])
    with pytest.raises(ConfigError, match="is damaged"):
        store.read_trajectory(tmp_path, KEY)


def test_frames_of_keys_that_read_alike_do_not_collide(tmp_path: Path) -> None:
    keys = [TrialKey("a/b", "h", "e"), TrialKey("a.b", "h", "e"), TrialKey("a", "b.h", "e"), TrialKey("../x", "h", "e")]
    for number, key in enumerate(keys):
        write(tmp_path, Result(key, "aa", Verdict(1.0), trajectory=Trajectory("s", str(number))))
    read = [store.read_trajectory(tmp_path, key) for key in keys]
    assert [each.prompt for each in read if each] == ["0", "1", "2", "3"]
    assert len(list((tmp_path / "trajectories").rglob("*.zst"))) == len(keys)


def test_the_latest_line_of_a_trial_counts(tmp_path: Path) -> None:
    other = TrialKey("b", "canonical", "ref")
    write(tmp_path, lost(KEY), judged(other, 0.0), judged(KEY))
    assert [(row["task"], row["solved"]) for row in store.latest(tmp_path)] == [("b", False), ("fix-it", True)]


def test_a_lost_trial_is_owed_again_and_a_judged_one_is_not(tmp_path: Path) -> None:
    other = TrialKey("b", "canonical", "ref")
    write(tmp_path, lost(KEY), lost(KEY, 2), lost(other), judged(other))
    total = store.tally(tmp_path)
    assert (total.judged, total.attempts, total.solved) == ({other}, {KEY: 2}, 1)
    assert (total.tokens, total.money) == (110, 0.5)


def test_a_torn_last_line_is_owed_again(tmp_path: Path) -> None:
    other = TrialKey("b", "canonical", "ref")
    write(tmp_path, judged(KEY), judged(other))
    path = tmp_path / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert store.tally(tmp_path).judged == {KEY}
    write(tmp_path, judged(other))
    assert [store.key_of(json.loads(line)) for line in path.read_text().splitlines()] == [KEY, other]


def test_a_whole_last_line_without_its_newline_is_kept(tmp_path: Path) -> None:
    write(tmp_path, judged(KEY))
    path = tmp_path / "results.jsonl"
    path.write_bytes(path.read_bytes().rstrip())
    write(tmp_path, judged(TrialKey("b", "canonical", "ref")))
    assert len(list(store.rows(tmp_path))) == 2


def test_a_torn_line_longer_than_one_read_is_cut_off(tmp_path: Path) -> None:
    write(tmp_path, judged(KEY))
    path = tmp_path / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"task": "' + b"x" * 200_000)
    write(tmp_path)
    assert path.read_bytes() == whole


def test_a_damaged_line_in_the_middle_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path, judged(KEY), judged(TrialKey("b", "canonical", "ref")))
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"\0\0\0\n[1]\n" + path.read_bytes())
    assert len(store.tally(tmp_path).judged) == 2


def test_a_changed_study_is_refused_with_the_fields_that_differ(tmp_path: Path) -> None:
    write(tmp_path)
    changed = {**STUDY, "created": "later", "seed": 2, "harnesses": [{"name": "canonical", "id": "bb", "version": 1}]}
    with pytest.raises(ConfigError) as caught, store.open_run(tmp_path, changed):
        pass
    told = str(caught.value).partition("What differs: ")[2]
    assert told == 'seed: 1, now 2; harnesses.canonical.id: "aa", now "bb"'


def test_added_and_removed_parts_of_a_study_are_named() -> None:
    old, new = {"tasks": [{"name": "a"}, {"name": "b"}]}, {"tasks": [{"name": "b"}, {"name": "c"}]}
    assert list(recording.differences(old, new)) == ["tasks.a: no longer there", "tasks.c: new"]


def test_the_same_study_made_at_another_time_is_resumed(tmp_path: Path) -> None:
    write(tmp_path, judged(KEY))
    with store.open_run(tmp_path, {**STUDY, "created": "later"}):
        pass
    assert store.read_study(tmp_path)["created"] == "now"


def test_two_writers_are_refused(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from harness_eval import store; import json\n"
        "with store.open_run(Path(sys.argv[1]), json.loads(sys.argv[2])): print('open', flush=True); sys.stdin.read()"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path), json.dumps(STUDY)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(ConfigError, match=f"process {other.pid} is writing here"):
            write(tmp_path)
        other.kill()
        other.wait()
    write(tmp_path, judged(KEY))  # a killed process leaves no lock behind


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(ConfigError, match=r"holds thesis\.txt"):
        write(tmp_path)


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        write(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    ("content", "said"), [(None, "is this the folder of a run"), ("{", "is not JSON"), ("1", "obj")]
)
def test_a_folder_without_a_readable_study_is_one_clear_line(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / "study.json").write_text(content)
    with pytest.raises(ConfigError, match=said):
        store.read_study(tmp_path)


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(ConfigError, match="No space left"):
        store.RunFolder(tmp_path, full).append(judged(KEY))
    os.close(full)


_COUNTED = """
import sys, tracemalloc
from pathlib import Path
from harness_eval import store
tracemalloc.start()
print(sum(1 for _ in store.latest(Path(sys.argv[1]))), tracemalloc.get_traced_memory()[1])
"""


def test_reading_many_lines_does_not_hold_them(tmp_path: Path) -> None:
    write(tmp_path, judged(KEY))
    path = tmp_path / "results.jsonl"
    line = path.read_bytes().replace(b'"fix-it"', b'"%08d"')
    with path.open("wb") as file:
        for number in range(30_000):
            file.write(line % number)
    done = subprocess.run(  # in a process of its own, where nothing else takes memory meanwhile
        [sys.executable, "-c", _COUNTED, tmp_path], capture_output=True, text=True, check=True
    )
    count, peak = map(int, done.stdout.split())
    assert count == 30_000
    assert peak < path.stat().st_size / 2


@pytest.mark.parametrize(
    "spoiled",
    [
        {"task": ["a"]},
        {"repeat": "0"},
        {"repeat": 0.5},
        {"repeat": -1},
        {"repeat": 10**15},
        {"failure": "lost"},
        {"failure": {}},
        {"usage": None},
        {"seconds": "1"},
        {"score": "x"},
        {"score": []},
        {"score": float("nan")},
        {"score": 1.5},
        {"score": -0.1},
        {"steps": "3"},
        {"attempt": {}},
        {"recovered": {"score": "x"}},
        {"recovered": {"score": 2}},
    ],
)
def test_a_line_that_no_run_could_have_written_does_not_count(tmp_path: Path, spoiled: dict[str, object]) -> None:
    write(tmp_path, JUDGED)
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({**json.loads(path.read_text()), **spoiled}) + "\n")
    assert list(store.rows(tmp_path)) == []

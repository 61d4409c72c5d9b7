"""A recorded run once more, on its recorded replies."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from harness_eval import report, rerun, store
from harness_eval.errors import ConfigError, ContextOverflow, EndpointFailure
from harness_eval.judging import Proof
from harness_eval.rerun import Rerun, Verdicts
from harness_eval.sandboxes import provider
from harness_eval.task import Task
from harness_eval.types import Reply, Request, Result, StopReason, Verdict
from tests.doubles import TEST_SH, bash, make_task, solve
from tests.runs import recorded

LOCAL = provider("local")


class Quiet:
    """Watches and says nothing."""

    def proven(self, task: Task, proof: Proof) -> None: ...

    def probed(self, *given: object) -> None: ...

    def begin(self, planned: int, judged: int, solved: int, *given: object) -> None:
        del given
        self.began = (planned, judged, solved)

    def ended(self, result: Result) -> None: ...

    def fallen(self, endpoint: str, reason: str) -> None: ...

    def stopping(self) -> None: ...


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name in ("alpha", "beta"):
        make_task(tmp_path / "suite", name)
    return tmp_path / "suite"


def replayed(folder: Path, suite: Path, watch: Quiet | None = None) -> Verdicts:
    again = prepared(folder, suite)
    anyio.run(rerun.run, again, folder.parent / "again", watch or Quiet())
    return rerun.verdicts(folder, folder.parent / "again")


def prepared(folder: Path, suite: Path | None) -> Rerun:
    return rerun.prepare(folder, store.latest(folder), LOCAL, str(suite) if suite else None)


def rows(folder: Path) -> list[store.Row]:
    return list(store.latest(folder.parent / "again"))


def test_verdicts_come_out_as_they_were_and_the_new_folder_can_be_read_like_any_run(suite: Path) -> None:
    folder = recorded(suite, harnesses=["mini-swe-native", "openhands-native"])
    found = replayed(folder, suite)
    assert (found.same, found.changed, found.lost) == (6, [], [])
    before = {store.key_of(row): row for row in store.latest(folder)}
    for row in rows(folder):
        was = before[store.key_of(row)]
        assert [row[key] for key in ("score", "steps", "usage", "stop", "harness_id")] == [
            was[key] for key in ("score", "steps", "usage", "stop", "harness_id")
        ]
        assert row["cost"] == 0.0, "its tokens were paid for when it was recorded"
    data = report.write(folder.parent / "again")
    assert data["trials"]["judged"] == 6
    assert any("a replay of first" in note for note in data["notes"])
    study = store.read_study(folder.parent / "again")
    assert study["replay"]["of"] == "first"
    assert study["replay"]["created"] == store.read_study(folder)["created"]


def test_a_replay_can_be_replayed(suite: Path) -> None:
    folder = recorded(suite)
    replayed(folder, suite)
    third = rerun.prepare(folder.parent / "again", store.latest(folder.parent / "again"), LOCAL, str(suite))
    anyio.run(rerun.run, third, folder.parent / "third", Quiet())
    assert rerun.verdicts(folder, folder.parent / "third").same == 2


def test_trials_keep_their_seeds(suite: Path) -> None:
    folder = recorded(suite)
    assert [trial.seed for trial in prepared(folder, suite).trials] == [
        store.key_of(row).seed(3) for row in store.latest(folder)
    ]


def test_verdicts_are_those_of_todays_tasks(suite: Path) -> None:
    folder = recorded(suite)
    make_task(suite, "beta", TEST_SH.replace("hello ]", "hullo ]"))
    (suite / "beta/solution/solve.sh").write_text("#!/bin/bash\necho hullo > answer.txt\n")
    found = replayed(folder, suite)
    assert [(c.key.task, c.was, c.now) for c in found.changed] == [("beta", 1.0, 0.0)]
    assert found.same == 1


def test_a_task_that_says_something_else_today_is_lost_to_the_harness_and_named(suite: Path) -> None:
    folder = recorded(suite)
    (suite / "alpha/instruction.md").write_text("Work differently: write the word hello into answer.txt.\n")
    (row,) = replayed(folder, suite).lost
    assert (row["task"], row["failure"]["owner"]) == ("alpha", "harness")
    assert re.match("turn 1: request [0-9a-f]{12} was not recorded", row["failure"]["message"])
    assert "the first difference is in the task: 'Work on alpha" in row["failure"]["message"]


def test_a_command_that_brings_something_else_today_is_named_by_turn(suite: Path) -> None:
    counter = suite.parent / "counter"

    def script(request: Request) -> Reply:
        told = sum(message["role"] == "tool" for message in request.messages)
        counting = bash(f"echo x >> {counter}; wc -l < {counter}; echo hello > answer.txt")
        return (counting, counting, Reply("Done."))[told]

    folder = recorded(suite, script, tasks={"suite": str(suite), "include": ["alpha"]})
    (row,) = replayed(folder, suite).lost
    assert row["failure"]["owner"] == "harness"
    assert re.match("turn 2: request [0-9a-f]{12} was not recorded", row["failure"]["message"])
    assert "the first difference is in turn 1, what bash brought: '1', now '3'" in row["failure"]["message"]


def test_a_full_window_is_met_again(suite: Path) -> None:
    def script(request: Request) -> Reply | Exception:
        return solve(request) if len(request.messages) == 2 else ContextOverflow("too long")

    folder = recorded(suite, script)
    found = replayed(folder, suite)
    assert found.same == 2
    assert {row["stop"] for row in rows(folder)} == {StopReason.OVERFLOW}


def test_what_was_lost_is_left_out_and_counted(suite: Path) -> None:
    def script(request: Request) -> Reply | Exception:
        broken = "beta" in request.messages[1]["content"] and len(request.messages) > 2
        return EndpointFailure("gone") if broken else solve(request)

    folder = recorded(suite, script)
    again = prepared(folder, suite)
    assert again.left_out == {"lost in the record": 1}
    assert again.study["planned"] == 1
    assert [task["name"] for task in again.study["tasks"]] == ["alpha"]
    assert "left out: 1 lost in the record" in again.study["notes"][-1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: dataclasses.replace(t, stop=StopReason.TIME), "ended by the clock in the middle of a turn"),
        (lambda t: dataclasses.replace(t, events=(dataclasses.replace(t.events[0], reply=None),)), "whose replies"),
        (lambda t: dataclasses.replace(t, events=(dataclasses.replace(t.events[0], digest=""),)), "whose replies"),
        (lambda _: None, "without a record"),
    ],
    ids=["time", "reply", "digest", "record"],
)
def test_what_cannot_be_replayed_is_left_out_with_the_reason(
    suite: Path, change: Callable[[object], object], reason: str
) -> None:
    folder = recorded(suite)
    row = next(row for row in store.latest(folder) if row["task"] == "beta")
    key, trajectory = store.key_of(row), store.read_trajectory(folder, store.key_of(row))
    place = next((folder / store.TRAJECTORIES / "beta").iterdir())
    place.unlink()
    with store.open_run(folder, store.read_study(folder)) as run:
        run.append(Result(key, row["harness_id"], Verdict(1.0), trajectory=change(trajectory)))
    (told,) = prepared(folder, suite).left_out
    assert told.startswith(reason)


def test_a_replay_is_resumed(suite: Path) -> None:
    folder = recorded(suite)
    replayed(folder, suite)
    results = folder.parent / "again" / store.RESULTS
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(lines[0])
    watch = Quiet()
    assert replayed(folder, suite, watch).same == 2
    assert watch.began == (2, 1, 1)
    assert len(results.read_bytes().splitlines()) == 2


def test_another_folder_is_refused(suite: Path) -> None:
    folder = recorded(suite)
    with pytest.raises(ConfigError, match="another study"):
        anyio.run(rerun.run, prepared(folder, suite), folder, Quiet())


def test_tasks_that_are_not_bundled_must_be_named(suite: Path) -> None:
    folder = recorded(suite)
    with pytest.raises(ConfigError, match="with --suite"):
        prepared(folder, None)


def test_tasks_that_are_gone_are_counted(suite: Path) -> None:
    folder = recorded(suite)
    (suite / "beta").rename(suite / "delta")
    assert prepared(folder, suite).left_out == {"of a task that is not there today": 1}
    (suite / "alpha").rename(suite / "epsilon")
    with pytest.raises(ConfigError, match="none of these trials can be replayed: 2 of a task"):
        prepared(folder, suite)


def test_the_probe_of_the_endpoint_that_gave_the_replies_goes_along(suite: Path) -> None:
    folder = recorded(suite)
    (folder / "probe.json").write_text(json.dumps({"endpoints": {}}))
    replayed(folder, suite)
    assert json.loads((folder.parent / "again" / "probe.json").read_text()) == {"endpoints": {}}

"""The cases of sandboxes and of bookkeeping, each where it can be decided: in a box, in a trial, in a run's folder.

What a box promises is tested under tests/sandboxes for every kind of it; SBX-07 (nothing is left behind, a sweep takes
only what nobody owns) in tests/sandboxes/test_crash.py.
"""

from __future__ import annotations

import json
import socket
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from harness_eval import store
from harness_eval.agent import run_agent
from harness_eval.diagnosis.labels import LABELS, boundary_of
from harness_eval.errors import EndpointFailure
from harness_eval.harness import canonical, make_harness
from harness_eval.runner import Lane, Runner
from harness_eval.sandboxes import local, owner, provider
from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.box import SupervisedBox
from harness_eval.sandboxes.channel import Channel
from harness_eval.trial import Trial, run_trial
from harness_eval.types import Limits, Lost, RawCall, Reply, Request, Result, Step, StopReason, TrialKey, Verdict
from tests.doubles import Breaking, Scripted, bash, make_task, solve

pytestmark = pytest.mark.anyio

SLOW = make_harness({"name": "timed", "toolset": "path-old-text"}, "timed")  # its shell takes a time limit


def expected(shared: Path, name: str) -> tuple[str, str, str]:
    """Label, owner and effect of a case."""
    verdict = yaml.safe_load((shared / "cases" / f"{name}.yaml").read_text())["expected_classification"]
    return verdict["label"], verdict["owner"], verdict["score_effect"]


@pytest.fixture
async def box() -> AsyncIterator[Sandbox]:
    async with provider("local").open(BoxSpec("cases")) as opened:
        yield opened


async def steps_of(box: Sandbox, *commands: str, seconds: int = 30) -> tuple[Step, ...]:
    """The steps of a model that runs these commands with a time limit of its own, then stops."""
    left = list(commands)

    def script(_: Request) -> Reply:
        if not left:
            return Reply("Done.", finish_reason="stop")
        arguments = json.dumps({"command": left.pop(0), "timeout": seconds})
        return Reply("", None, (RawCall("c", "bash", arguments),), "tool_calls")

    record = await run_agent(SLOW, "the task", box, Scripted(script), limits=Limits(), seed=0)
    assert record.stop is StopReason.FINISHED, "the run moves on"
    return record.steps


def told(step: Step) -> str:
    return step.observations[0].shown


async def test_sbx_02_a_time_out_in_a_flood_ends_it_and_the_loop_stays_alive(box: Sandbox) -> None:
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await anyio.sleep(0.05)

    tracemalloc.start()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(beat)
            ran = await box.run("yes | head -c 50000000; sleep 60", timeout=2)
            group.cancel_scope.cancel()
        grown = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert ran.timed_out
    assert (await box.run("echo usable")).output == "usable\n"
    assert beats > 5
    assert grown < 64 << 20


class Silent(SandboxProvider):
    """Boxes whose other side takes every request and never answers."""

    name, promises = "silent", "nothing"

    def unavailable(self) -> str | None:
        return None

    @asynccontextmanager
    async def open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:  # type: ignore[override]
        del spec
        here, there = socket.socketpair()
        here.setblocking(False)
        with here, there:
            yield SupervisedBox(Channel(here), "/app")


async def test_sbx_02_a_box_that_hangs_loses_the_trial_and_is_no_score(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_eval.sandboxes.box.PATIENCE", 0.3)
    task = make_task(tmp_path / "suite")
    trial = Trial(TrialKey(task.name, "timed", "scripted"), SLOW, task, Limits(), 0)
    reply = Reply("", None, (RawCall("c", "bash", '{"command": "true", "timeout": 1}'),), "tool_calls")
    result = await run_trial(trial, Scripted(lambda _: reply), Silent())
    label, blamed, effect = expected(shared, "SBX-02")
    assert result.verdict is None
    assert result.failure is not None
    assert (result.failure.owner, result.failure.label) == (blamed, label)
    assert LABELS[label].effect == effect


async def test_sbx_03_a_background_child_that_holds_the_output_holds_nothing_else(box: Sandbox, shared: Path) -> None:
    commands = ["sleep 30217 & echo started", "pgrep -fc '^sleep 30217'; pkill -f '^sleep 30217'"]
    server, after, _ = await steps_of(box, *commands)
    assert told(server).startswith("started\n[a background process holds the output open")
    assert not server.observations[0].failed
    assert told(after).startswith("1")
    assert server.labels == ("ok.tool_call", expected(shared, "SBX-03")[0])


async def test_sbx_04_a_program_that_asks_for_ever_is_ended_and_the_model_is_told(box: Sandbox, shared: Path) -> None:
    asks = "while read -r -p 'name: ' x || true; do [ -n \"$x\" ] && break; done"
    asked, after, _ = await steps_of(box, asks, "echo on", seconds=1)
    assert told(asked).endswith("[timed out; everything the command started was ended]")
    assert asked.labels == ("ok.tool_call", expected(shared, "SBX-04")[0])
    assert told(after) == "on"


async def test_sbx_05_a_flood_is_cut_counted_and_told(box: Sandbox, shared: Path) -> None:
    flood, after, _ = await steps_of(box, "echo first; yes abcdefgh | head -c 30000000; echo last", "echo on")
    label, blamed, effect = expected(shared, "SBX-05")
    assert flood.labels == ("ok.tool_call", label)
    assert (LABELS[label].owner, LABELS[label].effect) == (blamed, effect)
    assert told(flood).startswith("first")
    assert told(flood).endswith("last")
    assert flood.observations[0].full_length < 1_100_000, "more is not kept"
    assert told(after) == "on"


def test_sbx_07_a_sweep_takes_what_the_dead_left_and_nothing_of_the_living(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: Path
) -> None:
    dead, alive = f"{owner.token().rpartition('.')[0]}.1", owner.token()
    for token in (dead, alive):
        (tmp_path / f"harness-eval-{token}-box").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert local.sweep() == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"harness-eval-{alive}-box"]
    label, blamed, effect = expected(shared, "SBX-07")
    assert (LABELS[label].owner, LABELS[label].effect) == (blamed, effect)


async def rows_of(folder: Path, trials: list[Trial], endpoint: Scripted) -> list[store.Row]:
    with store.open_run(folder, {"name": "s"}) as run:
        await Runner(Breaking(), run.append).run([Lane(endpoint, trials)])
    return list(store.latest(folder))


async def test_sbx_08_a_failure_of_the_machines_is_no_score_of_zero(tmp_path: Path, shared: Path) -> None:
    tasks = [make_task(tmp_path / "suite", name) for name in ("one", "two", "broken")]
    setup = tasks[2].folder / "environment" / "setup.sh"
    setup.write_text("exit 1\n")
    trials = [Trial(TrialKey(t.name, "canonical", "scripted"), canonical(), t, Limits(), 0) for t in tasks]
    endpoint = Scripted()
    rows = {row["task"]: row for row in await rows_of(tmp_path / "run", trials, endpoint)}
    label, blamed, effect = expected(shared, "SBX-08")
    assert [rows[name]["score"] for name in ("one", "two", "broken")] == [1.0, 1.0, None]
    assert rows["broken"]["failure"]["label"] == label
    assert rows["broken"]["failure"]["owner"] == boundary_of(LABELS[label].owner)
    assert (LABELS[label].owner, LABELS[label].effect) == (blamed, effect)
    assert endpoint.requests == 4, "the model was never called in a box that was not there"


async def test_sbx_09_a_trial_that_ran_out_of_time_is_judged_by_what_it_left(tmp_path: Path) -> None:
    lines = [bash("echo hello > answer.txt"), bash("sleep 60")]
    task = make_task(tmp_path / "suite", toml="[agent]\ntimeout_sec = 3\n")
    trial = Trial(TrialKey(task.name, "canonical", "scripted"), canonical(), task, Limits(), 0)
    result = await run_trial(trial, Scripted(lambda _: lines.pop(0)), Breaking())
    assert result.trajectory is not None
    assert result.verdict is not None
    assert (result.verdict.solved, result.trajectory.stop) == (True, StopReason.TIME)


async def test_sbx_09_an_endpoint_that_takes_too_long_is_no_answer(tmp_path: Path, shared: Path) -> None:
    late = EndpointFailure("no reply within 1 s")
    late.label = "infra.deadline"
    task = make_task(tmp_path / "suite", test_sh='echo 1 > "$VERIFIER_DIR/reward.txt"\n')
    trial = Trial(TrialKey(task.name, "canonical", "scripted"), canonical(), task, Limits(), 0)
    result = await run_trial(trial, Scripted(lambda _: late), Breaking())
    assert (result.verdict, result.trajectory and result.trajectory.steps) == (None, ())
    assert result.failure is not None
    assert LABELS[result.failure.label].effect == expected(shared, "SBX-09")[2]


@pytest.mark.parametrize(
    ("text", "label"), [("It is done.", "model.wrong_answer"), ("Now I will write it:", "model.premature_stop")]
)
async def test_sbx_10_an_early_end_is_never_called_a_time_out(tmp_path: Path, text: str, label: str) -> None:
    task = make_task(tmp_path / "suite")
    trial = Trial(TrialKey(task.name, "canonical", "scripted"), canonical(), task, Limits(seconds=300), 0)
    row = store.row_of(await run_trial(trial, Scripted(lambda _: Reply(text, finish_reason="stop")), Breaking()))
    assert (row["stop"], row["labels"]) == (StopReason.FINISHED, [label])
    assert row["seconds"] < 300


def key(repeat: int) -> TrialKey:
    return TrialKey("say-hello", "canonical", "scripted", repeat)


async def test_sbx_11_a_resumed_run_owes_what_has_no_verdict_and_nothing_else(tmp_path: Path, shared: Path) -> None:
    folder = tmp_path / "run"
    results = [Result(key(n), "aa", Verdict(1.0)) for n in range(3)]
    results += [Result(key(3), "aa", Verdict(0.0)), Result(key(4), "aa", failure=Lost("endpoint", "504"))]
    with store.open_run(folder, {"name": "s"}) as run:
        for result in [*results, Result(key(5), "aa", Verdict(1.0))]:
            run.append(result)
    lines = (folder / store.RESULTS).read_bytes()
    (folder / store.RESULTS).write_bytes(lines[: len(lines) - 40])
    judged = store.tally(folder).judged
    owed = [key(n) for n in range(6) if key(n) not in judged]
    assert owed == [key(4), key(5)]
    task = make_task(tmp_path / "suite")
    trials = [Trial(each, canonical(), task, Limits(), 0) for each in owed]
    rows = await rows_of(folder, trials, Scripted(solve))
    assert sorted(row["repeat"] for row in rows) == list(range(6))
    assert [row["score"] for row in sorted(rows, key=lambda row: row["repeat"])] == [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    label, blamed, effect = expected(shared, "SBX-11")
    assert (LABELS[label].owner, LABELS[label].effect) == (blamed, effect)


@pytest.mark.parametrize("cut", range(1, 60, 7))
async def test_sbx_11_killing_a_run_at_any_byte_costs_the_last_line_at_most(tmp_path: Path, cut: int) -> None:
    with store.open_run(tmp_path, {"name": "s"}) as run:
        for number in range(3):
            run.append(Result(key(number), "aa", Verdict(1.0)))
    lines = (tmp_path / store.RESULTS).read_bytes()
    (tmp_path / store.RESULTS).write_bytes(lines[:-cut])
    found: Any = store.tally(tmp_path).judged
    assert {key(0), key(1)} <= found <= {key(0), key(1), key(2)}

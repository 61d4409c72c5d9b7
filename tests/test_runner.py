"""Many trials at once: limits are kept, machines get another chance, and every way to stop is clean."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from harness_eval.errors import BoundaryFailure, ConfigError, EndpointDown, EndpointFailure, HarnessFailure
from harness_eval.harness import canonical, make_harness
from harness_eval.runner import Lane, Runner, Spending
from harness_eval.trial import Trial
from harness_eval.types import Limits, Reply, Request, Result, TrialKey, Usage
from tests.doubles import TEST_SH, Breaking, Scripted, bash, make_task, solve

pytestmark = pytest.mark.anyio


def trials(folder: Path, number: int, endpoint: str = "scripted", test_sh: str = TEST_SH) -> list[Trial]:
    task = make_task(folder / "suite", test_sh=test_sh)
    harness = canonical()
    return [Trial(TrialKey(task.name, "canonical", endpoint, n), harness, task, Limits(), n) for n in range(number)]


class Kept:
    """Records results in memory."""

    def __init__(self, then: Callable[[Result], None] = lambda _: None) -> None:
        self.results: list[Result] = []
        self.then = then

    def __call__(self, result: Result) -> None:
        self.results.append(result)
        self.then(result)

    @property
    def repeats(self) -> list[int]:
        return sorted(result.key.repeat for result in self.results)


def fails_first(times: int) -> Callable[[Request], Reply | Exception]:
    left = [times]

    def script(request: Request) -> Reply | Exception:
        left[0] -= 1
        return EndpointFailure("busy") if left[0] >= 0 else solve(request)

    return script


async def test_all_trials_of_all_endpoints_are_run_once(tmp_path: Path) -> None:
    kept, watched = Kept(), Kept()
    lanes = [Lane(Scripted(name=name), trials(tmp_path, 4, name)) for name in ("a", "b")]
    outcome = await Runner(Breaking(), kept, watched).run(lanes)
    assert sorted((result.key.endpoint, result.key.repeat) for result in kept.results) == [
        (name, n) for name in "ab" for n in range(4)
    ]
    assert watched.results == kept.results
    assert (outcome.interrupted, outcome.exhausted, outcome.down) == (False, None, {})


async def test_an_endpoint_never_serves_more_trials_than_its_limit(tmp_path: Path) -> None:
    endpoint = Scripted(together=2)
    await Runner(Breaking(), Kept()).run([Lane(endpoint, trials(tmp_path, 6), concurrency=2)])
    assert endpoint.most == 2


async def test_a_trial_lost_to_a_machine_is_tried_again_within_the_budget(tmp_path: Path) -> None:
    kept = Kept()
    await Runner(Breaking(opening=1), kept, pause=0).run([Lane(Scripted(fails_first(1)), trials(tmp_path, 1))])
    (result,) = kept.results
    assert result.verdict is not None
    assert result.extra["attempt"] == 3


async def test_after_the_last_attempt_the_trial_is_lost(tmp_path: Path) -> None:
    kept = Kept()
    await Runner(Breaking(opening=9), kept, pause=0).run([Lane(Scripted(), trials(tmp_path, 1))])
    (result,) = kept.results
    assert result.failure is not None
    assert result.extra["attempt"] == 3


async def test_an_unsolved_trial_is_never_tried_again(tmp_path: Path) -> None:
    kept, provider = Kept(), Breaking()
    await Runner(provider, kept).run([Lane(Scripted(lambda _: Reply("no", finish_reason="stop")), trials(tmp_path, 1))])
    assert provider.opened == 1
    assert kept.results[0].verdict is not None


async def test_a_broken_verifier_is_not_tried_again(tmp_path: Path) -> None:
    kept, provider = Kept(), Breaking()
    await Runner(provider, kept).run([Lane(Scripted(), trials(tmp_path, 1, test_sh="exit 0\n"))])
    assert provider.opened == 2  # the trial, and the proof that the agent is not the cause
    assert kept.results[0].failure is not None
    assert kept.results[0].failure.owner == "task"


async def test_a_dead_endpoint_stops_its_own_lane_at_once(tmp_path: Path) -> None:
    kept = Kept()
    dead = Scripted(lambda _: EndpointDown("unknown model"), name="dead")
    lanes = [Lane(dead, trials(tmp_path, 20, "dead"), 2), Lane(Scripted(name="b"), trials(tmp_path, 3, "b"))]
    outcome = await Runner(Breaking(), kept).run(lanes)
    assert outcome.down == {"dead": "unknown model"}
    by_endpoint = [result.key.endpoint for result in kept.results]
    assert by_endpoint.count("b") == 3
    assert by_endpoint.count("dead") <= 2


def refusing(label: str, kind: type[BoundaryFailure] = HarnessFailure) -> Callable[[Request], Reply | Exception]:
    """An endpoint that refuses requests with one tool alone."""

    def script(request: Request) -> Reply | Exception:
        if len(request.tools) != 1:
            return solve(request)
        error = kind("400 no such thing")
        error.label = label
        return error

    return script


def of_two_harnesses(folder: Path, number: int) -> list[Trial]:
    other = make_harness({"name": "other", "toolset": "shell-only"}, "other")
    mixed = []
    for trial in trials(folder, number):
        mixed += [trial, replace(trial, key=replace(trial.key, harness="other"), harness=other)]
    return mixed


@pytest.mark.parametrize(
    ("label", "kind"),
    [("harness.schema_rejected", HarnessFailure), ("serving.crash_on_schema", EndpointFailure)],
)
async def test_a_harness_that_its_endpoint_refuses_is_not_started_there_again(
    tmp_path: Path, label: str, kind: type[BoundaryFailure]
) -> None:
    kept = Kept()
    lane = Lane(Scripted(refusing(label, kind)), of_two_harnesses(tmp_path, 5), concurrency=1)
    outcome = await Runner(Breaking(), kept).run([lane])
    assert [result.key.harness for result in kept.results].count("canonical") == 5
    (lost,) = [result for result in kept.results if result.key.harness == "other"]
    assert (lost.extra["attempt"], outcome.down) == (1, {})
    assert {cell: failure.label for cell, failure in outcome.unsupported.items()} == {("other", "scripted"): label}


async def test_trials_of_a_refused_harness_that_are_under_way_end_as_they_do(tmp_path: Path) -> None:
    kept = Kept()
    refused = [t for t in of_two_harnesses(tmp_path, 6) if t.key.harness == "other"]
    endpoint = Scripted(refusing("harness.schema_rejected"), together=2)
    await Runner(Breaking(), kept).run([Lane(endpoint, refused, concurrency=2)])
    assert len(kept.results) == 2


async def test_a_harness_that_one_endpoint_refuses_goes_on_at_another(tmp_path: Path) -> None:
    kept = Kept()
    mixed = [t for t in of_two_harnesses(tmp_path, 3) if t.key.harness == "other"]
    elsewhere = [replace(t, key=replace(t.key, endpoint="kind")) for t in mixed]
    lanes = [Lane(Scripted(refusing("harness.schema_rejected")), mixed, 1), Lane(Scripted(name="kind"), elsewhere, 1)]
    await Runner(Breaking(), kept).run(lanes)
    assert sorted(result.key.endpoint for result in kept.results) == ["kind"] * 3 + ["scripted"]


async def test_a_loss_that_may_pass_stops_no_harness(tmp_path: Path) -> None:
    kept = Kept()
    script = refusing("infra.overloaded", EndpointFailure)
    outcome = await Runner(Breaking(), kept, retries=0).run([Lane(Scripted(script), of_two_harnesses(tmp_path, 3), 1)])
    assert (len(kept.results), outcome.unsupported) == (6, {})


async def test_a_spent_budget_starts_no_further_trial(tmp_path: Path) -> None:
    kept = Kept()
    spending = Spending(most_tokens=500)
    outcome = await Runner(Breaking(), kept, spending=spending).run([Lane(Scripted(), trials(tmp_path, 9), 1)])
    assert kept.repeats == [0, 1, 2], "235 tokens each; the third one crosses the budget"
    assert outcome.exhausted == "the budget of 500 tokens is used up"


async def test_what_is_enough_starts_no_further_trial_and_finishes_those_under_way(tmp_path: Path) -> None:
    kept, endpoint = Kept(), Scripted(together=2)
    runner = Runner(Breaking(), kept, enough=lambda result: result.key.repeat == 1)
    outcome = await runner.run([Lane(endpoint, trials(tmp_path, 9), 2)])
    assert {0, 1} <= set(kept.repeats) <= {0, 1, 2}
    assert (outcome.interrupted, outcome.exhausted, outcome.down) == (False, None, {})


async def test_money_is_counted_by_the_lane_s_price(tmp_path: Path) -> None:
    kept = Kept()

    def cost(usage: Usage) -> float:
        return usage.total / 100

    lane = Lane(Scripted(), trials(tmp_path, 3), 1, cost)
    outcome = await Runner(Breaking(), kept, spending=Spending(most_money=2.0)).run([lane])
    assert [result.cost for result in kept.results] == [2.35]
    assert outcome.exhausted is not None


async def test_a_budget_of_seconds_counts_from_the_start(tmp_path: Path) -> None:
    kept = Kept()
    spending = Spending(most_seconds=1e-6)
    outcome = await Runner(Breaking(), kept, spending=spending).run([Lane(Scripted(), trials(tmp_path, 3))])
    assert kept.results == []
    assert "seconds" in str(outcome.exhausted)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_closes_all_boxes_and_keeps_what_has_ended(tmp_path: Path, number: int) -> None:
    provider = Breaking()
    kept = Kept(lambda _: os.kill(os.getpid(), number))
    slow = Scripted(lambda request: solve(request) if request.seed == 0 else bash("sleep 60"))
    with anyio.fail_after(30):
        outcome = await Runner(provider, kept).run([Lane(slow, trials(tmp_path, 8), 4)])
    assert outcome.interrupted
    assert kept.repeats == [0]
    assert provider.open_now == 0


async def test_a_result_that_cannot_be_recorded_ends_the_run(tmp_path: Path) -> None:
    def full(_: Result) -> None:
        raise ConfigError("no space left")

    provider = Breaking()
    with pytest.raises(ConfigError, match="no space left"):
        await Runner(provider, full).run([Lane(Scripted(), trials(tmp_path, 8), 2)])
    assert provider.opened <= 2
    assert provider.open_now == 0


async def test_results_are_recorded_one_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def record(_: Result) -> None:
        inside.append(1)
        most.append(len(inside))
        inside.pop()

    await Runner(Breaking(), record).run([Lane(Scripted(), trials(tmp_path, 6), 6)])
    assert most == [1] * 6


async def test_an_endpoint_that_answers_nobody_any_more_ends_its_lane(tmp_path: Path) -> None:
    kept, gone = Kept(), EndpointFailure("no answer: ConnectionRefusedError")
    gone.label = "infra.gateway"
    endpoint = Scripted(lambda request: solve(request) if request.seed == 0 else gone)
    outcome = await Runner(Breaking(), kept, retries=0).run([Lane(endpoint, trials(tmp_path, 20), 1)])
    assert kept.repeats == [0, 1, 2]
    assert outcome.down == {"scripted": "2 trials in a row were lost: no answer: ConnectionRefusedError"}


async def test_the_second_signal_leaves_once_what_has_ended_is_recorded(tmp_path: Path) -> None:
    said: list[str] = []

    def record(result: Result) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
        said.append(f"recorded {result.key.repeat}")

    slow = Scripted(lambda request: solve(request) if request.seed == 0 else bash("sleep 60"))
    runner = Runner(Breaking(), record, stopping=lambda: said.append("stopping"), leave=lambda: said.append("left"))
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with anyio.fail_after(30):
        outcome = await runner.run([Lane(slow, trials(tmp_path, 8), 4)])
    assert outcome.interrupted
    assert sorted(said[:2]) == ["recorded 0", "stopping"]
    assert said[2:] == ["left"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


async def test_boxes_that_cannot_be_had_for_several_tasks_end_the_run(tmp_path: Path) -> None:
    kept, other = Kept(), make_task(tmp_path / "suite", "other")
    mixed = [each for trial in trials(tmp_path, 10) for each in (trial, replace(trial, task=other))]
    mixed = [replace(each, key=replace(each.key, task=each.task.name)) for each in mixed]
    outcome = await Runner(Breaking(opening=99), kept, pause=0).run([Lane(Scripted(), mixed, 1)])
    assert len(kept.results) == 2
    assert outcome.boxless == "2 trials in a row were lost: OSError: no room for another box"


async def test_a_task_that_breaks_its_own_boxes_does_not_end_the_run(tmp_path: Path) -> None:
    kept = Kept()
    outcome = await Runner(Breaking(opening=9), kept, pause=0).run([Lane(Scripted(), trials(tmp_path, 6), 1)])
    assert [result.verdict is None for result in kept.results] == [True] * 3 + [False] * 3
    assert outcome.boxless is None


async def test_an_endpoint_whose_process_ends_is_left_at_once_and_others_go_on(tmp_path: Path) -> None:
    kept, told, dead = Kept(), list[tuple[str, str]](), anyio.Event()

    async def death() -> str:
        await dead.wait()
        return "it was ended"

    def script(_: Request) -> Reply:
        dead.set()
        return bash("sleep 60")

    lanes = [
        Lane(Scripted(script, name="dead"), trials(tmp_path, 9, "dead"), 2, death=death),
        Lane(Scripted(name="b"), trials(tmp_path, 3, "b")),
    ]
    with anyio.fail_after(30):
        outcome = await Runner(Breaking(), kept, fallen=lambda *each: told.append(each)).run(lanes)
    assert outcome.down == {"dead": "it was ended"}
    assert told == [("dead", "it was ended")]
    assert [result.key.endpoint for result in kept.results] == ["b"] * 3, "what was under way is owed and not lost"


async def test_a_trial_is_not_tried_again_once_a_budget_is_used_up(tmp_path: Path) -> None:
    def script(request: Request) -> Reply | Exception:
        return EndpointFailure("busy") if len(request.messages) > 2 else solve(request)

    kept, spending = Kept(), Spending(most_tokens=100)
    outcome = await Runner(Breaking(), kept, spending=spending).run([Lane(Scripted(script), trials(tmp_path, 5), 1)])
    (result,) = kept.results
    assert (result.failure is not None, result.extra["attempt"]) == (True, 1)
    assert outcome.exhausted == "the budget of 100 tokens is used up"


async def test_a_signal_that_another_thread_gets_ends_the_loop_s_waiting(tmp_path: Path) -> None:
    slow = Scripted(lambda _: bash("sleep 60"))

    def strike() -> None:
        time.sleep(0.3)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    with anyio.fail_after(30):  # no earlier does the loop wake by itself
        runner = Runner(Breaking(), Kept())
        threading.Thread(target=strike).start()
        outcome = await runner.run([Lane(slow, trials(tmp_path, 1), 1)])
    assert outcome.interrupted


async def test_the_second_signal_waits_a_while_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness_eval.runner._PATIENCE", 0.05)
    left = threading.Event()

    def record(_: Result) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        assert left.wait(20), "who records waits for ever, and is not waited for"

    with anyio.fail_after(30):
        outcome = await Runner(Breaking(), record, leave=left.set).run([Lane(Scripted(), trials(tmp_path, 1), 1)])
    assert outcome.interrupted

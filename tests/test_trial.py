"""One trial: a result always comes back, and a failure names the one who must act."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from harness_eval.agent import Recovery
from harness_eval.errors import ConfigError, ContextOverflow, EndpointDown, EndpointFailure
from harness_eval.harness import canonical, make_harness
from harness_eval.store import row_of
from harness_eval.trial import Trial, run_trial
from harness_eval.types import Limits, Reply, Request, Result, StopReason, TrialKey, Usage
from tests.doubles import TEST_SH, Breaking, Scripted, bash, make_task, solve

pytestmark = pytest.mark.anyio


def make_trial(folder: Path, test_sh: str = TEST_SH, toml: str = "") -> Trial:
    task = make_task(folder / "suite", test_sh=test_sh, toml=toml)
    return Trial(TrialKey(task.name, "canonical", "scripted"), canonical(), task, Limits(), seed=7)


async def result_of(folder: Path, endpoint: Scripted, provider: Breaking | None = None) -> Result:
    return await run_trial(make_trial(folder), endpoint, provider or Breaking())


async def test_a_solved_task_gives_a_verdict_with_all_that_was_used(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted())
    assert result.verdict is not None
    assert result.verdict.solved
    assert result.failure is None
    assert (result.usage.prompt, result.usage.completion) == (220, 15)
    assert result.trajectory is not None
    assert result.trajectory.stop is StopReason.FINISHED
    assert "protocol" in result.acted
    assert result.seconds > 0


async def test_an_unsolved_task_is_a_verdict_and_no_failure(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted(lambda _: Reply("I would rather not.", finish_reason="stop")))
    assert result.verdict is not None
    assert not result.verdict.solved
    assert result.failure is None


async def test_an_overflowing_context_is_a_result(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted(lambda _: ContextOverflow("too long")))
    assert result.failure is None
    assert result.trajectory is not None
    assert result.trajectory.stop is StopReason.OVERFLOW


async def test_the_seed_of_the_trial_reaches_the_endpoint(tmp_path: Path) -> None:
    seen: list[int | None] = []

    def note(request: Request) -> Reply:
        seen.append(request.seed)
        return solve(request)

    await result_of(tmp_path, Scripted(note))
    assert seen == [7, 7]


@pytest.mark.parametrize(
    ("error", "owner"),
    [(EndpointFailure("busy"), "endpoint"), (ZeroDivisionError("ours"), "endpoint"), (ConfigError("?"), "harness")],
)
async def test_what_an_endpoint_raises_becomes_a_failure_with_its_owner(
    tmp_path: Path, error: Exception, owner: str
) -> None:
    result = await result_of(tmp_path, Scripted(lambda _: error))
    assert result.verdict is None
    assert result.failure is not None
    assert result.failure.owner == owner


async def test_a_dead_endpoint_is_marked(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted(lambda _: EndpointDown("wrong key sk-abcdefghijkl")))
    assert result.extra["down"] is True
    assert result.failure is not None
    assert "sk-abcdefghijkl" not in result.failure.message


async def test_a_box_that_does_not_open_is_the_sandbox_s_failure(tmp_path: Path) -> None:
    endpoint = Scripted()
    result = await result_of(tmp_path, endpoint, Breaking(opening=1))
    assert result.failure is not None
    assert result.failure.owner == "sandbox"
    assert endpoint.requests == 0


async def test_a_verifier_that_cannot_judge_is_the_task_s_failure(tmp_path: Path) -> None:
    result = await run_trial(make_trial(tmp_path, test_sh="exit 0\n"), Scripted(), Breaking())
    assert result.failure is not None
    assert result.failure.owner == "task"
    assert result.trajectory is not None, "what the agent did is kept"


async def test_a_failure_of_the_clean_up_does_not_overturn_a_verdict(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted(), Breaking(closing=1))
    assert result.verdict is not None
    assert result.verdict.solved
    assert "would not go away" in result.extra["cleanup"]
    assert result.labels == ("evaluator.cleanup_overrides_verdict",)


async def test_the_task_s_own_time_limit_is_kept(tmp_path: Path) -> None:
    trial = make_trial(tmp_path, toml="[agent]\ntimeout_sec = 0.3\n")
    result = await run_trial(trial, Scripted(lambda _: bash("sleep 60")), Breaking())
    assert result.trajectory is not None
    assert result.trajectory.stop is StopReason.TIME
    assert result.verdict is not None


async def test_cancellation_is_raised_and_closes_the_box(tmp_path: Path) -> None:
    provider = Breaking()
    trial = make_trial(tmp_path)
    ended: list[Result] = []

    asked = anyio.Event()

    def wait(_: Request) -> Reply:
        asked.set()
        return bash("sleep 60")

    async def go() -> None:
        ended.append(await run_trial(trial, Scripted(wait), provider))

    async with anyio.create_task_group() as group:
        group.start_soon(go)
        await asked.wait()
        group.cancel_scope.cancel()
    assert ended == []
    assert provider.open_now == 0


# Labels and failures


async def test_a_wrong_answer_is_the_model_s_where_nothing_else_is_to_blame(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted(lambda _: Reply("It is all done.", finish_reason="stop")))
    assert result.labels == ("model.wrong_answer",)


async def test_an_end_without_a_word_is_no_wrong_answer(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted(lambda _: Reply("", finish_reason="stop")))
    assert result.labels == ("undetermined.empty_turn",)


async def test_a_solved_trial_has_no_label_but_plain_ones(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted())
    assert result.trajectory is not None
    assert result.labels == ()
    assert [step.labels for step in result.trajectory.steps] == [("ok.tool_call",), ("ok.final_answer",)]


def labelled(error: EndpointFailure, label: str, *faults: str) -> EndpointFailure:
    error.label, error.faults = label, faults
    return error


async def test_a_lost_trial_has_the_label_of_its_failure_and_of_the_attempts_before(tmp_path: Path) -> None:
    error = labelled(EndpointFailure("busy"), "infra.overloaded", "infra.gateway", "infra.overloaded")
    result = await result_of(tmp_path, Scripted(lambda _: error))
    assert result.failure is not None
    assert (result.failure.owner, result.failure.label) == ("endpoint", "infra.overloaded")
    assert row_of(result)["retried"] == {"infra.gateway": 1, "infra.overloaded": 1}


async def test_retries_are_counted_in_the_record_of_a_lost_trial_too(tmp_path: Path) -> None:
    lines: list[Reply | Exception] = [replace(bash("true"), faults=("infra.rate_limited",)), EndpointFailure("gone")]
    result = await result_of(tmp_path, Scripted(lambda _: lines.pop(0)))
    assert result.failure is not None
    assert row_of(result)["retried"] == {"infra.rate_limited": 1}
    assert row_of(result)["turns"] == {"ok.tool_call": 1}


# The recovered reading


def leaked(command: str, said: str = "") -> Reply:
    """A reply whose call stands in the text."""
    call = json.dumps({"name": "bash", "arguments": {"command": command}})
    return Reply(f"{said}<tool_call>\n{call}\n</tool_call>", finish_reason="stop", usage=Usage(100, 10))


class Lines:
    """Says its lines one after the other, then a closing sentence; keeps the requests."""

    def __init__(self, *lines: Reply | Exception) -> None:
        self.lines, self.requests = list(lines), list[Request]()

    def __call__(self, request: Request) -> Reply | Exception:
        self.requests.append(request)
        return self.lines.pop(0) if self.lines else Reply("Done.", finish_reason="stop", usage=Usage(120, 5))


WRITES = "echo hello > answer.txt"


async def test_a_trial_that_ends_on_a_leaked_call_has_both_readings(tmp_path: Path) -> None:
    lines = Lines(bash("true"), leaked(WRITES, "I write it. "))
    result = await result_of(tmp_path, Scripted(lines))
    assert result.verdict is not None
    assert result.recovered is not None
    assert (result.verdict.solved, result.recovered.solved) == (False, True)
    assert result.trajectory is not None
    assert (result.trajectory.stop, len(result.trajectory.steps)) == (StopReason.FINISHED, 2)
    assert result.trajectory.steps[1].action.calls == ()
    assert result.labels == ("undetermined.markup_leak",)
    assert result.usage == Usage(100 + 100 + 120, 10 + 10 + 5)
    assert row_of(result)["recovered"] == {"score": 1.0, "solved": True}


async def test_what_went_on_is_kept_beside_the_strict_record_and_shows_the_call_as_one(tmp_path: Path) -> None:
    lines = Lines(bash("true"), leaked(WRITES, "I write it. "))
    result = await result_of(tmp_path, Scripted(lines))
    told = result.extra["recovered"]
    assert (told["score"], told["stop"], len(told["events"])) == (1.0, StopReason.FINISHED, 2)
    assert told["events"][0]["action"].calls[0].arguments == {"command": WRITES}
    said = lines.requests[2].messages[-2]
    assert (said["content"], said["tool_calls"][0]["function"]["name"]) == ("I write it.", "bash")


async def test_later_leaks_are_recovered_as_well(tmp_path: Path) -> None:
    lines = Lines(leaked("echo hel > part"), leaked("echo lo > rest"), leaked("paste -d '' part rest > answer.txt"))
    result = await result_of(tmp_path, Scripted(lines))
    assert result.recovered is not None
    assert result.recovered.solved
    assert len(result.extra["recovered"]["events"]) == 4


async def test_the_recovered_reading_may_be_no_better(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted(Lines(leaked("true"))))
    assert result.recovered is not None
    assert not result.recovered.solved


@pytest.mark.parametrize(
    ("lines", "recovery"),
    [
        ([leaked(WRITES)], "off"),
        ([Reply("I would rather not.", finish_reason="stop")], "content"),
        ([Reply(f"One writes `{leaked(WRITES).text}` for that.", finish_reason="stop")], "content"),
        ([Reply("", leaked(WRITES).text, finish_reason="stop")], "content"),
        ([bash(WRITES), leaked("true")], "content"),
    ],
    ids=["switched off", "nothing leaked", "quoted", "in the reasoning", "solved already"],
)
async def test_without_a_call_to_go_on_from_there_is_one_reading(
    tmp_path: Path, lines: list[Reply], recovery: Recovery
) -> None:
    script = Lines(*lines)
    result = await run_trial(replace(make_trial(tmp_path), recovery=recovery), Scripted(script), Breaking())
    assert result.recovered is None
    assert "recovered" not in result.extra
    assert len(script.requests) == len(lines)


async def test_a_call_in_the_reasoning_is_executed_only_when_asked_for(tmp_path: Path) -> None:
    trial = replace(make_trial(tmp_path), recovery="reasoning")
    result = await run_trial(trial, Scripted(Lines(Reply("", leaked(WRITES).text, finish_reason="stop"))), Breaking())
    assert result.recovered is not None
    assert result.recovered.solved


async def test_a_failure_of_the_machines_on_the_way_leaves_the_strict_reading_alone(tmp_path: Path) -> None:
    result = await result_of(tmp_path, Scripted(Lines(leaked("true"), EndpointFailure("gone"))))
    assert result.verdict is not None
    assert (result.failure, result.recovered) == (None, None)
    assert result.labels == ("undetermined.markup_leak",)
    assert (result.extra["recovered"]["score"], result.extra["recovered"]["failure"]) == (None, "gone")


PEEKING = """#!/bin/bash
if [ "$(cat answer.txt 2>/dev/null)" = found ]; then echo 1; else echo 0; fi > "$VERIFIER_DIR/reward.txt"
"""


async def test_the_agent_that_goes_on_finds_nothing_of_the_verifier(tmp_path: Path) -> None:
    trial = make_trial(tmp_path, test_sh=PEEKING)
    box = "root=$(pwd | sed 's,/app$,,')"
    peek = f"{box}; ls $root/tests/* $root/logs/verifier/* 2>/dev/null | grep . && echo found > answer.txt"
    result = await run_trial(trial, Scripted(Lines(leaked(peek))), Breaking())
    assert result.recovered is not None
    assert not result.recovered.solved


async def test_the_limits_hold_over_both_readings_together(tmp_path: Path) -> None:
    trial = replace(make_trial(tmp_path), limits=Limits(steps=3))
    script = Lines(bash("true"), leaked("true"), bash("true"), bash(WRITES))
    result = await run_trial(trial, Scripted(script), Breaking())
    assert result.extra["recovered"]["stop"] is StopReason.STEPS
    assert len(script.requests) == 3
    assert result.labels == ("undetermined.markup_leak",)


async def test_a_text_protocol_recovers_what_leaked_in_another_notation(tmp_path: Path) -> None:
    harness = make_harness({"name": "fenced", "protocol": "python-code"}, "fenced")
    script = Lines(leaked(WRITES))
    result = await run_trial(replace(make_trial(tmp_path), harness=harness), Scripted(script), Breaking())
    assert result.recovered is not None
    assert result.recovered.solved
    assert "bash(command='echo hello > answer.txt')" in script.requests[1].messages[-2]["content"]


async def test_a_recovered_value_gets_the_type_that_the_tool_wants(tmp_path: Path) -> None:
    harness = make_harness({"name": "numbers", "toolset": "path-old-text"}, "numbers")
    parameters = f"<parameter=command>\n{WRITES}\n</parameter>\n<parameter=timeout>\n20\n</parameter>"
    text = f"<function=bash>\n{parameters}\n</function>"
    trial = replace(make_trial(tmp_path), harness=harness)
    result = await run_trial(trial, Scripted(Lines(Reply(text, finish_reason="stop"))), Breaking())
    assert result.recovered is not None
    assert result.recovered.solved

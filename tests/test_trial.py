"""One trial: a result always comes back, and a failure names the one who must act."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from harness_eval.errors import ConfigError, ContextOverflow, EndpointDown, EndpointFailure
from harness_eval.harness import canonical
from harness_eval.trial import Trial, run_trial
from harness_eval.types import Limits, Reply, Request, Result, StopReason, TrialKey
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

"""The driver's side, here without Ray: a node is what answers its calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from harness_eval.cluster import spreading
from harness_eval.cluster.node import Setup, Variables
from harness_eval.cluster.spreading import Spread
from harness_eval.harness import canonical
from harness_eval.sandboxes import provider
from harness_eval.trial import Trial
from harness_eval.types import Limits, Lost, Result, TrialKey, Verdict
from tests.doubles import Scripted, make_task

pytestmark = pytest.mark.anyio


class _Gone(Exception): ...


class _Raised(_Gone): ...


def nodes(play: Callable[[int, Trial, object], Awaitable[Result]]) -> Spread:
    """A cluster of one node, which plays like this."""
    ray = SimpleNamespace(put=lambda content: content, exceptions=SimpleNamespace(RayError=_Gone, RayTaskError=_Raised))
    spread = Spread(ray, None, Setup("local", None, (), "127.0.0.1"), Variables({}), print)
    actor = SimpleNamespace(play=SimpleNamespace(remote=play))
    spread._members.append(spreading._Member(actor, "one", "127.0.0.1", 1.0, "holder"))
    return spread


def trial_of(folder: Path) -> Trial:
    return Trial(TrialKey("say-hello", "canonical", "e", 0), canonical(), make_task(folder), Limits(), 1)


async def test_a_task_that_a_node_could_not_unpack_is_sent_again(tmp_path: Path) -> None:
    trial, brought = trial_of(tmp_path), []

    async def play(_: int, trial: Trial, folder: object) -> Result:
        brought.append(folder is not None)
        lost, good = Lost("sandbox", "No space left on device"), Verdict(1.0, True)
        return Result(trial.key, "h", failure=lost) if len(brought) == 1 else Result(trial.key, "h", verdict=good)

    spread = nodes(play)
    for _ in range(3):
        await spread.play(trial, Scripted(), provider("local"))
    assert brought == [True, True, False]


async def test_trials_that_begin_together_pack_their_task_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial, packings = trial_of(tmp_path), []

    def packed(folder: Path) -> bytes:
        packings.append(folder)
        return b""

    async def play(_: int, trial: Trial, __: object) -> Result:
        return Result(trial.key, "h", verdict=Verdict(1.0, True))

    monkeypatch.setattr(spreading, "packed", packed)
    spread = nodes(play)
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(spread.play, trial, Scripted(), provider("local"))
    assert packings == [trial.task.folder]

"""Containers that are started before they are asked for, and none of which is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes import owner, provider
from harness_eval.sandboxes.base import BoxLimits, BoxSpec, SandboxProvider
from harness_eval.sandboxes.docker.pool import MOST_READY
from harness_eval.sandboxes.docker.provider import DockerProvider
from tests.sandboxes.conftest import BASE_IMAGE, make
from tests.sandboxes.test_crash import _until

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


@pytest.fixture
async def docker() -> AsyncIterator[DockerProvider]:
    async with DockerProvider(BASE_IMAGE) as boxes:
        yield boxes


def _containers(role: str = "", token: str = "") -> set[str]:
    """The containers of a run, by default this one, in all roles or one."""
    words = ["--filter", f"label=harness-eval.owner={token or owner.token()}"]
    words += ["--filter", f"label=harness-eval.role={role}"] if role else []
    return set(subprocess.check_output(["docker", "ps", "--all", "--quiet", *words], text=True).split())


def _kill(containers: set[str]) -> None:
    subprocess.run(["docker", "kill", *containers], check=True, capture_output=True)
    _until(lambda: not containers & _containers())


async def _fill(boxes: DockerProvider, count: int) -> None:
    """Wait until so many containers are ready, and see that there will be no more."""
    with anyio.fail_after(30):
        while boxes.ready < count:  # noqa: ASYNC110  (nothing tells)
            await anyio.sleep(0.02)
    await anyio.sleep(0.3)
    assert boxes.ready == count


async def test_the_next_container_and_a_judge_are_started_when_one_is_taken(docker: DockerProvider) -> None:
    async with docker.open(BoxSpec("first")):
        used = _containers("agent")
        await _fill(docker, 2)
        waiting = _containers("agent") - used
        assert len(_containers("judge")) == 1
    async with docker.open(BoxSpec("second", env={"LEVEL": "7"})) as box:
        assert len(waiting) == 1
        assert waiting <= _containers("agent")
        assert (await box.run("echo $LEVEL; ls -A . /tmp /logs/agent")).output == "7\n.:\n\n/logs/agent:\n\n/tmp:\n"


async def test_a_container_is_used_once(docker: DockerProvider) -> None:
    for _ in range(3):
        async with docker.open(BoxSpec("once")) as box:
            assert (await box.run("ls -A . /tmp; touch left /tmp/left")).output == ".:\n\n/tmp:\n"


async def test_only_boxes_of_one_kind_are_interchangeable(docker: DockerProvider) -> None:
    async with docker.open(BoxSpec("usual")):
        await _fill(docker, 2)
    async with docker.open(BoxSpec("elsewhere", workdir="/srv/work")) as box:
        assert (await box.run("pwd")).output == "/srv/work\n"
    async with docker.open(BoxSpec("small", limits=BoxLimits(disk_mb=8))) as box:
        assert (await box.run("df -m --output=size . | tail -1")).output.strip() == "8"


async def test_as_many_wait_as_were_in_use_at_once_and_a_judge(docker: DockerProvider) -> None:
    async def hold(opened: anyio.Event, close: anyio.Event) -> None:
        async with docker.open(BoxSpec("held")):
            opened.set()
            await close.wait()

    close = anyio.Event()
    events = [anyio.Event() for _ in range(3)]
    assert len(events) < MOST_READY
    async with anyio.create_task_group() as group:
        for opened in events:
            group.start_soon(hold, opened, close)
        for opened in events:
            await opened.wait()
        await _fill(docker, 3 + 1)
        close.set()


async def test_a_container_that_died_while_it_waited_is_not_handed_out(docker: DockerProvider) -> None:
    async with docker.open(BoxSpec("first")):
        used = _containers()
        await _fill(docker, 2)
    waiting = _containers() - used
    _kill(waiting)
    async with docker.open(BoxSpec("second")) as box:
        assert (await box.run("echo alive")).output == "alive\n"


async def test_the_context_can_be_entered_within_itself(docker: DockerProvider) -> None:
    async with docker, docker.open(BoxSpec("inner")):
        await _fill(docker, 2)
    assert docker.ready == 2


async def test_a_start_that_fails_reaches_all_who_wait_for_it() -> None:
    failures = []

    async def one(boxes: SandboxProvider) -> None:
        with pytest.raises(SandboxFailure, match="cannot be pulled") as caught:
            async with boxes.open(BoxSpec("lost")):
                pytest.fail("it opened")
        failures.append(caught.value)

    async with provider("docker", base_image="127.0.0.1:1/nowhere:1") as boxes, anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(one, boxes)
    assert len(failures) == 3


@pytest.mark.parametrize("failing", [ValueError("x"), None])
async def test_nothing_is_left_when_the_context_ends_however_it_ends(failing: ValueError | None) -> None:
    async def use() -> None:
        async with make("docker") as boxes, boxes.open(BoxSpec("used")):
            if failing:
                raise failing

    if failing:
        with pytest.raises(ValueError, match="x"):
            await use()
    else:
        await use()
    assert _containers() == set()


async def test_nothing_is_left_when_the_context_is_cancelled_while_containers_start() -> None:
    with anyio.move_on_after(5) as scope:
        async with make("docker") as boxes, boxes.open(BoxSpec("cancelled")):
            scope.cancel()
            await anyio.sleep(5)
    assert scope.cancelled_caught
    assert _containers() == set()


_PROGRAM = """
import sys, anyio
from harness_eval.sandboxes import owner, provider
from harness_eval.sandboxes.base import BoxSpec

async def main():
    async with provider("docker", base_image=sys.argv[1]) as boxes, boxes.open(BoxSpec("crash")) as box:
        while boxes.ready < 2:
            await anyio.sleep(0.02)
        print(owner.token(), flush=True)
        await box.run("sleep 300", timeout=600)

anyio.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_container_that_waits(number: signal.Signals) -> None:
    make("docker")
    program = [sys.executable, "-c", _PROGRAM, BASE_IMAGE]
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=Path(__file__).parents[2], env=dict(os.environ)
    ) as run:
        assert run.stdout is not None
        token = run.stdout.readline().decode().strip()
        assert len(_containers(token=token)) == 3
        run.send_signal(number)
    _until(lambda: not _containers(token=token))

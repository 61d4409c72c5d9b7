"""Work starts once a task's health check has succeeded."""

from __future__ import annotations

import pytest

from harness_eval.errors import TaskFailure
from harness_eval.sandboxes.base import BoxSpec, Healthcheck, SandboxProvider
from tests.sandboxes.conftest import BASE_IMAGE, KINDS, make

pytestmark = pytest.mark.anyio
each_kind = pytest.mark.parametrize("boxes", KINDS, indirect=True, scope="module")

_THIRD = "echo . >> tries; [ $(wc -l < tries) = 3 ]"


@each_kind
async def test_a_box_waits_until_its_health_check_succeeds(boxes: SandboxProvider) -> None:
    async with boxes.open(BoxSpec("ill at first", healthcheck=Healthcheck(_THIRD, interval=0.05))) as box:
        assert (await box.run("cat tries")).output == ".\n" * 3


@each_kind
async def test_a_health_check_that_keeps_failing_is_the_tasks_fault(boxes: SandboxProvider) -> None:
    check = Healthcheck("echo no pulse; exit 7", interval=0.05, retries=2)
    with pytest.raises(TaskFailure, match=r"(?s)ill: its health check ended with 7.*no pulse"):
        async with boxes.open(BoxSpec("ill", healthcheck=check)):
            pytest.fail("it opened")


async def test_failures_while_it_starts_do_not_count() -> None:
    check = Healthcheck(_THIRD, retries=1, start_period=60, start_interval=0.05)
    async with make("local").open(BoxSpec("slow", healthcheck=check)) as box:
        assert (await box.run("cat tries")).output == ".\n" * 3


async def test_a_check_that_hangs_fails() -> None:
    with pytest.raises(TaskFailure, match=r"hanging: its health check took longer than 0\.2 s"):
        async with make("local").open(BoxSpec("hanging", healthcheck=Healthcheck("sleep 300", timeout=0.2, retries=1))):
            pytest.fail("it opened")


@pytest.mark.docker
async def test_an_image_of_the_tasks_own_is_checked_too() -> None:
    spec = BoxSpec("own", image=BASE_IMAGE, workdir="/srv", healthcheck=Healthcheck(_THIRD, interval=0.05))
    async with make("docker").open(spec) as box:
        assert (await box.run("cat tries")).output == ".\n" * 3

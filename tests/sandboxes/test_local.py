"""What only the local sandbox has to see to: its folders."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from harness_eval.errors import ConfigError, SandboxFailure
from harness_eval.sandboxes.base import BoxSpec
from harness_eval.sandboxes.launch import starting
from harness_eval.sandboxes.local import LocalProvider
from tests.sandboxes.conftest import names

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.mark.parametrize("workdir", ["/app/../../x", "..", "app", "", "/a\0b"])
def test_a_working_directory_that_leads_out_of_the_box_is_refused(workdir: str) -> None:
    with pytest.raises(ConfigError, match="must be absolute"):
        BoxSpec("task", workdir=workdir)


async def test_a_folder_too_deep_for_python_is_removed(tmp_path: Path) -> None:
    dig = 'python3 -c \'import os\nfor _ in range(3000): os.mkdir("d"); os.chdir("d")\'; chmod 0 d'
    async with LocalProvider().open(BoxSpec("deep")) as box:
        assert (await box.run(dig)).exit_code == 0
    assert names(tmp_path) == []


async def test_whatever_is_raised_the_folder_is_removed(tmp_path: Path) -> None:
    async def fail() -> None:
        async with LocalProvider().open(BoxSpec("raises")) as box, LocalProvider().seal(box, BoxSpec("raises")):
            assert len(names(tmp_path)) == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert names(tmp_path) == []


async def test_a_folder_that_cannot_be_made_whole_is_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(SandboxFailure, match="no folder for a box"):
        await LocalProvider().open(BoxSpec("long", workdir="/" + "x" * 300)).__aenter__()
    assert names(tmp_path) == []


async def test_a_box_waits_while_as_many_as_the_machine_can_start_are_being_started() -> None:
    limiter, opened = starting(), anyio.Event()

    async def use() -> None:
        async with LocalProvider().open(BoxSpec("waits")):
            opened.set()

    others = [object() for _ in range(int(limiter.total_tokens))]
    for other in others:
        limiter.acquire_on_behalf_of_nowait(other)
    async with anyio.create_task_group() as group:
        group.start_soon(use)
        while not limiter.statistics().tasks_waiting:  # noqa: ASYNC110  (the limiter has no event for it)
            await anyio.sleep(0.01)
        assert not opened.is_set()
        for other in others:
            limiter.release_on_behalf_of(other)
        await opened.wait()

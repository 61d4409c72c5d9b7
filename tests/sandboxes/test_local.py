"""What only the local sandbox has to see to: its folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.errors import ConfigError, SandboxFailure
from harness_eval.sandboxes.base import BoxSpec
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

"""Control groups; version 2 on a folder shaped like it, since a machine has only one of the two."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.sandboxes import cgroup, owner
from harness_eval.sandboxes.base import BoxLimits

pytestmark = pytest.mark.anyio


def _unified(mount: Path, path: str, offered: str) -> Path:
    folder = mount / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.subtree_control").write_text(offered)
    (folder / "cgroup.procs").write_text("")
    (mount / "cgroup.controllers").write_text("cpu memory pids")
    membership = mount / "membership"
    membership.write_text("0::/user.slice/session.scope\n")
    return membership


def test_version_2_uses_the_nearest_group_that_hands_controllers_down(tmp_path: Path) -> None:
    _unified(tmp_path, "", "cpu memory pids")
    _unified(tmp_path, "user.slice", "memory pids")
    membership = _unified(tmp_path, "user.slice/session.scope", "")
    found = cgroup.parents(tmp_path, membership)
    assert found == cgroup.Parents(True, dict.fromkeys(["memory", "pids"], tmp_path / "user.slice"))


def test_version_2_without_controllers_for_us_is_none(tmp_path: Path) -> None:
    membership = _unified(tmp_path, "user.slice/session.scope", "cpu")
    assert cgroup.parents(tmp_path, membership) is None


def test_limits_are_written_the_way_version_2_wants_them(tmp_path: Path) -> None:
    place = cgroup.Parents(True, dict.fromkeys(["memory", "pids", "cpu"], tmp_path))
    group = cgroup.Group(place, "7", BoxLimits(memory_mb=100, pids=9, cpus=1.5, disk_mb=28))
    (folder,) = group.folders
    folder.mkdir()
    for name in ("memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.procs"):
        (folder / name).write_text("")
    group.limit()
    group.add(4711)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "memory.max": str(128 << 20),
        "memory.swap.max": "0",
        "pids.max": "9",
        "cpu.max": "150000 100000",
        "cgroup.procs": "4711",
    }


async def test_a_group_of_this_machine_limits_its_processes_and_is_removed() -> None:
    place = cgroup.parents()
    if place is None:
        pytest.skip("no control group can be made here")
    group = cgroup.Group(place, "test", BoxLimits(pids=5))
    group.make()
    limits = {path.read_text().strip() for folder in group.folders for path in folder.glob("pids.max")}
    assert limits == {"5"}
    await group.remove()
    assert not any(folder.exists() for folder in group.folders)


def test_the_sweep_removes_the_groups_of_the_dead_only(tmp_path: Path) -> None:
    dead = tmp_path / f"harness-eval-{owner.token().rpartition('.')[0]}.1-0"
    living = tmp_path / f"harness-eval-{owner.token()}-0"
    for folder in (dead, living):
        folder.mkdir()
    assert cgroup.sweep(cgroup.Parents(True, {"memory": tmp_path})) == 1
    assert (dead.exists(), living.exists()) == (False, True)

"""A run that is killed leaves nothing: what does not die with it is swept when the next one starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes import cgroup, leftovers, local, owner
from harness_eval.sandboxes.base import BoxSpec
from harness_eval.sandboxes.docker.provider import reap
from tests.sandboxes.conftest import BASE_IMAGE, KINDS, make

_PROGRAM = """
import sys, anyio
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import BoxSpec

async def main():
    kind, mark, *base = sys.argv[1:]
    options = {"base_image": base[0]} if base else {}
    async with provider(kind, **options).open(BoxSpec("crash")) as box:
        await box.run(f"(setsid sleep {mark} &); sleep {mark} & touch file")
        print("ready", flush=True)
        await box.run(f"sleep {mark}", timeout=600)

anyio.run(main)
"""


def _started(kind: str, mark: str, folder: Path) -> subprocess.Popen[bytes]:
    """A run in whose box a command and a service run."""
    base = [BASE_IMAGE] if kind == "docker" else []
    program = [sys.executable, "-c", _PROGRAM, kind, mark, *base]
    env = {**os.environ, "TMPDIR": str(folder)}
    run = subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, cwd=Path(__file__).parents[2]
    )
    assert run.stdout is not None
    assert run.stdout.readline() == b"ready\n"
    return run


def _killed(kind: str, mark: str, folder: Path, number: signal.Signals = signal.SIGKILL) -> int:
    """The process id of a run that got a signal while a command and a service ran in its box."""
    with _started(kind, mark, folder) as run:
        run.send_signal(number)
    return run.pid


def _groups(pid: int) -> list[Path]:
    place = cgroup.parents()
    folders = set(place.folders.values()) if place else set()
    return [group for folder in folders for group in folder.glob(f"harness-eval-*.{pid}.*")]


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not happen within 20 s")


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_run_leaves_no_process(kind: str, tmp_path: Path, seen: Callable[..., list[str]], mark: str) -> None:
    make(kind)
    _killed(kind, mark, tmp_path)
    _until(lambda: not [line for line in seen(f"sleep {mark}") if "python" not in line])


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_run_cleans_up_before_it_ends(
    kind: str, tmp_path: Path, seen: Callable[..., list[str]], mark: str
) -> None:
    make(kind)
    pid = _killed(kind, mark, tmp_path, signal.SIGINT)
    assert [line for line in seen(f"sleep {mark}") if "python" not in line] == []
    assert list(tmp_path.iterdir()) == []
    assert _groups(pid) == []


@pytest.mark.anyio
async def test_a_command_that_kills_the_supervisor_of_a_local_box_breaks_that_box_alone(
    seen: Callable[..., list[str]], mark: str
) -> None:
    async with make("local").open(BoxSpec("neighbour")) as neighbour:
        async with make("local").open(BoxSpec("broken")) as box:
            await box.run(f"setsid sleep {mark} &")
            with pytest.raises(SandboxFailure, match="gone"):
                await box.run(f"kill -9 $PPID; sleep {mark}")
            with pytest.raises(SandboxFailure, match="gone"):
                await box.read("anything")
        assert seen(mark) == []
        assert (await neighbour.run("echo fine")).output == "fine\n"


def test_the_next_run_removes_the_folder_of_a_killed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _killed("local", "300", tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(list(tmp_path.glob("harness-eval-*/app/file"))) == 1
    assert local.sweep() == 1
    assert list(tmp_path.iterdir()) == []


def test_the_sweep_kills_what_outlived_both_the_run_and_its_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / f"harness-eval-{owner.token().rpartition('.')[0]}.1-x"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["/bin/sh", "-c", "echo up; read line"], env={"TMPDIR": str(folder)}, **pipes) as straggler:
        assert straggler.stdout is not None
        straggler.stdout.readline()  # its environment can be read only once the kernel has set the program up
        assert local.sweep() == 1
    assert straggler.returncode == -9


def test_the_sweep_leaves_the_folders_of_the_living_and_of_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [f"harness-eval-{owner.token()}-mine", "harness-eval-0123456789ab.1.1.1-elsewhere", "harness-eval-notes"]
    for name in kept:
        (tmp_path / name).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert local.sweep() == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


@pytest.mark.bubblewrap
def test_the_control_groups_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    place = cgroup.parents()
    if place is None:
        pytest.skip("no control group can be made here")
    pid = _killed("bubblewrap", "300", tmp_path)
    assert _groups(pid)
    _until(lambda: cgroup.sweep(place) == 0 and not _groups(pid))


@pytest.mark.parametrize("kind", KINDS)
def test_cleaning_takes_exactly_what_a_killed_run_left(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: Callable[..., list[str]], mark: str
) -> None:
    make(kind)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with _started(kind, mark, tmp_path) as living:
        pid = _killed(kind, "300", tmp_path)
        with leftovers.found() as (found, _):
            dead = {each.name: each for each in found if f".{pid}." in each.name}
            ours = {each.name: each for each in found if f".{living.pid}." in each.name}
            assert all(each.dead for each in dead.values())
            assert not any(each.dead for each in ours.values())
            if kind != "docker":  # the engine has removed it, or is about to
                assert len(dead) == len(ours) == (kind == "local" or cgroup.parents() is not None)
            for each in found:
                assert not each.dead or each.name not in dead or each.discard()
        assert [name for name in _left(tmp_path) if f".{pid}." in name] == []
        assert len([line for line in seen(f"sleep {mark}") if "python" not in line]) == 3
        living.send_signal(signal.SIGINT)


def _left(folder: Path) -> list[str]:
    place = cgroup.parents()
    return [*(path.name for path in folder.iterdir()), *(cgroup.left(place) if place else ())]


def _docker(*words: str) -> list[str]:
    return subprocess.check_output(["docker", *words], text=True).split()


def _labelled(token: str) -> str:
    labels = ("--label", "harness-eval=1", "--label", f"harness-eval.owner={token}")
    return _docker("run", "--detach", *labels, BASE_IMAGE, "sleep", "99")[0]


@pytest.mark.docker
@pytest.mark.anyio
async def test_containers_of_dead_owners_are_reaped_and_others_stay() -> None:
    boxes = make("docker")
    dead, stranger = _labelled(f"{owner.token().rpartition('.')[0]}.1"), _labelled("0123456789ab.1.1.1")
    try:
        async with boxes.open(BoxSpec("living")) as box:  # opening the first box reaps
            left = _docker("ps", "--all", "--quiet", "--no-trunc")
            assert (dead in left, stranger in left) == (False, True)
            await reap()
            assert (await box.run("echo alive")).output == "alive\n"
    finally:
        _docker("rm", "--force", stranger)


@pytest.mark.docker
def test_a_killed_run_leaves_no_container(tmp_path: Path) -> None:
    make("docker")
    pid = _killed("docker", "300", tmp_path)

    shown = ("ps", "--all", "--format", '{{.Label "harness-eval.owner"}}')
    _until(lambda: not [token for token in _docker(*shown) if f".{pid}." in token])

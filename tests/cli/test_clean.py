"""`harness-eval clean`: what dead runs left is found and removed, what the living need is not."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness_eval.report.wording import count
from harness_eval.sandboxes import cgroup, owner
from harness_eval.sandboxes.base import BoxLimits
from tests.cli.conftest import Said, finish, start
from tests.sandboxes.conftest import BASE_IMAGE, make

Run = Callable[..., Said]
DEAD = f"{owner.token().rpartition('.')[0]}.1"


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The folder of a dead run, and that of a living one."""
    found = tmp_path / f"harness-eval-{DEAD}-a", tmp_path / f"harness-eval-{owner.token()}-b"
    for folder in found:
        (folder / "app").mkdir(parents=True)
        (folder / "app" / "file").write_text("x")
    return found


def test_the_folder_of_a_dead_run_goes_and_that_of_a_living_one_stays(
    harness_eval: Run, folders: tuple[Path, Path]
) -> None:
    dead, living = folders
    with subprocess.Popen(["sleep", "300"], env={"TMPDIR": str(dead)}) as straggler:
        said = harness_eval("clean", "--json")
    assert said.code == 0
    assert {"what": "folder", "name": str(dead)} in said.json["removed"]
    assert {"what": "folder", "name": str(living)} in said.json["kept"]
    assert (dead.exists(), living.exists(), straggler.returncode) == (False, True, -9)


def test_a_dry_run_lists_and_removes_nothing(harness_eval: Run, folders: tuple[Path, Path]) -> None:
    dead, _ = folders
    said = harness_eval("clean", "--dry-run")
    assert (said.code, dead.exists()) == (0, True)
    assert f"  folder {dead}" in said.out.splitlines()
    assert said.out.startswith("would be removed: ")


def test_where_nothing_is_left_it_says_so(harness_eval: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.setattr(cgroup, "parents", lambda: None)
    said = harness_eval("clean")
    assert (said.code, said.out) == (0, "removed: nothing\n")
    assert "containers were not looked for: the Docker engine" in said.err


def test_what_is_dead_and_cannot_be_removed_is_told_with_code_3(
    harness_eval: Run, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_eval.sandboxes.local._remove", lambda _: None)
    said = harness_eval("clean")
    assert said.code == 3
    assert f"could not be removed: folder {folders[0]}" in said.out.splitlines()


def test_a_control_group_of_a_dead_run_goes_with_what_is_in_it(harness_eval: Run) -> None:
    place = cgroup.parents()
    if place is None:
        pytest.skip("no control group can be made here")
    group = cgroup.Group(place, "clean", BoxLimits())
    group._name = f"harness-eval-{DEAD}-clean"
    group.make()
    with subprocess.Popen(["sleep", "300"]) as straggler:
        group.add(straggler.pid)
        said = harness_eval("clean", "--json")
    assert {"what": "control group", "name": group._name} not in said.json["kept"]  # a run elsewhere may be quicker
    assert (straggler.returncode, any(folder.exists() for folder in group.folders)) == (-9, False)


def _docker(*words: str) -> str:
    return subprocess.check_output(["docker", *words], text=True).strip()


def _labelled(token: str) -> str:
    labels = ("--label", "harness-eval=1", "--label", f"harness-eval.owner={token}")
    return _docker("run", "--detach", *labels, BASE_IMAGE, "sleep", "99")[:12]


@pytest.mark.docker
def test_containers_of_the_dead_go_and_those_of_the_living_and_of_strangers_stay(harness_eval: Run) -> None:
    make("docker")
    dead, living, stranger = map(_labelled, (DEAD, owner.token(), "0123456789ab.1.1.1"))
    try:
        said = harness_eval("clean", "--json")
        assert (said.code, said.json["engine"]) == (0, None)
        kept = [each["name"] for each in said.json["kept"]]
        left = _docker("ps", "--all", "--quiet").split()  # a run elsewhere may have been quicker with the dead one
        assert [(name in kept, name in left) for name in (dead, living, stranger)] == [
            (False, False),
            (True, True),
            (True, True),
        ]
    finally:
        _docker("rm", "--force", living, stranger)


@pytest.fixture
def image() -> Iterator[str]:
    name = "harness-eval-test-clean:1"
    text = f"FROM {BASE_IMAGE}\nENV CLEAN=1\n"
    words = ["docker", "build", "--tag", name, "--label", "harness-eval=1", "-"]
    subprocess.run(words, input=text.encode(), check=True, capture_output=True)
    yield name
    subprocess.run(["docker", "rmi", "--force", name], capture_output=True, check=False)


@pytest.mark.docker
def test_images_are_listed_only_where_they_are_asked_for(harness_eval: Run, image: str) -> None:
    assert image not in harness_eval("clean", "--dry-run").out
    assert f"  image {image}" in harness_eval("clean", "--dry-run", "--images").out.splitlines()


@pytest.mark.docker
def test_an_image_is_removed_unless_a_container_needs_it(
    harness_eval: Run, image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness_eval.sandboxes.docker.images.LABEL", "harness-eval-test-clean")  # and no other image
    text = f"FROM {BASE_IMAGE}\nENV CLEAN=2\n"
    words = ["docker", "build", "--tag", image, "--label", "harness-eval-test-clean=1", "-"]
    subprocess.run(words, input=text.encode(), check=True, capture_output=True)
    container = _docker("create", image, "true")
    try:
        said = harness_eval("clean", "--images", "--json")
        assert {"what": "image", "name": image} in said.json["kept"]
    finally:
        _docker("rm", container)
    said = harness_eval("clean", "--images", "--json")
    assert {"what": "image", "name": image} in said.json["removed"]
    assert _docker("images", "--quiet", image) == ""


def test_a_run_tells_what_a_killed_one_had_left(tmp_path: Path, suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    study = tmp_path / "study.yaml"
    keys = {"name": "small", "reference": {}, "tasks": {"suite": str(suite)}, "sandbox": "local", "concurrency": 1}
    study.write_text(json.dumps({**keys, "harnesses": ["canonical"]}))
    with start("run", study, "--out", tmp_path / "run") as process:
        while not list(tmp_path.glob("harness-eval-*/app")):
            assert process.poll() is None
            time.sleep(0.001)
        process.kill()
    left = len(list(tmp_path.glob("harness-eval-*")))
    said = finish("run", study, "--out", tmp_path / "run")
    assert said.code == 0, said.err
    assert f"sweep: {count(left, 'leftover')} of dead runs removed" in said.err.splitlines()
    assert not list(tmp_path.glob("harness-eval-*"))

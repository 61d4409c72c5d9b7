"""Folders of this machine that a box may read."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness_eval.sandboxes.base import BoxSpec, SandboxProvider
from harness_eval.sandboxes.docker.provider import DockerProvider
from tests.sandboxes.conftest import ISOLATED, KINDS

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that a box's user may enter, whoever that is."""
    place = Path(tempfile.mkdtemp(prefix="shared-"))
    place.chmod(0o755)
    (place / "word.txt").write_text("hello")
    yield place
    shutil.rmtree(place)


@pytest.mark.parametrize("boxes", KINDS, indirect=True)
async def test_a_shared_folder_is_at_its_own_path(boxes: SandboxProvider, folder: Path) -> None:
    async with boxes.open(BoxSpec("shared", shared=(folder,))) as box:
        assert (await box.run(f"cat {folder}/word.txt")).output == "hello"


@pytest.mark.parametrize("boxes", ISOLATED, indirect=True)
async def test_a_shared_folder_cannot_be_changed(boxes: SandboxProvider, folder: Path) -> None:
    (folder / "word.txt").chmod(0o666)
    async with boxes.open(BoxSpec("shared", shared=(folder,))) as box:
        ran = await box.run(f"echo changed > {folder}/word.txt")
    assert ran.exit_code != 0
    assert (folder / "word.txt").read_text() == "hello"


@pytest.mark.parametrize("boxes", ISOLATED, indirect=True)
async def test_boxes_without_it_and_boxes_for_judging_see_nothing_of_it(boxes: SandboxProvider, folder: Path) -> None:
    look, spec = f"ls {folder}", BoxSpec("shared", shared=(folder,))
    async with boxes.open(spec) as box, boxes.seal(box, spec) as sealed:
        assert (await box.run(look)).exit_code == 0
        assert (await sealed.run(look)).exit_code != 0
    async with boxes.open(replace(spec, shared=())) as plain:
        assert (await plain.run(look)).exit_code != 0


@pytest.mark.parametrize("boxes", KINDS, indirect=True)
async def test_a_socket_in_it_can_be_reached_without_a_network(boxes: SandboxProvider, folder: Path) -> None:
    talk = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('PATH'); s.sendall(b'hello')"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o666)
        listening.listen()
        async with boxes.open(BoxSpec("shared", shared=(folder,))) as box:
            ran = await box.run(f'python3 -c "{talk.replace("PATH", str(folder / "socket"))}"')
        assert ran.exit_code == 0, ran.output
        taken, _ = listening.accept()
        with taken:
            assert taken.recv(5) == b"hello"


@pytest.mark.docker
@pytest.mark.parametrize("boxes", KINDS[-1:], indirect=True)
async def test_no_container_with_a_shared_folder_waits_for_the_next_box(boxes: DockerProvider, folder: Path) -> None:
    async with boxes.open(BoxSpec("shared", shared=(folder,))):
        pass
    assert boxes._pool is not None
    assert not any(blueprint.shared for blueprint in boxes._pool._shelves)

"""Folders of any size go into a box in pieces, of which one at a time is held."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from harness_eval.errors import ConfigError, TaskFailure
from harness_eval.sandboxes.base import BoxLimits, BoxSpec
from harness_eval.sandboxes.inside.files import PIECE
from harness_eval.sandboxes.local import LocalProvider
from harness_eval.sandboxes.packing import batches

pytestmark = pytest.mark.anyio


def test_a_large_file_is_never_held_as_a_whole(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(64 * PIECE)
    tracemalloc.start()
    try:
        kinds = [fields[-4] for fields in batches(tmp_path, "/x")]
        assert tracemalloc.get_traced_memory()[1] < 8 * PIECE
    finally:
        tracemalloc.stop()
    assert kinds == [b"file", *[b"more"] * 63]


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 2 * PIECE])
def test_the_pieces_of_a_file_are_its_content_and_its_mode_comes_last(tmp_path: Path, size: int) -> None:
    (tmp_path / "a").write_bytes(b"x" * size)
    (tmp_path / "a").chmod(0o640)
    fields = [field for batch in batches(tmp_path, "/x") for field in batch][4:]
    entries = [fields[at : at + 4] for at in range(0, len(fields), 4) if fields[at] in (b"file", b"more")]
    assert b"".join(entry[3] for entry in entries) == b"x" * size
    assert [entry[2] for entry in entries] == [*[b""] * (len(entries) - 1), b"640"]
    assert [entry[0] for entry in entries] == [b"file", *[b"more"] * (len(entries) - 1)]


def test_many_small_files_go_together(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number:03}").write_bytes(b"x" * 10_000)
    assert len(list(batches(tmp_path, "/x"))) == 3


async def test_files_beyond_the_disk_of_a_box_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    with (tmp_path / "files" / "sparse").open("wb") as file:
        file.truncate(2 << 30)
    spec = BoxSpec("large", environment=tmp_path, limits=BoxLimits(disk_mb=64))
    with pytest.raises(TaskFailure, match=r"large: environment/files .* 2048 MB, more than the 64 MB of \S+storage_mb"):
        async with LocalProvider().open(spec):
            pytest.fail("it opened")


async def test_a_setup_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "setup.sh").write_bytes(b"echo \xff\n")
    with pytest.raises(TaskFailure, match=r"binary: environment/setup.sh cannot be read: .*utf-8"):
        async with LocalProvider().open(BoxSpec("binary", environment=tmp_path)):
            pytest.fail("it opened")


@pytest.mark.parametrize("workdir", ["/proc/x", "/dev", "//sys/x", "/proc"])
def test_nobody_works_in_folders_of_the_system(workdir: str) -> None:
    with pytest.raises(ConfigError, match=r"environment\.workdir"):
        BoxSpec("odd", workdir=workdir)
    BoxSpec("fine", workdir="/process")

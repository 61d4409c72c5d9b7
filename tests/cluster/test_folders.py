"""Folders of tasks on their way to a node."""

from __future__ import annotations

from pathlib import Path

from harness_eval.cluster.folders import moved, packed, unpack
from harness_eval.task import load_task
from harness_eval.task_files import digest
from tests.doubles import make_task


def test_a_task_is_the_same_where_it_was_unpacked(tmp_path: Path) -> None:
    task = make_task(tmp_path / "suite")
    script = task.folder / "tests" / "extra.sh"
    script.write_text("echo\n")
    script.chmod(0o755)
    (task.folder / "environment" / "files" / "empty").mkdir()
    (task.folder / "environment" / "files" / "link").symlink_to("readme.txt")
    place = tmp_path / "there" / task.name
    unpack(packed(task.folder), place)
    assert digest(place) == digest(task.folder)
    assert (place / "environment/files/empty").is_dir()
    assert (place / "tests/extra.sh").stat().st_mode & 0o777 == 0o755
    there, loaded = moved(task, place), load_task(place)
    assert (there.folder, there.spec) == (loaded.folder, loaded.spec)


def test_a_folder_that_a_suite_shares_goes_along(tmp_path: Path) -> None:
    task = make_task(tmp_path / "suite")
    (task.folder / "tests").rename(tmp_path / "shared")
    (task.folder / "tests").symlink_to(tmp_path / "shared")
    unpack(packed(task.folder), tmp_path / "there")
    assert not (tmp_path / "there/tests").is_symlink()
    assert (tmp_path / "there/tests/test.sh").is_file()

"""Task folders, data sets and templates whose authors mean no good: each is refused in a line, and none hangs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_eval.errors import ConfigError
from harness_eval.task import load_task


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task folder in which nothing is wrong yet."""
    folder = tmp_path / "greet"
    for name, text in {"task.toml": "", "instruction.md": "Greet.\n", "tests/test.sh": "exit 0\n"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def deep(task: Path) -> Iterator[Path]:
    """The same with 1,500 folders one in the other."""
    place = os.open(task, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("in", dir_fd=place)
        inner = os.open("in", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    yield task
    subprocess.run(["rm", "-rf", str(task)], check=True)  # what Python removes must not be so deep


def refusal(folder: Path) -> str:
    with pytest.raises(ConfigError) as refused:
        load_task(folder)
    assert "\n" not in str(refused.value)
    return str(refused.value)


# Task folders


def test_folders_that_nest_without_end_are_refused(deep: Path) -> None:
    assert refusal(deep).startswith(str(deep))


@pytest.mark.parametrize("part", ["task.toml", "instruction.md", "tests/test.sh"])
def test_a_part_that_is_a_pipe_is_named_and_not_waited_for(task: Path, part: str) -> None:
    (task / part).unlink()
    os.mkfifo(task / part)
    assert str(task / part) in refusal(task)

"""Every kind of sandbox as a parameter; a Docker box is made from the image that .ci/base-image makes."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from tests.sandboxes.shells import Shells

BASE_IMAGE = "harness-eval-base"
KINDS = [
    "local",
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]
ISOLATED = KINDS[1:]
SHELL = pytest.param("shell", marks=pytest.mark.bubblewrap)  # no kind, but what a container without python3 holds


def make(kind: str) -> SandboxProvider:
    if kind == "shell":
        return Shells("dash")
    if kind != "docker":
        return provider(kind)
    found = subprocess.run(["docker", "image", "inspect", BASE_IMAGE], capture_output=True, check=False)
    if found.returncode != 0:
        say = pytest.fail if "docker" in os.environ.get("HARNESS_EVAL_REQUIRE", "").split(",") else pytest.skip
        say(f"the image {BASE_IMAGE} does not exist: run .ci/base-image")
    return provider(kind, base_image=BASE_IMAGE)


@pytest.fixture(scope="module")
async def boxes(request: pytest.FixtureRequest) -> AsyncIterator[SandboxProvider]:
    """The provider of the kind that the test is parametrised with; it starts containers ahead of need."""
    async with make(request.param) as opened:
        yield opened


@pytest.fixture(scope="module")
async def box(boxes: SandboxProvider) -> AsyncIterator[Sandbox]:
    """One box for all tests of a module that leave it as it was."""
    async with boxes.open(BoxSpec("shared")) as opened:
        yield opened


def processes(*words: str) -> list[str]:
    """Command lines on this machine that hold one of these words; a zombie has none."""
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if any(word in line for word in words):
            lines.append(line)
    return lines


def is_there(path: str) -> bool:
    return Path(path).exists()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


_count = itertools.count(100)


@pytest.fixture
def mark() -> str:
    """A number of seconds to sleep that no other test, run or machine's user sleeps: what is looked for afterwards."""
    return f"3{os.getpid()}{next(_count)}"


@pytest.fixture
def seen() -> Callable[..., list[str]]:
    return processes

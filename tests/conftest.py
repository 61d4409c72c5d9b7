"""Fixtures for the whole suite: the async backend, and skips that say what is missing."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness_eval.endpoints import local_model
from harness_eval.errors import ConfigError
from tests.solved import SolvedTask, solved

# Modules of which one test is long, or whose tests share what takes long to start.
LONG = {"test_detection.py", "test_exposure.py", "test_starter.py", "test_run.py", "test_ray.py"}
SHARED = Path(__file__).resolve().parents[2] / "shared"

# Programs that are started by the hundred would else compile our modules anew each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that starts the tests in the background lets them ignore interrupts, and the programs that they start too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the shared facts are not beside this checkout")
    return SHARED


@pytest.fixture(scope="module")
async def solved_task(request: pytest.FixtureRequest) -> AsyncIterator[SolvedTask]:
    """The core task that the test is parametrised with, solved; one box for all tests of it that come in a row."""
    async with solved(request.param) as opened:
        yield opened


def _docker_missing() -> str | None:
    # Asked of the client program: docker-py leaves sockets open where the engine does not answer.
    if not shutil.which("docker"):
        return "docker is not installed"
    done = subprocess.run(["docker", "version"], capture_output=True, timeout=30, check=False)
    return "no Docker engine answers" if done.returncode else None


def local_model_missing() -> str | None:
    try:
        local_model.description()
    except ConfigError as error:
        return str(error)
    return None


def _missing(marker: str) -> str | None:
    if marker == "docker":
        return _docker_missing()
    if marker == "local_model":
        return local_model_missing()
    if marker == "ray":
        return None if importlib.util.find_spec("ray") else "ray is not installed"
    program = {"bubblewrap": "bwrap", "chromium": "chromium"}[marker]
    return None if shutil.which(program) else f"{program} is not installed"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reasons: dict[str, str | None] = {}
    required = os.environ.get("HARNESS_EVAL_REQUIRE", "").split(",")
    items.sort(key=lambda item: item.path.name not in LONG)  # else one worker would be alone with them at the end
    for item in items:
        for marker in ("docker", "bubblewrap", "chromium", "local_model", "ray"):
            if item.get_closest_marker(marker) is None:
                continue
            if marker not in reasons:
                reasons[marker] = _missing(marker)
            if reasons[marker] and marker not in required:
                item.add_marker(pytest.mark.skip(reason=reasons[marker] or ""))

"""Running the command line: in this process where only words matter, as a real process where it is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness_eval.cli import main
from tests.doubles import make_task

PROGRAM = [sys.executable, "-c", "from harness_eval.cli import main; main()"]


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> object:
        return json.loads(self.out)


@pytest.fixture
def harness_eval(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def run(*arguments: object) -> Said:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Said(left.value.code or 0, out, err)

    return run


def start(*arguments: object, **kwargs: object) -> subprocess.Popen[str]:
    """A real process of the command line."""
    root = str(Path(__file__).resolve().parents[2])
    env = {**os.environ, "PYTHONPATH": root, "COLUMNS": "200"}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **kwargs}
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], text=True, env=env, **given)


def finish(*arguments: object, **kwargs: object) -> Said:
    """A real process of the command line, run to its end."""
    with start(*arguments, **kwargs) as process:
        out, err = process.communicate(timeout=120)
    return Said(process.returncode, out, err)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder of three small tasks."""
    for name in ("alpha", "beta", "gamma"):
        make_task(tmp_path / "suite", name)
    return tmp_path / "suite"

"""Environments of peers, each package of PyPI in one of its own, made once and kept."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

LEAST = (3, 12)  # the oldest Python that all peers run on
_NEWEST = 20  # of python3.X on the path
_SECONDS = 1800.0  # for one installation
_ADDRESS = re.compile(r"\S*://\S+")


class Skipped(Exception):
    """Why a program was not measured."""


class Interpreter(NamedTuple):
    """A Python that can be run, and its version."""

    version: tuple[int, ...]
    path: str


def interpreters(named: Iterable[str] = (), pyenv: Path | None = None) -> list[Interpreter]:
    """Pythons that peers can use: those that were named in their order, then all that are found, the oldest first.

    Looked for are this one, `python3.X` on the path, and the versions below `pyenv`, by default this user's.
    """
    asked = [each for each in map(_interpreter, named) if each]
    folder = pyenv or Path.home() / ".pyenv" / "versions"
    usual = (sys.executable, *(f"python3.{minor}" for minor in range(LEAST[1], _NEWEST)))
    installed = (str(path) for path in sorted(folder.glob("3.*/bin/python")))
    known: dict[tuple[int, ...], Interpreter] = {}
    for each in filter(None, map(_interpreter, (*usual, *installed))):
        known.setdefault(each.version, each)
    return [each for each in (*asked, *sorted(known.values())) if each.version >= LEAST]


def installed(package: str, folder: Path, candidates: Iterable[Interpreter]) -> str:
    """The Python of the environment that has this package, which is made with the first Python where that works.

    Raises:
        Skipped: there is no such Python, or none of them could install it.
    """
    python = folder / "bin" / "python"
    if (folder / "complete").exists() and _interpreter(str(python)):
        return str(python)
    reason = f"it needs Python {'.'.join(map(str, LEAST))} or newer, and none was found; name one with --python"
    for candidate in candidates:
        shutil.rmtree(folder, ignore_errors=True)
        try:
            for command in _commands(package, folder, candidate):
                output_of(command, f"it could not be installed on Python {'.'.join(map(str, candidate.version))}")
        except Skipped as skipped:
            reason = str(skipped)
            continue
        (folder / "complete").touch()
        return str(python)
    raise Skipped(reason)


def _commands(package: str, folder: Path, candidate: Interpreter) -> Iterator[list[str]]:
    yield [candidate.path, "-m", "venv", str(folder)]
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    yield [*pip, package, "openai"]  # which Inspect AI wants beside it for such endpoints


def _interpreter(path: str) -> Interpreter | None:
    """The Python of this name; None where nothing, or something that does not work, stands behind it."""
    code = "import sys, venv, ensurepip; print(sys.version_info[:3], sys.executable, sep='|')"
    try:
        told = subprocess.run([path, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    version, _, executable = told.strip().partition("|")
    return Interpreter(tuple(map(int, re.findall(r"\d+", version))), executable)


def output_of(command: list[str], otherwise: str, seconds: float = _SECONDS) -> str:
    """What a command prints.

    Raises:
        Skipped: it failed, which is told with these words and the last that it said, without addresses.
    """
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise Skipped(f"{otherwise} ({type(error).__name__})") from error
    if ran.returncode != 0:
        raise Skipped(f"{otherwise}: {last_words(ran.stderr) or f'exit code {ran.returncode}'}")
    return ran.stdout


def last_words(text: str) -> str:
    """The last line that says something, short and without addresses."""
    lines = [line for line in text.strip().splitlines() if line.strip() and not line.startswith("[notice]")]
    errors = [line for line in lines if "ERROR" in line or "Error" in line] or lines
    return _ADDRESS.sub("(address)", errors[-1].strip())[:200] if errors else ""

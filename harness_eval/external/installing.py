"""Installing external harnesses into a cache: when asked, pinned, and all or nothing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from harness_eval.cache import cache_folder
from harness_eval.errors import ConfigError, last_words, redact
from harness_eval.external.adapter import External, named_externals
from harness_eval.unfinished import settle, unfinished

VARIABLE = "HARNESS_EVAL_EXTERNALS"
"""Names another folder for installations."""

PYTHON = "/usr/bin/python3"
"""What runs harnesses written in Python: the one interpreter that is at the same place in the host and in its boxes."""

_NODE = Path("node_modules")
_PIP = Path("python")
_ALONE = """import os

# Commands that the harness runs must not find its packages.
for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
    os.environ.pop(name, None)
"""
_SYSTEM_WIDE = Path("/var/cache/harness-eval/external")


@dataclass(frozen=True, slots=True)
class Installed:
    """Where a harness is: its folder (None: nothing was installed), folders for PATH, and variables it needs."""

    folder: Path | None = None
    path: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Installation:
    """What an installation was: whether it was made now, its size in bytes, and how many seconds it took."""

    installed: Installed
    new: bool
    size: int
    seconds: float


def externals_folder() -> Path:
    """Where installations are. A box's user, who is nobody where we are root, must be able to read them."""
    if named := os.environ.get(VARIABLE, ""):
        return Path(named).absolute()
    return _SYSTEM_WIDE if os.geteuid() == 0 else cache_folder() / "external"


def installed(external: External) -> Installed:
    """Where a harness is installed.

    Raises:
        ConfigError: it is not; the message says how to install it.
    """
    if not _needed(external):
        return Installed()
    place = _place(external)
    if not place.is_dir():
        what = external.name if external.name in named_externals() else "PATH-OF-ITS-YAML-FILE"
        ask = f"harness-eval harness install {what}"
        raise ConfigError(f"{external.name}: version {external.version} is not installed; install it with: {ask}")
    return _found(external, place)


def folders_for(external: External, place: Installed) -> tuple[Path, ...]:
    """The folders of this machine that a box with this harness needs."""
    return (*([place.folder] if place.folder else []), *map(Path, external.share))


def install(external: External) -> Installation:
    """Install a harness; nothing is done where it is there already. An interrupted one leaves nothing behind.

    Raises:
        ConfigError: npm or a Python that can run it is missing, or the installer failed; with its last words.
    """
    started = time.monotonic()
    if not _needed(external):
        return Installation(Installed(), False, 0, 0.0)
    if reason := cannot_install(external):
        raise ConfigError(f"{external.name}: {reason}")
    place = _place(external)
    with _alone(place):
        new = not place.is_dir()
        if new:
            _make(external, place)
    return Installation(_found(external, place), new, _size(place), time.monotonic() - started)


def uninstall(external: External) -> bool:
    """Remove an installation; False where there was none.

    Raises:
        ConfigError: it is there and cannot be removed.
    """
    place = _place(external)
    if not _needed(external) or not place.is_dir():
        return False
    with _alone(place), unfinished(place.parent) as aside:
        try:
            place.rename(aside / place.name)  # gone at once for whoever looks
        except OSError as error:
            raise ConfigError(f"{place}: cannot be removed: {error.strerror}") from None
    return True


def cannot_install(external: External) -> str | None:
    """What is missing on this machine for installing a harness, or None."""
    wanted = external.install
    if wanted.npm and not shutil.which("npm"):
        return "npm is not on PATH; it comes with Node.js and is needed to install this harness"
    if not wanted.pypi:
        return None
    if not os.access(PYTHON, os.X_OK):
        return f"{PYTHON} is missing; harnesses from PyPI are installed for it, since boxes have it at that place too"
    found = _python_version()
    if wanted.python and _numbers(found) < _numbers(wanted.python):
        return f"needs Python {wanted.python} or newer; {PYTHON}, which runs harnesses in boxes, is {found}"
    return None


def _needed(external: External) -> bool:
    return bool(external.install.npm or external.install.pypi)


def _place(external: External) -> Path:
    wanted: list[object] = [external.install.npm, external.install.pypi]
    if external.install.pypi:
        wanted.append(_python_version())
    digest = hashlib.sha256(orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]
    return externals_folder() / f"{external.name}-{digest}"


def _found(external: External, place: Path) -> Installed:
    path = [str(place / _NODE / ".bin")] if external.install.npm else []
    if not external.install.pypi:
        return Installed(place, tuple(path))
    env = {"PYTHONPATH": str(place / _PIP), "PYTHONDONTWRITEBYTECODE": "1"}
    return Installed(place, (*path, str(place / _PIP / "bin")), env)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Nobody else installs or removes this one meanwhile; a killed process lets go of it."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = (place.parent / f".{place.name}.lock").open("w")
    except OSError as error:
        raise ConfigError(f"{place.parent}: cannot be written: {error.strerror}; {VARIABLE} names another") from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(external: External, place: Path) -> None:
    with unfinished(place.parent) as aside:
        folder = aside / place.name
        folder.mkdir(mode=0o755)
        wanted = external.install
        if wanted.npm:
            quiet = ("--no-audit", "--no-fund", "--loglevel=error")
            _run(("npm", "install", "--prefix", str(folder), *quiet, *_named(wanted.npm, "@")))
        if wanted.pypi:
            pip = (sys.executable, "-m", "pip", "--python", PYTHON, "install", "--quiet", "--no-input")
            _run((*pip, "--target", str(folder / _PIP), *_named(wanted.pypi, "==")))
            (folder / _PIP / "sitecustomize.py").write_text(_ALONE, encoding="utf-8")
        _readable(folder)
        settle(folder, place)


def _named(packages: Mapping[str, str], pin: str) -> list[str]:
    at = " @ " if pin == "==" else "@"
    return [f"{name}{at if version.startswith('file:') else pin}{version}" for name, version in packages.items()]


def _run(command: tuple[str, ...]) -> None:
    """Run an installer; all that it started ends where we are interrupted.

    Raises:
        ConfigError: it failed.
    """
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    with subprocess.Popen(
        command, stdin=nothing, stdout=pipe, stderr=pipe, text=True, errors="replace", start_new_session=True
    ) as installer:
        try:
            output, errors = installer.communicate()
        finally:
            if installer.poll() is None:
                os.killpg(installer.pid, signal.SIGKILL)
    if installer.returncode:
        said = last_words(redact(errors.strip() or output.strip()))
        raise ConfigError(f"{command[0]} ended with exit code {installer.returncode}: {said}")


def _readable(folder: Path) -> None:
    """All that a box's user must read can be read by anyone, and what can be run by its owner by all."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o444 | (0o111 if path.is_dir() or mode & 0o100 else 0))


def _size(place: Path) -> int:
    found = (path.lstat() for path in place.rglob("*"))
    return sum({each.st_ino: each.st_blocks * 512 for each in found}.values())  # some files have several names


def _python_version() -> str:
    """Such as 3.11; "" where there is no Python."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run((PYTHON, "-I", "-c", code), capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())

"""What a turn costs beside the model, CPU time of everything that runs here: python -m benchmarks.overhead [--quick].

Every program talks to one endpoint of instant replies, which is a process of its own and not counted. Peers are
installed from PyPI, each into an environment of its own below `--peers`; one that cannot be is named as skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_eval.cache import cache_folder

from .page import page

HERE = Path(__file__).parent
TABLE = HERE.parent / "OVERHEAD.md"
CHUNKS, REPLIES = 2000, 2  # of one streamed reply; such replies
_SECONDS = 900.0
_INTERPRETERS = ("python3.12", "python3.13", "python3.14")


@dataclass(frozen=True, slots=True)
class Program:
    """What is measured: its file in `runners/`, the package it needs, and the path under which it finds its dialect."""

    name: str
    file: str
    package: str = ""
    path: str = "/v1"
    more: tuple[str, ...] = ()


PROGRAMS = (
    Program("harness-eval", "ours"),
    Program("a plain aiohttp loop", "plain"),
    Program("typed openai call", "typed"),
    Program("typed openai call, streamed", "typed", more=("stream",)),
    Program("Inspect AI", "inspect_peer", "inspect-ai"),
    Program("Harbor", "harbor_peer", "harbor", "/harbor/v1"),
    Program("mini-swe-agent", "mini_peer", "mini-swe-agent", "/mini/v1"),
)


class Skipped(Exception):
    """Why a program was not measured."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few trials; prints the page instead of writing it")
    parser.add_argument("--peers", type=Path, default=cache_folder() / "peers", help="where their environments are")
    parser.add_argument("--trials", type=int, default=60, help="of each program, each round")
    parser.add_argument("--rounds", type=int, default=3, help="one after the other, of which the median counts")
    options = parser.parse_args()
    trials, rounds = (20, 1) if options.quick else (options.trials, options.rounds)
    turns: dict[str, list[float]] = {}
    versions: dict[str, str] = {}
    skipped: dict[str, str] = {}
    with endpoint() as root:
        for number in range(rounds):  # so that what else the machine does meets all of them
            for program in PROGRAMS:
                if program.name in skipped:
                    continue
                try:
                    python = python_of(program, options.peers)
                    versions.setdefault(program.name, version_of(program, python))
                    turns.setdefault(program.name, []).append(milliseconds(program, python, root, trials))
                except Skipped as reason:
                    skipped[program.name] = str(reason)
                    print(f"{program.name}: skipped: {reason}", flush=True)
                else:
                    print(f"round {number + 1}: {program.name}: {turns[program.name][-1]:.2f} ms a turn", flush=True)
        with urllib.request.urlopen(f"{root}/count") as response:
            requests, received = json.load(response)
        chunks = {
            (way, kind): statistics.median(microseconds(root, way, kind, REPLIES) for _ in range(rounds))
            for way in ("chunks", "apart")
            for kind in ("typed", "ours")
        }
    middle = {name: statistics.median(values) for name, values in turns.items()}
    text = page(middle, versions, skipped, chunks, (round(received / requests), trials, rounds))
    if options.quick:
        sys.stdout.write(text)
    else:
        TABLE.write_text(text)
        print(f"{TABLE} is written")


@contextmanager
def endpoint() -> Iterator[str]:
    """The scripted endpoint while it runs: the beginning of its addresses."""
    with subprocess.Popen([sys.executable, HERE / "scripted.py"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def python_of(program: Program, peers: Path) -> str:
    """The Python that has this program, installed where it is not there yet.

    Raises:
        Skipped: it cannot be had.
    """
    if not program.package:
        return sys.executable
    folder = peers / program.package
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _quietly([_interpreter(), "-m", "venv", str(folder)], f"no environment for {program.package}")
        _quietly([str(python), "-m", "pip", "install", "-q", program.package, "openai"], "pip could not install it")
        (folder / "complete").touch()
    return str(python)


def _interpreter() -> str:
    """A Python that peers can use, which is 3.12 or newer."""
    if sys.version_info >= (3, 12):
        return sys.executable
    for name in _INTERPRETERS:
        try:  # a name may be there and stand for nothing
            subprocess.run([name, "-c", ""], check=True, capture_output=True, timeout=60)
        except (OSError, subprocess.SubprocessError):
            continue
        return name
    raise Skipped(f"it needs Python 3.12 or newer, and none of {', '.join(_INTERPRETERS)} is there")


def _quietly(command: list[str], otherwise: str) -> str:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Skipped(f"{otherwise} ({type(error).__name__})") from error
    return ran.stdout


def version_of(program: Program, python: str) -> str:
    package = program.package or {"ours": "harness-eval", "plain": "aiohttp", "typed": "openai"}[program.file]
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return _quietly([python, "-c", code], "it is not there").strip()


def milliseconds(program: Program, python: str, root: str, trials: int) -> float:
    """CPU milliseconds a turn."""
    told = _measured([python, f"{program.file}.py", f"{root}{program.path}", str(trials), *program.more])
    return 1000 * told["seconds"] / told["requests"]


def microseconds(root: str, way: str, kind: str, replies: int) -> float:
    """CPU microseconds a chunk."""
    told = _measured([sys.executable, "streams.py", f"{root}/{way}/{CHUNKS}", str(replies), kind])
    return 1e6 * told["seconds"] / (replies * CHUNKS)


def _measured(command: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home:  # so that nothing of this user's settings counts
        environment = {**os.environ, "HOME": home, "PYTHONWARNINGS": "ignore"}
        try:
            ran = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                cwd=HERE / "runners",
                env=environment,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise Skipped(f"it did not run ({type(error).__name__})") from error
    if ran.returncode != 0:
        raise Skipped(f"it did not run: {ran.stderr.strip().splitlines()[-1][:200] if ran.stderr.strip() else ''}")
    found: dict[str, float] = json.loads(ran.stdout.strip().splitlines()[-1])
    return found


if __name__ == "__main__":
    main()

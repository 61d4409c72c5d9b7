"""What a turn costs beside the model, CPU time of everything that runs here: python -m benchmarks.overhead [--quick].

Every program talks to one endpoint of instant replies, which is a process of its own and not counted. Peers are
installed from PyPI, each into an environment of its own below `--peers`, where it stays for the next time; one whose
Python is not there, or that cannot be installed or run, is named as skipped, with the reason. The exit code is 1 where
something that is demanded does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness_eval.cache import cache_folder

from .environments import Skipped, installed, interpreters, last_words, output_of
from .page import WAYS, Measured, demands, page

HERE = Path(__file__).parent
TABLE = HERE.parent / "OVERHEAD.md"
CHUNKS, REPLIES = 2000, 2  # of one streamed reply; such replies
_SECONDS = 900.0  # for one program in one round


@dataclass(frozen=True, slots=True)
class Program:
    """What is measured: its file in `runners/`, the package it needs, and the path under which it finds its dialect."""

    name: str
    file: str
    package: str
    peer: bool = False
    path: str = "/v1"
    more: tuple[str, ...] = ()


PROGRAMS = (
    Program("harness-eval", "ours", "harness-eval"),
    Program("a plain aiohttp loop", "plain", "aiohttp"),
    Program("typed openai call", "typed", "openai"),
    Program("typed openai call, streamed", "typed", "openai", more=("stream",)),
    Program("Inspect AI", "inspect_peer", "inspect-ai", peer=True),
    Program("Harbor", "harbor_peer", "harbor", peer=True, path="/harbor/v1"),
    Program("mini-swe-agent", "mini_peer", "mini-swe-agent", peer=True, path="/mini/v1"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few trials; prints the page instead of writing it")
    parser.add_argument("--peers", type=Path, default=cache_folder() / "peers", help="where their environments are")
    parser.add_argument(
        "--python", action="append", default=[], help="one for peers, tried before those that are found"
    )
    parser.add_argument("--trials", type=int, default=60, help="of each program, each round")
    parser.add_argument("--rounds", type=int, default=3, help="one after the other, of which the median counts")
    options = parser.parse_args()
    trials, rounds = (20, 1) if options.quick else (options.trials, options.rounds)
    skipped: dict[str, str] = {}
    pythons = pythons_of(PROGRAMS, options.peers, options.python, skipped)
    measured = measure(pythons, (trials, rounds), skipped)
    if options.quick:
        sys.stdout.write(page(measured))
    else:
        TABLE.write_text(page(measured))
        print(f"{TABLE} is written")
    met = demands(measured)
    for demand in met:
        print(demand.told)
    return 0 if all(demand.holds is not False for demand in met) else 1


def pythons_of(
    programs: Sequence[Program], peers: Path, named: Iterable[str], skipped: dict[str, str]
) -> dict[Program, str]:
    """The Python that has each program, its environment made where it is not there yet; what has none is `skipped`."""
    candidates = interpreters(named)
    found: dict[Program, str] = {}
    for program in programs:
        try:
            found[program] = (
                installed(program.package, peers / program.package, candidates) if program.peer else sys.executable
            )
        except Skipped as reason:
            _skip(program, reason, skipped)
    return found


def measure(pythons: dict[Program, str], extent: tuple[int, int], skipped: dict[str, str]) -> Measured:
    """All programs that can be measured, and both streams, in so many trials and rounds; adds to `skipped`."""
    trials, rounds = extent
    turns: dict[str, list[float]] = defaultdict(list)
    chunks: dict[tuple[str, str], list[float]] = defaultdict(list)
    versions: dict[str, tuple[str, str]] = {}
    before = os.getloadavg()[0]
    with endpoint() as root:
        for number in range(rounds):  # so that what else the machine does meets all of them
            for program, python in pythons.items():
                if program.name in skipped:
                    continue
                try:
                    versions.setdefault(program.name, versions_of(program, python))
                    turns[program.name].append(milliseconds(program, python, root, trials))
                except Skipped as reason:
                    _skip(program, reason, skipped)
                    turns.pop(program.name, None)
                    continue
                print(f"round {number + 1}: {program.name}: {turns[program.name][-1]:.2f} ms a turn", flush=True)
            for way in WAYS:
                for kind in ("typed", "ours"):
                    chunks[way, kind].append(microseconds(f"{root}/{way}", kind))
                    shown = f"{chunks[way, kind][-1]:.1f} µs a chunk"
                    print(f"round {number + 1}: stream, {WAYS[way]}, {kind}: {shown}", flush=True)
        requests, received = counted(root)
    loads = before, os.getloadavg()[0]
    return Measured(turns, versions, skipped, chunks, round(received / requests), trials, rounds, loads)


def _skip(program: Program, reason: Skipped, skipped: dict[str, str]) -> None:
    skipped[program.name] = str(reason)
    print(f"{program.name}: skipped: {reason}", flush=True)


@contextmanager
def endpoint() -> Iterator[str]:
    """The scripted endpoint while it runs: the beginning of its addresses."""
    with subprocess.Popen([sys.executable, HERE / "scripted.py"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def counted(root: str) -> tuple[int, int]:
    """How many requests the endpoint has had for replies, and the bytes of their bodies."""
    with urllib.request.urlopen(f"{root}/count") as response:
        requests, received = json.load(response)
    return requests, received


def versions_of(program: Program, python: str) -> tuple[str, str]:
    """The version of the program, and of the Python that runs it."""
    code = "import platform; from importlib.metadata import version; "
    code += f"print(version({program.package!r}), platform.python_version())"
    own, of_python = output_of([python, "-c", code], "it is not there").split()
    return own, of_python


def milliseconds(program: Program, python: str, root: str, trials: int) -> float:
    """CPU milliseconds a turn."""
    told = _measured([python, f"{program.file}.py", f"{root}{program.path}", str(trials), *program.more])
    return 1000 * told["seconds"] / told["requests"]


def microseconds(address: str, kind: str, chunks: int = CHUNKS, replies: int = REPLIES) -> float:
    """CPU microseconds a chunk."""
    told = _measured([sys.executable, "streams.py", f"{address}/{chunks}", str(replies), kind])
    return 1e6 * told["seconds"] / (replies * chunks)


def _measured(command: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home:  # so that nothing of this user's settings counts
        try:
            ran = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                cwd=HERE / "runners",
                env={**os.environ, "HOME": home, "PYTHONWARNINGS": "ignore"},
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise Skipped(f"it did not run ({type(error).__name__})") from error
    if ran.returncode != 0:
        raise Skipped(f"it did not run: {last_words(ran.stderr)}")
    found: dict[str, float] = json.loads(ran.stdout.strip().splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())

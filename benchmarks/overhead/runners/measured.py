"""What all measured programs share; only the standard library, since peers' environments have nothing of ours.

A program is called with the endpoint's URL and a number of trials. It warms up, then does them, and prints the CPU
seconds of itself and of its children.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import resource
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

TURNS = 10
AT_ONCE = 4  # trials beside each other, where the program can do that
INSTRUCTION = "Set the service up again as the notes say, one change at a time, and look at what each has done.\n" * 112
OBSERVATION = "2026-01-31 12:00:00 worker[17] INFO request served in 12 ms, status 200, bytes 5120, route /items\n" * 8


def cpu_seconds() -> float:
    """User and system time of this process and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def requests_to(url: str) -> int:
    """How many requests the endpoint has had."""
    root = "/".join(url.split("/")[:3])
    with urllib.request.urlopen(f"{root}/count") as response:
        return int(json.load(response)[0])


def measure(work: Callable[[str, int, Path], object], warm: int = AT_ONCE) -> None:
    """Measure `work(url, trials, folder)`, which may be a coroutine function; the folder is there and empty."""
    url, trials = sys.argv[1], int(sys.argv[2])

    def do(number: int, folder: str) -> None:
        if inspect.iscoroutinefunction(work):
            asyncio.run(work(url, number, Path(folder)))
        else:
            work(url, number, Path(folder))

    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        do(warm, first)
        requests, used = requests_to(url), cpu_seconds()
        do(trials, second)
        used, requests = cpu_seconds() - used, requests_to(url) - requests
    print(json.dumps({"seconds": used, "requests": requests}))

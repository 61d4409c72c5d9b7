"""How much memory and what else thousands of trials take that are in flight at once in one process.

python -m benchmarks.in_flight
python -m benchmarks.in_flight --trials 500 1000 2000 --turns 10 --latency 2 --json
python -m benchmarks.in_flight --trials 50 100 --boxes local          with real boxes, a process each

The endpoint is an HTTP server in a process of its own, which answers after a latency that is drawn anew for each
request, from half the mean to one and a half times it; the client, the harness, the agent, the diagnosis and the
run's folder are the real ones. Boxes are stand-ins in this process by default: a real one is a process of its own,
whose memory is counted apart. Each number of trials is measured in a fresh process. Bytes a trial are the slope of the
straight line through the peaks of resident memory; how far the farthest lies from it tells whether memory is linear.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import numpy

from harness_eval import store
from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.harness import canonical
from harness_eval.runner import Lane, Runner
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import BoxSpec, Executed, Sandbox, SandboxProvider
from harness_eval.task import Task, load_task
from harness_eval.trial import Trial
from harness_eval.types import Limits, TrialKey

_BOXES_EVERY = 8  # looks; each reads what all processes of boxes take
_LINE = "a line of what a command prints, some forty bytes\n"
_FILES = {
    "task.toml": 'schema_version = "1.4"\n[environment]\nnetwork_mode = "no-network"\n',
    "instruction.md": "Look at the files and say what they hold.\n",
    "environment/files/readme.txt": "Nothing to see.\n",
    "tests/test.sh": '#!/bin/bash\necho 1 > "$VERIFIER_DIR/reward.txt"\n',
}


class StandIn(Sandbox):
    """A box without a process: every command prints the same, and the verdict is a full score."""

    workdir = "/app"

    def __init__(self, printed: str) -> None:
        self._printed = printed

    async def run(
        self, command: str, *, timeout: float = 60.0, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Executed:
        del timeout, cwd, env
        return Executed(str(self._printed), 1 if command.startswith("[ -L") else 0, full_length=len(self._printed))

    async def read(self, path: str) -> bytes:
        if path.endswith("reward.txt"):
            return b"1\n"
        raise FileNotFoundError(path)

    async def write(self, path: str, data: bytes) -> None:
        return

    async def upload(self, source: Path, target: str) -> None:
        return

    async def end_processes(self) -> None:
        return


class StandIns(SandboxProvider):
    name, promises = "stand-in", "nothing"

    def __init__(self, printed: int) -> None:
        self._printed = (_LINE * (printed // len(_LINE) + 1))[:printed]

    def unavailable(self) -> str | None:
        return None

    @asynccontextmanager
    async def open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        del spec
        yield StandIn("".join(list(self._printed)))  # a text of its own, as each real box has


def reply_of(body: bytes, turns: int, printed: int) -> bytes:
    """A stream that calls the shell, or ends the trial once it has made so many turns."""
    done = body.count(b'"role":"tool"') + 1 >= turns
    command = f"head -c {printed} /dev/zero | tr '\\\\0' x"
    asked = {"name": "bash", "arguments": json.dumps({"command": command})}
    call = {"index": 0, "id": "c1", "type": "function", "function": asked}
    delta = {"content": "Done."} if done else {"content": "I look further. ", "tool_calls": [call]}
    usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 40}
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop" if done else "tool_calls"}]},
        {"choices": [], "usage": usage},
    ]
    kind = {"id": "r", "object": "chat.completion.chunk", "model": "m"}
    lines = [b"data: " + json.dumps({**kind, **chunk}).encode() for chunk in chunks]
    return b"\n\n".join([*lines, b"data: [DONE]", b""])


def serve(turns: int, printed: int, latency: float) -> None:
    """The endpoint; prints its port, and ends with its standard input."""
    from aiohttp import web

    drawn = random.Random(0)

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        await asyncio.sleep(latency * drawn.uniform(0.5, 1.5))
        return web.Response(body=reply_of(body, turns, printed), content_type="text/event-stream")

    async def main() -> None:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
        await site.start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.to_thread(sys.stdin.read)

    asyncio.run(main())


@dataclass
class Watched:
    """The most of what was seen at any moment."""

    in_flight: int = 0
    most_in_flight: int = 0
    descriptors: int = 0
    threads: int = 0
    lag: float = 0.0
    boxes: int = 0
    box_bytes: int = 0
    statuses: dict[str, int] = field(default_factory=dict)

    async def look(self, real: bool) -> None:
        for number in itertools.count():
            due = time.monotonic() + 0.25
            await anyio.sleep(0.25)
            self.lag = max(self.lag, time.monotonic() - due)
            self.descriptors = max(self.descriptors, open_descriptors())
            self.threads = max(self.threads, threading.active_count())
            if real and not number % _BOXES_EVERY:
                self.boxes, self.box_bytes = max((self.boxes, self.box_bytes), await anyio.to_thread.run_sync(in_boxes))
            self.most_in_flight = max(self.most_in_flight, self.in_flight)


def in_boxes() -> tuple[int, int]:
    """How many processes stand below this one, and the memory that is theirs: shared pages by their part."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    total = 0
    for pid in ours - {os.getpid()}:
        with suppress(OSError):
            said = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += 1024 * int(said.partition("\nPss:")[2].split()[0])
    return len(ours) - 1, total


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def task_in(folder: Path) -> Task:
    for name, content in _FILES.items():
        path = folder / "look" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return load_task(folder / "look")


async def fly(asked: argparse.Namespace, base_url: str, place: Path) -> dict[str, Any]:
    """One process's worth: so many trials at once, recorded into a run's folder."""
    from harness_eval.trial import run_trial

    count, task, harness, seen = asked.one, task_in(place / "suite"), canonical(), Watched()
    keys = [TrialKey(task.name, harness.name, "served", number) for number in range(count)]
    trials = [Trial(key, harness, task, Limits(), key.seed(0)) for key in keys]
    boxes = StandIns(asked.printed) if asked.boxes == "stand-in" else provider(asked.boxes)
    endpoint = open_endpoint(EndpointConfig(name="served", model="m", base_url=base_url, concurrency=count, retries=0))

    async def play(*parts: Any) -> Any:
        seen.in_flight += 1
        try:
            return await run_trial(*parts)
        finally:
            seen.in_flight -= 1

    study = {"name": "in-flight", "endpoints": [{"name": "served"}], "tasks": [], "harnesses": []}
    before, begun, used = resident(), time.monotonic(), time.process_time()
    with store.open_run(place / "run", study) as folder:

        def record(result: Any) -> None:
            folder.append(result)
            seen.statuses[str(result.failure or "judged")] = seen.statuses.get(str(result.failure or "judged"), 0) + 1

        async with anyio.create_task_group() as group:
            group.start_soon(seen.look, asked.boxes != "stand-in")
            await Runner(boxes, record, play=play).run([Lane(endpoint, trials, count)])
            group.cancel_scope.cancel()
    await endpoint.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    lines = sum(1 for _ in store.rows(place / "run"))
    frames = sum(1 for _ in (place / "run" / store.TRAJECTORIES).rglob("*.zst")) or sum(
        1 for each in (place / "run" / store.TRAJECTORIES).rglob("*") if each.is_file()
    )
    turns = count * asked.turns
    return {
        "trials": count,
        "most_in_flight": seen.most_in_flight,
        "before_bytes": before,
        "peak_bytes": peak,
        "seconds": time.monotonic() - begun,
        "cpu_ms_per_turn": 1000 * (time.process_time() - used) / turns,
        "descriptors": seen.descriptors,
        "threads": seen.threads,
        "largest_lag_seconds": seen.lag,
        "lines": lines,
        "trajectories": frames,
        "ended": seen.statuses,
        "box_processes": seen.boxes,
        "box_bytes": seen.box_bytes,
    }


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def one(asked: argparse.Namespace) -> None:
    command = [sys.executable, "-m", "benchmarks.in_flight", "--serve", *shared(asked)]
    with (
        tempfile.TemporaryDirectory() as place,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        print(json.dumps(anyio.run(fly, asked, f"http://127.0.0.1:{port}/v1", Path(place))))
        server.stdin.close()


def shared(asked: argparse.Namespace) -> list[str]:
    named = ("turns", "printed", "latency", "boxes")
    return [word for name in named for word in (f"--{name}", str(getattr(asked, name)))]


def main(given: Sequence[str] | None = None) -> None:
    asked = parsed(given)
    if asked.serve:
        return serve(asked.turns, asked.printed, asked.latency)
    if asked.one:
        return one(asked)
    found = [flown(count, asked) for count in asked.trials]
    print(json.dumps(found, indent=2) if asked.json else told(found))
    return None


def parsed(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--printed", type=int, default=1700, help="bytes that a command prints: 17 kB after ten turns")
    parser.add_argument("--latency", type=float, default=2.0, help="mean seconds that a reply takes")
    parser.add_argument("--boxes", default="stand-in", choices=("stand-in", "local", "bubblewrap"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(given)


def flown(count: int, asked: argparse.Namespace) -> dict[str, Any]:
    """So many trials at once, in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.in_flight", "--one", str(count), *shared(asked)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def line_through(found: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Bytes a trial, bytes at none, and how many the farthest measurement is off: least squares over the peaks."""
    trials, peaks = ([float(each[key]) for each in found] for key in ("trials", "peak_bytes"))
    slope, none = map(float, numpy.polyfit(trials, peaks, 1))
    return slope, none, max(abs(peak - none - slope * count) for count, peak in zip(trials, peaks, strict=True))


def told(found: list[dict[str, Any]]) -> str:
    heads = {
        "trials": 7,
        "at once": 9,
        "peak MiB": 10,
        "seconds": 9,
        "ms/turn": 9,
        "files": 7,
        "threads": 9,
        "lag s": 7,
    }
    lines = ["".join(head.rjust(width) for head, width in heads.items())]
    lines += [
        f"{each['trials']:7}{each['most_in_flight']:9}{each['peak_bytes'] / 2**20:10.0f}{each['seconds']:9.0f}"
        f"{each['cpu_ms_per_turn']:9.2f}{each['descriptors']:7}{each['threads']:9}{each['largest_lag_seconds']:7.2f}"
        f"  {each['lines']} lines, {each['trajectories']} trajectories, {each['ended']}, "
        f"{each['box_processes']} processes of boxes with {each['box_bytes'] / 2**20:.0f} MiB"
        for each in found
    ]
    if len(found) > 1:
        slope, none, off = line_through(found)
        lines.append(f"{slope:,.0f} bytes a trial; {none / 2**20:.0f} MiB at none; {off / 2**20:.1f} MiB off at most")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

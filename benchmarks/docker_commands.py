"""What a command in a Docker box takes beside `docker exec`, and what opening a box and judging take.

python -m benchmarks.docker_commands --base-image harness-eval-base
python -m benchmarks.docker_commands --commands 200 --boxes 10 --json

All ways run the same command in turn, so that whatever else the machine does meets them alike, with a pause between.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field

import anyio
from anyio import to_thread

from harness_eval.sandboxes import owner
from harness_eval.sandboxes.base import BoxSpec, Sandbox
from harness_eval.sandboxes.docker.engine import connect
from harness_eval.sandboxes.docker.provider import DockerProvider

COMMAND = "true"
PAUSE = 0.05  # seconds before each command, in which the engine tidies up after the one before
EXEC = "docker exec (command line)"
NO_PYTHON = "harness-eval-benchmark-no-python"
Way = Callable[[], Awaitable[object]]


@dataclass
class Times:
    """Milliseconds by what took them."""

    taken: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def measure(self, name: str, way: Way) -> None:
        started = time.perf_counter()
        await way()
        self.taken[name].append((time.perf_counter() - started) * 1000)

    def medians(self) -> dict[str, float]:
        return {name: statistics.median(each) for name, each in self.taken.items()}


async def commands(times: Times, base: str, number: int) -> None:
    """One command at a time: in one container by exec and by its supervisor, in another by its shell."""
    async with AsyncExitStack() as opened:
        box = await opened.enter_async_context(DockerProvider(base).open(BoxSpec("commands")))
        container = await to_thread.run_sync(newest_container)
        shell = await opened.enter_async_context(DockerProvider(without_python(base)).open(BoxSpec("commands")))
        client = opened.enter_context(closing(connect()))

        def by_library() -> None:
            made = client.api.exec_create(container, ["bash", "-c", COMMAND])["Id"]
            client.api.exec_start(made)
            client.api.exec_inspect(made)

        ways: dict[str, Way] = {
            EXEC: lambda: anyio.run_process(["docker", "exec", container, "bash", "-c", COMMAND]),
            "exec by the engine's library": lambda: to_thread.run_sync(by_library),
            "a command, supervised box": lambda: box.run(COMMAND),
            "a command, box without python3": lambda: shell.run(COMMAND),
        }
        for _ in range(number + 1):
            for name, way in ways.items():
                await anyio.sleep(PAUSE)
                await times.measure(name, way)
        for name in ways:
            del times.taken[name][0]  # the first of each warms up


def newest_container() -> str:
    words = ["docker", "ps", "--quiet", "--latest", "--filter", f"label=harness-eval.owner={owner.token()}"]
    return subprocess.check_output(words, text=True).strip()


def without_python(base: str) -> str:
    """The base image without its python3."""
    text = f"FROM {base}\nUSER root\nRUN rm -f $(which -a python3)\n"
    subprocess.run(["docker", "build", "--tag", NO_PYTHON, "-"], input=text.encode(), check=True, capture_output=True)
    return NO_PYTHON


async def boxes(times: Times, base: str, number: int) -> None:
    """One box at a time: made when it is asked for, and made before; each is judged, with one file in it."""
    cold, pooled = DockerProvider(base), DockerProvider(base)
    spec = BoxSpec("boxes")
    async with cold.open(spec):
        pass  # looks for leftovers and for the image, once
    async with pooled, pooled.open(spec):
        await filled(pooled)
        for _ in range(number):
            await life(times, cold, spec, "made when asked for")
            await life(times, pooled, spec, "made before")
            await filled(pooled)


async def life(times: Times, provider: DockerProvider, spec: BoxSpec, how: str) -> None:
    async with AsyncExitStack() as opened:
        held: list[Sandbox] = []

        async def enter() -> None:
            held.append(await opened.enter_async_context(provider.open(spec)))

        async def seal() -> None:
            await opened.enter_async_context(provider.seal(held[0], spec))

        await times.measure(f"opening a box, {how}", enter)
        await held[0].write("answer", b"42\n")
        await times.measure(f"sealing for the verifier, {how}", seal)
        await times.measure(f"closing both, {how}", opened.aclose)


async def filled(provider: DockerProvider) -> None:
    while provider.ready < 2:  # noqa: ASYNC110  (nothing tells)
        await anyio.sleep(0.02)


def show(medians: dict[str, float]) -> None:
    print(f"{'':46}{'median':>12}{'share of docker exec':>24}")
    for name, median in medians.items():
        print(f"{name:46}{median:9.2f} ms{median / medians[EXEC]:23.1%}")


async def run(options: argparse.Namespace) -> None:
    times = Times()
    await commands(times, options.base_image, options.commands)
    await boxes(times, options.base_image, options.boxes)
    medians = times.medians()
    if options.json:
        print(
            json.dumps({"median_ms": medians, "share": {name: each / medians[EXEC] for name, each in medians.items()}})
        )
    else:
        show(medians)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-image", default="harness-eval-base", help="what boxes are made of")
    parser.add_argument("--commands", type=int, default=50, help="commands in each way")
    parser.add_argument("--boxes", type=int, default=5, help="boxes in each way")
    parser.add_argument("--json", action="store_true", help="medians and shares as JSON")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()

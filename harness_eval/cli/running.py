"""Carrying out a study from the command line: what is said before, while it runs, and of how it ended."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import typer

from harness_eval import allocating, signals
from harness_eval.cli import paying
from harness_eval.cli.descriptors import allow_descriptors
from harness_eval.cli.output import say
from harness_eval.cli.progress import Progress
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.probing import by_reason
from harness_eval.report.wording import count
from harness_eval.signals import answered, leave
from harness_eval.study import INTERRUPTED, Agenda, Ended, Study
from harness_eval.types import Json

T = TypeVar("T")


def agree(resolved: Study, folder: Path, yes: bool) -> None:
    """State what the trials that are owed will cost.

    Raises:
        ConfigError: they cost something, and nobody agreed to it or set a cap.
    """
    stated = paying.price_of(resolved, folder)
    paying.check(resolved, stated, yes)
    if stated:
        say(f"paid for: {stated}")


def carry_out(resolved: Study, folder: Path, agenda: Agenda, run: Path | None = None) -> Ended:
    """Run what the folder still owes, with a line now and then; `run` is the folder of the command, if another one.

    Raises:
        KeyboardInterrupt: before a trial was begun.
    """
    say(f"{count(resolved.planned, 'trial')}: {_count(resolved)}; sandbox: {resolved.provider.name}")
    for endpoint in resolved.config.endpoints:
        say(f"endpoint {endpoint.name}: {endpoint.model}, profile {endpoint.profile}")
    for note in resolved.notes:
        say(f"note: {note}")
    allow_descriptors(_at_once(resolved))
    with Progress(resume(run or folder)) as progress:
        ended = run_stoppable(progress, partial(allocating.run, resolved, folder, progress, agenda))
    if swept := resolved.provider.swept:
        say(f"sweep: {count(swept, 'leftover')} of dead runs removed")
    return ended


def _at_once(resolved: Study) -> int:
    """The most trials under way at any moment, over all endpoints."""
    usual: int = EndpointConfig.model_fields["concurrency"].default
    own = {endpoint.name: endpoint.concurrency for endpoint in resolved.config.endpoints}
    return sum(resolved.config.concurrency or own.get(name, usual) for name in resolved.endpoints)


async def stoppable(progress: Progress, work: Callable[[], Awaitable[T]]) -> T:
    """Do this. Outside of trials, which answer signals themselves, the first one cancels it and the next one leaves.

    A second interrupt would otherwise be raised wherever the program stands, clean-up included.
    """
    loop, cancel, came = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT), 0

    def answer() -> None:
        nonlocal came
        came += 1
        if came == 1 and callable(cancel):
            loop.call_soon_threadsafe(progress.stopping)
            cancel(signal.SIGINT, None)
            return
        try:
            progress.stopping()  # where the loop had no time yet to say it
        finally:
            leave()

    with answered(answer, (signal.SIGINT,)):
        return await work()


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Say how to resume where this is interrupted, be it before the first trial or after the last one.

    Outside of what `run_stoppable` does the process ends there and then, since an exception that comes from nowhere may
    be lost in a place that cannot raise any. All files are written as a whole, so this breaks none.

    Raises:
        Exit: it was.
    """
    told = f"interrupted. {resume(folder)}"

    def answer(*_: object) -> None:
        os.write(sys.stderr.fileno(), f"{told}\n".encode())  # what is being printed just now may stand in the way
        leave()

    with signals.handled(signal.SIGINT, answer):
        try:
            yield
        except KeyboardInterrupt:
            say(told)
            raise typer.Exit(INTERRUPTED) from None


def run_stoppable(progress: Progress, work: Callable[[], Awaitable[T]]) -> T:
    """Do this on an event loop; see `stoppable`.

    Raises:
        KeyboardInterrupt: it was interrupted outside of trials.
    """
    with signals.handled(signal.SIGINT, signal.default_int_handler):  # asyncio cancels where it finds this one
        return anyio.run(stoppable, progress, work)


def resume(folder: Path) -> str:
    """What is to be said to whoever interrupts a run of this folder."""
    return f"Resume with\n  harness-eval {shlex.join(again(folder))}"


def _count(resolved: Study) -> str:
    harnesses = (*resolved.harnesses, *resolved.externals)
    parts = ((resolved.tasks, "task"), (harnesses, "harness"), (resolved.endpoints, "endpoint"))
    return " x ".join(count(len(each), name) for each, name in parts)


def say_how_it_ended(resolved: Study, ended: Ended, again: Sequence[str]) -> None:
    """What is to be known of a run beside its report; `again` are the arguments that resume it."""
    if resolved.scripted:
        say("The endpoint is a scripted agent and no language model: these numbers show what the suite can find.")
    for name, harnesses in ended.unsupported.items():
        if harnesses:
            all_of_them = len(resolved.harnesses) + len(resolved.externals)
            refused = f"{len(harnesses)} of {all_of_them} harnesses"
            say(f"{refused} cannot run on {name} (--probe tries them again):")
        for line in by_reason(harnesses):
            say(f"  {line}")
    for problem in ended.problems:
        say(f"incomplete: {problem}")
    if ended.exit_code and ended.planned:
        word = "interrupted" if ended.outcome.interrupted else "incomplete"
        more = " a larger budget:" if ended.outcome.exhausted else ""
        say(f"{word}: {ended.judged} of {ended.planned} trials are judged; resume with{more}")
        say(f"  harness-eval {shlex.join(again)}")


def summary(ended: Ended) -> dict[str, Json]:
    """How a run ended, as JSON."""
    return {
        "folder": str(ended.folder),
        "trials": {"planned": ended.planned, "judged": ended.judged, "lost": sum(ended.lost.values())},
        "solved": ended.solved,
        "lost": ended.lost,
        "unsupported": [
            {"endpoint": name, "harness": each.harness, "reason": each.reason, "label": each.label}
            for name, harnesses in ended.unsupported.items()
            for each in harnesses
        ],
        "interrupted": ended.outcome.interrupted,
        "problems": ended.problems,
    }


def new_folder(name: str) -> Path:
    """Where a run of this name goes where nothing else is said."""
    return Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"


def again(folder: Path) -> list[str]:
    """The arguments of this very command, with the folder that it goes on in."""
    words = sys.argv[1:]
    named = any(word == "--out" or word.startswith("--out=") or Path(word) == folder for word in words)
    return words if named else [*words, "--out", str(folder)]

"""How a run goes, on stderr: one live line in a terminal, otherwise a plain line about every five seconds."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live

from harness_eval.cli.output import say
from harness_eval.judging import Proof
from harness_eval.probing import Probe, in_words
from harness_eval.task import Task
from harness_eval.types import Result

_EVERY = 5.0  # seconds between plain lines


class Progress:
    """Counts what a run tells it and shows the counts; a context manager that must be left before other output."""

    def __init__(self) -> None:
        self.planned = self.judged = self.solved = self.lost = self.proven_tasks = 0
        self._before = 0
        self._started = 0.0
        self._closing = threading.Event()
        self._live: Live | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            console = Console(stderr=True, highlight=False)
            self._live = Live(console=console, get_renderable=self.line, refresh_per_second=4, transient=True)
            self._live.start()
        else:
            self._thread = threading.Thread(target=self._say_now_and_then, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._live is not None:
            self._live.stop()
        if self._thread is not None:
            self._thread.join()
        if self._started:
            say(self.line())

    def proven(self, task: Task, proof: Proof) -> None:
        """A task's solution was tried."""
        self.proven_tasks += 1

    def probed(self, endpoint: str, probe: Probe, harnesses: int) -> None:
        """An endpoint was probed."""
        for line in in_words(endpoint, probe, harnesses):
            say(line)

    def begin(self, planned: int, judged: int, solved: int) -> None:
        """The first trial is about to start."""
        self.planned, self.judged, self.solved, self._before = planned, judged, solved, judged
        self._started = time.monotonic()

    def ended(self, result: Result) -> None:
        """A trial is recorded."""
        if result.verdict is None:
            self.lost += 1
        else:
            self.judged += 1
            self.solved += result.verdict.solved

    def line(self) -> str:
        """All counts in one line."""
        if not self._started:
            return f"proving the tasks' own solutions: {self.proven_tasks} done"
        done = self.judged + self.lost
        rate = (done - self._before) / max(time.monotonic() - self._started, 1e-9)
        left = f", {_duration((self.planned - done) / rate)} left" if rate and done < self.planned else ""
        return f"{done}/{self.planned} trials, {self.solved} solved, {self.lost} lost, {rate:.1f}/s{left}"

    def _say_now_and_then(self) -> None:
        while not self._closing.wait(_EVERY):
            say(self.line())


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"

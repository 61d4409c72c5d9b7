"""How a run goes, on stderr: one live line in a terminal, otherwise a plain line now and then, ever more rarely."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from types import TracebackType

from rich.console import Console
from rich.live import Live

from harness_eval.cli.output import say
from harness_eval.judging import Proof
from harness_eval.probing import Probe, in_words
from harness_eval.runner import Spending
from harness_eval.task import Task
from harness_eval.types import Result

_SOONEST, _LATEST = 5.0, 60.0  # seconds between plain lines: at first, and after ten minutes


class Progress:
    """Counts what a run tells it and shows the counts; a context manager that must be left before other output.

    Tokens and money are those of all invocations, lost trials included; the rate is that of this one, which the time
    left rests on. `resume` says how the run is gone on with once it is interrupted.
    """

    def __init__(self, resume: str = "the same command goes on with the rest") -> None:
        self.planned = self.judged = self.solved = self.lost = self.proven_tasks = 0
        self._resume = resume
        self._spending = Spending()
        self._owed: Counter[str] = Counter()  # by endpoint; under "" what all have in common
        self._ended: Counter[str] = Counter()
        self._opened = time.monotonic()
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
        if self._close() and self._started:
            say(self.line())

    def _close(self) -> bool:
        """Show nothing more by itself; whether it did so far."""
        if self._closing.is_set():
            return False
        self._closing.set()
        if self._live is not None:
            self._live.stop()
        if self._thread is not None:
            self._thread.join()
        return True

    def proven(self, task: Task, proof: Proof) -> None:
        """A task's solution was tried."""
        self.proven_tasks += 1

    def probed(self, endpoint: str, probe: Probe, harnesses: int) -> None:
        """An endpoint was probed."""
        for line in in_words(endpoint, probe, harnesses):
            say(line)

    def begin(self, planned: int, judged: int, solved: int, owed: Mapping[str, int], spending: Spending) -> None:
        """The first trial is about to start."""
        self.planned, self.judged, self.solved = planned, judged, solved
        self._owed, self._spending = Counter(owed), spending
        self._started = self._started or time.monotonic()  # a hunt begins each of its blocks

    def ended(self, result: Result) -> None:
        """A trial is recorded."""
        lane = result.key.endpoint if result.key.endpoint in self._owed else ""
        self._ended[lane] += 1
        self._owed[lane] -= 1
        if result.verdict is None:
            self.lost += 1
        else:
            self.judged += 1
            self.solved += result.verdict.solved

    def fallen(self, endpoint: str, reason: str) -> None:
        """An endpoint's trials are given up for now."""
        self._owed.pop(endpoint, None)
        say(f"endpoint {endpoint} cannot be used any more, so its other trials are left for later: {reason}")

    def nodes(self, line: str) -> None:
        """Where trials run has changed."""
        say(line)

    def stopping(self) -> None:
        """The run was interrupted: what is to be said at once, since a second signal leaves no time for it."""
        if self._close():
            say(f"{self.line()}\nstopping; what is judged is kept. Ctrl-C again leaves at once. {self._resume}")

    def line(self) -> str:
        """All counts in one line."""
        if not self._started:
            return f"proving the tasks' own solutions: {self.proven_tasks} done"
        done = self.judged + self.lost
        parts = [f"{done}/{self.planned} trials", f"{self.solved} solved", f"{self.lost} lost"]
        parts += _spent(self._spending)
        passed = max(time.monotonic() - self._started, 1e-9)
        if rate := self._ended.total() / passed:
            parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min")
        if left := self._left(passed):
            parts.append(f"{_duration(left)} left")
        return ", ".join(parts)

    def _left(self, passed: float) -> float | None:
        """Seconds until the slowest endpoint is done; None where that cannot be told yet, or is now."""
        going = [(owed, self._ended[name]) for name, owed in self._owed.items() if owed > 0]
        if not going or not all(ended for _, ended in going):
            return None
        return max(owed * passed / ended for owed, ended in going)

    def _say_now_and_then(self) -> None:
        while not self._closing.wait(min(max(_SOONEST, (time.monotonic() - self._opened) / 10), _LATEST)):
            say(self.line())


def _spent(spending: Spending) -> Iterator[str]:
    if spending.tokens:
        most = f" of {_short(spending.most_tokens)}" if spending.most_tokens else ""
        yield f"{_short(spending.tokens)}{most} tokens"
    if spending.money:
        most = f" of ${spending.most_money:,.2f}" if spending.most_money else ""
        yield f"${spending.money:,.2f}{most}"


def _short(number: int) -> str:
    for size, word in ((10**9, " G"), (10**6, " M"), (10**3, " k")):
        if number >= size:
            return f"{number / size:.1f}{word}"
    return str(number)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"

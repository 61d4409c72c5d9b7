"""A simulation of programs that wait. They are generators that yield Sleep or Wait; the clock is that of the simulation."""

import heapq
from dataclasses import dataclass
from itertools import count

EXPIRED = "expired"


class Signal:
    """What one program waits for and another one sets, once."""

    def __init__(self):
        self.is_set = False
        self.value = None
        self.waiter = None

    def set(self, value=True):
        """Wake whoever waits, now but behind all that is already due now; `yield Wait(...)` gives the value there."""
        if not self.is_set:
            self.is_set, self.value = True, value
            if self.waiter:
                simulation, task = self.waiter
                task.ticket += 1
                simulation.later(0, task, value)


@dataclass
class Sleep:
    """Yield it to go on after so many seconds."""

    seconds: float


@dataclass
class Wait:
    """Yield it to wait for a signal; gives the signal's value, or EXPIRED after so many seconds."""

    signal: Signal
    seconds: float


class Task:
    """A program under way."""

    def __init__(self, program):
        self.program = program
        self.ticket = 0
        self.ended = False


class Simulation:
    """All tasks and their clock."""

    def __init__(self):
        self.now = 0.0
        self._due = []
        self._order = count()

    def start(self, program, after=0.0):
        """Begin a program after so many seconds."""
        task = Task(program)
        self.later(after, task, None)
        return task

    def later(self, seconds, task, value):
        """Let a task go on after so many seconds, with this value."""
        heapq.heappush(self._due, (self.now + seconds, next(self._order), task, task.ticket, value))

    def cancel(self, task):
        """End a task where it is."""
        if not task.ended:
            task.ended = True
            task.program.close()

    def run(self):
        """Until nothing is due any more."""
        while self._due:
            self.now, _, task, ticket, value = heapq.heappop(self._due)
            if not task.ended and task.ticket == ticket:
                self._step(task, value)

    def _step(self, task, value):
        task.ticket += 1
        try:
            wanted = task.program.send(value)
        except StopIteration:
            task.ended = True
            return
        if isinstance(wanted, Sleep):
            self.later(wanted.seconds, task, None)
        elif wanted.signal.is_set:
            self.later(0, task, wanted.signal.value)
        else:
            wanted.signal.waiter = (self, task)
            self.later(wanted.seconds, task, EXPIRED)

"""Replays a scenario: python3 replay.py scenarios/night.json"""

import json
import sys

from pool import ConnectError, Pool, Timeout
from sim import Simulation, Sleep


class Connection:
    """A connection, which counts while it is open."""

    def __init__(self, replay, number):
        self.replay, self.number = replay, number

    def close(self):
        """It counts no more."""
        self.replay.count -= 1
        self.replay.tell(f"connection {self.number} is closed")


class Replay:
    """One run of a scenario; `outcomes` has for each request what became of it, and when."""

    def __init__(self, scenario, show=False):
        self.scenario, self.show = scenario, show
        self.sim = Simulation()
        self.pool = Pool(scenario["size"], self.open_connection)
        self.count = self.made = self.held = self.opening = self.broken = 0
        self.outcomes = {}

    def tell(self, text):
        """Show an event."""
        if self.show:
            state = f"{self.held} held, {self.opening} opening, {self.count} of {self.scenario['size']}"
            print(f"{self.sim.now:9.3f}  [{state}]  {text}")

    def promise(self, kept, text):
        """Mark what must not be."""
        if not kept:
            self.broken += 1
            self.tell(f"BROKEN PROMISE: {text}")

    def open_connection(self):
        """Opening takes time, and fails at some times of the day."""
        begun = self.sim.now
        self.count += 1
        self.opening += 1
        size = self.scenario["size"]
        self.promise(self.count <= size, f"{self.count} connections, but the size is {size}")
        succeeded = False
        try:
            yield Sleep(self.scenario["opening"])
            if any(start <= begun < end for start, end in self.scenario["failing"]):
                raise ConnectError("the other side does not answer")
            succeeded = True
        finally:
            self.opening -= 1
            self.count -= not succeeded
        self.made += 1
        return Connection(self, self.made)

    def ended(self, name, what):
        """What became of a request."""
        self.outcomes[name] = [what, round(self.sim.now, 3)]
        self.tell(f"{name} {what}")

    def worker(self, name, patience, hold, broken, again):
        """Ask, hold, give back; and at once once more, if it does so again."""
        self.tell(f"{name} asks and will wait for {patience:g} s")
        try:
            connection = yield from self.pool.acquire(patience)
        except Timeout:
            self.ended(name, "gave up")
            free = self.scenario["size"] - self.held - self.opening
            self.promise(free <= 0, f"{name} gave up though {free} more could be served")
            return
        except ConnectError:
            self.ended(name, "failed")
            return
        self.held += 1
        self.ended(name, "was served")
        try:
            yield Sleep(hold)
        finally:
            self.held -= 1
            self.tell(f"{name} gives connection {connection.number} back{' (broken)' if broken else ''}")
            self.pool.release(connection, broken=broken)
        if again:
            yield from self.worker(name + " again", patience, hold, broken, again=False)

    def cancelling(self, task, name):
        """Cancel a worker."""
        yield Sleep(0.25)
        if not task.ended:
            self.outcomes.setdefault(name, ["cancelled", round(self.sim.now, 3)])
            self.tell(f"{name} is cancelled")
        self.sim.cancel(task)

    def run(self):
        """All requests: when, patience, how long held, then broken or not, cancelled when, once more or not."""
        for at, (when, patience, hold, broken, cancelled, again) in enumerate(self.scenario["requests"], 1):
            name = f"request-{at:03d}"
            task = self.sim.start(self.worker(name, patience, hold, broken, again), when)
            if cancelled is not None:
                self.sim.start(self.cancelling(task, name), cancelled - 0.25)
        self.sim.run()
        self.promise(self.held == self.opening == 0, "something was left over")


def main(path):
    """Show a replay; the number of broken promises comes last."""
    with open(path, encoding="utf-8") as file:
        replay = Replay(json.load(file), show=True)
    replay.run()
    print(f"{replay.broken} broken promises")
    return 1 if replay.broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

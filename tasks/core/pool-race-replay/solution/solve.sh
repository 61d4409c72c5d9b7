#!/bin/bash
set -euo pipefail
cat > pool.py <<'PYTHON'
"""A pool of connections; POOL.md says what it promises."""

from collections import deque

from sim import Signal, Wait

PLACE = object()  # what a request gets as its turn where it has to open a connection


class Timeout(Exception):
    """The turn of a request did not come in time."""


class ConnectError(Exception):
    """A connection could not be opened."""


class Pool:
    """At most `size` connections, made by the generator function `open_connection`."""

    def __init__(self, size, open_connection):
        self.size = size
        self.open_connection = open_connection
        self.taken = 0  # places, from the moment at which opening begins
        self.idle = []
        self.waiting = deque()

    def acquire(self, patience):
        """A connection. Raises Timeout, ConnectError."""
        if self.idle:
            return self.idle.pop()
        if self.taken < self.size:
            self.taken += 1
        else:
            given = yield from self._turn(patience)
            if given is not PLACE:
                return given
        opened = False
        try:
            connection = yield from self.open_connection()
            opened = True
        finally:
            if not opened:
                self._pass_on(PLACE)
        return connection

    def release(self, connection, broken=False):
        """Give a connection back."""
        if broken:
            connection.close()
        self._pass_on(PLACE if broken else connection)

    def _turn(self, patience):
        """What the request is handed when its turn comes."""
        turn = Signal()
        self.waiting.append(turn)
        taken = False
        try:
            given = yield Wait(turn, patience)
            taken = turn.is_set
        finally:
            if not turn.is_set:
                self.waiting.remove(turn)
            elif not taken:
                self._pass_on(turn.value)
        if not turn.is_set:
            raise Timeout
        return given

    def _pass_on(self, what):
        """Hand a connection or a place to the first who waits, or keep it."""
        if self.waiting:
            self.waiting.popleft().set(what)
        elif what is PLACE:
            self.taken -= 1
        else:
            self.idle.append(what)
PYTHON
python3 -B replay.py scenarios/night.json | tail -n 1
python3 -B replay.py scenarios/morning.json | tail -n 1

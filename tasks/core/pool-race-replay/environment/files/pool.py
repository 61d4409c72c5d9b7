"""A pool of connections; POOL.md says what it promises."""

from collections import deque

from sim import EXPIRED, Signal, Wait


class Timeout(Exception):
    """The turn of a request did not come in time."""


class ConnectError(Exception):
    """A connection could not be opened."""


class Pool:
    """At most `size` connections, made by the generator function `open_connection`."""

    def __init__(self, size, open_connection):
        self.size = size
        self.open_connection = open_connection
        self.open = 0
        self.idle = []
        self.waiting = deque()

    def acquire(self, patience):
        """A connection. Raises Timeout, ConnectError."""
        if not self.idle and self.open >= self.size:
            turn = Signal()
            self.waiting.append(turn)
            if (yield Wait(turn, patience)) == EXPIRED:
                raise Timeout
        if self.idle:
            return self.idle.pop()
        connection = yield from self.open_connection()
        self.open += 1
        return connection

    def release(self, connection, broken=False):
        """Give a connection back."""
        if broken:
            connection.close()
            self.open -= 1
        else:
            self.idle.append(connection)
        if self.waiting:
            self.waiting.popleft().set()

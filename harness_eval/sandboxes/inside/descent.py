"""Which processes a command started, and how to end them all, those that left its session included."""

# pathlib would double the time this takes to start:
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import os
from _signal import SIGKILL, SIGSTOP  # type: ignore[import-not-found]  # `signal` is as slow to import as Python


def origin(pid: str) -> tuple[int, int] | None:
    """Parent and start time (clock ticks since boot) of a process; None if it has ended meanwhile."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(words[1]), int(words[19])


def processes() -> dict[int, tuple[int, int]]:
    """Parent and start time of every process that can be seen, by process id."""
    found = {int(name): origin(name) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: came for pid, came in found.items() if came}


def lineage(pid: int, table: dict[int, tuple[int, int]]) -> list[int]:
    """A process and its ancestors up to, but without, this one; empty if it does not descend from this one."""
    line = []
    while pid in table and pid != os.getpid():
        line.append(pid)
        pid = table[pid][0]
    return line if pid == os.getpid() else []


def descendants(first: int = 0) -> set[int]:
    """What was started below this process; with `first`, only by that child: below it, or orphaned and younger.

    An orphan that another child started is older than `first`, or has an ancestor that is.
    """
    table = processes()
    born = (table.get(first, (0, 0))[1], first)
    mine = set()
    for pid in table:
        line = lineage(pid, table)
        if line and (first in line or all((table[one][1], one) > born for one in line)):
            mine.add(pid)
    return mine


def signal_all(pids: set[int], number: int) -> None:
    """Send a signal to processes of which some may have ended."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def kill_below(first: int = 0) -> set[int]:
    """Kill `descendants(first)` and return them; each is stopped first, so that none can start another meanwhile."""
    stopped: set[int] = set()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # without children there is nothing to look for among all the processes of a machine
        return stopped
    for _ in range(100):
        moving = descendants(first) - stopped
        if not moving:
            break
        signal_all(moving, SIGSTOP)
        stopped |= moving
    signal_all(stopped, SIGKILL)
    return stopped

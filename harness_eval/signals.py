"""Signals that end a run: answered at once, whatever the event loop waits for, and how a process leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

INTERRUPTED = 130  # the exit code of a process that a signal has ended
ENDING = (signal.SIGINT, signal.SIGTERM)


def leave() -> None:
    """End this process at once, as interrupted, and clean nothing up: the next run sweeps what is left of its boxes."""
    os._exit(INTERRUPTED)


@contextmanager
def answered(answer: Callable[[], None], numbers: tuple[int, ...] = ENDING) -> Iterator[None]:
    """Call `answer` on the main thread at each signal for as long as this goes on, in a coroutine; then whoever did
    before answers them again. On another thread this does nothing, since none is answered there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with ExitStack() as opened:
        for number in numbers:
            opened.enter_context(handled(number, lambda *_: answer()))
        opened.enter_context(_woken(asyncio.get_running_loop()))
        yield


@contextmanager
def handled(number: int, handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Let this handle a signal for as long as this goes on; on another thread than the main one this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler) or signal.SIG_DFL
    try:
        yield
    finally:
        signal.signal(number, before)


@contextmanager
def _woken(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """End the loop's waiting at each signal: one that the kernel gives to another thread would not, and Python answers
    none before the main thread runs."""
    reading, writing = socket.socketpair()
    with reading, writing:
        reading.setblocking(False)
        writing.setblocking(False)
        before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        loop.add_reader(reading, reading.recv, 4096)
        try:
            yield
        finally:
            loop.remove_reader(reading)
            signal.set_wakeup_fd(before)

"""Patterns of data sets, searched in texts of data sets: by a process of its own, which a bad pattern can only stop.

A pattern such as `(a+)+b` takes more steps than any machine has time for, and `re` cannot be told to give up.
"""

from __future__ import annotations

import atexit
import json
import re
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, cast

from harness_eval.shapes.row import UnusableRow

SECONDS = 1  # of processor time for one search
_SHOWN = 60  # characters of a pattern in a message
# The system ends it when the timer runs out (SIGVTALRM), so that it ends even where nobody is left to end it.
_PROGRAM = """
import json, re, resource, signal, sys
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
for line in sys.stdin:
    seconds, whole, pattern, text = json.loads(line)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        found = (re.fullmatch if whole else re.search)(pattern, text)
        answer = [None, found and [found[0], *found.groups()]]
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        answer = [str(error) or type(error).__name__, None]
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print(json.dumps(answer), flush=True)
"""
_lock = threading.Lock()
_running: list[subprocess.Popen[str]] = []  # at most one


def pattern_fault(pattern: str) -> str | None:
    """Why a text is no regular expression; None if it is one."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"{pattern[:_SHOWN]!r} is no regular expression: {error}"
    return None


def search(pattern: str, text: str, *, whole: bool = False) -> list[str | None] | None:
    """What a pattern finds in a text (or whether it is all of it), then its groups; None where it finds nothing.

    Raises:
        UnusableRow: it is no pattern, or the search takes longer than `SECONDS` or more memory than there is for it.
    """
    question = json.dumps([SECONDS, whole, pattern, text])
    with _lock:
        answer = _ask(f"{question}\n")
    if not answer:
        raise UnusableRow(f"the search for the pattern {pattern[:_SHOWN]!r} was given up after {SECONDS} s")
    fault, found = json.loads(answer)
    if fault is not None:
        raise UnusableRow(f"{pattern[:_SHOWN]!r} is no regular expression that can be searched for: {fault}")
    return cast(list[str | None] | None, found)


def _ask(question: str) -> str:
    """The process's answer; "" where the question was its end."""
    if not _running:
        command = [sys.executable, "-I", "-S", "-W", "ignore", "-c", _PROGRAM]
        pipe = subprocess.PIPE
        _running.append(
            subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, start_new_session=True
            )
        )
    given, told = cast(IO[str], _running[0].stdin), cast(IO[str], _running[0].stdout)
    answer = ""
    try:
        given.write(question)
        given.flush()
        answer = told.readline()
    except BrokenPipeError:
        pass
    finally:
        if not answer:
            _end()
    return answer


@atexit.register
def _end() -> None:
    while _running:
        with suppress(OSError), _running.pop() as process:
            process.kill()

"""What runs inside every box: five files that are handed to the box's own python3 as one text.

They use the standard library alone, run on Python 3.8 and later, and import nothing slow to start: a box must open
within milliseconds.
"""

from __future__ import annotations

import functools
from pathlib import Path

_FILES = ("wire.py", "descent.py", "files.py", "account.py", "supervisor.py")


@functools.cache
def program() -> bytes:
    """The program as one text: its files joined, without their imports of each other."""
    texts = [(Path(__file__).parent / name).read_text(encoding="utf-8") for name in _FILES]
    lines = [line for text in texts for line in text.splitlines() if not line.startswith(("from __f", "from harness_"))]
    return "\n".join(["from __future__ import annotations", *lines]).encode()


def command_line(python: str, **settings: int | str) -> list[str]:
    """A command that takes the program from its standard input and runs it with these settings (see `confine`).

    On the command line itself every command in the box could see it, and `pgrep -f` would find all its words.
    """
    start = f"exec(open(0, 'rb', closefd=False).read({len(program())}))"
    return [python, "-I", "-S", "-c", start, *(f"{name}={value}" for name, value in settings.items())]

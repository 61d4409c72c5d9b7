"""Who owns what is left on a machine: a name for this process that no later process shares."""

from __future__ import annotations

import os
import re
from pathlib import Path


def _machine() -> str:
    """This boot of the machine and this process namespace: only within both do process ids mean anything."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().replace("-", "")[:12]
    return f"{boot}.{Path('/proc/self/ns/pid').stat().st_ino}"


def _started(pid: int) -> str | None:
    """When a process started, in clock ticks since boot; None if there is none (a dead one not yet reaped included)."""
    try:
        state, *words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else words[18]


def token() -> str:
    """This process, written so that it can stand in a file name or a label: machine, process id, start time."""
    return f"{_machine()}.{os.getpid()}.{_started(os.getpid())}"


def is_token(text: str) -> bool:
    """Whether this could be what `token` gave somewhere."""
    return re.fullmatch(r"[0-9a-f]{12}(\.\d+){3}", text) is not None


def token_in(name: str, prefix: str) -> str:
    """The token in a name that is made of a prefix, a token and, behind a dash, whatever tells it from others."""
    return name.removeprefix(prefix).rpartition("-")[0]


def gone(owner: str) -> bool:
    """Whether the process that wrote this token is provably dead; what we cannot know counts as alive."""
    machine, _, rest = owner.rpartition(".")[0].rpartition(".")
    started = owner.rpartition(".")[2]
    return machine == _machine() and rest.isdigit() and _started(int(rest)) != started

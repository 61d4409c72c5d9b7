"""Whether a node has the very program that the driver has: another one could judge or play otherwise."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness_eval import __version__

_PACKAGE = Path(__file__).resolve().parents[1]
_BESIDE = ("data", "__pycache__")  # what a wheel brings along besides the program, and what Python makes of it


@dataclass(frozen=True, slots=True)
class Fitness:
    """Versions, and the SHA-256 of the program's own files."""

    version: str
    code: str
    python: str

    def other_than(self, wanted: Fitness) -> str | None:
        """In what this differs from what is wanted, or None."""
        if self.version != wanted.version:
            return f"it has harness-eval {self.version}, and this machine {wanted.version}"
        if self.python != wanted.python:
            return f"it has Python {self.python}, and this machine {wanted.python}"
        if self.code != wanted.code:
            return f"it has other code as harness-eval {self.version} ({self.code[:12]}) than here ({wanted.code[:12]})"
        return None


@cache
def here() -> Fitness:
    """What this process runs."""
    total = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        relative = path.relative_to(_PACKAGE)
        if path.is_file() and not set(relative.parts) & set(_BESIDE):
            total.update(f"{relative.as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return Fitness(__version__, total.hexdigest(), ".".join(platform.python_version_tuple()[:2]))

"""The verifiers of tasks that are made from rows: programs of one file that are copied into a task's `tests` folder.

They run in the box with its own python3, use the standard library alone, and know nothing of this package.
"""

from __future__ import annotations

from pathlib import Path

_TEST_SH = """#!/usr/bin/env bash
exec python3 -I "$(dirname "$0")/check.py"
"""


def verifier(program: str, *others: str) -> dict[str, str]:
    """The files of a `tests` folder that judge with `program` (as check.py), and the programs that it needs."""
    place = Path(__file__).parent
    files = {"tests/test.sh": _TEST_SH, "tests/check.py": (place / program).read_text(encoding="utf-8")}
    return files | {f"tests/{name}": (place / name).read_text(encoding="utf-8") for name in others}

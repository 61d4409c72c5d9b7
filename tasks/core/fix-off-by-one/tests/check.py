"""Judges the corrected module by what it gives, in a process of its own, and the line in CHANGES.md.

Two points: the fix and the line. Whatever else changed halves the reward.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

from workspace import content, digest_of

PROBE = """
import json, sys
from datetime import date
sys.path.insert(0, ".")
sys.dont_write_bytecode = True
from billing import periods
given = {}
for name in ("daily", "weekly", "fortnightly", "four_weekly", "monthly", "windows"):
    for start in (date(2031, 1, 30), date(2032, 2, 28), date(2030, 12, 25)):
        for count in (0, 1, 4):
            more = {"days": 9} if name == "windows" else {}
            given[f"{name} {start} {count}"] = getattr(periods, name)(start=start, count=count, **more)
given["next_month"] = periods.next_month(date(2030, 12, 31)), periods.next_month(day=date(2032, 2, 1))
given["days_paid"] = periods.days_paid(periods=[(date(2031, 1, 1), date(2031, 1, 7)), (date(2031, 2, 1),) * 2])
print(json.dumps(given, default=str))
"""
STARTS = (date(2031, 1, 30), date(2032, 2, 28), date(2030, 12, 25))
LENGTHS = {"daily": 1, "weekly": 7, "fortnightly": 14, "four_weekly": 28, "windows": 9}
CALLS = {f"{name} {start} {count}" for name in (*LENGTHS, "monthly") for start in STARTS for count in (0, 1, 4)}
CALLS |= {"next_month", "days_paid"}  # all that is asked of the solver's code
LIMIT = 1_000_000  # bytes that are read of what the solver's code prints
RUN_CHECKS = "7887e3bb01349dc340702917dd604146f44a7a9400b0391efaa0d0b8c57957c0"
CHANGES = """# Changes

## Unreleased

- Fixed: `fortnightly` no longer counts one day twice.
- Added: `windows` for half-open pairs.

## 2.3.0

- Added: `four_weekly`.
- Fixed: `monthly` no longer stops at the end of the year.

## 2.2.0

- Added: `fortnightly` and `days_paid`.
"""
ADDED = "- Fixed: `fortnightly` no longer counts one day twice.\n"


def given() -> dict[str, object]:
    """What the solver's module gives, by call; empty if it cannot be used."""
    command = [*shlex.split(os.environ.get("AS_SOLVER", "")), sys.executable, "-I", "-c", PROBE]
    try:
        with tempfile.TemporaryFile() as shown:
            subprocess.run(command, stdout=shown, stderr=subprocess.DEVNULL, timeout=20, check=False)
            shown.seek(0)
            found = json.loads(shown.read(LIMIT))
    except (subprocess.TimeoutExpired, ValueError, RecursionError) as error:
        print(f"billing.periods cannot be used: {type(error).__name__}")
        return {}
    return found if isinstance(found, dict) and found.keys() == CALLS else {}


def expected(name: str, start: date, count: int) -> list[list[str]]:
    """What a function has to give."""
    if name == "monthly":
        months = [start.year * 12 + start.month - 1 + at for at in range(count + 1)]
        firsts = [date(month // 12, month % 12 + 1, 1) for month in months]
    else:
        firsts = [start + timedelta(days=LENGTHS[name] * at) for at in range(count + 1)]
    shift = timedelta(days=0 if name == "windows" else 1)
    return [[str(first), str(after - shift)] for first, after in pairwise(firsts)]


def right(call: str, value: object) -> bool:
    """Whether one call gave what it must."""
    if call == "next_month":
        return value == ["2031-01-01", "2032-03-01"]
    if call == "days_paid":
        return value == 8
    name, start, count = call.split()
    return value == expected(name, date.fromisoformat(start), int(count))


def lines(text: str) -> list[str]:
    """The lines that say something: blank ones and spaces at line ends are free."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def score() -> float:
    """The reward in 0..1."""
    text = content("CHANGES.md").decode("utf-8", "replace")
    same = digest_of("run_checks.py") == RUN_CHECKS
    found = given()  # after what is read here, which the solver's code could change while it runs
    wrong = sorted(call for call, value in found.items() if not right(call, value))
    fixed = bool(found) and not any(call.startswith("fortnightly") for call in wrong)
    others = bool(found) and all(call.startswith("fortnightly") for call in wrong)
    noted = ADDED.rstrip() in lines(text)
    clean = lines(text) in (lines(CHANGES), lines(CHANGES.replace(ADDED, "")))
    print(f"wrong calls: {wrong}")
    print(f"fixed: {fixed}, others as before: {others}, noted: {noted}, rest of CHANGES.md: {clean}, checks: {same}")
    return (fixed + noted) / 2 * (1.0 if others and clean and same else 0.5)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

"""Do the stored counts hold every shift once, written by the service, and was it stopped in the proper way?"""

import csv
import hashlib
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from workspace import digest_of, text

GIVEN = {
    "README.md": "f49d6fbf62fb0ca43b80958a2b12874763f6aa71abaa3b5e10bf5115e1b1aa2d",
    "service/tally.py": "fcddc11eebf70c666dc825cbeb39fbf030200a5ed77e07d572d60f715bed880e",
    "service/tell.py": "2dae198e9913de1fbdeaf76eeca91627f2dee3c7aa9f35313045233051fccdd6",
}
SHIFTS = "3e649b466eaabf1f76c44d349957f0f5b0fded3bb2f88e6fd74559631290a55a"
LOG = "17aedb27df0e87a53e26030b31dce4b4a5ad1924da11de5c77a25ff554a728e2"  # its first lines, as they were
LINES = 21


def all_shifts() -> str:
    """The nine shifts, whose digest has to be what it was."""
    whole = "".join(text(f"shifts/{number:02}.csv") for number in range(1, 10))
    assert hashlib.sha256(whole.encode()).hexdigest() == SHIFTS, "the shifts changed"
    return whole


def expected() -> Counter[str]:
    """The counts of all nine shifts."""
    counts: Counter[str] = Counter()
    for gate, count in csv.reader(all_shifts().splitlines()):
        if gate != "gate":
            counts[gate] += int(count)
    return counts


def counted() -> None:
    """The stored counts, and the service's own seal."""
    stored = json.loads(text("data/counts.json"))
    counts = stored["counts"]
    assert counts == expected(), f"the counts add up to {sum(counts.values())}"
    seal = hashlib.sha256(f"tally {stored['flushes']} {sorted(counts.items())}".encode()).hexdigest()[:16]
    assert stored["seal"] == seal, "the counts were not written by the service"


def total() -> None:
    """The number in total.txt, once the counts are right."""
    counted()
    assert text("total.txt").strip() == str(sum(expected().values())), "total.txt has another number"


def stopped() -> None:
    """The log goes on from what it was, has a start and loads in it, and ends with a flush and then a stop."""
    lines = text("data/tally.log").splitlines()
    assert hashlib.sha256("\n".join(lines[:LINES]).encode()).hexdigest() == LOG, "older lines changed"
    new = lines[LINES:]
    assert [line for line in new if line.startswith("loaded ")], "nothing was loaded"
    assert new[-1] == "stopped", "the service was not stopped"
    last = [line for line in new if re.match("loaded|flushed", line)][-1]
    assert last == "flushed", "the last shift was not flushed"
    assert not os.path.lexists("data/tally.sock"), "the service was not stopped"


def untouched() -> None:
    """The files that were given, by digest; no new ones."""
    for name, digest in GIVEN.items():
        assert digest_of(name) == digest, name
    all_shifts()
    found = {path.as_posix() for path in Path().rglob("*") if not path.is_dir() and "__pycache__" not in path.parts}
    known = {*GIVEN, *(f"shifts/{number:02}.csv" for number in range(1, 10)), "total.txt"}
    new = {name for name in found - known if not name.startswith("data/")}
    assert not new, f"new: {sorted(new)[:5]}"


GOALS = (counted, total, stopped)
KEPT = (untouched,)


def holds(check: Callable[[], None]) -> bool:
    """Whether a check passes; whatever stands in its way is the solver's."""
    try:
        check()
    except (AssertionError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__} {problem}")[:300])
        return False
    except subprocess.SubprocessError as problem:
        print(ascii(f"{check.__name__}: {type(problem).__name__}"))
        return False
    return True


verdict = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
verdict.write_text("0\n", encoding="utf-8")
reached = [holds(check) for check in GOALS]
kept = [holds(check) for check in KEPT]
verdict.write_text(f"{sum(reached) / len(reached) * (0.5 if False in kept else 1.0):.4f}\n", encoding="utf-8")

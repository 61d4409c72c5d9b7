"""Do exactly the right links point to the right release, and is the history one line longer?"""

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from workspace import digest_of, text

GIVEN = {
    "ROLLBACK.md": "796381c5addbc1ede41c6fca39cb52d653bb4f89c7990ed2fc4bf04739ce3dfc",
    "bin/health.py": "30c1cdc4802932a2c03f86cc2352015319d803d73c4848bc4be8823bd5bec44b",
}
TARGET = "srv/releases/r112"
MOVED = {
    "srv/current": TARGET,
    "srv/conf/app.conf": f"{TARGET}/app.conf",
    "srv/bin/web": f"{TARGET}/web.py",
    "srv/bin/worker": f"{TARGET}/worker.py",
}
STAYING = {
    "srv/bin/migrate": "srv/releases/r117/migrate.py",
    "srv/bin/report": "srv/releases/r108/report.py",
    "srv/previous": "srv/releases/r115",
}
HISTORY = "68e8d3efbeef353ff79e799f5936800ec662c164d3541e804f5ebda7b1475b61"  # without the new line
LINE = "2031-03-18 rolled-back r117 to r112"
RELEASES = "a2f7285c38c7c961611dea5a16721e86edaddb1d65cdb9eec78e4934aa121188"


def leads(links: dict[str, str]) -> None:
    """Each link is a relative one, and leads where it should."""
    for name, wanted in links.items():
        target = str(Path(name).readlink())
        found = os.path.normpath(Path(name).parent / target)
        right = found == wanted and not target.startswith("/")
        assert right, f"{name} leads to {target}"


def moved() -> None:
    """The links that a rollback concerns."""
    leads(MOVED)


def recorded() -> None:
    """The history, and the line about this rollback."""
    *before, last = text("srv/history.log").removesuffix("\n").split("\n")
    assert hashlib.sha256("\n".join(before).encode()).hexdigest() == HISTORY, "older lines changed"
    assert last.strip() == LINE, f"the last line is {last[:80]}"


def staying() -> None:
    """The links that stay."""
    leads(STAYING)


def untouched() -> None:
    """All other files, by digest; no new ones."""
    for name, wanted in GIVEN.items():
        assert digest_of(name) == wanted, name
    found = {path.as_posix() for path in Path().rglob("*") if not path.is_dir() or path.is_symlink()}
    found = {name for name in found if "__pycache__" not in name}
    releases = sorted(name for name in found if name.startswith("srv/releases/"))
    whole = "".join(f"{name} {digest_of(name)}\n" for name in releases)
    assert hashlib.sha256(whole.encode()).hexdigest() == RELEASES, "the releases changed"
    new = found - set(releases) - set(GIVEN) - set(MOVED) - set(STAYING) - {"srv/history.log"}
    assert not new, f"new: {sorted(new)[:5]}"


GOALS = (moved, recorded)
KEPT = (staying, untouched)


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

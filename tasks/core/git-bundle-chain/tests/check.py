"""Did the release arrive with everything on which it builds, and with nothing else?"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from repository import Repository
from workspace import text

REPOSITORY = "atlas"
RELEASE = "21c8a2e74d69c6789763cef7ef75376b6858c42c"
TAGS = {
    "refs/tags/v1.0": "1939965e7dac41141932cf079d0edf321b98bfa9",
    "refs/tags/v2.0": "c6f178762a8f20145e01b130d7eebbc7c79a0668",
}
USED = ["drop-14.bundle", "drop-07.bundle", "release.bundle"]
NUMBERS = (3, 5, 7, 11, 14, *range(21, 33))
FOUND = Repository(REPOSITORY)
git, files, staged, working_files = FOUND.git, FOUND.files, FOUND.staged, FOUND.working_files


def refs() -> dict[str, str]:
    """All refs with the objects that they name."""
    return dict(line.split() for line in git("for-each-ref", "--format=%(refname) %(objectname)").splitlines())


def released() -> None:
    """Main is the release, with every object that belongs to it."""
    assert refs().get("refs/heads/main") == RELEASE, "main is not the release"
    assert len(git("rev-list", "--objects", RELEASE).splitlines()) > 20


def tagged() -> None:
    """The tag of the release, as it stands in the bundle."""
    assert refs().get("refs/tags/v2.0") == TAGS["refs/tags/v2.0"], "v2.0 is not the tag of the bundle"


def used() -> None:
    """The bundles that were needed, in order."""
    found = text("used.txt").split()
    assert found == USED, f"used.txt says {found[:5]}"


def nothing_else() -> None:
    """No ref but main and the two tags, and nothing new beside the repository."""
    assert refs().keys() <= {"refs/heads/main", *TAGS}, f"refs are {sorted(refs())[:9]}"
    assert refs()["refs/tags/v1.0"] == TAGS["refs/tags/v1.0"]
    assert {path.name for path in Path().iterdir()} <= {"atlas", "incoming", "used.txt"}
    names = {path.name for path in Path("incoming").iterdir()}
    assert names == {"release.bundle", *(f"drop-{number:02}.bundle" for number in NUMBERS)}


def clean() -> None:
    """Main is checked out, and nothing is left uncommitted."""
    assert git("symbolic-ref", "HEAD") == "refs/heads/main"
    tree = files("refs/heads/main")
    assert staged() == tree, "something is staged"
    assert working_files() == tree, "something is left uncommitted"
    assert not [name for name in ("shallow", "MERGE_HEAD", "rebase-merge") if Path(REPOSITORY, ".git", name).exists()]


GOALS = (released, tagged, used)
KEPT = (nothing_else, clean)


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

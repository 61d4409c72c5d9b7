"""Does main hold the two commits that were asked for, then the newest one again, and nothing but that?"""

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from repository import Repository

REPOSITORY = "cellar"
BASE = "abb16c61d05ffdd5ffd651a4e8009428e6e2805a"
ODD, RUNA = "Odd|odd@cellar.example|2031-02-03T12:20:00+01:00", "Runa|runa@cellar.example|2031-02-03T13:20:00+01:00"
GUARD = ("826c7adb3b5a402449c3b62ad6f10eb11db7d7c1", ODD, "Guard against empty racks")
VINTAGE = ("51514826e3a7caf679c9d7e85906bb3341164eb2", ODD, "Say vintage instead of year")
WORTH = ("a3f95d9e2542ba7732d53b78370c8a1d07f8fa90", RUNA, "Tell what a bottle is worth\n\nAsked for by the insurance.")
REFS = {"refs/heads/review": "c6376338d2d7a0bdeb20bb6833b01ecd01ac5c3b"}
REFS["refs/tags/v1"] = REFS["refs/heads/review"]
FOUND = Repository(REPOSITORY)
git, files, staged, working_files = FOUND.git, FOUND.files, FOUND.staged, FOUND.working_files


@functools.cache
def commits() -> list[str]:
    """The commits of main after the last old one, oldest first; there have to be three, in one line."""
    found = git("rev-list", "--reverse", "--parents", f"{BASE}..refs/heads/main").splitlines()
    chain = [BASE, *(line.split()[0] for line in found)]
    straight = [line.split()[1:] for line in found] == [[parent] for parent in chain[:-1]]
    assert straight, "main does not go on from the last old commit in one line"
    assert len(found) == 3, f"there are {len(found)} commits"
    return chain[1:]


def is_commit(at: int, wanted: tuple[str, str, str]) -> None:
    """Tree, author with date, and message of one of the three."""
    found = git("log", "-1", "--format=%T%n%an|%ae|%aI%n%B", commits()[at]).split("\n", 2)
    assert found[0] == wanted[0], f"the files of {wanted[2][:30]} are not the right ones"
    assert found[1] == wanted[1], f"the author of {wanted[2][:30]} is {found[1]}"
    assert found[2].strip() == wanted[2], f"the message is {found[2][:80]}"


def guard() -> None:
    """What makes empty racks possible, alone."""
    is_commit(0, GUARD)


def vintage() -> None:
    """The rest of the mixed commit."""
    is_commit(1, VINTAGE)


def worth() -> None:
    """The newest commit, again."""
    is_commit(2, WORTH)


def other_refs() -> None:
    """No other branch, tag or stash than before, and the known ones where they were."""
    found = dict(line.split() for line in git("for-each-ref", "--format=%(refname) %(objectname)").splitlines())
    found.pop("refs/heads/main")
    assert found == REFS, f"refs are {sorted(found)[:9]}"


def clean() -> None:
    """Main is checked out, nothing is left uncommitted, and no operation is under way."""
    assert git("symbolic-ref", "HEAD") == "refs/heads/main"
    tree = files("refs/heads/main")
    assert staged() == tree, "something is staged"
    assert working_files() == tree, "something is left uncommitted"
    under_way = ("rebase-merge", "rebase-apply", "sequencer", "CHERRY_PICK_HEAD", "MERGE_HEAD", "REVERT_HEAD")
    assert not [name for name in under_way if Path(REPOSITORY, ".git", name).exists()]


GOALS = (guard, vintage, worth)
KEPT = (other_refs, clean)


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

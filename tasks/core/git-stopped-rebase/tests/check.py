"""Is the rebase finished as its rules say, commit by commit, and is the working tree what it was before?"""

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from repository import Repository

REPOSITORY = "press"
MAIN = "0b976442b18a7139b6275de1b44eb7c5c3fce6b9"
REFS = {"refs/heads/main": MAIN, "refs/tags/first": "1a25ae984c62e8383525344887d25d1f3e724300"}
NOTES = "01c57b748c4a3c57b87a8cce3767c40f80897dc5"
COMMITS = (
    ("5d0b76b941cf4bc3bc214d8ee02b1d615b2deb0c", "Aksel", "09", "Narrow the page, warm the ink"),
    ("841120e82f78b42f3c4ec301a5b011b5b63648cb", "Aksel", "10", "Run faster\n\nThe new rollers can take it."),
    ("384148ac1745c80ad002e75b0e7286800fd116ce", "Berit", "11", "Shorten the page, lighten the black"),
    ("b504e0c05558cf3b664e88423290c78a775a1483", "Aksel", "12", "Dry between runs"),
    ("5067978403b64fe3f5ac3adbb00b3904df56c2d9", "Berit", "13", "Fold crosswise"),
)
FOUND = Repository(REPOSITORY)
git, files, staged, working_files = FOUND.git, FOUND.files, FOUND.staged, FOUND.working_files


@functools.cache
def commits() -> list[str]:
    """The commits of layout after main, oldest first; there have to be five, in one line."""
    found = git("rev-list", "--reverse", "--parents", f"{MAIN}..refs/heads/layout").splitlines()
    chain = [MAIN, *(line.split()[0] for line in found)]
    straight = [line.split()[1:] for line in found] == [[parent] for parent in chain[:-1]]
    assert straight, "layout does not go on from main in one line"
    assert len(found) == len(COMMITS), f"there are {len(found)} commits"
    return chain[1:]


def are_right(first: int, last: int) -> None:
    """Files, author with date, and message of some of the commits."""
    for commit, wanted in list(zip(commits(), COMMITS, strict=True))[first:last]:
        tree, name, day, message = wanted
        found = git("log", "-1", "--format=%T%n%an|%ae|%aI%n%B", commit).split("\n", 2)
        assert found[2].strip() == message, f"a message is {found[2][:80]}"
        author = f"{name}|{name.lower()}@press.example|2031-05-06T{day}:05:00+02:00"
        assert found[1] == author, f"the author of {message[:20]} is {found[1]}"
        assert found[0] == tree, f"the files of {message[:20]} are not the right ones"


def picked_before() -> None:
    """What was settled stays, and the conflict is settled by the rules."""
    are_right(0, 3)


def dried() -> None:
    """The commit that the check complained about."""
    are_right(3, 4)


def folded() -> None:
    """The last one."""
    are_right(4, 5)


def notes() -> None:
    """What was put away is back, uncommitted, on the finished branch."""
    assert commits(), "not finished"
    assert working_files().get("notes.txt") == NOTES, "notes.txt differs"
    assert files("refs/heads/layout").get("notes.txt") != NOTES, "notes.txt was committed"


def other_refs() -> None:
    """No other branch, tag or stash, and the known ones where they were."""
    found = dict(line.split() for line in git("for-each-ref", "--format=%(refname) %(objectname)").splitlines())
    found.pop("refs/heads/layout")
    assert found == REFS, f"refs are {sorted(found)[:9]}"


def finished() -> None:
    """Layout is checked out, nothing is under way, and nothing but the notes is changed."""
    assert git("symbolic-ref", "HEAD") == "refs/heads/layout"
    under_way = ("rebase-merge", "rebase-apply", "sequencer", "CHERRY_PICK_HEAD", "MERGE_HEAD", "REVERT_HEAD")
    assert not [name for name in under_way if Path(REPOSITORY, ".git", name).exists()]
    tree = files("refs/heads/layout")
    assert staged() == tree, "something is staged"
    assert {**working_files(), "notes.txt": ""} == {**tree, "notes.txt": ""}, "files differ from the last commit"


GOALS = (picked_before, dried, folded, notes)
KEPT = (other_refs, finished)


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

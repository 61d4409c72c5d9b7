"""Does main hold the two commits that were asked for, then the newest one again, and nothing but that?"""

import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

REPOSITORY = "cellar"
BASE = "abb16c61d05ffdd5ffd651a4e8009428e6e2805a"
ODD, RUNA = "Odd|odd@cellar.example|2031-02-03T12:20:00+01:00", "Runa|runa@cellar.example|2031-02-03T13:20:00+01:00"
GUARD = ("826c7adb3b5a402449c3b62ad6f10eb11db7d7c1", ODD, "Guard against empty racks")
VINTAGE = ("51514826e3a7caf679c9d7e85906bb3341164eb2", ODD, "Say vintage instead of year")
WORTH = ("a3f95d9e2542ba7732d53b78370c8a1d07f8fa90", RUNA, "Tell what a bottle is worth\n\nAsked for by the insurance.")
REFS = {"refs/heads/review": "c6376338d2d7a0bdeb20bb6833b01ecd01ac5c3b"}
REFS["refs/tags/v1"] = REFS["refs/heads/review"]
SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))


def copied_file(source: str | Path, target: str | Path) -> None:
    """Copy a file of moderate size, so that anybody may read it.

    Raises:
        OSError: it is larger, or cannot be copied.
    """
    if Path(source).stat().st_size > 1 << 24:
        raise OSError("too large for this repository")
    shutil.copyfile(source, target)
    Path(target).chmod(0o644)


def bare_copy(source: Path) -> Path:
    """A repository of the objects, refs, HEAD and index of another: neither its configuration nor its hooks."""
    target = Path(tempfile.mkdtemp())
    target.chmod(0o755)
    for name in ("objects", "refs"):
        without = shutil.ignore_patterns("alternates")
        shutil.copytree(source / name, target / name, symlinks=True, ignore=without, copy_function=copied_file)
    for name in ("packed-refs", "HEAD", "index"):
        if (source / name).is_file():
            copied_file(source / name, target / name)
    (target / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n", encoding="utf-8")
    return target


@functools.cache
def copied() -> Path:
    """The one copy that all checks read."""
    return bare_copy(Path(REPOSITORY, ".git"))


def git(*arguments: str) -> str:
    """What git says of the copy."""
    command = [*SOLVER, "git", f"--git-dir={copied()}", "--no-replace-objects", *arguments]
    env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=20, check=True)
    return done.stdout.removesuffix("\n")


def files(tree: str) -> dict[str, str]:
    """The blobs of a tree by path."""
    lines = [line.split("\t") for line in git("ls-tree", "-r", tree).splitlines()]
    return {name: entry.split()[2] for entry, name in lines}


def working_files() -> dict[str, str]:
    """The blobs that the files in the working tree would be, by path."""
    found = {}
    for path in Path(REPOSITORY).rglob("*"):
        inner = path.relative_to(REPOSITORY)
        if inner.parts[0] == ".git" or "__pycache__" in inner.parts or (path.is_dir() and not path.is_symlink()):
            continue
        plain = path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20
        data = path.read_bytes() if plain else b""
        found[inner.as_posix()] = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return found


def staged() -> dict[str, str]:
    """The blobs in the index by path."""
    lines = [line.split("\t") for line in git("ls-files", "-s").splitlines()]
    return {name: entry.split()[1] for entry, name in lines}


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

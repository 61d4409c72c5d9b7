"""Is the lost commit's change on main, as one commit on top of what was there?"""

import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

REPOSITORY = "ledger"
LOST = "69f72c7a02b9681009a52ff6ec7e803421c0abe3"
TIP = "ced891008196da43317bdf9e8b7a8b286a10accd"
TREE = "9e11d0eaff1bbefe18f8b95d5961385c57943309"  # of TIP with the change of LOST
DRAFTS = "1c698bb53b0bebe2f1c3fff39b7fbde58404c6c9"
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


def recovered() -> None:
    """The file names the lost commit in full."""
    place = Path("recovered.txt")
    plain = place.is_file() and place.stat().st_size < 1 << 16
    assert plain, "recovered.txt is no file of moderate size"
    found = place.read_text(encoding="utf-8").strip().lower()
    assert found == LOST, f"recovered.txt says {found[:60]!r}"


def one_commit_on_top() -> None:
    """The tree is that of the old tip with the lost change, and the only parent is the old tip."""
    tree, parents = git("log", "-n", "1", "--format=%T|%P", "refs/heads/main").split("|")
    assert tree == TREE, f"the tree of main is {tree}"
    assert parents == TIP, f"the parents of main are {parents}"


def author_and_subject() -> None:
    """Both are those of the lost commit."""
    found = git("log", "-n", "1", "--format=%an|%ae|%s", "refs/heads/main")
    assert found == "Mara Lindqvist|mara@ledger.example|Round invoice totals half to even", found


def clean() -> None:
    """A new tip of main is checked out and nothing is left uncommitted."""
    assert git("rev-parse", "refs/heads/main") != TIP, "main has not moved"
    assert git("symbolic-ref", "HEAD") == "refs/heads/main"
    tree = files("refs/heads/main")
    assert staged() == tree, "something is staged"
    assert working_files() == tree, "something is left uncommitted"


def history() -> None:
    """What main had is still in it, and the drafts have not moved."""
    assert git("merge-base", TIP, "refs/heads/main") == TIP
    assert git("rev-parse", "refs/heads/mara/rounding") == DRAFTS


GOALS = (recovered, one_commit_on_top, author_and_subject, clean)
KEPT = (history,)

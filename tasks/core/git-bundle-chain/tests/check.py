"""Did the release arrive with everything on which it builds, and with nothing else?"""

import functools
import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

REPOSITORY = "atlas"
RELEASE = "21c8a2e74d69c6789763cef7ef75376b6858c42c"
TAGS = {
    "refs/tags/v1.0": "1939965e7dac41141932cf079d0edf321b98bfa9",
    "refs/tags/v2.0": "c6f178762a8f20145e01b130d7eebbc7c79a0668",
}
USED = ["drop-14.bundle", "drop-07.bundle", "release.bundle"]
NUMBERS = (3, 5, 7, 11, 14, *range(21, 33))
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
    state = os.lstat("used.txt")
    assert stat.S_ISREG(state.st_mode), "used.txt is no file"
    assert state.st_size < 1 << 16, "used.txt is too long"
    found = Path("used.txt").read_text(encoding="utf-8").split()
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

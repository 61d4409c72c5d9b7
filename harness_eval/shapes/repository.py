"""Git repositories that repair tasks are made from: copied once, checked out at a commit with their past alone."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from harness_eval.cache import cache_folder
from harness_eval.shapes.row import UnusableRow

_PATIENCE = 1800  # seconds for one command of git
_PROTOCOLS = "file:git:http:https:ssh"
_DEEPEST = 100  # packages one in the other that a test's name is looked up in
_lock = threading.Lock()


def mirrored(place: str, beside: Path, commit: str) -> Path:
    """Our own copy of a repository that has the commit; `place` is an address, or a folder relative to `beside`.

    Raises:
        UnusableRow: it cannot be had, or has no such commit.
    """
    _require_plain(place)
    source = place
    if "://" not in place and not place.startswith("git@"):
        source = os.path.realpath(beside / Path(place).expanduser())
    mirror = cache_folder() / "repositories" / hashlib.sha256(source.encode()).hexdigest()[:24]
    with _lock:
        if not (mirror / "HEAD").is_file():
            _clone(source, mirror)
        for wanted in ("+refs/heads/*:refs/heads/*", f"+{commit}:refs/kept/{commit}"):  # what no branch has, by itself
            if not _has(mirror, commit):
                _run(["fetch", "--quiet", "--force", "--", source, wanted], mirror)
    if not _has(mirror, commit):
        raise UnusableRow(f"{place} has no commit {commit[:40]}")
    return mirror


def _require_plain(place: str) -> None:
    """Refuse what git or the system would take for something else than an address or a path (`ext::` runs programs)."""
    first = place.partition("/")[0]
    if not place.isprintable() or "::" in first or (first.startswith(("-", "~")) and first != "~"):
        raise UnusableRow(f"{place[:60]!r} is no address or folder of a repository")


def _clone(source: str, mirror: Path) -> None:
    mirror.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unfinished-", dir=mirror.parent) as unfinished:
        _git(["clone", "--quiet", "--bare", "--", source, f"{unfinished}/copy"], mirror.parent)
        _git(["config", "uploadpack.allowAnySHA1InWant", "true"], Path(unfinished, "copy"))
        try:
            Path(unfinished, "copy").rename(mirror)
        except OSError:
            if not mirror.is_dir():  # else another process was faster
                raise


def _has(mirror: Path, commit: str) -> bool:
    return _run(["cat-file", "-e", f"{commit}^{{commit}}"], mirror).returncode == 0


def check_out(mirror: Path, commit: str, target: Path, depth: int | None) -> None:
    """A repository in `target` whose newest commit is this one: no later one, no tag, no remote, no reflog.

    Raises:
        UnusableRow: git fails.
    """
    full = _git(["rev-parse", "--verify", f"{commit}^{{commit}}"], mirror).strip()
    target.mkdir(parents=True)
    _git(["init", "--quiet", "--template=", "--initial-branch=main", "."], target)
    shallow = [f"--depth={depth}"] if depth else []
    _git(["fetch", "--quiet", "--no-tags", *shallow, mirror.as_uri(), full], target)
    _git(["update-ref", "refs/heads/main", full], target)
    _git(["reset", "--quiet", "--hard"], target)
    for left in ("FETCH_HEAD", "ORIG_HEAD", "logs", "hooks"):
        path = target / ".git" / left
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def require_applies(mirror: Path, commit: str, patch: str) -> None:
    """Raises UnusableRow where a patch cannot be applied to the commit."""
    with tempfile.TemporaryDirectory() as place:
        _apply(mirror, commit, patch, Path(place, "index"))


def hidden_tests(mirror: Path, commit: str, patch: str, tests: Sequence[str], target: Path) -> list[str]:
    """Write to `target` the test files as they are after the patch: those that it changes, and those that `tests` name.

    Returns:
        The paths of files that the patch removes.

    Raises:
        UnusableRow: the patch cannot be applied.
    """
    with tempfile.TemporaryDirectory() as place:
        index = Path(place, "index")
        _apply(mirror, commit, patch, index)
        env = {"GIT_INDEX_FILE": str(index)}
        changed = _git(["diff", "--cached", "--name-only", "--no-renames", "-z", commit], mirror, **env).split("\0")
        there = set(_git(["ls-files", "--cached", "-z"], mirror, **env).split("\0"))
        wanted = {name for name in changed if name} | {name for test in tests for name in _files_of(test, there)}
        target.mkdir(parents=True, exist_ok=True)
        kept = "\0".join(sorted(wanted & there))
        _git(["checkout-index", f"--prefix={target}/", "-z", "--stdin"], mirror, kept, GIT_WORK_TREE=place, **env)
    return sorted(wanted - there)


def _files_of(test: str, there: set[str]) -> set[str]:
    """The file that a test's name begins with: of a node id, or the module of a dotted name."""
    parts = test.split(".")[:_DEEPEST]
    modules = {"/".join(parts[:end]) + ".py" for end in range(1, len(parts))}
    return ({test.split("::", maxsplit=1)[0]} | modules) & there


def _apply(mirror: Path, commit: str, patch: str, index: Path) -> None:
    env = {"GIT_INDEX_FILE": str(index)}
    _git(["read-tree", commit], mirror, **env)
    if patch.strip():
        _git(["apply", "--cached", "--whitespace=nowarn", "-"], mirror, patch, **env)


def _git(arguments: Sequence[str], place: Path, given: str = "", **env: str) -> str:
    done = _run(arguments, place, given, **env)
    if done.returncode != 0:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
        raise UnusableRow(f"git {arguments[0]} fails: {said or done.returncode}")
    return os.fsdecode(done.stdout)


def _run(arguments: Sequence[str], place: Path, given: str = "", **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run git without the user's settings that change files, and without anything that asks or runs a hook."""
    settings = [
        "core.hooksPath=/dev/null",
        "core.autocrlf=false",
        "core.fsmonitor=false",
        "core.logAllRefUpdates=false",
    ]
    options = [word for setting in settings for word in ("-c", setting)]
    given_env = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C", **env}
    given_env["GIT_ALLOW_PROTOCOL"] = _PROTOCOLS
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    if (place / "HEAD").is_file():  # a bare one, which git may be told not to find by itself
        inherited["GIT_DIR"] = str(place)
    try:
        return subprocess.run(
            ["git", *options, *arguments],
            cwd=place,
            input=os.fsencode(given),
            capture_output=True,
            env={**inherited, **given_env},
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise UnusableRow(f"git {arguments[0]}: {error}") from error

"""Files as they were at a revision of the git repository that they stand in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from harness_eval.errors import ConfigError, last_words

_SECONDS = 60.0  # git reads a few small files
_OF_A_HOOK = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}  # inside a hook they may name another place


def commit_of(folder: Path, revision: str) -> str:
    """The full hash of the commit that a revision (branch, tag, hash) of the folder's repository means.

    Raises:
        ConfigError: no git, no repository, or no such revision.
    """
    if revision.startswith("-"):
        raise ConfigError(f"{revision}: is no revision: it begins with '-'")
    found = _git(folder, "rev-parse", "--show-toplevel")
    if found.returncode:
        raise ConfigError(f"{folder}: is in no git repository: {_said(found)}")
    found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.returncode:
        raise ConfigError(
            f"{folder}: no commit {revision!r} in its git repository (a shallow clone must fetch it first)"
        )
    return found.stdout.decode().strip()


def text_at(folder: Path, commit: str, name: str) -> str | None:
    """The text of a file of this folder at a commit; `name` is relative to the folder. None if there was none.

    Raises:
        ConfigError: the file cannot be read, or is not text in UTF-8.
    """
    listed = _git(folder, "ls-tree", "-z", commit, "--", f"./{name}")
    if listed.returncode:
        raise ConfigError(f"{folder / name}: cannot be read at {commit[:12]}: {_said(listed)}")
    mode, _, rest = listed.stdout.decode("utf-8", "replace").partition(" ")
    if not mode.startswith("100"):  # a regular file
        return None
    found = _git(folder, "cat-file", "blob", rest.split()[1])
    if found.returncode:
        raise ConfigError(f"{folder / name}: cannot be read at {commit[:12]}: {_said(found)}")
    try:
        return found.stdout.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{folder / name}: is not text in UTF-8 at {commit[:12]}") from None


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    kept = {key: value for key, value in os.environ.items() if key not in _OF_A_HOOK}
    asked = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env={**kept, **asked}, timeout=_SECONDS, check=False
        )
    except FileNotFoundError:
        raise ConfigError("git: is not installed; a revision cannot be read without it") from None
    except subprocess.TimeoutExpired:
        raise ConfigError(f"{folder}: git did not answer within {_SECONDS:g} s") from None
    except ValueError as error:  # a revision or name that no program can be given
        raise ConfigError(f"{folder}: git cannot be asked: {error}") from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join(last_words(done.stderr.decode("utf-8", "replace")).split()) or f"git ended with {done.returncode}"

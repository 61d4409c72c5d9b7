"""What git says of a copy of the solver's repository, without its configuration and hooks, which may name programs."""

import functools
import hashlib
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from workspace import content, is_plain

SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))


class Repository:
    """The repository in a folder of the working directory."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    @functools.cached_property
    def copy(self) -> Path:
        """A bare one with the objects, refs, HEAD and index of this one, as far as they are plain files in it."""
        source, target = self.folder / ".git", Path(tempfile.mkdtemp())
        inner = [path for name in ("objects", "refs") for path in (source / name).rglob("*")]
        for path in (*inner, *(source / name for name in ("packed-refs", "HEAD", "index"))):
            if is_plain(path) and path.name != "alternates":
                place = target / path.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content(path))
        for name in ("objects", "refs"):
            (target / name).mkdir(exist_ok=True)
        (target / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n", encoding="utf-8")
        for path in (target, *target.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return target

    def git(self, *arguments: str) -> str:
        """What git says of the copy.

        Raises:
            CalledProcessError: it fails.
        """
        command = [*SOLVER, "git", f"--git-dir={self.copy}", "--no-replace-objects", *arguments]
        env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=20, check=True)
        return done.stdout.removesuffix("\n")

    def files(self, tree: str) -> dict[str, str]:
        """The blobs of a tree by path."""
        lines = [line.split("\t") for line in self.git("ls-tree", "-r", tree).splitlines()]
        return {name: entry.split()[2] for entry, name in lines}

    def staged(self) -> dict[str, str]:
        """The blobs in the index by path."""
        lines = [line.split("\t") for line in self.git("ls-files", "-s").splitlines()]
        return {name: entry.split()[1] for entry, name in lines}

    def working_files(self) -> dict[str, str]:
        """The blobs that the files in the working tree would be, by path."""
        found = {}
        for path in self.folder.rglob("*"):
            inner = path.relative_to(self.folder)
            if inner.parts[0] == ".git" or "__pycache__" in inner.parts or (path.is_dir() and not path.is_symlink()):
                continue
            data = content(path)
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            found[inner.as_posix()] = blob if is_plain(path) else "no file"
        return found

"""Judges the commit on top of main and culprit.txt: 1 if all is right, a half if only the tree on top of main is."""

import json
import os
import resource
import shlex
import subprocess
import tempfile
from pathlib import Path

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))  # the repository may name programs of the solver's
SETTINGS = ("safe.directory=*", "core.hooksPath=/dev/null", "core.fsmonitor=false")


def text_of(name: str) -> str:
    """A file of the solver's; empty if it is missing, a link, or no text of sensible size."""
    path = Path(name)
    try:
        here = path.is_file() and path.resolve() == Path.cwd().resolve() / name
        return path.read_bytes().decode("utf-8") if here and path.stat().st_size < 1_000_000 else ""
    except (OSError, ValueError) as error:
        print(f"{name}: {error}")
        return ""


def limit() -> None:
    """No file that git or the solver's programs write grows beyond a few megabytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))


def git(*arguments: str) -> str | None:
    """What git says about the repository, without replaced objects and foreign configuration; None if it fails."""
    settings = [part for setting in SETTINGS for part in ("-c", setting)]
    command = [*SOLVER, "git", "-C", EXPECTED["project"], "--no-replace-objects", *settings, *arguments]
    environment = os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        with tempfile.TemporaryFile() as said:
            options = {"stdout": said, "stderr": subprocess.DEVNULL, "timeout": 15, "preexec_fn": limit}
            subprocess.run(command, env=environment, check=True, **options)
            said.seek(0)
            return said.read().decode("utf-8", "replace").strip()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"git {arguments[0]}: {type(error).__name__}")
        return None


def goals() -> dict[str, bool]:
    """What is wanted, and whether it is so."""
    found = (git("log", "-n", "1", "--format=%T|%P|%s", "refs/heads/main") or "").split("|", 2)
    tree, parents, subject = found if len(found) == 3 else ("", "", "")
    named = git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags") or ""
    head = git("rev-parse", "refs/heads/main")
    return {
        "tree": (tree, parents) == (EXPECTED["tree"], EXPECTED["tip"]),
        "subject": subject == EXPECTED["subject"],
        "culprit": text_of("culprit.txt").strip().lower() == EXPECTED["culprit"],
        "refs": sorted(named.splitlines()) == [f"refs/heads/main {head}", f"refs/tags/v1.0 {EXPECTED['tagged']}"],
        "checked out": git("symbolic-ref", "HEAD") == "refs/heads/main",
        "clean": git("status", "--porcelain", "--untracked-files=all") == "",
    }


reached = goals()
print(f"not so: {[name for name, good in reached.items() if not good]}")
reward = 1.0 if all(reached.values()) else 0.5 if reached["tree"] else 0.0
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

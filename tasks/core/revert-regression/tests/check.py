"""Judges the commit on top of main and culprit.txt: 1 if all is right, a half if only the tree on top of main is."""

import json
import os
import shlex
import subprocess
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


def git(*arguments: str) -> str:
    """What git says about the repository, without replaced objects and foreign configuration; empty if it fails."""
    options = [part for setting in SETTINGS for part in ("-c", setting)]
    command = [*SOLVER, "git", "-C", EXPECTED["project"], "--no-replace-objects", *options, *arguments]
    environment = os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=15, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"git {arguments[0]}: {str(error)[:200]}")
        return ""
    return done.stdout.decode("utf-8", "replace").strip()


def goals() -> dict[str, bool]:
    """What is wanted, and whether it is so."""
    found = git("log", "-n", "1", "--format=%T|%P|%s", "refs/heads/main").split("|", 2)
    tree, parents, subject = found if len(found) == 3 else ("", "", "")
    branches = git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    head = git("rev-parse", "refs/heads/main")
    return {
        "tree": (tree, parents) == (EXPECTED["tree"], EXPECTED["tip"]),
        "subject": subject == EXPECTED["subject"],
        "culprit": text_of("culprit.txt").strip().lower() == EXPECTED["culprit"],
        "refs": sorted(branches) == [f"refs/heads/main {head}", f"refs/tags/v1.0 {EXPECTED['tagged']}"],
        "checked out": git("symbolic-ref", "HEAD") == "refs/heads/main",
        "clean": head != "" and git("status", "--porcelain", "--untracked-files=all") == "",
    }


reached = goals()
print(f"not so: {[name for name, good in reached.items() if not good]}")
reward = 1.0 if all(reached.values()) else 0.5 if reached["tree"] else 0.0
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

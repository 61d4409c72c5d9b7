"""Do the hidden tests pass on what the solver left? What they are stands in expected.json beside this program.

A copy of the working directory gets the test files as they must be; in it the tests run, behind `AS_SOLVER` where there
is one. Solved means that every named test passes. A test runs in one process with the solver's code: what is written to
deceive its test runner can still do so; a program that ends early, or prints what looks like success, cannot. (Where
each test is a command of its own, what that prints is all there is to go by, and can be printed by the solver's code.)
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))
LARGEST = 50_000_000  # bytes of output that are looked at
PATIENCE = 300  # seconds for one step of the preparation
NO_RUNNER = "the test runner is not in this sandbox"
FIND = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
# Runs as the solver: makes files in the current folder what they must be, whatever stands in their place.
PLACE = """
import base64, json, os, shutil, sys
for name, (data, mode) in json.load(sys.stdin).items():
    parts = name.split("/")
    for above in ("/".join(parts[:n]) for n in range(1, len(parts))):
        if os.path.islink(above) or os.path.isfile(above):
            os.unlink(above)
    if os.path.isdir(name) and not os.path.islink(name):
        shutil.rmtree(name)
    elif os.path.lexists(name):
        os.unlink(name)
    if data is not None:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(base64.b64decode(data))
        os.chmod(name, mode)
"""


class Unfit(Exception):
    """What the solver left cannot be tested."""


def as_solver(
    command: list[str], place: Path, given: bytes = b"", seconds: float = PATIENCE
) -> tuple[int | None, bytes]:
    """Run a command as the solver; its exit code (None after the time) and the end of its output."""
    env = {name: value for name, value in os.environ.items() if name != "VERIFIER_DIR"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        try:
            done = subprocess.run(
                [*SOLVER, *command], cwd=place, stdin=source, stdout=out, timeout=seconds, env=env, check=False
            )
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = None
        out.seek(max(0, out.seek(0, os.SEEK_END) - LARGEST))
        return code, out.read()


def hidden_files(expected: dict[str, Any]) -> dict[str, tuple[bytes | None, int]]:
    """The test files as they must be, by path, with their modes; None for one that must be absent."""
    folder = HERE / "files"
    names = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    files = {
        str(path.relative_to(folder)): (path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
        for path in names
    }
    return {**files, **dict.fromkeys(expected["absent"], (None, 0)), **patched(expected)}


def patched(expected: dict[str, Any]) -> dict[str, tuple[bytes | None, int]]:
    """The files of a patch of tests, applied to those of the base commit, for an image that brings its own repository.

    The originals come from the solver's repository; what comes out is held to the hashes in the patch.
    """
    patch = HERE / "test.patch"
    if not patch.is_file():
        return {}
    place = Path(tempfile.mkdtemp())
    text = patch.read_bytes()
    old = {os.fsdecode(name) for name in re.findall(rb"(?m)^--- a/(.+?)\t?$", text)}
    new = {os.fsdecode(name) for name in re.findall(rb"(?m)^\+\+\+ b/(.+?)\t?$", text)}
    for name in old | set(expected["restored"]):
        code, data = as_solver(["git", "cat-file", "blob", f"{expected['base_commit']}:{name}"], Path.cwd())
        if code == 0:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
    env = {"PATH": os.environ.get("PATH", ""), "HOME": str(place), "GIT_CEILING_DIRECTORIES": str(place.parent)}
    command = ["git", "apply", "--whitespace=nowarn", str(patch)]
    if subprocess.run(command, cwd=place, env=env, check=False).returncode != 0:
        raise Unfit("the tests cannot be brought in: the base commit in the repository is not what it was")
    made = {name: place / name for name in old | new | set(expected["restored"])}
    files = {name: (path.read_bytes() if path.is_file() else None, 0o644) for name, path in made.items()}
    for name, wanted in re.findall(rb"(?m)^index [0-9a-f]+\.\.([0-9a-f]{7,40}).*\n--- .*\n\+\+\+ b/(.+?)\t?$", text):
        _hold(files, os.fsdecode(wanted), os.fsdecode(name))
    return files


def _hold(files: dict[str, tuple[bytes | None, int]], name: str, wanted: str) -> None:
    data = files.get(name, (None, 0))[0] or b""
    found = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    if not found.startswith(wanted):
        raise Unfit(f"the tests cannot be brought in: {name} is not what it was in the base commit")


def outcomes_in(output: bytes, token: str) -> dict[str, bool]:
    """What the line with the token says; nothing where there is none."""
    lines = [line for line in output.splitlines() if line.startswith(token.encode())]
    try:
        found = json.loads(lines[-1][len(token) :])
    except (IndexError, ValueError):
        print("the tests did not come to their end")
        return {}
    return found if isinstance(found, dict) else {}


def with_unittest(expected: dict[str, Any], work: Path, token: str) -> dict[str, bool]:
    """The outcomes of a run of unittest."""
    program = (HERE / "unittest_outcomes.py").read_text(encoding="utf-8")
    paths = [str(work / path) for path in expected["python_path"]]
    given = json.dumps({"tests": expected["tests"], "token": token, "python_path": paths}).encode()
    command = [sys.executable, "-I", "-B", "-c", program]
    return outcomes_in(as_solver(command, work, given, expected["seconds"])[1], token)


def with_pytest(expected: dict[str, Any], work: Path, token: str) -> dict[str, bool]:
    """The outcomes of a run of pytest, as its plugin tells them."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    plugin = (HERE / "pytest_outcomes.py").read_text(encoding="utf-8")
    (place / "pytest_outcomes.py").write_text(plugin, encoding="utf-8")
    paths = [str(place), *[str(work / path) for path in expected["python_path"]], os.environ.get("PYTHONPATH", "")]
    settings = {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTEST_PLUGINS": "pytest_outcomes",
        "PYTEST_ADDOPTS": f"--rootdir={work} -p no:cacheprovider",
        "OUTCOMES_TOKEN": token,
    }
    command = ["env", *[f"{name}={value}" for name, value in settings.items()], *command_of(expected)]
    return outcomes_in(as_solver(command, work, seconds=expected["seconds"])[1], token)


def command_of(expected: dict[str, Any]) -> list[str]:
    """The test command with the names of the tests, or of their files, in the place of {tests} or {files}."""
    tests = expected["tests"]
    lists = {"{tests}": tests, "{files}": sorted({test.split("::")[0] for test in tests})}
    return [word for part in shlex.split(expected["command"]) for word in lists.get(part, [part])]


def missing_runner(expected: dict[str, Any], work: Path) -> str | None:
    """The program or Python module that the test command begins with, where it is not there."""
    words = shlex.split(expected["command"])
    if not words:
        return None
    there = ["sh", "-c", 'command -v -- "$1" > /dev/null', "sh", words[0]]
    if as_solver(there, work)[0] != 0:
        return words[0]
    for at in range(1, len(words) - 1):
        if words[at] == "-m" and "python" in words[at - 1]:
            code, _ = as_solver([*words[:at], "-c", FIND, words[at + 1]], work)
            return words[at + 1] if code != 0 else None
    return None


def one_by_one(expected: dict[str, Any], work: Path) -> dict[str, bool]:
    """The outcomes of a command for each test: it ends with 0, and prints what a test that passes prints."""
    passed = {}
    for test in expected["tests"]:
        words = [part.replace("{test}", test) for part in shlex.split(expected["command"])]
        command = ["sh", "-c", 'exec "$@" 2>&1', "sh", *words]
        code, output = as_solver(command, work, seconds=expected["seconds"])
        passed[test] = code == 0 and re.search(expected["passed"], output.decode("utf-8", "replace")) is not None
    return passed


def solved(expected: dict[str, Any]) -> bool:
    """Whether all tests pass."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o777)
    work = place / "work"
    files = {
        name: (None if data is None else base64.b64encode(data).decode(), mode)
        for name, (data, mode) in hidden_files(expected).items()
    }
    as_solver(["cp", "-a", ".", str(work)], Path.cwd())
    if not work.is_dir():
        raise Unfit("the working directory cannot be copied")
    code, _ = as_solver([sys.executable, "-I", "-c", PLACE], work, json.dumps(files).encode())
    if code != 0:
        raise Unfit("the tests cannot be brought in")
    token = secrets.token_hex(16)
    if expected["runner"] == "each":
        passed = one_by_one(expected, work)
    else:
        passed = (with_pytest if expected["runner"] == "pytest" else with_unittest)(expected, work, token)
    missed = [test for test in expected["tests"] if passed.get(test) is not True]
    if missed and (runner := missing_runner(expected, work)):
        print(f"{NO_RUNNER}: {runner}")
    print(f"{len(expected['tests']) - len(missed)} of {len(expected['tests'])} tests pass", *missed[:20], sep="\n  ")
    return not missed


def main() -> None:
    """Judge, and write the reward."""
    reward = Path(os.environ.get("VERIFIER_DIR") or "/logs/verifier") / "reward.txt"
    reward.write_text("0\n", encoding="utf-8")
    try:
        right = solved(json.loads((HERE / "expected.json").read_text(encoding="utf-8")))
    except (Unfit, OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"not solved: {error}")
        right = False
    if right:
        reward.write_text("1\n", encoding="utf-8")


if __name__ == "__main__":
    main()

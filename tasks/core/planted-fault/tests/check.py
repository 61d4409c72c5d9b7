"""Judges the repaired module: hidden inputs, and nothing changed but the code of the faulty functions. 1 or 0."""

import json
import os
import resource
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
PROBE = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("probed", sys.argv[1])
module = importlib.util.module_from_spec(spec)
results = []
try:
    spec.loader.exec_module(module)
    for name, arguments in json.load(sys.stdin):
        try:
            results.append([getattr(module, name)(*arguments)])
        except Exception as error:
            results.append(str(error))
finally:
    sys.stdout.write("\\n" + json.dumps(results))
"""


def text_of(path: Path) -> str:
    """A file of the solver's; empty if it is missing, a link, or no text of sensible size."""
    try:
        here = path.is_file() and path.resolve() == Path.cwd().resolve() / path
        return path.read_bytes().decode("utf-8") if here and path.stat().st_size < 1_000_000 else ""
    except (OSError, ValueError) as error:
        print(f"{path}: {error}")
        return ""


def parts(module: str) -> list[str]:
    """The module cut before each function: what is in front, then each with all that follows it."""
    first, *rest = module.split("\ndef ")
    return [first, *("def " + part for part in rest)]


def kept(module: str) -> bool:
    """Whether every part but the faulty functions is as it was, and of those the heads and docstrings."""
    before, after = parts(EXPECTED["module"]), parts(module)
    if len(before) != len(after):
        return False
    for old, new in zip(before, after, strict=True):
        name = old.removeprefix("def ").split("(")[0]
        if name not in EXPECTED["faulty"] and old != new:
            return False
        if old.split("\n")[:2] != new.split("\n")[:2] or old[len(old.rstrip()) :] != new[len(new.rstrip()) :]:
            return False
    return True


def others() -> list[str]:
    """Files that were changed, removed or added, other than the module."""
    found = {
        path.as_posix(): text_of(path)
        for path in Path().rglob("*")
        if "__pycache__" not in path.parts and (path.is_symlink() or not path.is_dir())
    }
    found.pop(EXPECTED["file"], None)
    given = EXPECTED["given"]
    return sorted(name for name in {*found, *given} if found.get(name) != given.get(name))


def limit() -> None:
    """No file of the solver's code grows beyond a megabyte."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


def results(module: str) -> Any:
    """What the solver's functions give, run apart from here and as another user where there is one."""
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        copy = folder / "module.py"
        copy.write_bytes(module.encode())
        copy.chmod(0o644)
        command = [*shlex.split(os.environ.get("AS_SOLVER", "")), "python3", "-I", "-B", "-c", PROBE, str(copy)]
        given = json.dumps([case[:2] for case in EXPECTED["cases"]])
        with tempfile.TemporaryFile() as said:
            options = {"stdout": said, "stderr": subprocess.DEVNULL, "timeout": 30, "preexec_fn": limit}
            subprocess.run(command, input=given.encode(), cwd=folder, check=False, **options)
            said.seek(0)
            return json.loads(said.read().decode("utf-8", "replace").split("\n")[-1] or "null")
    except (OSError, ValueError, RecursionError, subprocess.SubprocessError) as error:
        print(f"the module cannot be tried: {str(error)[:200]}")
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def score() -> float:
    """The reward, 0 or 1."""
    module = text_of(Path(EXPECTED["file"]))
    touched, found = others(), results(module)
    wanted = [[case[2]] for case in EXPECTED["cases"]]
    right = json.dumps(found) == json.dumps(wanted)
    print(f"values right: {right}; the rest of the module kept: {kept(module)}; touched besides: {touched[:5]!a}")
    return 1.0 if right and kept(module) and not touched else 0.0


try:
    reward = score()
except (OSError, ValueError) as error:
    print(f"cannot be judged: {error}")
    reward = 0.0
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")

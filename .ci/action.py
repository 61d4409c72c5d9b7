"""Use the action as three jobs would, against the reference endpoint on this container's loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from composite import Composite, Ended, job

ACTION = Path(__file__).resolve().parents[1]
ARTIFACT = "gate"
_FORMS = {"check.json", "check.md", "junit.xml", "badge.json"}
_wrong: list[str] = []


def expect(true: bool, what: str) -> None:
    """Print what must be true, and remember it if it is not."""
    print(("  ok     " if true else "  WRONG  ") + what, flush=True)
    if not true:
        _wrong.append(what)


@contextmanager
def endpoint(program: Path, *couplings: str) -> Iterator[str]:
    """The reference endpoint at the address of the study."""
    planted = [f"--coupling={each}" for each in couplings]
    command = [str(program), "serve", "--port", "8199", *planted]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def use(environ: dict[str, str], **inputs: str) -> Ended:
    """The action in a checkout of this repository, as a step of a workflow uses it."""
    started = time.monotonic()
    given = {"study": "tests/ci/action.yaml", "changed": "suite", "sandbox": "local", "artifact": ARTIFACT}
    named = {name.replace("_", "-"): value for name, value in inputs.items()}
    ended = Composite(ACTION).run({**given, **named}, ACTION, environ)
    print(ended.printed, end="")
    print(f"  exit code {ended.exit_code} after {time.monotonic() - started:.0f} s, outputs {ended.outputs}")
    return ended


def judged(ended: Ended, verdict: str, exit_code: int) -> None:
    """What every check leaves behind, whatever its verdict."""
    folder = Path(ended.outputs["folder"])
    expect(ended.exit_code == exit_code, f"the step ends with {exit_code}")
    if ended.exit_code != exit_code:
        return
    expect(ended.outputs["verdict"] == verdict, f"the output verdict is {verdict}")
    expect(len(ended.outputs["said"].splitlines()) == 1, "the output said is one sentence")
    expect({each.name for each in folder.iterdir()} >= _FORMS, "all forms of the check are in the output folder")
    expect(json.loads((folder / "check.json").read_text())["verdict"] == verdict, "check.json has the verdict")
    red = any(True for _ in ElementTree.parse(folder / "junit.xml").iter("failure"))
    expect(red == (verdict == "fail"), f"junit.xml is {'red' if verdict == 'fail' else 'green'}")
    expect(verdict in ended.summary.lower(), "the job summary names the verdict")
    expect(("::error" in ended.printed) == (verdict == "fail"), "a failure, and nothing else, is annotated as an error")
    uploaded = ended.used["actions/upload-artifact@v7"]
    expect(uploaded["name"] == ARTIFACT and uploaded["path"] == str(folder), "that folder is uploaded")


def main() -> int:
    """The exit code: 0 where all is as it must be."""
    place = Path(tempfile.mkdtemp())
    environ = job(place) | {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "PYTHON"))}

    print("== a baseline that is not there", flush=True)
    ended = use(environ, baseline="tests/ci/absent.json")
    expect(ended.exit_code == 2, "the step ends with 2")
    expect("absent.json" in ended.printed, "it says which file is missing")
    expect(ended.outputs["verdict"] == "", "there is no verdict")

    program = Path(environ["RUNNER_TEMP"]) / "harness-eval/bin/harness-eval"
    for title, couplings, verdict, exit_code in (
        ("clean", (), "pass", 0),
        ("a coupling planted behind the same address", ("needs-todo=0.5",), "fail", 1),
    ):
        print(f"== {title}", flush=True)
        with endpoint(program, *couplings) as base_url:
            judged(use(environ, baseline="tests/ci/baseline.json", base_url=base_url), verdict, exit_code)
    return len(_wrong) > 0


if __name__ == "__main__":
    sys.exit(main())

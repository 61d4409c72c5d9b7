"""What it takes to resume a run of very many trials of which all, or all but some, are judged.

python -m benchmarks.resume
python -m benchmarks.resume --tasks 20 --harnesses 64 --repeats 780 --json          a million trials

The study is a real one of tiny tasks in local boxes; its results are made up, and nothing is owed, so that what is
measured is the resuming itself: the order of all trials, the counting of the folder's lines before and after.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

from benchmarks.report_scale import row_of
from harness_eval import allocating, recording, store
from harness_eval.planning import Study, record, resolve
from harness_eval.study import Agenda
from harness_eval.study_file import StudyConfig
from tests.doubles import make_task


class Unseen:
    """A watch that looks at nothing, whatever it is told."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


def study_in(place: Path, size: argparse.Namespace) -> Study:
    """A study of so many tasks, harnesses and repeats."""
    for number in range(size.tasks):
        make_task(place / "suite", f"task-{number:02d}")
    given = {
        "name": "resumed",
        "endpoints": [{"name": "served", "model": "m", "base_url": "http://127.0.0.1:9/v1", "scripted": True}],
        "tasks": {"suite": str(place / "suite")},
        "family": "whole",
        "design": {"kind": "random", "size": size.harnesses},
        "repeats": size.repeats,
        "sandbox": "local",
        "probe": False,
    }
    return resolve(StudyConfig.model_validate(given))


def fill(folder: Path, study: Study) -> None:
    """A verdict of each trial of the study, as the run's folder holds it."""
    drawn = random.Random(1)
    with store.open_run(folder, record(study)), (folder / store.RESULTS).open("wb") as lines:
        for key in study.keys:
            lines.write(recording.dump(row_of(key, drawn.random() < 0.7)) + b"\n")


def one(asked: argparse.Namespace) -> None:
    """Fill the folder, or resume the run that is there, in a process of its own."""
    place = Path(asked.one)
    study = study_in(place, asked)
    if asked.fill:
        return fill(place / "run", study)
    laps, begun = {"before": peak()}, time.process_time()
    laps["trials"] = len(study.keys)
    laps |= {"keys_seconds": time.process_time() - begun, "keys_mb": peak()}
    begun = time.process_time()
    ended = anyio.run(allocating.run, study, place / "run", Unseen(), Agenda())
    laps |= {"resume_seconds": time.process_time() - begun, "peak_mb": peak(), "judged": ended.judged}
    print(json.dumps(laps))
    return None


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(asked: argparse.Namespace) -> dict[str, Any]:
    sizes = [word for name in ("tasks", "harnesses", "repeats") for word in (f"--{name}", str(getattr(asked, name)))]
    with tempfile.TemporaryDirectory() as place:
        command: Sequence[str] = [sys.executable, "-m", "benchmarks.resume", "--one", place, *sizes]
        subprocess.run([*command, "--fill"], check=True)
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def told(found: dict[str, Any]) -> str:
    return (
        f"{found['trials']:,} trials, {found['judged']:,} judged: {found['keys_seconds']:.1f} s of the processor for "
        f"their order, {found['resume_seconds']:.1f} s to resume and end; {found['peak_mb']:.0f} MB at most "
        f"({found['before']:.0f} before, {found['keys_mb']:.0f} with the order)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("tasks", 20), ("harnesses", 64), ("repeats", 100)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--fill", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        return one(asked)
    found = measured(asked)
    print(json.dumps(found, indent=2) if asked.json else told(found))
    return None


if __name__ == "__main__":
    main()

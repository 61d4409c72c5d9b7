"""How long a report takes over very many trials, and how much memory, beside reading the same lines alone.

python -m benchmarks.report_scale
python -m benchmarks.report_scale --harnesses 64 --tasks 500 --repeats 3 --recorded 2000 --json
python -m benchmarks.report_scale --repeats 32 --recorded 0 --growth          a million lines, and bytes a line

The run is made up: each task with an ease of its own, one level of one axis that costs. `--recorded` trials have a
trajectory on disk, from which the page embeds what it has room for. `--growth` also measures a quarter of the repeats,
and states what each further line takes.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

from harness_eval import recording, store
from harness_eval.types import Action, Observation, Step, StopReason, ToolCall, Trajectory, TrialKey, Usage

LEVELS = {
    "protocol": ("native", "json-text", "xml-function"),
    "truncation": ("middle", "tail", "silent"),
    "context": ("full", "window", "clear-results"),
    "planning": ("unplanned", "todo", "plan-first"),
}
COSTLY = ("protocol", "json-text", 0.3)
STEPS = 6
MEASURED = {
    "reading the lines alone": "from harness_eval import store; sum(1 for _ in store.rows(folder))",
    "report": "from harness_eval.report import write; write(folder)",
}
_CHILD = """
import json, resource, time
from pathlib import Path
folder = Path({folder!r})
begun, used = time.perf_counter(), time.process_time()
{code}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([time.perf_counter() - begun, time.process_time() - used, peak]))
"""


def harnesses_of(count: int) -> list[dict[str, Any]]:
    drawn = random.Random(0)
    first = {axis: levels[0] for axis, levels in LEVELS.items()}
    others = [{axis: drawn.choice(levels) for axis, levels in LEVELS.items()} for _ in range(count - 1)]
    return [
        {"name": f"h{number:02d}" if number else "canonical", "id": f"{number:012x}", "version": "1", "labels": labels}
        for number, labels in enumerate([first, *others])
    ]


def write_run(folder: Path, size: argparse.Namespace) -> None:
    """A run's folder with planted results."""
    harnesses = harnesses_of(size.harnesses)
    tasks = [f"task-{number:03d}" for number in range(size.tasks)]
    study = {
        "name": "scale",
        "seed": 0,
        "endpoints": [{"name": "served", "model": "made-up"}],
        "tasks": [{"name": name, "suite": "made-up"} for name in tasks],
        "harnesses": harnesses,
        "canonical": "canonical",
        "repeats": size.repeats,
        "planned": size.tasks * size.harnesses * size.repeats,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / store.STUDY).write_text(json.dumps(study))
    drawn = random.Random(1)
    ease = {task: drawn.gauss(0.7, 0.25) for task in tasks}
    with (folder / store.RESULTS).open("wb") as lines:
        for repeat, task, harness in product(range(size.repeats), tasks, harnesses):
            cost = COSTLY[2] if harness["labels"][COSTLY[0]] == COSTLY[1] else 0.0
            row = row_of(TrialKey(task, harness["name"], "served", repeat), drawn.random() < ease[task] - cost)
            lines.write(recording.dump(row) + b"\n")
    record(folder, [TrialKey(task, harness["name"], "served", 0) for task in tasks for harness in harnesses], size)


def row_of(key: TrialKey, solved: bool) -> dict[str, Any]:
    return {
        "task": key.task,
        "harness": key.harness,
        "endpoint": key.endpoint,
        "repeat": key.repeat,
        "solved": solved,
        "score": float(solved),
        "failure": None,
        "stop": "finished",
        "labels": [] if solved else ["model.wrong_answer"],
        "turns": {"ok.tool_call": STEPS},
        "retried": {},
        "usage": {"prompt": 9000, "completion": 900, "reasoning": 200, "cached": 4000},
        "cost": 0.01,
        "seconds": 20.0,
        "acted": list(LEVELS),
        "steps": STEPS,
        "attempt": 1,
    }


def record(folder: Path, keys: list[TrialKey], size: argparse.Namespace) -> None:
    step = Step(
        Action("I look further.", "I think about it. " * 20, (ToolCall("c", "bash", {"command": "cat notes.txt"}),)),
        (Observation("a line of output\n" * 60, 1020),),
        Usage(1500, 150),
        3.0,
    )
    frame = Trajectory("You are an agent.", "Do the task.", (step,) * STEPS, StopReason.FINISHED)
    for key in keys[: size.recorded]:
        path = folder / store.TRAJECTORIES / recording.file_name(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(recording.pack(key, frame, {}))


def measured(folder: Path, code: str) -> dict[str, float]:
    """Seconds by the clock and of the processor, and the peak of memory in MB, in a process of its own."""
    source = _CHILD.format(folder=str(folder), code=code)
    done = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True)
    seconds, processor, peak = json.loads(done.stdout.splitlines()[-1])
    return {"seconds": seconds, "processor_seconds": processor, "peak_mb": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("harnesses", 64), ("tasks", 500), ("repeats", 3), ("recorded", 2000)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--json", action="store_true")
    size = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for recorded in dict.fromkeys((0, size.recorded)):
            folder = Path(place) / str(recorded)
            write_run(folder, argparse.Namespace(**{**vars(size), "recorded": recorded}))
            entry: dict[str, Any] = {name: measured(folder, code) for name, code in MEASURED.items()}
            entry["ratio"] = (
                entry["report"]["processor_seconds"] / entry["reading the lines alone"]["processor_seconds"]
            )
            entry["bytes"] = {path.name: path.stat().st_size for path in sorted(folder.glob("report.*"))}
            found[f"{recorded:,} trajectories"] = entry
        if size.growth:
            found["bytes a line"] = growth(Path(place), size, found["0 trajectories"])
    found["trials"] = size.harnesses * size.tasks * size.repeats
    print(json.dumps(found, indent=2) if size.json else told(found))


def growth(place: Path, size: argparse.Namespace, whole: dict[str, Any]) -> dict[str, float]:
    """Bytes of memory that each further line takes, from a run with a quarter of the repeats."""
    quarter = max(1, size.repeats // 4)
    write_run(place / "quarter", argparse.Namespace(**{**vars(size), "recorded": 0, "repeats": quarter}))
    lines = size.harnesses * size.tasks * (size.repeats - quarter)
    return {
        name: (whole[name]["peak_mb"] - measured(place / "quarter", code)["peak_mb"]) * 2**20 / lines
        for name, code in MEASURED.items()
    }


def told(found: dict[str, Any]) -> str:
    lines = [f"{found['trials']:,} trials"]
    for name, entry in found.items():
        if name == "trials":
            continue
        if name == "bytes a line":
            lines += ["", *(f"  {what:26}{grown:7.0f} bytes a further line" for what, grown in entry.items())]
            continue
        lines.append(f"\n{name}")
        for what in MEASURED:
            one = entry[what]
            lines.append(
                f"  {what:26}{one['seconds']:7.1f} s by the clock {one['processor_seconds']:7.1f} s of the processor"
                f" {one['peak_mb']:7.0f} MB at most"
            )
        lines.append(f"  {'report / reading':26}{entry['ratio']:7.1f}")
        lines.append("  " + ", ".join(f"{file} {size / 1e6:.2f} MB" for file, size in entry["bytes"].items()))
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""Thousands of trials at once, and a million lines: measures both and writes benchmarks/SCALE.md.

python -m benchmarks.scale                         some ten minutes on two quiet cores
python -m benchmarks.scale --quick --out /tmp/SCALE.md         without the million lines and with fewer trials

Each part has a command of its own: `benchmarks.in_flight`, `benchmarks.report_scale` and `benchmarks.resume`.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import in_flight, report_scale, resume

PAGE = Path(__file__).parent / "SCALE.md"
KINDS = ("local", "bubblewrap")
COMPARED = (
    "from harness_eval import report; report.write_comparison(report.compare(str(folder), str(folder)), folder.parent)"
)
MIB = 2**20
Found = dict[str, Any]


@dataclass
class Measured:
    """What was found. `lines` has, by what was done, the seconds of the processor and the peak in MB, twice: with a
    quarter of the lines and with all; `resumed` is what `benchmarks.resume` says."""

    flights: list[Found]
    boxes: dict[str, Found]
    counts: tuple[int, int] = (0, 0)
    lines: dict[str, tuple[Found, Found]] = field(default_factory=dict)
    resumed: Found | None = None
    latency: float = 3.0
    turns: int = 10


def measure(asked: argparse.Namespace) -> Measured:
    """All parts, one after the other; the parts with a million lines only where they are asked for."""
    words = ["--turns", str(asked.turns), "--latency", str(asked.latency)]
    options = in_flight.parsed(words)
    flights = [in_flight.flown(count, options) for count in asked.trials]
    boxes = {kind: in_flight.flown(asked.boxes, in_flight.parsed([*words, "--boxes", kind])) for kind in asked.kinds}
    found = Measured(flights, boxes, latency=asked.latency, turns=asked.turns)
    if asked.repeats:  # a study has at most a million trials, so the run that is resumed is a little smaller
        found.counts, found.lines = lines_of(asked)
        found.resumed = resume.measured(argparse.Namespace(tasks=20, harnesses=64, repeats=780 * asked.repeats // 32))
    return found


def lines_of(asked: argparse.Namespace) -> tuple[tuple[int, int], dict[str, tuple[Found, Found]]]:
    """A report and a comparison of 64 harnesses on 500 tasks, over so many repeats and a quarter of them."""
    done = {**report_scale.MEASURED, "two such runs compared": COMPARED}
    repeats = (max(1, asked.repeats // 4), asked.repeats)
    parts = []
    for number in repeats:
        size = argparse.Namespace(harnesses=64, tasks=asked.tasks, repeats=number, recorded=0)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "run"
            report_scale.write_run(folder, size)
            parts.append({what: report_scale.measured(folder, code) for what, code in done.items()})
    fewer, most = (64 * asked.tasks * number for number in repeats)
    return (fewer, most), {what: (parts[0][what], parts[1][what]) for what in done}


def page(found: Measured) -> str:
    """The page, with every number from what was measured."""
    slope, none, off = in_flight.line_through(found.flights)
    most = found.flights[-1]
    parts = [
        _BEGIN.format(
            cores=os.cpu_count(),
            python=platform.python_version(),
            turns=found.turns,
            low=found.latency / 2,
            high=found.latency * 1.5,
            flights="\n".join(map(_flight, found.flights)),
            slope=slope / 1000,
            none=none / MIB,
            off=off / MIB,
            share=off / most["peak_bytes"],
            lines=most["lines"],
            trajectories=most["trajectories"],
            lag=most["largest_lag_seconds"],
        )
    ]
    if found.boxes:
        parts.append(_BOXES.format(boxes="\n".join(_boxes(kind, each) for kind, each in found.boxes.items())))
    if found.resumed is None:
        parts.append("## A million lines\n\nLeft out of this measurement.\n")
    else:
        rows = [_line(what, found.counts, each) for what, each in found.lines.items()]
        parts += [_LINES.format(rows="\n".join(rows)), _RESUMED.format(**found.resumed)]
    return "\n".join(parts)


def _flight(found: Found) -> str:
    return (
        f"| {found['trials']:,} | {found['peak_bytes'] / MIB:.0f} MiB | {found['seconds']:.0f} | "
        f"{found['cpu_ms_per_turn']:.2f} ms | {found['descriptors']:,} | {found['threads']} |"
    )


def _boxes(kind: str, found: Found) -> str:
    alive = found["box_processes"] or 1
    return (
        f"| {kind} | {found['trials']:,} | {found['seconds']:.0f} | {found['largest_lag_seconds']:.1f} | "
        f"{found['peak_bytes'] / MIB:.0f} MiB | {found['box_processes']:,} | "
        f"{found['box_bytes'] / alive / MIB:.1f} MiB | {found['descriptors']:,} | {found['threads']} |"
    )


def _line(what: str, counts: tuple[int, int], each: tuple[Found, Found]) -> str:
    fewer, most = each
    grown = (most["peak_mb"] - fewer["peak_mb"]) * MIB / max(1, counts[1] - counts[0])
    return (
        f"| {what} | {most['processor_seconds']:.0f} of {counts[1]:,} lines | {most['peak_mb']:.0f} MB | "
        f"{fewer['peak_mb']:.0f} MB of {counts[0]:,} lines | {grown:.0f} |"
    )


_BEGIN = """# Thousands of trials at once, and a million lines

Written by `python -m benchmarks.scale`, on {cores} cores, Python {python}.

## Trials in flight in one process

{turns} turns a trial, a history that grows to 17 kB, replies after {low:g} to {high:g} s from a server in another
process; client, harness, agent, diagnosis and store are the real ones. Boxes are stand-ins without a process.
`python -m benchmarks.in_flight`.

| trials at once | peak of memory | seconds | CPU a turn | open files | threads |
|---:|---:|---:|---:|---:|---:|
{flights}

A straight line through the peaks: **{slope:.0f} kB a trial**, {none:.0f} MiB at none. The farthest peak is {off:.1f}
MiB off it ({share:.1%} of the highest peak). At the end of the largest run the folder held {lines:,} lines and
{trajectories:,} trajectories, each written and flushed when its trial ended. The event loop was behind by {lag:.1f} s
at most, when the first requests of all were made in one go.
"""

_BOXES = """## With real boxes

`python -m benchmarks.in_flight --boxes bubblewrap`. A box is started while no more than two a core are; that keeps the
event loop free where hundreds of trials begin at once.

| boxes | trials | seconds | loop behind (s) | memory of the runner | processes of boxes | each | files | threads |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{boxes}

A local box is one process, a bubblewrap box two, and while it is judged there is another box beside it. Their memory (a
Python interpreter each) is what limits how many trials fit on a machine. `run` raises its soft limit of open files as
far as it may, and says where that is too little. `concurrency` of a study and of an endpoint has no upper bound;
`replay` takes at most 256.
"""

_LINES = """## A report over a million lines

64 harnesses, no trajectories. `python -m benchmarks.report_scale`.

| | seconds of CPU | peak of memory | a quarter of it | bytes a further line |
|---|---:|---:|---:|---:|
{rows}

What is not bounded by the number of lines: each text that differs is kept once, so a million failures with a message of
its own each take up to 300 bytes more a line.
"""

_RESUMED = """## A run of a million trials, resumed

20 tasks, 64 harnesses, all of {trials:,} trials judged, nothing owed. `python -m benchmarks.resume`.

| | seconds of CPU | peak of memory |
|---|---:|---:|
| the order of all trials | {keys_seconds:.1f} | {keys_mb:.0f} MB |
| resumed and ended, each line read twice | {resume_seconds:.0f} | {peak_mb:.0f} MB |

A process that has done nothing yet takes {before:.0f} MB. What grows is a key a trial of the study; what the folder
holds is a bit a repeat.
"""


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[500, 1000, 2000], help="at once, with stand-ins")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--latency", type=float, default=3.0, help="mean seconds that a reply takes")
    parser.add_argument("--boxes", type=int, default=200, help="trials at once with real boxes")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS, help="of real boxes; none: left out")
    parser.add_argument("--tasks", type=int, default=500, help="of the report")
    parser.add_argument("--repeats", type=int, default=32, help="of the report: a million lines; 0: left out")
    parser.add_argument("--quick", action="store_true", help="fewer trials, and no million lines")
    parser.add_argument("--out", type=Path, default=PAGE)
    asked = parser.parse_args(given)
    if asked.quick:
        asked.trials, asked.boxes, asked.repeats = [50, 100, 200], 20, 0
    text = page(measure(asked))
    asked.out.write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()

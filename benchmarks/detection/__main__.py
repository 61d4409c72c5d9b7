"""How well a report finds what is planted: python -m benchmarks.detection [--quick].

Trials are remembered in `--bank`, so a run that was stopped goes on where it was. `--quick` does the first three seeds
on few tasks and prints the tables; the whole of it writes them to benchmarks/DETECTION.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.detection import checking
from benchmarks.detection.bank import Bank, fill, open_bank
from benchmarks.detection.judgement import Judgement, judgement, tied_axes
from benchmarks.detection.page import page
from benchmarks.detection.playing import Stage
from benchmarks.detection.reporting import Incomplete, why_of
from benchmarks.detection.studies import FAMILY, FEW, SEEDS, Case, cases, study_of
from harness_eval.cache import cache_folder
from harness_eval.family import load_family
from harness_eval.reference.coupling import COUPLINGS
from harness_eval.reference.scripts import load_scripts
from harness_eval.sandboxes import provider
from harness_eval.task import load_suite

TABLE = Path(__file__).parents[1] / "DETECTION.md"
BATCH = 28  # runs: those of one seed on one number of tasks
QUICK = 3  # seeds
PACE = 10.0  # seconds between two lines


def main() -> None:
    given = _arguments().parse_args()
    wanted = cases(SEEDS)
    if given.quick:
        wanted = [case for case in wanted if case.seed in SEEDS[:QUICK] and case.tasks == FEW]
    part, parts = map(int, given.part.split("/"))
    wanted = [case for case in wanted if case.seed % parts == part % parts]
    bank = open_bank(given.bank)
    if not given.as_it_is:
        run_trials(bank, wanted, given.workers)
    if parts > 1:
        return
    print(f"judging what the reports of {len(wanted)} runs say", flush=True)
    judged = judge(bank, wanted)
    checked = None if given.as_it_is else checking.check(bank, given.quick)
    text = page(judged, bank, checked)
    if given.quick or given.as_it_is:
        sys.stdout.write(text)
    else:
        TABLE.write_text(text)
        print(f"{TABLE} is written")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--as-it-is", action="store_true", help="run nothing; print the tables of what the bank holds")
    parser.add_argument("--bank", type=Path, default=cache_folder() / "detection")
    parser.add_argument("--workers", type=int, default=3, help="trials at once")
    parser.add_argument("--part", default="1/1", help="of the seeds, for processes beside each other: 1/2, 2/2")
    return parser


def run_trials(bank: Bank, wanted: Sequence[Case], workers: int) -> None:
    """Fill the bank batch by batch, the most important runs first."""
    stage = Stage(load_scripts([task.folder for task in load_suite("core")]), provider("auto"), bank.memory)
    for start in range(0, len(wanted), BATCH):
        runs = f"runs {start + 1} to {min(start + BATCH, len(wanted))} of {len(wanted)}"
        print(f"{runs}: looking up which of their trials the bank lacks", flush=True)
        fill(bank, stage, [study_of(case) for case in wanted[start : start + BATCH]], workers, _teller(runs, stage))


def _teller(runs: str, stage: Stage) -> Callable[[int, int], None]:
    """Prints how far these runs are: the first trial, the last, and now and then one between them."""
    begun = told = time.monotonic()

    def tell(done: int, most: int) -> None:
        nonlocal told
        now = time.monotonic()
        if done in (1, most) or now - told >= PACE:
            told = now
            print(f"{runs}: {done} of {most} trials, {now - begun:.0f} s; boxes so far: {stage.real}", flush=True)

    return tell


def judge(bank: Bank, wanted: Sequence[Case]) -> dict[Case, Judgement]:
    """What the report of each run says; runs that the bank does not have whole are left out."""
    family = load_family(str(FAMILY))
    tied = {name: tied_axes(family, axis) for name, kind in COUPLINGS.items() for axis in kind.hits}
    judged = {}
    for case in wanted:
        try:
            judged[case] = judgement(why_of(bank, study_of(case)), case.coupling, tied.get(case.coupling, ()))
        except Incomplete:
            continue
    return judged


if __name__ == "__main__":
    main()

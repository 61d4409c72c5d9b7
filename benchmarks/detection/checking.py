"""The bank against the real thing: runs by the command line, in boxes of their own and over HTTP, cell by cell."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from benchmarks.detection.bank import Bank, Wanted, outcomes
from benchmarks.detection.reporting import why_of
from benchmarks.detection.studies import FEW, Case, study_data, study_of
from harness_eval import store
from harness_eval.planning import REFERENCE, Study, record
from harness_eval.recording import dump
from harness_eval.reference.coupling import COUPLINGS
from harness_eval.report import build
from harness_eval.types import Json

_TASKS = 4  # of a run by the command line


@dataclass(frozen=True, slots=True)
class Checked:
    """Trials that were really run, those with the outcome that the bank has, and what differed; the same of reports."""

    runs: int
    trials: int
    same: int
    differing: tuple[str, ...]
    reports: int
    equal: int


def check(bank: Bank, quick: bool) -> Checked:
    """Run the agent with each coupling, and without, by the command line, and hold the bank against it.

    What was checked before is remembered in the bank.
    """
    sample = [Case("", 0.0, 1, _TASKS), *(Case(name, 0.5, 1, _TASKS) for name in COUPLINGS)]
    runs, trials, differing = sample[:: 4 if quick else 1], 0, []
    for case in runs:
        rows, wrong = _remembered(bank, case)
        trials += rows
        differing += wrong
    reports = [Case(case.coupling, case.strength, 1, FEW) for case in runs]
    equal = sum(_same_report(bank, case) for case in reports)
    return Checked(len(runs), trials, trials - len(differing), tuple(differing), len(reports), equal)


def _remembered(bank: Bank, case: Case) -> tuple[int, list[str]]:
    bank.trials.execute("CREATE TABLE IF NOT EXISTS checked (run TEXT PRIMARY KEY, found TEXT)")
    known = bank.trials.execute("SELECT found FROM checked WHERE run = ?", (repr(case),)).fetchone()
    if known is None:
        print(f"checking: harness-eval run with {case.coupling or 'nothing'} planted", flush=True)
        known = (json.dumps(_compared(bank, case)),)
        bank.trials.execute("INSERT INTO checked VALUES (?, ?)", (repr(case), *known))
        bank.trials.commit()
    rows, wrong = json.loads(known[0])
    return rows, wrong


def _compared(bank: Bank, case: Case) -> tuple[int, list[str]]:
    """How many trials there were, and those that differ from the bank."""
    known = {(task, harness): found for task, harness, found in outcomes(bank, study_of(case))}
    with tempfile.TemporaryDirectory() as folder:
        rows = _run(case, Path(folder))
    differing = []
    for row in rows:
        found = known[row["task"], row["harness"]]
        if isinstance(found, Wanted) or (found.score, found.acted) != (row["score"], frozenset(row["acted"])):
            differing.append(f"{case.coupling} {case.strength:g}, seed {case.seed}: {row['task']} {row['harness']}")
    return len(rows), differing


def _run(case: Case, folder: Path) -> list[store.Row]:
    (folder / "study.yaml").write_text(yaml.safe_dump(study_data(case)))
    command = ["harness_eval", "run", str(folder / "study.yaml"), "--out", str(folder / "run")]
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return list(store.latest(folder / "run"))


def _same_report(bank: Bank, case: Case) -> bool:
    """Whether the whole report says the same of the axes as the part of it that the benchmark works with."""
    study = study_of(case)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_run(bank, study, folder)
        whole, ours = build(folder), why_of(bank, study)
    return all(dump(_bare(whole[part])) == dump(_bare(ours[part])) for part in ("axes", "shares"))


def _bare(rows: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """Without what each figure rests on, which is added to them last."""
    return [{key: value for key, value in row.items() if key != "basis"} for row in rows]


def write_run(bank: Bank, study: Study, folder: Path) -> None:
    """A run's folder as the run itself would have left it, without trajectories."""
    (folder / store.STUDY).write_bytes(dump(record(study)))
    with (folder / store.RESULTS).open("wb") as lines:
        for task, harness, found in outcomes(bank, study):
            assert not isinstance(found, Wanted), "the bank is filled before"
            row = {**bank.row(found), "task": task, "harness": harness, "endpoint": REFERENCE, "repeat": 0}
            lines.write(dump(row) + b"\n")

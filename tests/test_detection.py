"""The suite measures itself: a coupling planted at full strength is found, and the uncoupled agent is not accused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness_eval.reference import couplings
from harness_eval.reference.coupling import COUPLINGS

# Long outputs, several goals and edits between them, so that each coupling has something to spoil.
TASKS = ["access-log-top", "changelog-compile", "fix-off-by-one", "needle-in-config"]
FOUND = [
    "native-calls-only",
    "trained-tool-names",
    "truncation-gives-up",
    "lost-after-compaction",
    "needs-thinking",
    "needs-todo",
    "never-submits",
]


def report_of(folder: Path, planted: dict[str, float], seed: int = 1) -> dict[str, Any]:
    study = {
        "name": "detection",
        "reference": {"couplings": planted},
        "tasks": {"suite": "core", "include": TASKS},
        "family": "demo",
        "design": {"kind": "orthogonal", "array": "L18(6^1 3^6)"},
        "limits": {"steps": 30},
        "seed": seed,
    }
    folder.mkdir()
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    command = [sys.executable, "-m", "harness_eval", "run", str(folder / "study.yaml"), "--out", str(folder / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "run" / "report.json").read_text())
    return found


def test_every_coupling_says_which_levels_it_hits() -> None:
    assert set(FOUND) < set(COUPLINGS), couplings.__doc__
    assert all(kind.hits for kind in COUPLINGS.values())


@pytest.mark.parametrize("name", FOUND)
def test_a_planted_coupling_is_found_in_the_worst_harness_and_on_its_axis(tmp_path: Path, name: str) -> None:
    report = report_of(tmp_path / "study", {name: 1.0})
    ((axis, planted),) = COUPLINGS[name].hits.items()
    assert report["shares"][0]["axis"] == axis
    assert report["axes"][0]["axis"] == axis
    canonical = next(row for row in report["harnesses"] if row["canonical"])
    usual = {"protocol": "native", "toolset": "shell-and-editor", "truncation": "middle", "context": "full"}
    usual |= {"thinking": "keep", "planning": "unplanned", "stopping": "no-call"}
    rows = {row["harness"]: {**usual, **row["differs"]} for row in report["harnesses"]}
    assert canonical["differs"] == {}
    # Four tasks are too few for a worst set, so the plain scores must say it.
    lowest = min(row["estimate"] for row in report["harnesses"])
    worst = [row["harness"] for row in report["harnesses"] if row["estimate"] == lowest]
    assert {rows[name][axis].partition("(")[0] for name in worst} <= set(planted)


def test_the_uncoupled_agent_solves_every_trial_and_no_axis_is_accused(tmp_path: Path) -> None:
    report = report_of(tmp_path / "study", {})
    assert report["trials"] == {**report["trials"], "judged": 72, "lost": 0}
    assert report["mean"]["estimate"] == 1.0
    assert {row["effect"] for row in report["axes"]} <= {0.0, None}


def test_one_seed_gives_the_same_verdicts_and_another_a_different_family(tmp_path: Path) -> None:
    planted = {"truncation-gives-up": 0.5}
    for name, seed in [("one", 3), ("again", 3), ("other", 4)]:
        report_of(tmp_path / name, planted, seed)
    one, again, other = (_verdicts(tmp_path / name / "run") for name in ("one", "again", "other"))
    assert one == again
    assert len(set(one.values())) == 2
    assert {harness for _, harness in one} != {harness for _, harness in other}


def _verdicts(folder: Path) -> dict[tuple[str, str], float]:
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return {(line["task"], line["harness_id"]): line["score"] for line in lines}

"""Every level of every axis acts at least once in a covering study of the whole family, and nothing breaks by it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import yaml

from harness_eval.family import load_family


def test_every_level_acts_in_a_covering_study_and_the_uncoupled_agent_solves_it(tmp_path: Path) -> None:
    study = {
        "name": "exposure",
        "reference": {},
        "tasks": {"suite": "core", "include": ["access-log-top", "fix-off-by-one"]},
        "family": "whole",
        "design": {"kind": "covering"},
        "limits": {"steps": 40},
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    command = [
        sys.executable,
        "-m",
        "harness_eval",
        "run",
        str(tmp_path / "study.yaml"),
        "--out",
        str(tmp_path / "run"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    planned = json.loads((tmp_path / "run" / "study.json").read_text())
    labels = {harness["name"]: harness["labels"] for harness in planned["harnesses"]}
    lines = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert len(lines) == planned["planned"]
    assert [line for line in lines if not line["solved"]] == []
    acted = {(axis, labels[line["harness"]][axis]) for line in lines for axis in line["acted"]}
    wanted = {(axis, level.label) for axis, levels in load_family("whole").axes.items() for level in levels}
    assert wanted <= acted

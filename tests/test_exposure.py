"""Every level of every axis acts at least once in a covering study of the whole family, and nothing breaks by it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.detection.bank import Kept, fill, open_bank, outcomes
from benchmarks.detection.playing import Stage
from harness_eval.family import load_family
from harness_eval.planning import resolve
from harness_eval.reference.scripts import load_scripts
from harness_eval.sandboxes import provider
from harness_eval.study_file import StudyConfig


def test_every_level_acts_in_a_covering_study_and_the_uncoupled_agent_solves_it(tmp_path: Path) -> None:
    # In this task all is met that a level acts on. Boxes of trials that do the same are opened once;
    # tests/test_reference_plays.py asks every level over HTTP.
    given = {
        "name": "exposure",
        "reference": {},
        "tasks": {"suite": "core", "include": ["log-root-cause"]},
        "family": "whole",
        "design": {"kind": "covering"},
    }
    study = resolve(StudyConfig.model_validate(given))
    bank = open_bank(tmp_path)
    stage = Stage(load_scripts([task.folder for task in study.tasks]), provider("auto"), bank.memory)
    fill(bank, stage, [study], 4, lambda *_: None)
    labels = {harness.name: harness.labels for harness in study.harnesses}
    acted, unsolved = set(), []
    for task, harness, found in outcomes(bank, study):
        if not isinstance(found, Kept) or found.score < 1:
            unsolved.append((task, harness))
        else:
            acted |= {(axis, labels[harness][axis]) for axis in found.acted}
    bank.close()
    assert unsolved == []
    wanted = {(axis, level.label) for axis, levels in load_family("whole").axes.items() for level in levels}
    assert wanted <= acted

"""A sample of `benchmarks/kills.py`: a run that is struck and resumed ends as one that was left in peace."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import pytest

from benchmarks import kills


def test_a_run_that_is_struck_and_resumed_ends_as_an_undisturbed_one(
    tmp_path: Path, calm: tuple[Path, dict[kills.TrialKey, kills.Verdict]]
) -> None:
    study, expected = calm
    (tmp_path / "struck").mkdir()
    run = kills.Run(tmp_path / "struck", study, ("--no-probe", "--limit", "2"), random.Random(7))
    kills.play(run, ["file size", "endpoint", "interrupt twice"])
    assert kills.faults(run, expected) == []
    assert run.struck.total() + run.missed.total() > 0


def test_the_page_names_every_strike_and_what_was_found() -> None:
    totals = kills.Totals(rounds=1, trials=8, faults=["round 1 (docker): lost: x"])
    totals.struck["docker", "engine"] = 2
    told = kills.page(totals, argparse.Namespace(strikes=2, seed=0, sandbox=["bubblewrap", "docker"]))
    assert "| engine |  | 2 | 2 |" in told
    assert "**Not as in the undisturbed run: 1.**" in told
    assert "- round 1 (docker): lost: x\n" in told


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[kills.TrialKey, kills.Verdict]]:
    """A small study, and what its undisturbed run has judged."""
    place = tmp_path_factory.mktemp("kills")
    study = kills.small_study(place, ["local"], repeats=1)
    (place / "calm").mkdir()
    run = kills.Run(place / "calm", study, ("--no-probe", "--limit", "2"), random.Random(0))
    kills.play(run, ())
    return study, kills.verdicts(run.folder)[0]

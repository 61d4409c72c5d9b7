"""A sample of `benchmarks/kills.py`: a run that is struck and resumed ends as one that was left in peace."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks import kills


@pytest.mark.parametrize("kind", ["file size", "interrupt twice"])
def test_a_run_that_is_struck_and_resumed_ends_as_an_undisturbed_one(
    kind: str, tmp_path: Path, calm: tuple[Path, dict[kills.TrialKey, kills.Verdict]]
) -> None:
    study, expected = calm
    (tmp_path / "struck").mkdir()
    run = kills.Run(tmp_path / "struck", study, ("--no-probe", "--limit", "2"), random.Random(7))
    kills.play(run, [kind])
    assert kills.faults(run, expected) == []


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[kills.TrialKey, kills.Verdict]]:
    """A small study, and what its undisturbed run has judged."""
    place = tmp_path_factory.mktemp("kills")
    study = kills.small_study(place, ["local"], repeats=1)
    (place / "calm").mkdir()
    run = kills.Run(place / "calm", study, ("--no-probe", "--limit", "2"), random.Random(0))
    kills.play(run, ())
    return study, kills.verdicts(run.folder)[0]

"""The measurement of scale, very small: every part runs, and the page holds what was found."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from benchmarks import in_flight, report_scale, resume, scale

FLIGHT = ["--trials", "2", "4", "--turns", "2", "--latency", "0.02", "--boxes", "2", "--kinds", "local"]


def test_one_command_measures_and_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scale.main([*FLIGHT, "--repeats", "0", "--out", str(tmp_path / "SCALE.md")])
    told = (tmp_path / "SCALE.md").read_text()
    assert told == capsys.readouterr().out
    assert "the folder held 4 lines and\n4 trajectories" in told
    assert "| local | 2 |" in told
    assert "Left out of this measurement" in told


def test_the_page_holds_what_a_report_and_a_resumed_run_took(tmp_path: Path) -> None:
    report_scale.write_run(tmp_path, argparse.Namespace(harnesses=2, tasks=2, repeats=1, recorded=0))
    read = report_scale.measured(tmp_path, report_scale.MEASURED["reading the lines alone"])
    again = resume.measured(argparse.Namespace(tasks=1, harnesses=2, repeats=3))
    flight = {"trials": 4, "peak_bytes": 1 << 26, "seconds": 1.0, "cpu_ms_per_turn": 1.0, "largest_lag_seconds": 0.0}
    flight |= {"descriptors": 9, "threads": 2, "lines": 4, "trajectories": 4}
    lines = {"reading the lines alone": ({**read, "peak_mb": read["peak_mb"] - 1}, read)}
    told = scale.page(scale.Measured([flight, {**flight, "trials": 8}], {}, (0, 2**20), lines, again))
    assert " of 1,048,576 lines | " in told
    assert told.count(" MB of 0 lines | 1 |\n") == 1
    assert "all of 6 trials judged" in told


def test_the_line_through_peaks_says_how_far_the_farthest_is_off() -> None:
    found = [{"trials": count, "peak_bytes": 100 + 3 * count} for count in (10, 20, 40)]
    assert in_flight.line_through(found) == pytest.approx((3, 100, 0), abs=1e-6)
    found[1]["peak_bytes"] += 14
    assert in_flight.line_through(found)[2] == pytest.approx(9)

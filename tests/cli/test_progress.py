"""How a run is shown while it goes on."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from harness_eval.cli.progress import Progress
from harness_eval.runner import Spending
from harness_eval.types import Lost, Result, TrialKey, Usage, Verdict

KEY = TrialKey("t", "h", "e")


def counted() -> Progress:
    progress = Progress()
    progress.begin(planned=10, judged=4, solved=3, owed={"e": 6}, spending=Spending())
    for result in (
        Result(KEY, "a", Verdict(1.0)),
        Result(KEY, "a", Verdict(0.5)),
        Result(KEY, "a", failure=Lost("task", "?")),
    ):
        progress.ended(result)
    return progress


def test_the_line_counts_what_was_done_before_and_now() -> None:
    line = counted().line()
    assert line.startswith("7/10 trials, 4 solved, 1 lost, ")
    assert line.endswith(" left")


def test_the_line_says_what_was_used_and_how_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", iter([1.0, 10.0, 130.0]).__next__)
    progress = Progress()
    spending = Spending(tokens=500_000, money=1.0, most_money=10.0)
    progress.begin(planned=6, judged=2, solved=2, owed={"e": 4}, spending=spending)
    for result in 2 * [Result(KEY, "a", Verdict(1.0), usage=Usage(1_000_000, 250_000), cost=1.25)]:
        spending.add(result)
        progress.ended(result)
    assert progress.line() == "4/6 trials, 4 solved, 0 lost, 3.0 M tokens, $3.50 of $10.00, 1.0/min, 2 min 0 s left"


def test_the_time_left_is_that_of_the_slowest_endpoint_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", iter([1.0, *[float(10 * each) for each in range(1, 9)]]).__next__)
    progress = Progress()
    progress.begin(planned=30, judged=0, solved=0, owed={"quick": 10, "slow": 10, "dead": 10}, spending=Spending())
    for endpoint in ("quick",) * 9 + ("slow",):
        progress.ended(Result(TrialKey("t", "h", endpoint), "a", Verdict(1.0)))
    assert " left" not in progress.line(), "of one that has ended no trial nothing is known"
    progress.fallen("dead", "gone")
    assert progress.line().endswith(" 3 min 0 s left")
    for _ in range(9):
        progress.ended(Result(TrialKey("t", "h", "slow"), "a", failure=Lost("endpoint", "?")))
    assert progress.line().endswith(", 38.0/min, 3 s left")


def test_what_all_endpoints_have_in_common_is_one_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", iter([1.0, 10.0, 30.0]).__next__)
    progress = Progress()
    progress.begin(planned=4, judged=0, solved=0, owed={"": 4}, spending=Spending())
    for endpoint in ("a", "b"):
        progress.ended(Result(TrialKey("t", "h", endpoint), "a", Verdict(1.0)))
    assert progress.line().endswith(" 20 s left")


def test_an_interruption_says_at_once_how_to_resume_and_the_end_nothing_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Progress("Resume with\n  harness-eval run") as progress:
        progress.begin(planned=1, judged=0, solved=0, owed={"e": 1}, spending=Spending())
        progress.stopping()
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:] == [
        "stopping; what is judged is kept. Ctrl-C again leaves at once. Resume with",
        "  harness-eval run",
    ]


def test_before_the_first_trial_the_line_tells_of_the_proofs() -> None:
    assert Progress().line() == "proving the tasks' own solutions: 0 done"


def test_without_a_terminal_the_last_line_is_plain() -> None:
    code = "from tests.cli.test_progress import counted\nwith counted(): pass"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout == ""
    assert done.stderr.startswith("7/10 trials")
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr


def test_in_a_terminal_one_line_is_drawn_again_and_again() -> None:
    leader, follower = pty.openpty()
    code = "import time\nfrom tests.cli.test_progress import counted\nwith counted(): time.sleep(0.6)"
    done = subprocess.run([sys.executable, "-c", code], stderr=follower, check=True, env=environment())
    os.close(follower)
    drawn = os.read(leader, 100_000).decode()
    os.close(leader)
    assert done.returncode == 0
    assert drawn.count("7/10 trials") >= 2
    assert "\x1b[" in drawn


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}

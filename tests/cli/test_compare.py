"""`harness-eval compare`: two real runs of a scripted agent, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval.types import Reply, Request, Usage
from tests.cli.conftest import Said
from tests.doubles import solve
from tests.report.synthetic import Plan, write_run
from tests.runs import recorded

Run = Callable[..., Said]


def all_but_beta(request: Request) -> Reply:
    """Works, but says at once that it is done where the task is beta."""
    if "beta" in str(request.messages):
        return Reply("Done.", finish_reason="stop", usage=Usage(60, 5))
    return solve(request)


def test_two_real_runs_show_the_task_that_fell(suite: Path, tmp_path: Path, harness_eval: Run) -> None:
    before = recorded(suite, solve).rename(tmp_path / "before")
    after, out = recorded(suite, all_but_beta), tmp_path / "out"
    said = harness_eval("compare", before, after, "--json", "--out", out)
    assert said.code == 0, said.err
    assert [(row["task"], row["before"], row["after"]) for row in said.json["tasks"]["rows"]] == [("beta", 1.0, 0.0)]
    assert said.json["harnesses"][0]["change"]["estimate"] == pytest.approx(-1 / 3)
    assert {path.name for path in out.iterdir()} == {"comparison.md", "comparison.html", "comparison.json"}
    assert "comparison.html" in said.err
    text = harness_eval("compare", before, after).out
    assert "Both runs are of the scripted agent, not of a language model." in text
    assert "100.0 % → 0.0 %" in text


def test_endpoints_are_named_with_the_run_or_for_both(tmp_path: Path, harness_eval: Run) -> None:
    run = write_run(tmp_path / "run", Plan(tasks=5, harnesses=2, endpoints=("left", "right")))
    said = harness_eval("compare", f"{run}:left", run, "--endpoint", "right")
    assert said.code == 0
    assert "model-left at left" in said.out
    assert "model-right at right" in said.out


def test_what_cannot_be_compared_is_one_line_and_two(tmp_path: Path, harness_eval: Run) -> None:
    run = write_run(tmp_path / "run", Plan(tasks=5, harnesses=2, endpoints=("left", "right")))
    for second, told in ((tmp_path, "no study.json here"), (run, "name one: RUN:NAME")):
        said = harness_eval("compare", f"{run}:left", second)
        assert said.code == 2
        assert said.err.startswith("error: ")
        assert told in said.err
        assert said.err.count("\n") == 1

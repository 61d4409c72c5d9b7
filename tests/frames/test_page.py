"""The page on data frames: its run is made, its code is executed, and what it says comes out."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness_eval.cli import run as command
from harness_eval.frames.columns import COLUMNS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "dataframes.md"


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the page's code has defined, once it has run from the first block to the last."""
    folder, before = tmp_path_factory.mktemp("page"), Path.cwd()
    names: dict[str, Any] = {}
    os.chdir(folder)
    try:
        for block in _blocks("yaml"):
            name = block.partition("\n")[0].removeprefix("# ")
            Path(name).write_text(block)
        flags = ["study.yaml", "--out", "runs/frames", "--no-probe", "--sandbox", "local"]
        done = CliRunner().invoke(command.app, flags, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        for block in _blocks("python"):
            exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102
    finally:
        os.chdir(before)
    return names


def test_the_level_that_costs_most_is_the_planted_one(said: dict[str, Any]) -> None:
    assert said["worst_level"] == ("axis.truncation", "head(cap=2500)")
    assert said["costs"] == {
        ("axis.planning", "todo"): 0.0,
        ("axis.truncation", "head(cap=2500)"): 1.0,
        ("axis.truncation", "tail(cap=2500)"): 1.0,
    }


def test_cuts_precede_failures(said: dict[str, Any]) -> None:
    assert said["solved_by_cut"]["mean"].to_dict() == {False: 1.0, True: 0.0}
    assert said["solved_by_cut"]["size"].sum() == 12
    trials = said["trials"]
    assert said["ended_right_after"] == 3 < trials.steps[trials.solved].min()


def test_what_was_not_solved_has_an_owner_and_a_size(said: dict[str, Any]) -> None:
    spent, trials = said["spent"], said["trials"]
    assert spent.index.tolist() == ["model"]
    assert spent.trials["model"] == (~trials.solved).sum()
    assert spent.tokens["model"] == trials.tokens[~trials.solved].sum() > 0
    assert spent.cost.isna().all()
    assert 0 < said["share"] < 1


def test_datasets_reads_the_lines_and_takes_the_frames(said: dict[str, Any]) -> None:
    assert said["lines"].num_rows == said["dataset"].num_rows == 12
    assert sorted(said["lines"]["task"]) == sorted(said["dataset"]["task"])
    steps = said["run"].to_dataset("steps")
    assert steps.num_rows == len(said["steps"])


def test_the_page_names_every_column() -> None:
    page = PAGE.read_text()
    assert not [name for columns in COLUMNS.values() for name in columns if f"`{name}`" not in page]

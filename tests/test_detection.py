"""The suite measures itself: a coupling planted at full strength is found, and the uncoupled agent is not accused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.detection.bank import Bank, Kept, fill, open_bank, outcomes
from benchmarks.detection.judgement import judgement, tied_axes
from benchmarks.detection.playing import Stage
from benchmarks.detection.reporting import why_of
from benchmarks.detection.studies import FAMILY, FEW, Case, cases
from benchmarks.detection.studies import study_data as study_data_of
from harness_eval import store
from harness_eval.family import load_family
from harness_eval.planning import Study, resolve
from harness_eval.reference import couplings
from harness_eval.reference.coupling import COUPLINGS
from harness_eval.reference.scripts import load_scripts
from harness_eval.sandboxes import provider
from harness_eval.study_file import StudyConfig

# Long outputs, several goals and edits between them, so that each coupling has something to spoil.
TASKS = ["access-log-top", "changelog-compile", "fix-off-by-one", "needle-in-config"]
RUN = ["access-log-top", "fix-off-by-one"]
FOUND = [name for name in COUPLINGS if name != "wanders-with-many-tools"]  # the demo family offers no tools in excess


def study_data(planted: dict[str, float], seed: int = 1) -> dict[str, Any]:
    return {
        "name": "detection",
        "reference": {"couplings": planted},
        "tasks": {"suite": "core", "include": TASKS},
        "family": "demo",
        "design": {"kind": "orthogonal", "array": "L18(6^1 3^6)"},
        "limits": {"steps": 30},
        "sandbox": "local",
        "seed": seed,
    }


@cache
def study(name: str = "", strength: float = 1.0, seed: int = 1) -> Study:
    return resolve(StudyConfig.model_validate(study_data({name: strength} if name else {}, seed)))


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """All trials of these tests, each of them run once."""
    opened = open_bank(tmp_path_factory.mktemp("bank"))
    stage = Stage(load_scripts([task.folder for task in study().tasks]), provider("auto"), opened.memory)
    wanted = [study(), *(study(name) for name in FOUND), study("truncation-gives-up", 0.5)]
    fill(opened, stage, wanted, 4, lambda *_: None)
    yield opened
    opened.close()


def scores(bank: Bank, of: Study) -> dict[tuple[str, str], float]:
    found = {(task, harness): each for task, harness, each in outcomes(bank, of)}
    return {cell: each.score for cell, each in found.items() if isinstance(each, Kept)}


def test_every_coupling_says_which_levels_it_hits() -> None:
    assert len(FOUND) == len(COUPLINGS) - 1, couplings.__doc__
    assert all(kind.hits for kind in COUPLINGS.values())


@pytest.mark.parametrize("name", FOUND)
def test_a_planted_coupling_is_found_in_the_worst_harness_and_on_its_axis(bank: Bank, name: str) -> None:
    planted = study(name)
    ((axis, levels),) = COUPLINGS[name].hits.items()
    why = why_of(bank, planted)
    assert why["shares"][0]["axis"] == axis
    assert why["axes"][0]["axis"] == axis
    # Four tasks are too few for a worst set, so the plain scores must say it.
    total = {harness.name: 0.0 for harness in planted.harnesses}
    for (_, harness), score in scores(bank, planted).items():
        total[harness] += score
    lowest = min(total.values())
    worst = [harness for harness in planted.harnesses if total[harness.name] == lowest]
    assert {harness.levels[axis].level_name() for harness in worst} <= set(levels)


def test_the_uncoupled_agent_solves_every_trial_and_no_axis_is_accused(bank: Bank) -> None:
    assert list(scores(bank, study()).values()) == [1.0] * 72
    assert {row["effect"] for row in why_of(bank, study())["axes"]} <= {0.0, None}


def test_the_bank_has_what_a_run_by_the_command_line_finds(bank: Bank, tmp_path: Path) -> None:
    given = study_data({"truncation-gives-up": 0.5})
    given["tasks"]["include"] = RUN
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(given))
    command = ["harness_eval", "run", str(tmp_path / "study.yaml"), "--out", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {(row["task"], row["harness"]): row["score"] for row in store.latest(tmp_path / "run")}
    assert found == {
        cell: score for cell, score in scores(bank, study("truncation-gives-up", 0.5)).items() if cell[0] in RUN
    }
    assert len(set(found.values())) == 2


def test_another_seed_is_a_different_family() -> None:
    ids = [{harness.id for harness in study(seed=seed).harnesses} for seed in (1, 2)]
    assert ids[0] != ids[1]


def _level(axis: str, level: str, effect: float, p: float) -> dict[str, Any]:
    return {"axis": axis, "level": level, "effect": effect, "p_adjusted": p}


def _share(axis: str, p: float) -> dict[str, Any]:
    return {"axis": axis, "share": 0.5, "p_adjusted": p}


def test_a_coupling_counts_as_found_when_its_axis_leads_and_a_level_that_it_hits_stands_out_first() -> None:
    why = {"axes": [_level("context", "summary(window=2500)", -0.4, 0.01)], "shares": [_share("context", 0.01)]}
    found = judgement(why, "lost-after-compaction")
    assert (found.axis, found.level, found.accused, found.named) == (True, True, (), "context = summary(window=2500)")


@pytest.mark.parametrize(
    ("level", "effect", "found"),
    [("todo", 0.8, True), ("todo", -0.8, False), ("plan-first", 0.8, False), ("plan-first", -0.8, True)],
)
def test_where_the_canonical_level_is_hit_a_spared_level_that_gains_is_the_right_one(
    level: str, effect: float, found: bool
) -> None:
    why = {"axes": [_level("planning", level, effect, 0.01)], "shares": [_share("planning", 0.01)]}
    assert judgement(why, "needs-todo").level == found


@pytest.mark.parametrize(
    ("level", "axis_found"),
    [
        (_level("context", "window(steps=3)", -0.4, 0.01), True),  # a level that it bears
        (_level("context", "summary(window=2500)", 0.4, 0.01), True),  # a level that seems to help
        (_level("context", "summary(window=2500)", None, 0.01), False),  # no effect is known  # type: ignore[arg-type]
        (_level("planning", "todo", -0.4, 0.01), False),  # another axis
    ],
)
def test_a_coupling_is_not_found_by_another_level_or_chance(level: dict[str, Any], axis_found: bool) -> None:
    found = judgement({"axes": [level], "shares": [_share("context", 0.01)]}, "lost-after-compaction")
    assert (found.axis, found.level) == (axis_found, False)


@pytest.mark.parametrize(("joint", "found"), [(0.01, True), (0.05, False)])
def test_where_no_level_stands_out_by_itself_the_axis_must(joint: float, found: bool) -> None:
    why = {"axes": [_level("context", "summary(window=2500)", -0.4, 0.06)], "shares": [_share("context", joint)]}
    assert judgement(why, "lost-after-compaction").level == found


def test_a_coupling_is_not_found_when_another_axis_explains_more() -> None:
    why = {
        "axes": [_level("context", "summary(window=2500)", -0.4, 0.01)],
        "shares": [_share("planning", 0.2), _share("context", 0.01)],
    }
    assert not judgement(why, "lost-after-compaction").axis


def test_an_axis_is_accused_by_one_level_or_by_all_together_unless_it_is_planted_or_tied() -> None:
    levels = [_level("context", "summary", -0.4, 0.01), _level("planning", "todo", -0.1, 0.04)]
    shares = [_share("context", 0.01), _share("prompt", 0.04), _share("shell", 0.06), _share("planning", 0.3)]
    why = {"axes": levels, "shares": shares}
    assert judgement(why, "").accused == ("context", "planning", "prompt")
    assert judgement(why, "lost-after-compaction").accused == ("planning", "prompt")
    assert judgement(why, "lost-after-compaction", {"prompt"}).accused == ("planning",)


def test_an_axis_is_tied_by_a_rule_only_where_the_family_has_levels_that_it_speaks_of() -> None:
    assert tied_axes(load_family(str(FAMILY)), "protocol") == set()
    assert {"toolset", "stopping", "planning"} <= tied_axes(load_family("whole"), "protocol")
    assert "prompt" not in tied_axes(load_family("whole"), "protocol")


def test_the_benchmark_meets_every_coupling_with_levels_that_it_hits_and_others() -> None:
    axes = load_family(str(FAMILY)).axes
    for kind in COUPLINGS.values():
        ((axis, hit),) = kind.hits.items()
        names = {level.level_name() for level in axes[axis]}
        assert names & set(hit), kind.kind()
        assert axes[axis][0].level_name() not in hit or kind.kind() in ("needs-todo", "truncation-gives-up")


def test_a_seed_of_the_benchmark_draws_tasks_and_is_that_of_harnesses_and_luck() -> None:
    one, other = (study_data_of(Case("needs-todo", 0.5, seed, FEW)) for seed in (1, 2))
    assert (one["seed"], one["reference"], len(one["tasks"]["include"])) == (1, {"couplings": {"needs-todo": 0.5}}, FEW)
    assert one["tasks"] != other["tasks"]
    assert one["family"] == other["family"] == str(FAMILY)
    assert {case.coupling for case in cases([1, 2])} == {"", *COUPLINGS}

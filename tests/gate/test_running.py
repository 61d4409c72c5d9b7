"""A check that runs its own trials: which ones, in which order, and when they are enough."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness_eval import store
from harness_eval.errors import ConfigError
from harness_eval.gate.asked import Asked, look_order
from harness_eval.gate.kept import Snapshot
from harness_eval.gate.running import UnderWay, of_baseline, under_way
from harness_eval.gate.snapshot import planned, snapshot_of
from harness_eval.planning import record, resolve
from harness_eval.probing.found import Probe, write
from harness_eval.study_file import StudyConfig
from harness_eval.types import Lost, Result, TrialKey, Verdict
from tests.doubles import make_task

NAMES = [f"task-{number:02d}" for number in range(20)]
WIDE = Asked(margin=0.3)
SERVED = {"name": "kimi", "base_url": "http://127.0.0.1:9/v1", "model": "k", "scripted": True}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> StudyConfig:
    folder = tmp_path_factory.mktemp("suite")
    for name in NAMES:
        make_task(folder / "suite", name)
    given = {"name": "gate", "endpoints": [SERVED], "tasks": {"suite": str(folder / "suite")}, "sandbox": "local"}
    return StudyConfig.model_validate({**given, "seed": 3, "harnesses": ["mini-swe-native"]})


@pytest.fixture(scope="module")
def before(config: StudyConfig) -> Snapshot:
    """A run of three repeats in which everything was solved."""
    side = planned(record(resolve(config)), "kimi")
    all_solved = ("1" * len(NAMES),) * 3
    harnesses = tuple(each.model_copy(update={"solved": all_solved}) for each in side.harnesses)
    return side.model_copy(update={"harnesses": harnesses})


def ended(key: TrialKey, score: float | None) -> Result:
    if score is None:
        return Result(key, "id", failure=Lost("endpoint", "busy"))
    return Result(key, "id", Verdict(score))


def played(check: UnderWay, score: float | None) -> int:
    """How many trials it takes, one after the other, until they are enough."""
    for number, key in enumerate(check.gated(), 1):
        if check.enough(ended(key, score)):
            return number
    return len(check.gated())


def test_trials_are_those_of_the_gated_harness_repeat_by_repeat_in_the_order_of_the_looks(
    config: StudyConfig, before: Snapshot, tmp_path: Path
) -> None:
    check = under_way(config, tmp_path, before, WIDE, matrix=False)
    order = look_order(NAMES, seed=3)
    assert [key.task for key in check.gated()] == order * 3
    assert [key.repeat for key in check.gated()] == [repeat for repeat in range(3) for _ in NAMES]
    assert set(check.gated()) == set(check.study.keys), "what study.json plans is what may be run"


@pytest.mark.parametrize(("score", "needed", "verdict"), [(1.0, 20, "pass"), (0.0, 5, "fail"), (0.5, 5, "fail")])
def test_no_further_trial_is_needed_at_the_first_look_that_decides(
    config: StudyConfig, before: Snapshot, tmp_path: Path, score: float, needed: int, verdict: str
) -> None:
    check = under_way(config, tmp_path, before, WIDE, matrix=False)
    assert played(check, score) == needed
    assert check.decided().verdict == verdict
    assert len(check.gated()) == needed, "none but those that were judged"


def test_a_check_of_lost_trials_alone_goes_on_to_its_last(
    config: StudyConfig, before: Snapshot, tmp_path: Path
) -> None:
    check = under_way(config, tmp_path, before, WIDE, matrix=False)
    assert played(check, None) == 3 * len(NAMES)
    assert check.decided().verdict == "incomplete"


def test_what_a_folder_holds_counts_and_a_lost_trial_only_where_it_is_not_run_again(
    config: StudyConfig, before: Snapshot, tmp_path: Path
) -> None:
    check = under_way(config, tmp_path, before, WIDE, matrix=False)
    keys = check.gated()
    with store.open_run(tmp_path / "run", record(check.study)) as run:
        run.extend([ended(key, None if key is keys[0] else 1.0) for key in keys[:20]])
    again, settled = (under_way(config, tmp_path / "run", before, WIDE, matrix=False) for _ in range(2))
    again.resume(retry_lost=True)
    assert (again.decided().verdict, again.gated()) == ("incomplete", keys)
    assert again.enough(ended(keys[0], 1.0))
    settled.resume(retry_lost=False)
    assert settled.decided().decision.pairs == 19


def test_the_others_follow_only_where_they_are_asked_for_and_the_baseline_has_them(
    config: StudyConfig, before: Snapshot, tmp_path: Path
) -> None:
    alone = under_way(config, tmp_path, before, WIDE, matrix=False)
    assert {key.harness for key in alone.study.keys} == {"canonical"}
    more = config.model_copy(update={"harnesses": ["mini-swe-native", "codex-like"]})
    check = under_way(more, tmp_path, before, WIDE, matrix=True)
    played(check, 1.0)
    keys = check.with_others()
    assert [key.harness for key in keys] == ["canonical"] * 20 + ["mini-swe-native"] * 20
    assert set(keys) <= set(check.study.keys)


@pytest.mark.parametrize(("matrix", "first"), [(False, "mini-swe-native"), (True, "canonical")])
def test_another_harness_than_the_canonical_one_can_be_gated(
    config: StudyConfig, before: Snapshot, tmp_path: Path, matrix: bool, first: str
) -> None:
    check = under_way(config, tmp_path, before, replace(WIDE, harness="mini-swe-native"), matrix)
    assert {key.harness for key in check.gated()} == {"mini-swe-native"}
    assert len(check.gated()) == 3 * len(NAMES)
    assert set(check.gated()) <= set(check.study.keys)
    assert check.study.harnesses[0].name == first


def test_a_file_stands_in_for_the_harness_of_its_name(config: StudyConfig, before: Snapshot, tmp_path: Path) -> None:
    file = tmp_path / "mini-swe-native.yaml"
    file.write_text("version: '2'\nthinking: drop\n")
    asked = replace(WIDE, harness=str(file))
    with pytest.raises(ConfigError, match=r"mini-swe-native: version 1 -> 2; .* --changed harness"):
        under_way(config.model_copy(update={"harnesses": []}), tmp_path, before, asked, matrix=False)
    accepted = replace(asked, changed=frozenset({"harness"}))
    check = under_way(config.model_copy(update={"harnesses": []}), tmp_path, before, accepted, matrix=False)
    assert check.study.harnesses[0].levels["thinking"].level_name() == "drop"


def test_repeats_are_never_more_than_the_baseline_has(config: StudyConfig, before: Snapshot, tmp_path: Path) -> None:
    once = [each.model_copy(update={"solved": each.solved[:1]}) for each in before.harnesses]
    check = under_way(config, tmp_path, before.model_copy(update={"harnesses": tuple(once)}), WIDE, matrix=False)
    assert {key.repeat for key in check.study.keys} == {0}


def test_a_harness_that_differs_is_known_before_anything_runs(
    config: StudyConfig, before: Snapshot, tmp_path: Path
) -> None:
    gated, other = before.harnesses
    differing = before.model_copy(update={"harnesses": (gated, other.model_copy(update={"wire": "another"}))})
    under_way(config, tmp_path, differing, WIDE, matrix=False)
    with pytest.raises(ConfigError, match=r"still version \d+; wire another -> "):
        under_way(config, tmp_path, differing, WIDE, matrix=True)


def test_a_server_that_says_to_be_another_one_gets_no_further_trial(
    config: StudyConfig, before: Snapshot, tmp_path: Path
) -> None:
    answering = before.endpoint.model_copy(update={"served_as": ("model k-1",)})
    check = under_way(config, tmp_path / "run", before.model_copy(update={"endpoint": answering}), WIDE, matrix=False)
    with store.open_run(tmp_path / "run", record(check.study)):
        write(tmp_path / "run", {"kimi": Probe("k", (), served=("model k-2",))})
    assert check.enough(ended(check.gated()[0], 1.0))
    assert check.refused


def test_a_study_of_several_endpoints_is_none_of_a_check(config: StudyConfig, before: Snapshot, tmp_path: Path) -> None:
    (endpoint,) = config.endpoints
    two = config.model_copy(update={"endpoints": [endpoint, endpoint.model_copy(update={"name": "b"})]})
    with pytest.raises(ConfigError, match=r"several endpoints \(kimi, b\)"):
        under_way(two, tmp_path, before, WIDE, matrix=False)


def test_a_baseline_is_asked_again_as_it_was_with_what_is_given_laid_over_it(
    before: Snapshot, config: StudyConfig
) -> None:
    suite = config.tasks.suite
    answering = before.endpoint.model_copy(update={"settings": {"thinking": None, "max_tokens": 7, "local_model": "x"}})
    config = of_baseline(
        before.model_copy(update={"endpoint": answering}),
        {"endpoint": {"base_url": "http://h/v1"}, "tasks": {"suite": suite}, "budgets": {"tokens": 5}},
    )
    (endpoint,) = config.endpoints
    assert (endpoint.name, endpoint.model, endpoint.max_tokens, endpoint.base_url) == ("kimi", "k", 7, "http://h/v1")
    assert not endpoint.scripted, "a file cannot let a model loose in the local sandbox"
    assert (config.tasks.suite, config.tasks.include, config.seed) == (suite, NAMES, 3)
    assert (config.limits, config.budgets.tokens, config.sandbox.kind) == (config.limits, 5, "local")


def test_a_task_that_is_gone_from_the_suite_is_a_difference_and_no_mistake(before: Snapshot, tmp_path: Path) -> None:
    for name in NAMES[1:]:
        make_task(tmp_path / "suite", name)
    given = {"endpoint": {"base_url": "http://h/v1"}, "tasks": {"suite": str(tmp_path / "suite")}}
    config = of_baseline(before, {**given, "allow_local": True})
    with pytest.raises(ConfigError, match=r"suite \(1 task only in the baseline: task-00\)"):
        under_way(config, tmp_path, before, WIDE, matrix=False)
    accepted = replace(WIDE, changed=frozenset({"suite", "endpoint"}))
    assert len(under_way(config, tmp_path, before, accepted, matrix=False).matched.tasks) == len(NAMES) - 1


def test_tasks_that_are_not_here_are_asked_for_by_the_flag_that_names_them(before: Snapshot, tmp_path: Path) -> None:
    given = {"endpoint": {"base_url": "http://h/v1"}}
    with pytest.raises(ConfigError, match="the baseline's tasks are of 'suite': name that folder with --suite"):
        of_baseline(before, given)
    make_task(tmp_path / "other", "another")
    with pytest.raises(ConfigError, match=r"--suite: .*/other holds none of the baseline's tasks \(task-00, "):
        of_baseline(before, {**given, "tasks": {"suite": str(tmp_path / "other")}})


def test_a_planned_run_is_a_snapshot_of_nothing(config: StudyConfig, before: Snapshot, tmp_path: Path) -> None:
    check = under_way(config, tmp_path / "run", before, WIDE, matrix=False)
    with store.open_run(tmp_path / "run", record(check.study)):
        pass
    taken = snapshot_of(tmp_path / "run")
    assert planned(record(check.study), "kimi").model_copy(update={"created": taken.created}) == taken
    assert not taken.harnesses[0].run

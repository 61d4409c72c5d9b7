"""The order of trials: balanced over repeats, fair under drift, and one harness's trials in a row where a cache is."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from harness_eval import allocating, hunt
from harness_eval.errors import ConfigError
from harness_eval.ordering import Order, Ordering
from harness_eval.planning import record, resolve
from harness_eval.report.designed import order_phrase
from harness_eval.store import open_run
from harness_eval.study_file import StudyConfig
from tests.doubles import make_task

TASKS = [f"task-{number}" for number in range(16)]
HARNESSES = [f"harness-{number}" for number in range(5)]


@pytest.mark.parametrize("order", ["interleaved", "prefix"])
def test_every_pair_is_run_once_a_repeat(order: Order) -> None:
    pairs = list(Ordering(order, 3).pairs(0, TASKS[:7], HARNESSES))
    assert Counter(pairs) == Counter((task, harness) for task in TASKS[:7] for harness in HARNESSES)


@pytest.mark.parametrize("order", ["interleaved", "prefix"])
def test_seed_and_repeat_decide_the_order(order: Order) -> None:
    def made(seed: int, repeat: int) -> list[tuple[str, str]]:
        return list(Ordering(order, seed).pairs(repeat, TASKS, HARNESSES))

    assert made(3, 0) == made(3, 0)
    assert made(3, 0) != made(4, 0)
    assert made(3, 0) != made(3, 1)


def test_interleaved_runs_each_task_with_all_harnesses_before_the_next() -> None:
    pairs = list(Ordering("interleaved", 3).pairs(0, TASKS, HARNESSES))
    assert [task for task, _ in pairs] == [task for task in TASKS for _ in HARNESSES]


def test_under_prefix_a_harness_runs_a_block_of_tasks_in_a_row() -> None:
    pairs = list(Ordering("prefix", 3, block=4).pairs(0, TASKS, HARNESSES))
    rows = [pairs[start : start + 4] for start in range(0, len(pairs), 4)]
    assert all(len({harness for _, harness in row}) == 1 for row in rows)
    blocks = [{task for row in rows[start : start + 5] for task, _ in row} for start in range(0, len(rows), 5)]
    assert blocks == [set(TASKS[start : start + 4]) for start in range(0, 16, 4)]


def test_under_prefix_an_even_drift_costs_each_harness_the_same() -> None:
    places: dict[str, int] = Counter()
    for place, (_, harness) in enumerate(Ordering("prefix", 3, block=4).pairs(0, TASKS, HARNESSES)):
        places[harness] += place
    assert len(set(places.values())) == 1


def _study(folder: Path, **keys: object) -> StudyConfig:
    make_task(folder / "suite")
    given = {"name": "s", "reference": {}, "tasks": {"suite": str(folder / "suite")}, "sandbox": "local", **keys}
    return StudyConfig.model_validate(given)


def test_a_run_keeps_its_order_when_it_is_resumed(tmp_path: Path) -> None:
    usual, other = (record(resolve(_study(tmp_path, **keys))) for keys in ({}, {"order": "prefix"}))
    with open_run(tmp_path / "run", other):
        pass
    with open_run(tmp_path / "run", other):
        pass
    with pytest.raises(ConfigError, match="order: no longer there"), open_run(tmp_path / "run", usual):
        pass


def test_a_report_tells_the_order(tmp_path: Path) -> None:
    told = [
        order_phrase({"imported": None, "order": record(resolve(_study(tmp_path, **keys))).get("order")})
        for keys in ({}, {"order": "prefix"})
    ]
    assert "task by task" in told[0]
    assert "in blocks of 4 tasks, which each harness runs in a row" in told[1]
    hunting = order_phrase({"imported": None, "order": {"kind": "prefix", "block": 4}, "hunt": {"blocks": []}})
    assert hunting == f"block by block of the hunt, and within each {told[1]}"


@pytest.mark.parametrize("order", ["interleaved", "prefix"])
def test_every_block_of_tasks_has_every_harness_equally_often(order: Order) -> None:
    pairs = list(Ordering(order, 3, block=4).pairs(0, TASKS, HARNESSES))
    size = (4 if order == "prefix" else 1) * len(HARNESSES)
    for start in range(0, len(pairs), size):
        met = Counter(harness for _, harness in pairs[start : start + size])
        assert set(met) == set(HARNESSES)
        assert len(set(met.values())) == 1


def test_under_prefix_the_blocks_of_a_hunt_keep_rows_of_one_harness(tmp_path: Path) -> None:
    for number in range(60):
        make_task(tmp_path / "suite", f"task-{number:02d}")
    harnesses = ["mini-swe-xml", "mini-swe-native", "terminus-json"]
    study = allocating.resolve(_study(tmp_path, order="prefix", allocate="hunt", harnesses=harnesses))
    keys = hunt.Hunt(study, tmp_path, hunt.Layout(**(study.hunt or {}))).trials()
    rows = [len(list(row)) for _, row in groupby(keys, key=lambda key: key.harness)]
    assert sum(rows) == 4 * hunt.Layout(**(study.hunt or {})).ends[0]
    assert sum(row < 4 for row in rows) <= 4  # what is left over at the end of the block

"""Recorded trials as columns: what is read is what was added, the last of each trial counts, and each takes little."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from harness_eval import store
from harness_eval.report.counts import grouped
from harness_eval.report.outcomes import Outcome, Outcomes, Table, column
from harness_eval.report.recorded import outcome_of, read


def row(number: int = 0, **keys: Any) -> dict[str, Any]:
    usage = {"prompt": 900 + number, "completion": 90, "reasoning": 0, "cached": 0}
    known = {"task": f"t{number % 7}", "harness": f"h{number % 3}", "endpoint": "e", "repeat": number, "score": 1.0}
    rest = {"stop": "finished", "labels": ["model.wrong_answer"], "turns": {"ok.tool_call": 6}, "acted": ["context"]}
    return {**known, **rest, "failure": None, "usage": usage, "cost": 0.01, "seconds": 0.1 + number, **keys}


def packed(*rows: dict[str, Any]) -> Outcomes:
    table = Table()
    for each in rows:
        table.append(outcome_of(each))
    return table.latest()


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"score": None, "failure": {"owner": "endpoint", "message": "503", "label": "infra.overloaded"}, "cost": None},
        {"turns": None, "labels": [], "acted": None, "score": 0.25},
        {"recovered": {"score": 0.0}, "score": 0.0},
        {"repeat": 10**30},
    ],
)
def test_an_outcome_is_read_as_it_was_added(keys: dict[str, Any]) -> None:
    (found,) = packed(row(**keys))
    assert found == outcome_of(row(**keys))
    assert [type(each) for each in found] == [type(each) for each in outcome_of(row(**keys))]


def test_of_several_lines_of_a_trial_the_last_counts_in_its_own_place() -> None:
    found = packed(row(1, score=0.0), row(2), row(1, score=0.5), row(3))
    assert [(each.repeat, each.score) for each in found] == [(2, 1.0), (1, 0.5), (3, 1.0)]


def test_trials_that_differ_in_one_name_alone_are_two() -> None:
    other = [{"task": "x"}, {"harness": "x"}, {"endpoint": "x"}, {"repeat": 9}]
    assert len(packed(row(), *(row(**keys) for keys in other))) == 5


def test_some_of_them_are_chosen_and_found_by_number() -> None:
    found = packed(*map(row, range(20)))
    some = found.where(lambda outcome: outcome.harness == "h1")
    assert list(some) == [outcome for outcome in found if outcome.harness == "h1"]
    assert (some[2], some[-1], list(some[1:3])) == (list(some)[2], list(some)[-1], list(some)[1:3])
    assert {name: list(group) for name, group in grouped(found).items()} == grouped(list(found))


def test_nothing_is_an_empty_sequence() -> None:
    assert list(packed()) == []
    assert len(packed().where(lambda _: True)) == 0


def test_a_thousand_lines_more_take_less_than_two_hundred_bytes_each(tmp_path: Path) -> None:
    study = {"tasks": [{"name": f"t{n}"} for n in range(7)], "harnesses": [{"name": f"h{n}"} for n in range(3)]}
    (tmp_path / store.STUDY).write_text(json.dumps({**study, "endpoints": [{"name": "e"}]}))

    def held(lines: int) -> int:
        rows = (row(number, repeat=number % 50, task=f"t{number // 150 % 7}") for number in range(lines))
        (tmp_path / store.RESULTS).write_text("".join(json.dumps(each) + "\n" for each in rows))
        read(tmp_path)
        tracemalloc.start()
        kept = read(tmp_path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert kept.outcomes
        return peak

    assert (held(5000) - held(1000)) / 4000 < 200


def test_each_field_can_be_read_alone() -> None:
    again = row(2, score=None, failure={"owner": "task", "message": "m"}, turns=None)
    found = packed(row(0, recovered={"score": 0.0}), row(1, score=0.5), again)
    for place, field in enumerate(Outcome._fields):
        assert list(found.column(field)) == [each[place] for each in found]
        assert list(column(list(found), field)) == list(found.column(field))


def test_lost_and_unsolved_trials_are_told_apart() -> None:
    lost = {"score": None, "failure": {"owner": "task", "message": "m"}}
    found = packed(row(0), row(1, score=0.5), row(2, **lost))
    assert [each.repeat for each in found.lost] == [2]
    assert [each.repeat for each in found.unsolved] == [1, 2]

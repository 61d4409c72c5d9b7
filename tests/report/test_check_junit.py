"""A check as JUnit XML: valid, read by others, and red only where the gate is."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import xmlschema
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase

from harness_eval.bundled import folder
from harness_eval.report.check_junit import junit
from tests.report import checks

READ = {"failure": Failure, "error": Error, "skipped": Skipped}


@cache
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(folder("schemas") / "junit.xsd"))


def cases(data: dict[str, Any]) -> dict[str, TestCase]:
    """All test cases by name, read by somebody else's parser, after the document was found to be valid."""
    made = junit(data)
    schema().validate(made.decode())
    read = JUnitXml.fromstring(made)
    found = {case.name: case for suite in read for case in suite}
    assert len(found) == read.tests == sum(suite.tests for suite in read)
    for ends, kind in READ.items():
        number = sum(isinstance(one, kind) for case in found.values() for one in case.result)
        assert number == getattr(read, "skipped" if ends == "skipped" else f"{ends}s"), ends
    return found


def ended(case: TestCase) -> str:
    return next((name for name, kind in READ.items() if any(isinstance(one, kind) for one in case.result)), "")


def red(data: dict[str, Any]) -> list[str]:
    return [name for name, case in cases(data).items() if ended(case) in ("failure", "error")]


def test_a_case_is_made_of_every_question_and_of_every_task() -> None:
    found = cases(checks.check())
    assert set(found) == {"canonical", "spread", *(f"task-{place:03}" for place in range(100))}
    assert {case.classname for case in found.values()} == {"harness-eval.check", "harness-eval.tasks"}


def test_of_a_failing_gate_the_question_and_the_tasks_that_likely_fell_are_red() -> None:
    data = checks.check()
    data["flipped"][-1]["chance"] = 0.3
    assert red(data) == ["canonical", *(f"task-{place:03}" for place in range(11))]


@pytest.mark.parametrize("data", [checks.passing(), checks.undecided(), checks.replayed()])
def test_nothing_is_red_where_the_command_exits_with_zero(data: dict[str, Any]) -> None:
    assert red(data) == []


def test_an_undecided_question_is_skipped_and_says_what_would_decide_it() -> None:
    case = cases(checks.undecided())["canonical"]
    assert ended(case) == "skipped"
    assert case.result[0].message.endswith("To decide it: about 2 more repeats of 100 tasks.")
    assert case.result[0].text == case.result[0].message


def test_an_undecided_release_is_red() -> None:
    assert red(checks.undecided(exit_code=1)) == ["canonical"]


def test_missing_trials_are_an_error_of_the_question_and_no_failure() -> None:
    found = cases(checks.incomplete())
    assert ended(found["canonical"]) == "error"
    assert red(checks.incomplete()) == ["canonical"]


def test_a_spread_that_widened_is_red_without_a_task() -> None:
    worse = (checks.canonical("pass", "fine", checks.figure(0, -0.1, 0.1)), checks.spread("fail"))
    assert red(checks.check(questions=worse)) == ["spread"]


def test_tasks_that_were_lost_not_run_or_left_out_are_skipped() -> None:
    rows = list(checks.outcomes())
    rows[20] = rows[20].model_copy(update={"after_trials": 0, "after_solved": 0, "lost": 2})
    rows[21] = rows[21].model_copy(update={"before_trials": 0, "before_solved": 0})
    found = cases(checks.check(tasks=tuple(rows)))
    told = {name: found[name].result[0].message for name in ("task-020", "task-021", "task-060", "task-099")}
    assert all(ended(found[name]) == "skipped" for name in told)
    assert told["task-020"] == "2 trials lost, none judged"
    assert told["task-021"] == "no trial of the baseline was judged"
    assert told["task-060"].startswith("not run")
    assert told["task-099"] == "takes no part: 2 of 6 trials of both runs lost"


def test_the_suite_says_what_was_checked() -> None:
    suite = next(iter(JUnitXml.fromstring(junit(checks.check()))))
    known = {one.name: one.value for one in suite.properties()}
    assert known["verdict"] == "fail"
    assert (known["gate"], known["model"], known["tasks"], known["exit_code"]) == ("sprt", "small-8b", "100", "1")


@pytest.mark.parametrize("text", checks.HOSTILE, ids=lambda text: ascii(text[:20]))
def test_any_text_makes_a_valid_document_whose_cases_keep_names_of_their_own(text: str) -> None:
    found = cases(checks.hostile(text))
    assert len(found) == 22
    assert max(map(len, found)) <= 210
    assert "abcdefghijklmnop1234" not in junit(checks.hostile(text)).decode()


def test_the_schema_refuses_what_we_do_not_write() -> None:
    made = junit(checks.check()).decode()
    assert schema().is_valid(made)
    for before, after in (
        (' name="spread"', ' name="spread" time="1"'),
        ("<system-out>", "<rerunFailure/><system-out>"),
        (' tests="100"', ' tests="many"'),
        (' type="regression"', ""),
    ):
        assert before in made
        assert not schema().is_valid(made.replace(before, after, 1)), before

"""What is the wire's, what to do about it, and what cannot be estimated: said once, in all forms."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness_eval.diagnosis.labels import EFFECTS, LABELS
from harness_eval.diagnosis.remedies import remedy
from harness_eval.report import build
from harness_eval.report.diagnosis_words import EFFECTS as MEANINGS
from harness_eval.report.diagnosis_words import effect_name
from harness_eval.report.templating import prose
from tests.report.synthetic import Plan, write_run
from tests.report.test_diagnosed import rewrite
from tests.report.test_forms import forms
from tests.report.test_forms_of_diagnosis import printed

MARKUP = "serving.markup_in_name"


def failed(folder: Path, label: str, tasks: int = 6, harness: str = "random-01", **keys: Any) -> Path:
    """A run in which all is solved but the first tasks of one harness, each with this label."""

    def change(row: dict[str, Any]) -> None:
        if row["harness"] == harness and int(row["task"][-3:]) < tasks:
            row |= {"score": 0.0, "solved": False, "labels": [label], "stop": "finished", **keys}

    return rewrite(write_run(folder, Plan(tasks=24, harnesses=4, base=9.0, labelled=True)), change)


def with_recovery(folder: Path, recovery: str) -> Path:
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(study | {"recovery": recovery}))
    return folder


def test_zeros_of_the_wire_are_counted_and_the_mean_without_them_is_told(tmp_path: Path) -> None:
    data, told = printed(failed(tmp_path, MARKUP))
    assert data["mean"]["estimate"] == pytest.approx(1 - 6 / 96)
    found = data["of_the_wire"]
    assert (found["trials"], found["unsolved"], found["owners"]) == (6, 6, {"serving": 6})
    assert found["mean_without"] == pytest.approx(1.0)
    assert found["harnesses"] == [{"harness": "random-01", "trials": 6, "mean_without": 1.0}]
    for form in told:
        said = "6 of 6 unsolved trials are the wire's (serving 6); without them the mean is 100.0 %."
        assert said in form.split("WORST")[0] + form.split("WHY")[0]


def test_a_single_one_that_may_be_the_wires_is_told_in_the_singular(tmp_path: Path) -> None:
    _, told = printed(failed(tmp_path, "undetermined.empty_turn", 1))
    said = "1 of 1 unsolved trial is, or may be, the wire's (undetermined 1); without it the mean is 100.0 %."
    assert all(said in form for form in told)


def test_a_harness_without_a_trial_left_is_unknown_and_said_to_be(tmp_path: Path) -> None:
    data, told = printed(failed(tmp_path, MARKUP, 24))
    found = data["of_the_wire"]
    assert (found["harnesses"][0]["mean_without"], found["harnesses_left"]) == (None, 3)
    assert all("without them the mean is 100.0 %, 1 harness having no trial left." in form for form in told)


def test_without_any_trial_left_the_mean_is_unknown(tmp_path: Path) -> None:
    def change(row: dict[str, Any]) -> None:
        row |= {"score": 0.0, "solved": False, "labels": [MARKUP]}

    data, told = printed(rewrite(write_run(tmp_path, Plan(tasks=20, harnesses=3, labelled=True)), change))
    assert data["of_the_wire"]["mean_without"] is None
    assert all("without them no trial is left, so the mean is unknown." in form for form in told)


@pytest.mark.parametrize("label", ["model.wrong_answer", "model.planning_churn", "limit.context_overflow"])
def test_what_is_the_models_the_harnesss_or_a_matter_of_behaviour_is_not_the_wires(tmp_path: Path, label: str) -> None:
    assert build(failed(tmp_path, label))["of_the_wire"] is None


def test_lost_trials_are_no_zeros_and_not_counted_with_them(tmp_path: Path) -> None:
    failure = {"owner": "endpoint", "message": "x", "label": "infra.overloaded"}
    assert build(failed(tmp_path, MARKUP, failure=failure))["of_the_wire"] is None


def test_every_effect_is_defined_once_below_the_labels(tmp_path: Path) -> None:
    assert set(MEANINGS) == {effect_name(effect) for effect in EFFECTS}
    _, told = printed(failed(tmp_path, MARKUP))
    for form in told[:2]:
        assert form.count("reported separately: scored as it stands, but not the model's") == 1
        assert form.index(LABELS[MARKUP].meaning) < form.index("tolerated: put right, costs nothing")


def test_what_can_be_done_stands_with_the_label(tmp_path: Path) -> None:
    data, told = printed(failed(tmp_path, MARKUP))
    assert next(row["remedy"] for row in data["labels"] if row["label"] == MARKUP) == remedy(MARKUP)
    assert [form.count(remedy(MARKUP)) for form in told[:2]] == [1, 1]


def test_what_can_be_done_about_harnesses_that_cannot_run_is_told_once_a_label(tmp_path: Path) -> None:
    name = "harness.reasoning_policy_mismatch"
    refused = [{"harness": f"random-0{number}", "reason": "400: " + "abc" * number, "label": name} for number in (1, 2)]
    probe = {"model": "m", "checks": [], "unsupported": refused}
    text = printed(write_run(tmp_path, Plan(tasks=20, harnesses=5, probe=probe)))[1][2]
    assert text.count(remedy(name)) == 1
    assert text.count(name) == 3


def test_a_long_reason_is_wrapped_and_not_cut_in_the_terminal(tmp_path: Path) -> None:
    reason = "the server answered 400: " + " ".join(f"word{number}" for number in range(30)) + " end"
    probe = {"model": "m", "checks": [], "unsupported": [{"harness": "random-01", "reason": reason, "label": ""}]}
    oddities = dict.fromkeys((name for name in LABELS if LABELS[name].effect == "tolerated" and name[:2] == "se"), 1)
    plan = Plan(tasks=20, harnesses=4, labelled=True, probe=probe, oddities=oddities)
    text = forms(write_run(tmp_path, plan))[3]
    assert "…" not in text
    assert reason in " ".join(text.split())
    assert all(name in text for name in oddities)


def test_calls_in_the_reasoning_point_to_the_other_recovery(tmp_path: Path) -> None:
    folder = with_recovery(failed(tmp_path, "undetermined.call_in_reasoning", 2), "content")
    said = "2 trials ended on a call in the reasoning: --recovery reasoning scores them recovered too."
    assert all(said in form for form in printed(folder)[1])
    assert not any("scores them recovered" in form for form in printed(with_recovery(folder, "reasoning"))[1])


def test_recovery_from_the_reasoning_is_called_so(tmp_path: Path) -> None:
    folder = failed(tmp_path, "undetermined.call_in_reasoning", 2, recovered={"score": 1.0, "solved": True})
    said = "2 trials ended on a call that leaked into the text or the reasoning; recovered, the mean is 100.0 %"
    assert all(said in form for form in printed(with_recovery(folder, "reasoning"))[1])


def test_names_of_checks_and_labels_are_code_in_markdown() -> None:
    assert prose("no: tool_round_trip, limit.steps; e.g. a_B *x*") == (
        "no: `tool_round_trip`, `limit.steps`; e.g. a&#95;B &#42;x&#42;"
    )
    assert prose("`a_b` --recovery") == "&#96;`a_b`&#96; `--recovery`"


def test_where_nothing_can_be_estimated_one_sentence_says_so(tmp_path: Path) -> None:
    data, told = printed(write_run(tmp_path, Plan(tasks=24, harnesses=2)))
    assert data["axes"]
    assert all(row["effect"] is None for row in data["axes"])
    for form in told:
        assert len(re.findall(r"No effect of an axis can be estimated: 2 tested harnesses cannot show", form)) == 1
        assert "unknown: cannot be told apart" not in form
        assert "no axis explains" not in form


def test_taking_zeros_away_never_lowers_the_mean(tmp_path: Path) -> None:
    def change(row: dict[str, Any]) -> None:
        if row["harness"] == "random-01":
            spoilt = int(row["task"][-3:]) % 4 > 0
            row |= {"score": 0.0, "solved": False, "stop": "finished", "labels": [MARKUP] if spoilt else []}

    data = build(rewrite(write_run(tmp_path, Plan(tasks=24, harnesses=4, labelled=True)), change))
    assert data["of_the_wire"]["trials"] == 18
    assert data["of_the_wire"]["mean_without"] >= data["mean"]["estimate"]


def test_a_canonical_level_that_others_improve_on_is_told_as_the_cause(tmp_path: Path) -> None:
    plan = Plan(tasks=60, harnesses=12, base=-1.5, costs={"planning=todo": -3.0})
    _, told = printed(write_run(tmp_path, plan))
    assert all("The canonical level costs" in form for form in told)

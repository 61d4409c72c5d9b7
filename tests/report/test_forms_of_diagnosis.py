"""Labels, blame, health, readings and what cannot run: the same in Markdown, HTML and text, and safe to print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness_eval.diagnosis.labels import LABELS
from harness_eval.report.effect_words import JOINT
from tests.report.synthetic import Plan, write_run
from tests.report.test_diagnosed import PROBE, rewrite
from tests.report.test_forms import Page, forms, words

Forms = tuple[dict[str, Any], list[str]]
EVIL = "<b>x</b>|y\n`z` \x1b[31m"


def printed(folder: Path) -> Forms:
    """report.json, and the words of Markdown, HTML and text."""
    data, markdown, html, text = forms(folder)
    return data, [" ".join(form.split()) for form in (markdown.replace("`", ""), words(html), text)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Forms:
    plan = Plan(
        tasks=24,
        harnesses=12,
        lost=0.1,
        labelled=True,
        leaks=(4,),
        aborts={3: "harness.tool_name_rejected"},
        oddities={"serving.index_missing": 2},
        retried={"infra.rate_limited": 1},
        probe=PROBE,
        unsupported=(("never", "a text protocol cannot use the tool role"),),
    )
    return printed(write_run(tmp_path_factory.mktemp("run"), plan))


def everywhere(run: Forms, wanted: str) -> bool:
    assert [wanted in form for form in run[1]] == [True] * 3, wanted
    return True


def test_one_sentence_says_whose_the_unsolved_trials_are(run: Forms) -> None:
    data, forms = run
    number = sum(row["trials"] for row in data["blame"])
    for form in forms:
        lost = rf"\({data['trials']['lost']} of them lost\)"
        (told,) = set(re.findall(rf"{number} trials not solved {lost}, by who must act: [^.]*\.", form))
        assert all(f"{row['owner']} {row['trials']} (" in told for row in data["blame"])


def test_labels_stand_with_owner_effect_and_where_they_were_met_most(run: Forms) -> None:
    row = next(row for row in run[0]["labels"] if row["label"] == "model.wrong_answer")
    harness, found = next(iter(row["harnesses"].items()))
    for form in run[1]:
        place = form.index("model.wrong_answer")
        line = form[place : place + 250]
        assert str(row["trials"]) in line
        assert "model failure" in line
        assert f"{harness} ({found['trials']})" in line


def test_the_endpoints_health_is_told(run: Forms) -> None:
    data, _ = run
    health = data["endpoint_health"]
    failed = health["requests"] - health["turns"]
    share = f"{100 * health['retried_share']:.1f} %"
    assert everywhere(run, f"{health['requests']:,} made, {failed:,} of them sent again ({share})")
    for form in run[1]:
        assert f"infra.rate_limited {failed:,} ({share})" in form
        assert "serving.index_missing" in form
        assert "25.0 % of the prompt cached" in form


def test_the_probes_answers_are_told(run: Forms) -> None:
    for form in run[1]:
        assert "history reaches the prompt" in form
        assert "not compared here" in form
        assert "the server ignores it" in form
    assert "no effect" not in " ".join(run[1])


def test_both_readings_are_told_and_the_headline_is_the_strict_one(run: Forms) -> None:
    found = run[0]["recovered"]
    strict, recovered = (f"{100 * found['mean'][key]:.1f} %" for key in ("strict", "recovered"))
    sentence = f"trials ended on a call that leaked as text; recovered, the mean is {recovered} instead of {strict}"
    assert everywhere(run, f"{found['trials']} {sentence}; the headline is the strict reading.")
    assert all(re.search(rf"MEAN\W+{strict}", form) for form in run[1])


def test_what_cannot_run_is_counted_and_explained(run: Forms) -> None:
    assert everywhere(run, "3 of 13 harnesses cannot run here")
    for form in run[1]:
        assert re.search(r"random-03\W.*harness\.tool_name_rejected|harness\.tool_name_rejected\W.*random-03", form)
        assert "a text protocol cannot use the tool role" in form
        assert f"{run[0]['trials']['unsupported']} of harnesses that cannot run here" in form


def test_reasons_that_differ_in_numbers_alone_are_told_once(tmp_path: Path) -> None:
    refused = [
        {"harness": f"random-0{number}", "reason": f"400: no ({number}{number} bytes)", "label": ""}
        for number in (1, 3, 4)
    ]
    _, printed_forms = printed(
        write_run(tmp_path, Plan(tasks=24, harnesses=8, probe={"model": "m", "checks": [], "unsupported": refused}))
    )
    assert all(form.count("400: no (11 bytes)") >= 1 and "(44 bytes)" not in form for form in printed_forms[::2])


def test_lost_trials_are_told_with_their_label(run: Forms) -> None:
    lost = run[0]["lost_labels"]["endpoint"]["infra.overloaded"]
    assert everywhere(run, f"endpoint {lost} (infra.overloaded {lost})")


def test_older_rows_give_all_forms_without_the_newer_counts(tmp_path: Path) -> None:
    data, forms = printed(write_run(tmp_path, Plan(tasks=24, harnesses=5)))
    assert data["recovered"] is data["endpoint_health"]["probe"] is None
    for form in forms:
        assert "recovered, the mean" not in form
        assert "harnesses cannot run here" not in form
        assert "by who must act" in form


def test_few_tasks_are_explained_once_instead_of_on_every_figure(tmp_path: Path) -> None:
    _, forms = printed(write_run(tmp_path, Plan(tasks=6, harnesses=4)))
    for form in forms:
        assert "interval unknown" not in form
        assert "With fewer than 20 tasks the worst cannot be told, no figure has an interval" in form
        assert re.search(r"WORST\W+unknown\W+fewer than 20 tasks", form)


def test_a_reason_that_all_verdicts_share_is_told_once(tmp_path: Path) -> None:
    html = forms(write_run(tmp_path, Plan(tasks=24, harnesses=6)))[2]
    assert words(html).count("fewer than 50 common tasks") == 1


def test_a_study_without_a_family_has_no_design_in_its_header(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=3))
    assert "design random" in words(forms(folder)[2])
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(study | {"family": None}))
    assert "design random" not in words(forms(folder)[2])


def test_the_joint_p_is_explained_where_it_stands(tmp_path: Path) -> None:
    _, printed_forms = printed(write_run(tmp_path, Plan(costs={"protocol=json-text": 0.4})))
    for form in printed_forms:
        assert "protocol 100.0 % (joint p" not in form  # its level stands out by itself
        assert "(joint p" not in form or re.search(r"joint p\S* .{0,20}all (its )?levels", form)
    assert sum(f"{JOINT}: protocol" in form for form in printed_forms) == 2  # the terminal has no place for it


def _evil_row(row: dict[str, Any]) -> None:
    row["labels"] = [EVIL]
    row["turns"] = {EVIL: 2}
    row["retried"] = {EVIL: 1}
    if row["failure"]:
        row["failure"] = {**row["failure"], "label": EVIL}


def test_foreign_words_in_labels_and_in_the_probe_are_text(tmp_path: Path) -> None:
    probe = {
        "model": "m",
        "checks": [{"check": EVIL, "status": "no", "detail": EVIL, "label": EVIL}],
        "void": [{"axis": "planning", "reason": EVIL}, {"axis": EVIL, "reason": EVIL}],
        "unsupported": [{"harness": "random-01", "reason": EVIL, "label": EVIL}],
    }
    folder = write_run(tmp_path, Plan(tasks=24, harnesses=8, lost=0.1, labelled=True, probe=probe))
    _, markdown, html, text = forms(rewrite(folder, _evil_row))
    page = Page(html)
    assert page.open == []
    assert page.tags["b"] == 0
    assert "<b>" not in markdown
    assert not any("\x1b" in form for form in (markdown, html, text))
    assert all(line.isprintable() for line in text.splitlines())
    for table in re.findall(r"(?:^\|.*\n)+", markdown, flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_many_labels_in_many_harnesses_stay_readable(tmp_path: Path) -> None:
    tolerated = [name for name, label in LABELS.items() if label.effect == "tolerated"][:12]
    oddities = dict.fromkeys([*list(LABELS)[20:40], *tolerated], 2)
    plan = Plan(tasks=60, harnesses=64, labelled=True, oddities=oddities, leaks=tuple(range(2, 60, 3)))
    data, markdown, html, text = forms(write_run(tmp_path, plan))
    assert len(data["labels"]) >= 30
    assert len(markdown) < 20_000
    assert len(html) < 700_000
    assert text.count("\n") <= 45
    assert max(map(len, text.splitlines())) <= 140
    assert words(html).count("tolerated labels") == 1

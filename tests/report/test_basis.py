"""Every figure of report.json says what it rests on, and every number that is shown comes from report.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness_eval.report import build
from harness_eval.report.findings import headlines, secondary
from harness_eval.report.markdown import MOST_CHARACTERS, markdown
from harness_eval.report.page import page
from tests.report.synthetic import Plan, write_run
from tests.report.test_forms import words

KEYS = {"level", "method", "n_tasks", "n_clusters", "n_harness", "n_valid", "seed", "estimand", "adaptive"}
LEADING = (
    *("canonical", "mean", "mean_family", "worst", "floor", "ceiling", "gap", "spread", "spread_family"),
    *("worst_at_8", "cvar10", "raw_min"),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    plan = Plan(costs={"protocol=json-text": 0.4}, lost=0.02, labelled=True)
    return build(write_run(tmp_path_factory.mktemp("run"), plan))


def test_every_leading_figure_says_what_it_rests_on(data: dict[str, Any]) -> None:
    figures = [data[name] for name in LEADING] + list(data["quantiles"].values()) + list(data["pass_k"].values())
    figures += [entry["difference"] for entry in data["harnesses"]]
    for figure in figures:
        assert figure.keys() >= KEYS
        assert "estimate" in figure
        assert re.fullmatch(r"[a-z-]+/\d+", figure["method"])
    assert data["worst"]["n_tasks"] == 60
    assert data["worst"]["n_harness"] == 18
    assert data["worst"]["n_valid"] == data["trials"]["judged"]
    assert (data["worst"]["seed"], data["worst"]["estimand"], data["worst"]["adaptive"]) == (7, "population", False)


def test_every_row_has_its_basis(data: dict[str, Any]) -> None:
    for row in (*data["harnesses"], *data["axes"], *data["shares"]):
        assert row["basis"].keys() == KEYS
    first = data["harnesses"][0]
    assert first["basis"]["n_valid"] == first["judged"]
    assert first["basis"]["n_tasks"] == first["tasks"] <= 60


def test_below_twenty_tasks_the_method_of_a_score_is_the_plain_mean(tmp_path: Path) -> None:
    found = build(write_run(tmp_path, Plan(tasks=8, harnesses=4)))
    assert {entry["basis"]["method"] for entry in found["harnesses"]} == {"plain-mean/1"}
    assert found["canonical"]["method"] == "plain-mean/1"


def numbers(value: Any) -> set[str]:
    """Every number of report.json in the ways in which the forms may print it."""
    if isinstance(value, dict):
        return set().union(*map(numbers, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(numbers, value)) if value else set()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return set()
    return {f"{100 * value:.1f}".lstrip("-"), f"{value:,}", f"{value:.2f}", f"{value:.2g}", str(abs(value))}


def test_every_number_of_the_headline_stands_in_report_json(data: dict[str, Any]) -> None:
    stored = numbers(json.loads(json.dumps(data)))
    fixed = {"95", "50", "8", "2", "4", "10", "90", "16", "0.001", "0.0"}
    shown = [text for one in headlines(data, data) for text in (one.value, one.interval)]
    shown += [value for _, value in secondary(data)]
    found = {number for text in shown for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
    assert len(found) > 20
    assert found - fixed <= stored
    for form in (markdown(data), words(page(data))):
        for one in headlines(data, data):
            assert one.value in form
            assert one.interval in form


def test_all_forms_count_the_verdicts_and_say_what_would_decide(tmp_path: Path) -> None:
    found = build(write_run(tmp_path, Plan(tasks=100, harnesses=10, costs={"protocol=json-text": 0.4})))
    verdicts = [entry["verdict"] for entry in found["harnesses"]]
    for form in (markdown(found), words(page(found))):
        for name in {"compatible", "degraded", "broken", "unclear"} & set(verdicts):
            assert f"{verdicts.count(name)} {name}" in form
        assert "margin 10 pp, simultaneous 95 %" in form
        assert ("more task" in form) == ("unclear" in verdicts)


@pytest.mark.parametrize("endpoints", [1, 40])
def test_markdown_fits_a_comment_whatever_the_size(tmp_path: Path, endpoints: int) -> None:
    names = {number: f"harness-{number}-" + "long" * 60 for number in range(1, 12)}
    found = build(write_run(tmp_path, Plan(tasks=20, harnesses=12, names=names, labelled=True)))
    if endpoints > 1:
        named = [found["endpoint"] | {"name": f"e{number}"} for number in range(endpoints)]
        found["by_endpoint"] = [{**found, "endpoint": endpoint} for endpoint in named]
    text = markdown(found)
    assert len(text) <= MOST_CHARACTERS
    assert ("the details stand in report.html" in text) == (endpoints > 1)
    assert text.count("<details>") == text.count("</details>")


def test_a_name_without_end_cuts_the_markdown_at_a_line(tmp_path: Path) -> None:
    study = write_run(tmp_path, Plan(tasks=20, harnesses=3)) / "study.json"
    study.write_text(study.read_text().replace('"name": "synthetic"', f'"name": "{"n" * 100_000}"'))
    text = markdown(build(tmp_path))
    assert len(text) <= MOST_CHARACTERS


def test_several_endpoints_stand_beside_each_other_at_the_top(tmp_path: Path) -> None:
    found = build(write_run(tmp_path, Plan(tasks=22, harnesses=5, endpoints=("left", "right"))))
    text, html = markdown(found), words(page(found))
    for form in (text, html):
        top = form.split("Under the worst")[0].split("No difference")[0]
        for section in found["by_endpoint"]:
            assert f"model-{section['endpoint']['name']}" in top
            assert f"{100 * section['mean']['estimate']:.1f} %" in top


def imported(folder: Path) -> Path:
    """A run as an imported table leaves it: no axes, no tokens, no stop reasons, no canonical harness."""
    write_run(folder, Plan(tasks=40, harnesses=8, canonical=None))
    study = json.loads((folder / "study.json").read_text())
    study |= {"imported": {"kind": "table", "from": "results.csv"}, "family": None, "design": None, "versions": {}}
    study["harnesses"] = [{**each, "labels": {}} for each in study["harnesses"]]
    (folder / "study.json").write_text(json.dumps(study))
    nothing = {"usage": dict.fromkeys(("prompt", "completion", "reasoning", "cached"), 0), "cost": None}
    nothing |= {"seconds": 0.0, "stop": None, "labels": [], "acted": [], "steps": 0}
    rows = [json.loads(line) | nothing for line in (folder / "results.jsonl").read_text().splitlines()]
    (folder / "results.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def test_an_imported_table_says_in_place_what_it_cannot_tell(tmp_path: Path) -> None:
    found = build(imported(tmp_path))
    html = words(page(found))
    assert "imported from results.csv" in html
    assert "Unknown: the table names no axes" in html
    assert "no trajectories came with them" in html
    assert "say nothing of the requests" in html
    assert "no stop reason, token, price or time was recorded" in html
    assert "To canonical" not in html
    assert "0.00 hours" not in html + markdown(found)
    assert "names no axes" in markdown(found)

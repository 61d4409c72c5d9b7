"""How much stands behind a report: groups of tasks, harnesses drawn at random, differences that would be found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness_eval.report import build
from harness_eval.report.markdown import markdown
from harness_eval.report.page import page
from harness_eval.report.terminal import summary_text
from tests.report.synthetic import Plan, write_run
from tests.report.test_forms import words


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Sixty tasks in twelve groups, and sixteen of eighteen harnesses drawn at random."""
    folder = write_run(tmp_path_factory.mktemp("run"), Plan(costs={"protocol=json-text": 0.2}))
    study = json.loads((folder / "study.json").read_text())
    study["tasks"] = [{**task, "group": f"repository-{at // 5}"} for at, task in enumerate(study["tasks"])]
    study["sampled"] = [harness["name"] for harness in study["harnesses"][2:]]
    (folder / "study.json").write_text(json.dumps(study))
    return build(folder)


def test_every_form_names_the_groups_that_tasks_come_in(data: dict[str, Any]) -> None:
    assert data["n_clusters"] == 12
    for form in (markdown(data), words(page(data)), summary_text(data)):
        assert "60 tasks in 12 groups" in form


def test_what_is_said_of_a_harness_rests_on_groups_too(data: dict[str, Any]) -> None:
    for entry in data["harnesses"]:
        assert entry["basis"]["n_clusters"] == entry["difference"]["n_clusters"] == 12


def test_the_detectable_difference_stands_beside_every_harness(data: dict[str, Any]) -> None:
    for entry in data["harnesses"][1:]:
        reach = (entry["difference"]["high"] - entry["difference"]["low"]) / 2
        assert reach < entry["detectable"] < 1.5 * reach
        for form in (markdown(data), words(page(data))):
            assert f"{100 * entry['detectable']:.1f} pp" in form
    assert data["harnesses"][0]["detectable"] is None


def test_harnesses_drawn_at_random_speak_for_their_family(data: dict[str, Any]) -> None:
    assert data["wilks"]["sampled"] == 16
    assert data["mean_family"]["n_harness"] == data["worst_at_8"]["n_harness"] == 16
    assert data["worst"]["n_harness"] == 18
    assert data["wilks"]["confidence"] == pytest.approx(1 - 0.95**16)
    assert data["wilks"]["confidence_floor"] == pytest.approx(0.95 - 0.95**16)
    said = "with 56.0 % confidence at least 95.0 % of it is no worse than the worst of the 16 drawn at random"
    for form in (markdown(data), words(page(data))):
        assert said in form
        assert "the expected minimum of 8 harnesses of the 16 drawn at random" in form


def test_where_nothing_stands_out_the_report_says_from_where_it_would(tmp_path: Path) -> None:
    found = build(write_run(tmp_path, Plan(tasks=60, harnesses=8)))
    largest = max(entry["detectable"] for entry in found["harnesses"][1:])
    said = f"detectable from {100 * largest:.1f} pp"
    for form in (markdown(found), words(page(found)), " ".join(summary_text(found).split())):
        assert said in form
        assert "the worst of the" not in form  # nothing is known of how the harnesses were chosen

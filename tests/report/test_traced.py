"""What a report says of the trace of the worst drop, in all its forms."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness_eval import report, tracing
from harness_eval.errors import ConfigError
from harness_eval.report import traced
from harness_eval.report.traced_words import drop_sentence, one_line_summary, terminal_lines, verdict_sentence
from tests.report.synthetic import Plan, write_run

LEVELS = {
    "protocol": ("native", "json-text"),
    "context": ("full", "window(steps=4)"),
    "planning": ("unplanned", "todo"),
}
COSTS = {"protocol=json-text": 0.4, "context=window(steps=4)": 0.15}
NAMES = ["canonical", "bad", *(f"{word}-{axis}" for axis in LEVELS for word in ("add", "revert"))]


def levels_of(name: str, hostile: str = "") -> dict[str, str]:
    word, _, axis = name.partition("-")
    changed = {"canonical": set(), "bad": set(LEVELS), "add": {axis}, "revert": set(LEVELS) - {axis}}[word]
    return {each: LEVELS[each][each in changed] + hostile * (each in changed) for each in LEVELS}


def write_trace(run: Path, endpoint: str, *, hostile: str = "", tied: str = "", **planned: Any) -> Path:
    """A trace below a run: 60 tasks, a protocol that costs most, a context that costs some, innocent planning."""
    study = json.loads((run / "study.json").read_text())
    folder = tracing.place(run, [each["name"] for each in study["endpoints"]], endpoint)
    plan = Plan(
        **{"tasks": 60, "costs": COSTS, "seed": 11, **planned},
        harnesses=len(NAMES),
        endpoints=(endpoint,),
        names={place: name + hostile * (name == "bad") for place, name in enumerate(NAMES)},
        labels={place: levels_of(name, hostile) for place, name in enumerate(NAMES)},
    )
    write_run(folder, plan)
    changes = [
        {"axes": [axis], "level": changed + hostile, "canonical_level": usual, "reason": tied}
        | {"added": f"add-{axis}", "reverted": f"revert-{axis}"}
        for axis, (usual, changed) in LEVELS.items()
    ]
    about = {"of": study["name"], "harness": f"bad{hostile}", "canonical": "canonical", "changes": changes}
    made = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps({**made, "trace": about}))
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", Plan(tasks=60, harnesses=6, costs=COSTS))


def cells(folder: Path) -> dict[str, Any]:
    """Scores by harness, recounted from the record by hand; one repeat, tasks in order."""
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    for line in (folder / "results.jsonl").read_text().splitlines():
        row = json.loads(line)
        found[row["harness"]].append(row["score"])
    return {name: np.array(scores) for name, scores in found.items()}


def test_values_are_those_of_a_recount_by_hand(run: Path) -> None:
    score = cells(write_trace(run, "served"))
    trace = report.build(run)["trace"]
    assert [row["axis"] for row in trace["axes"]] == ["protocol", "context", "planning"]
    for row in trace["axes"]:
        axis = row["axis"]
        alone, last = score[f"add-{axis}"] - score["canonical"], score["bad"] - score[f"revert-{axis}"]
        assert row["effect"] == pytest.approx(float((alone + last).mean()) / 2)
        assert row["interaction"] == pytest.approx(float((last - alone).mean()))
        assert row["low"] < row["effect"] < row["high"]
    drop = float((score["bad"] - score["canonical"]).mean())
    assert trace["drop"]["estimate"] == pytest.approx(drop)
    assert sum(row["effect"] for row in trace["axes"]) + trace["residual"]["estimate"] == pytest.approx(drop)
    assert (trace["trials"], trace["tasks"], trace["owed"], trace["lost"]) == (480, 60, 0, 0)


def test_what_costs_is_told_from_what_does_not(run: Path) -> None:
    write_trace(run, "served")
    trace = report.build(run)["trace"]
    protocol, *_, planning = trace["axes"]
    assert protocol["p_adjusted"] < 0.001
    assert (planning["axis"], planning["p_adjusted"] > 0.05, planning["low"] < 0 < planning["high"]) == (
        "planning",
        True,
        True,
    )
    assert verdict_sentence(trace).startswith("The cost lies in protocol = json-text (−")
    assert "planning" not in verdict_sentence(trace)
    said = one_line_summary(trace)
    assert said.startswith("protocol −")
    assert "three or more together" in said


def test_a_cost_that_is_likely_but_not_certain_is_named_as_that() -> None:
    row = {"axis": "truncation", "level": "tail", "effect": -0.3, "low": -0.49, "high": -0.05, "p_adjusted": 0.085}
    quiet = row | {"axis": "planning", "level": "todo", "effect": 0.0, "low": -0.1, "high": 0.1, "p_adjusted": 1.0}
    said = verdict_sentence({"axes": [quiet, row]})
    assert said.startswith("The likeliest place of the cost is truncation = tail (−30.0 pp [−49.0, −5.0]); ")
    assert "it is not beyond doubt (Holm p 0.085)" in said
    assert verdict_sentence({"axes": [quiet]}) == "No single change stands out from noise."


def test_all_forms_have_the_same_numbers(run: Path) -> None:
    write_trace(run, "served")
    data = report.write(run)
    page, text = ((run / name).read_text() for name in ("report.html", "report.md"))
    row = data["trace"]["axes"][0]
    told = f"{abs(100 * row['effect']):.1f} pp"
    assert all(told in form for form in (page, text, report.summary_text(data)))
    assert page.count('id="drop-0-') > 0
    assert 'href="#endpoint-0-drop"' in page


def test_lost_trials_leave_every_value_and_are_counted(run: Path) -> None:
    write_trace(run, "served", lost=0.1)
    trace = report.build(run)["trace"]
    assert trace["lost"] > 20
    assert trace["trials"] + trace["lost"] == 480
    total = sum(row["effect"] for row in trace["axes"]) + trace["residual"]["estimate"]
    assert total == pytest.approx(trace["drop"]["estimate"], abs=1e-9)
    assert all(row["low"] is not None for row in trace["axes"])


def test_below_twenty_tasks_nothing_has_an_interval(run: Path) -> None:
    write_trace(run, "served", tasks=19)
    trace = report.build(run)["trace"]
    figures = [*trace["axes"], trace["residual"], trace["drop"], trace["from"], trace["to"]]
    assert {(figure["low"], figure["high"]) for figure in figures} == {(None, None)}
    assert verdict_sentence(trace) == "With so few tasks no change has an interval."


def test_a_trace_that_is_under_way_says_what_is_owed(run: Path) -> None:
    write_trace(run, "served", stop_after=300)
    data = report.write(run)
    assert data["trace"]["owed"] == 180
    assert "180 of 480 trials not run yet" in (run / "report.html").read_text()
    assert "180 of 480 trials not run yet" in (run / "report.md").read_text()


def test_a_change_whose_harness_cannot_run_here_is_unknown_and_says_so(run: Path) -> None:
    refused = {"harness": "add-planning", "reason": "too many tools", "label": "harness.schema_rejected"}
    probe = {"model": "m", "checks": [], "void": [], "unsupported": [refused]}
    probe |= {"calls": 1, "most": 1, "usage": {"prompt": 1, "completion": 1, "reasoning": 0, "cached": 0}, "cost": None}
    write_trace(run, "served", probe=probe)
    data = report.write(run)
    by_axis = {row["axis"]: row for row in data["trace"]["axes"]}
    assert (by_axis["planning"]["effect"], by_axis["planning"]["reason"]) == (None, "add-planning cannot run here")
    assert by_axis["protocol"]["effect"] < 0
    assert data["trace"]["residual"]["estimate"] is None
    assert (data["trace"]["owed"], data["trace"]["trials"]) == (0, 420)
    assert "unknown: add-planning cannot run here" in (run / "report.md").read_text()
    assert "unknown: add-planning cannot run here" in (run / "report.html").read_text()


def test_names_from_outside_cannot_be_markup_or_steer_a_terminal(run: Path) -> None:
    hostile = "\x1b[2J<script>alert(1)</script>|**x**"
    write_trace(run, "served", hostile=hostile, tied=hostile)
    data = report.write(run)
    page, text = ((run / name).read_text() for name in ("report.html", "report.md"))
    assert "<script>alert" not in page + text
    assert "\x1b" not in page + text + report.summary_text(data) + "".join(terminal_lines(data))


@pytest.mark.parametrize("spoiled", [{"changes": None}, {"harness": 1}, {"canonical": "nobody"}, {"changes": [{}]}])
def test_a_damaged_trace_is_one_clear_line(run: Path, spoiled: dict[str, object]) -> None:
    path = write_trace(run, "served") / "study.json"
    study = json.loads(path.read_text())
    path.write_text(json.dumps({**study, "trace": {**study["trace"], **spoiled}}))
    with pytest.raises(ConfigError, match=re.escape(f"{path}: trace")):
        report.build(run)


def test_a_trace_without_any_judged_trial_says_only_that(run: Path) -> None:
    (write_trace(run, "served") / "results.jsonl").write_text("")
    trace = report.build(run)["trace"]
    assert "the drop on fresh repeats is unknown" in drop_sentence(trace)
    assert verdict_sentence(trace) == ""
    assert one_line_summary(trace).startswith("The trace is incomplete: 480 of 480 trials")


def test_each_endpoint_has_its_own_trace(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", Plan(tasks=30, harnesses=4, endpoints=("one", "two"), costs=COSTS))
    write_trace(run, "two", tasks=30)
    one, two = report.build(run)["by_endpoint"]
    assert (one["trace"], two["trace"]["harness"]) == (None, "bad")


def entry(name: str, estimate: float | None, differs: int = 1) -> dict[str, Any]:
    changed = dict.fromkeys(map(str, range(differs)), "x")
    return {"harness": name, "estimate": estimate, "canonical": name == "canonical", "differs": changed}


@pytest.mark.parametrize(
    ("entries", "members", "found", "said"),
    [
        ([("canonical", 0.9), ("a", 0.5), ("b", 0.6)], ["a"], "a", "the worst"),
        ([("canonical", 0.9), ("a", 0.5), ("b", 0.6)], ["b", "a"], "b", "the likeliest of 2 that may be the worst"),
        (
            [("canonical", 0.9), ("a", 0.5)],
            ["a", "canonical"],
            None,
            "cannot tell any of the 2 harnesses from the worst",
        ),
        ([("canonical", 0.4), ("a", 0.5), ("b", 0.6)], ["canonical", "a"], None, "the canonical harness itself is"),
        ([("canonical", 0.9)], ["canonical"], None, "no other harness than the canonical one"),
        ([("canonical", None), ("a", 0.5)], ["a"], None, "the canonical harness has no judged trial here"),
        ([("canonical", 0.9), ("a", 0.5)], [], "a", "the lowest plain mean"),
        ([("canonical", 0.5), ("a", 0.5)], [], None, "the canonical harness itself is the lowest plain mean"),
    ],
)
def test_the_harness_to_trace_is_the_likeliest_worst(
    entries: list[tuple[str, float | None]], members: list[str], found: str | None, said: str
) -> None:
    section = {"harnesses": [entry(*each) for each in entries], "worst": {"set": members}, "n_harnesses": len(entries)}
    harness, why = traced.target(section)
    assert harness == found
    assert said in why


def test_of_equally_low_harnesses_the_one_with_the_fewest_changes_is_traced() -> None:
    entries = [entry("canonical", 0.9, 0), entry("far", 0.5, 3), entry("near", 0.5, 1)]
    section = {"harnesses": entries, "worst": {"set": []}, "n_harnesses": 3}
    assert traced.target(section) == ("near", "the lowest plain mean, as low as 1 more")

"""What report.json holds: the right counts, the planted cause, and unknowns that are said to be unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_eval.errors import ConfigError
from harness_eval.report import build
from tests.report.synthetic import Plan, write_run

HARD = {"protocol=json-text": 0.4}


def test_the_planted_axis_comes_first_with_the_largest_share(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(costs=HARD)))
    assert (data["axes"][0]["axis"], data["axes"][0]["level"]) == ("protocol", "json-text")
    assert data["axes"][0]["effect"] < -0.2
    assert data["shares"][0]["axis"] == "protocol"
    assert data["kinds"][0]["kind"] == "format"
    assert data["kinds"][0]["share"] == pytest.approx(data["shares"][0]["share"])


def test_every_leading_figure_has_estimate_low_and_high(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(costs=HARD)))
    for name in ("canonical", "mean", "worst", "gap", "spread", "worst_at_8", "cvar10"):
        assert data[name]["low"] <= data[name]["estimate"] <= data[name]["high"], name
    assert data["floor"]["estimate"] == data["floor"]["low"] < data["worst"]["estimate"]
    assert data["floor"]["high"] is None


def test_a_worst_harness_is_named_only_when_it_is_alone_in_its_set(tmp_path: Path) -> None:
    several = build(write_run(tmp_path / "several", Plan(costs=HARD)))["worst"]
    assert len(several["set"]) > 1
    assert several["harness"] is None
    plan = Plan(tasks=200, harnesses=5, labels={3: {"protocol": "dsml"}}, costs={"protocol=dsml": 0.6})
    alone = build(write_run(tmp_path / "alone", plan))["worst"]
    assert alone["set"] == [alone["harness"]] == ["random-03"]


def test_lost_trials_are_missing_with_their_owner_and_never_zeros(tmp_path: Path) -> None:
    plan = Plan(base=2.0, lost=0.1)
    data = build(write_run(tmp_path, plan))
    assert data["mean"]["estimate"] > 0.95
    assert all(entry["estimate"] > 0.9 for entry in data["harnesses"])
    assert sum(data["lost"].values()) == data["trials"]["lost"] > 50
    assert data["trials"]["judged"] + data["trials"]["lost"] == data["trials"]["planned"]
    assert sum(entry["lost"] for entry in data["harnesses"]) == data["trials"]["lost"]
    assert not data["incomplete"]


def test_a_run_that_owes_trials_is_incomplete(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(stop_after=500)))
    assert data["incomplete"]
    assert data["trials"] == {"planned": 1080, "judged": 500, "lost": 0, "unsupported": 0, "owed": 580}


def test_nothing_judged_gives_nulls_and_no_exception(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(stop_after=0)))
    for name in ("canonical", "mean", "worst", "floor", "gap", "spread"):
        assert data[name]["estimate"] is None, name
    assert data["worst"]["harness"] is None
    assert data["worst"]["set"] == []
    assert all(entry["verdict"] is None for entry in data["harnesses"])
    assert data["notes"] == ["no trial has been judged"]


def test_all_trials_lost_is_nothing_judged(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(tasks=20, harnesses=5, lost=1.0)))
    assert data["trials"]["judged"] == 0
    assert data["mean"]["estimate"] is None
    assert sum(data["lost"].values()) == 100


def test_a_torn_last_line_is_owed_again(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=5))
    path = folder / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    data = build(folder)
    assert data["trials"] == {"planned": 100, "judged": 99, "lost": 0, "unsupported": 0, "owed": 1}
    assert data["incomplete"]


def test_the_latest_line_of_a_trial_counts(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=5, lost=0.2))
    lost = build(folder)["trials"]["lost"]
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    again = [{**row, "failure": None, "score": 1.0, "solved": True, "attempt": 2} for row in rows if row["failure"]]
    with path.open("a") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in again)
    data = build(folder)
    assert len(again) == lost > 0
    assert data["trials"]["lost"] == 0
    assert data["spent"]["attempts"] == 100 + lost  # what lost attempts used up was spent all the same


def test_a_level_that_never_acted_is_not_exercised_and_has_no_effect_at_all(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(costs={"context=window(steps=4)": 0.3}, never=("context",))))
    row = next(row for row in data["axes"] if row["axis"] == "context")
    assert row["exposure"] == 0
    assert row["effect"] is None
    assert row["p_adjusted"] is None
    assert "not exercised" in row["reason"]
    assert next(one for one in data["shares"] if one["axis"] == "context")["share"] is None
    assert data["axes"][-1] is row


def test_exposure_is_the_share_of_judged_trials_in_which_the_axis_acted(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=6))
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        if row["task"] < "task-005":
            row["acted"] = []
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert {row["exposure"] for row in build(folder)["axes"]} == {0.75}


def test_without_a_canonical_harness_what_needs_one_is_unknown(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(canonical=None)))
    assert data["canonical"]["estimate"] is None
    assert data["gap"]["estimate"] is None
    assert data["axes"] == []
    assert all(entry["verdict"] is None for entry in data["harnesses"])
    assert data["worst"]["estimate"] is not None
    assert any("canonical" in note for note in data["notes"])


@pytest.mark.parametrize(("tasks", "harnesses"), [(1, 1), (2, 2), (6, 3), (19, 4), (1, 8), (25, 1)])
def test_small_runs_have_unknowns_instead_of_exceptions(tmp_path: Path, tasks: int, harnesses: int) -> None:
    data = build(write_run(tmp_path, Plan(tasks=tasks, harnesses=harnesses)))
    assert data["low_precision"]
    if tasks < 20:
        assert data["worst"]["low"] is None
        assert data["floor"]["estimate"] is None
    assert not {"compatible", "degraded", "broken"} & {entry["verdict"] for entry in data["harnesses"]}


def test_several_endpoints_have_a_section_each_and_the_run_is_counted_whole(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(tasks=20, harnesses=5, endpoints=("a", "b"), stop_after=150)))
    assert [one["endpoint"]["name"] for one in data["by_endpoint"]] == ["a", "b"]
    assert data["trials"] == {"planned": 200, "judged": 150, "lost": 0, "unsupported": 0, "owed": 50}
    assert [one["trials"]["judged"] for one in data["by_endpoint"]] == [75, 75]
    assert data["mean"] == data["by_endpoint"][0]["mean"]
    assert "by_endpoint" not in build(write_run(tmp_path / "one", Plan(tasks=20, harnesses=5)))


def test_the_same_folder_gives_the_same_content(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=30, harnesses=6, lost=0.05))
    assert build(folder) == build(folder)


def test_extra_repeats_of_the_canonical_harness_are_not_lost_trials_of_the_others(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=4))
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    extra = [{**row, "repeat": repeat} for row in rows if row["harness"] == "canonical" for repeat in (1, 2)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows + extra))
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(study | {"planned": 120, "canonical_repeats": 3}))
    data = build(folder)
    assert data["trials"] == {"planned": 120, "judged": 120, "lost": 0, "unsupported": 0, "owed": 0}
    assert [entry["judged"] for entry in data["harnesses"]] == [60, 20, 20, 20]
    assert data["loss"]["rate"] == 0


def test_results_of_another_study_are_left_out_and_said_so(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=5))
    row = json.loads((folder / "results.jsonl").read_text().splitlines()[0])
    with (folder / "results.jsonl").open("a") as file:
        file.write(json.dumps({**row, "harness": "stranger"}) + "\n")
    data = build(folder)
    assert data["trials"]["judged"] == 100
    assert any("left out" in note for note in data["notes"])


def test_a_folder_without_a_study_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=tmp_path.name):
        build(tmp_path)


def test_a_secret_in_a_recorded_message_does_not_reach_the_report(tmp_path: Path) -> None:
    plan = Plan(tasks=20, harnesses=4, lost=0.2, message="refused: Authorization: Bearer sk-verysecretvalue1234")
    assert "verysecret" not in json.dumps(build(write_run(tmp_path, plan)))

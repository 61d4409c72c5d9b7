"""Labels, blame, the endpoint's health, the two readings, and what cannot run: counted right and never a score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness_eval.errors import ConfigError
from harness_eval.report import build
from tests.report.synthetic import Plan, write_run

LABELLED = Plan(tasks=24, harnesses=6, labelled=True)
PROBE = {
    "model": "m",
    "calls": 9,
    "checks": [
        {"check": "usage is present", "status": "yes", "detail": "in the last frame", "label": ""},
        {"check": "history reaches the prompt", "status": "no", "detail": "812 and 812", "label": "serving.x"},
    ],
    "void": [{"axis": "planning", "reason": "the planning axis compares nothing here: the server ignores it"}],
    "unsupported": [{"harness": "random-02", "reason": "400: anyOf", "label": "harness.schema_rejected"}],
}


def rewrite(folder: Path, change: Any) -> Path:
    """Change every row of a run in place."""
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        change(row)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def run(tmp_path: Path, **planted: Any) -> dict[str, Any]:
    plan = Plan(**{"tasks": 24, "harnesses": 6, "labelled": True, **planted})
    return build(write_run(tmp_path, plan))


def blamed(data: dict[str, Any]) -> dict[str, int]:
    return {row["owner"]: row["trials"] for row in data["blame"]}


def one_failure(tmp_path: Path, **keys: Any) -> dict[str, Any]:
    """The only row of `blame` of a run in which one trial was not solved, and has these keys."""
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=2, base=3.0, labelled=True))

    def change(row: dict[str, Any]) -> None:
        if (row["task"], row["harness"]) == ("task-003", "canonical"):
            row |= {"score": 0.0, "solved": False, **keys}

    (row,) = build(rewrite(folder, change))["blame"]
    return row


def test_labels_are_counted_in_trials_and_turns_and_by_harness(tmp_path: Path) -> None:
    data = run(tmp_path, oddities={"serving.index_missing": 3})
    row = next(row for row in data["labels"] if row["label"] == "serving.index_missing")
    assert (row["owner"], row["effect"], row["trials"], row["turns"]) == ("serving", "tolerated", 144, 432)
    assert row["meaning"]
    assert row["harnesses"]["canonical"] == {"trials": 24, "turns": 72}


def test_labels_that_cost_come_first_and_plain_ones_are_left_out(tmp_path: Path) -> None:
    oddities = {"ok.usage_missing": 1, "model.bad_args_json": 1, "undetermined.empty_turn": 1, "ok.final_answer": 1}
    data = run(tmp_path, oddities=oddities, aborts={3: "harness.tool_name_rejected"})
    effects = [row["effect"] for row in data["labels"]]
    assert list(dict.fromkeys(effects)) == [
        "config_abort",
        "model_failure",
        "reported_separately",
        "model_feedback",
        "tolerated",
    ]
    assert not {"ok.tool_call", "ok.final_answer"} & {row["label"] for row in data["labels"]}


def test_a_label_of_whole_trials_has_no_turns_and_an_older_row_has_not_counted_them(tmp_path: Path) -> None:
    new = {row["label"]: row["turns"] for row in run(tmp_path / "new")["labels"]}
    assert new["model.wrong_answer"] == 0
    old = build(write_run(tmp_path / "old", Plan(tasks=24, harnesses=6)))
    assert {row["label"]: (row["turns"], row["owner"]) for row in old["labels"]} == {
        "repeated-call": (None, "undetermined")
    }


def test_every_trial_that_was_not_solved_is_blamed_once(tmp_path: Path) -> None:
    data = run(tmp_path, lost=0.1, leaks=(2,))
    unsolved = sum(value == 0 for row in data["cells"]["score"] for value in row)
    assert sum(blamed(data).values()) == unsolved + data["trials"]["lost"]
    assert all(sum(row["labels"].values()) == row["trials"] for row in data["blame"])
    assert {"model", "harness", "undetermined"} <= set(blamed(data))
    assert [row["trials"] for row in data["blame"]] == sorted(blamed(data).values(), reverse=True)


@pytest.mark.parametrize(
    ("keys", "owner", "label"),
    [
        ({"labels": ["model.wrong_answer"]}, "model", "model.wrong_answer"),
        ({"labels": ["model.bad_args_json", "undetermined.markup_leak"]}, "undetermined", "undetermined.markup_leak"),
        ({"labels": ["limit.steps"], "stop": "steps"}, "model", "limit.steps"),
        ({"labels": ["limit.context_overflow"]}, "harness", "limit.context_overflow"),
        ({"labels": ["model.bad_args_json"], "stop": "malformed"}, "model", "model.bad_args_json"),
        ({"labels": ["serving.index_missing"], "stop": "loop"}, "model", "model.loop_identical_calls"),
        ({"labels": ["serving.index_missing"], "stop": "time"}, "model", "stopped: time"),
        ({"labels": ["of.another_version"], "stop": "tokens"}, "model", "limit.total_tokens"),
        ({"labels": [], "stop": None, "failure": {"owner": "task", "message": "x"}}, "evaluator", "unlabelled"),
        (
            {"failure": {"owner": "endpoint", "message": "x", "label": "infra.overloaded"}},
            "provider",
            "infra.overloaded",
        ),
    ],
)
def test_a_trial_is_blamed_on_the_first_thing_that_can_cost_a_score(
    tmp_path: Path, keys: dict[str, Any], owner: str, label: str
) -> None:
    assert one_failure(tmp_path, **keys) == {"owner": owner, "trials": 1, "labels": {label: 1}}


def test_health_has_retries_oddities_losses_and_shares(tmp_path: Path) -> None:
    data = run(tmp_path, oddities={"serving.index_missing": 2, "ok.usage_missing": 1}, retried={"infra.overloaded": 1})
    health = data["endpoint_health"]
    assert (health["turns"], health["requests"]) == (144 * 5, 144 * 6)
    assert health["retried"] == {"infra.overloaded": {"count": 144, "share": pytest.approx(1 / 6)}}
    assert health["oddities"] == {"serving.index_missing": {"count": 288, "share": pytest.approx(0.4)}}
    assert health["usage_missing"] == 144
    assert health["cached_share"] == 0.25
    assert health["reasoning_share"] == pytest.approx(1 / 3)
    assert health["seconds_per_turn"] == {"median": 2.5, "p95": 2.5}
    assert health["lost"] == {}
    assert health["probe"] is None


def test_only_what_the_endpoint_lost_is_among_its_losses(tmp_path: Path) -> None:
    data = run(tmp_path, lost=0.3)
    lost = data["endpoint_health"]["lost"]
    assert lost == {"infra.overloaded": data["lost"]["endpoint"]}
    assert sum(data["lost"].values()) > lost["infra.overloaded"] > 0
    assert data["lost_labels"]["endpoint"] == lost
    assert "infra.overloaded" in {message["label"] for message in data["lost_messages"]}


def test_what_the_probe_found_is_part_of_the_endpoints_health(tmp_path: Path) -> None:
    probe = run(tmp_path, probe=PROBE)["endpoint_health"]["probe"]
    assert probe["calls"] == 9
    assert [one["status"] for one in probe["checks"]] == ["yes", "no"]
    assert probe["void"] == PROBE["void"]


def test_a_void_axis_is_not_compared_and_never_without_effect(tmp_path: Path) -> None:
    data = run(tmp_path, probe=PROBE, harnesses=12, costs={"planning=todo": 0.5})
    rows = [row for row in [*data["axes"], *data["shares"]] if row["axis"] == "planning"]
    assert len(rows) == 2
    for row in rows:
        assert row["reason"] == "not compared here: the server ignores it"
        assert row.get("effect") is row.get("share") is row["p_adjusted"] is None


def test_a_level_that_makes_a_difference_all_the_same_keeps_its_effect(tmp_path: Path) -> None:
    void = [{**PROBE["void"][0], "but": ["todo"]}]
    data = run(tmp_path, probe={**PROBE, "void": void}, harnesses=12, costs={"planning=todo": 0.5})
    (row,) = [row for row in data["axes"] if row["axis"] == "planning"]
    (share,) = [row for row in data["shares"] if row["axis"] == "planning"]
    assert row["effect"] is not None
    assert share["share"] is not None


def test_a_harness_that_cannot_run_is_neither_lost_nor_in_a_denominator(tmp_path: Path) -> None:
    data = run(tmp_path, aborts={3: "harness.tool_name_rejected"}, repeats=2)
    assert data["trials"] == {"planned": 288, "judged": 240, "lost": 0, "unsupported": 48, "owed": 0}
    assert not data["incomplete"]
    assert data["loss"]["rate"] == 0
    (entry,) = data["unsupported"]
    assert (entry["harness"], entry["label"], entry["owner"]) == ("random-03", "harness.tool_name_rejected", "harness")
    harness = data["harnesses"][3]
    assert (harness["verdict"], harness["estimate"], harness["judged"], harness["lost"]) == ("unsupported", None, 0, 0)
    assert data["n_harnesses"] == 5


def test_a_harness_that_the_probe_refused_is_unsupported_even_with_verdicts(tmp_path: Path) -> None:
    data = run(tmp_path, probe=PROBE)
    assert [(entry["harness"], entry["judged"]) for entry in data["unsupported"]] == [("random-02", 24)]
    assert data["trials"]["judged"] == 120
    assert data["harnesses"][2]["reason"] == "400: anyOf"
    assert "random-02" not in data["worst"]["set"]


def test_an_empty_account_makes_no_harness_unsupported(tmp_path: Path) -> None:
    data = run(tmp_path, aborts={3: "infra.quota_exhausted"})
    assert data["unsupported"] == []
    assert data["trials"]["lost"] == 1


def test_a_harness_is_unsupported_only_at_the_endpoint_that_refuses_it(tmp_path: Path) -> None:
    data = run(tmp_path, probe=PROBE, endpoints=("a", "b"), unsupported=(("never", "cannot exist"),))
    first, second = data["by_endpoint"]
    assert [entry["harness"] for entry in first["unsupported"]] == ["never", "random-02"]
    assert [entry["harness"] for entry in second["unsupported"]] == ["never"]
    assert [(entry["harness"], entry["endpoint"]) for entry in data["unsupported"]] == [
        ("never", None),
        ("random-02", "a"),
    ]
    assert data["trials"]["unsupported"] == 24


def test_everything_unsupported_is_nothing_judged(tmp_path: Path) -> None:
    data = run(tmp_path, aborts=dict.fromkeys(range(6), "harness.schema_rejected"))
    assert data["trials"] == {"planned": 144, "judged": 0, "lost": 0, "unsupported": 144, "owed": 0}
    assert data["worst"]["estimate"] is None


def test_strict_and_recovered_means_stand_beside_each_other_and_the_headline_is_strict(tmp_path: Path) -> None:
    data = run(tmp_path, leaks=(2, 4))
    found = data["recovered"]
    assert found["mean"]["strict"] == data["mean"]["estimate"] < found["mean"]["recovered"]
    assert {row["harness"]: row["recovered"] for row in found["harnesses"]} == {"random-02": 1.0, "random-04": 1.0}
    assert sum(row["trials"] for row in found["harnesses"]) == found["trials"]
    raised = sum(1 - row["strict"] for row in found["harnesses"]) / 6
    assert found["mean"]["recovered"] == pytest.approx(found["mean"]["strict"] + raised)


def test_without_a_leaked_call_there_is_one_reading(tmp_path: Path) -> None:
    assert run(tmp_path)["recovered"] is None


@pytest.mark.parametrize("base", [-3.0, 3.0])
def test_below_twenty_tasks_no_figure_lies_off_the_data(tmp_path: Path, base: float) -> None:
    data = build(write_run(tmp_path, Plan(tasks=6, harnesses=4, base=base)))
    plain = float(base > 0)
    assert data["canonical"]["estimate"] == data["mean"]["estimate"] == plain
    assert {entry["estimate"] for entry in data["harnesses"]} == {plain}
    assert [entry["difference"]["estimate"] for entry in data["harnesses"]] == [None, 0, 0, 0]
    found = {key: data["worst"][key] for key in ("estimate", "low", "high", "harness", "p_worst", "set", "reason")}
    assert found == {
        "estimate": None,
        "low": None,
        "high": None,
        "harness": None,
        "p_worst": None,
        "set": [],
        "reason": "fewer than 20 tasks",
    }
    assert data["gap"]["estimate"] is data["cvar10"]["estimate"] is data["quantiles"]["q50"]["estimate"] is None


def test_worst_is_never_above_the_mean(tmp_path: Path) -> None:
    data = build(write_run(tmp_path, Plan(tasks=24, harnesses=4, base=-3.0)))
    worst = data["worst"]
    assert worst["estimate"] == worst["low"] == data["mean"]["estimate"] == 0
    assert worst["high"] > 0


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("study.json", '{"tasks": 3}', "tasks: "),
        ("study.json", '{"endpoints": ["a"], "harnesses": [{"name": 1}]}', "endpoints.0: "),
        ("study.json", '{"endpoints": [{"name": "a"}], "planned": "many"}', "planned: "),
        ("probe.json", "{", "is damaged"),
        ("probe.json", '{"endpoints": {"a": {"checks": 1}}}', "is damaged"),
    ],
)
def test_a_damaged_file_is_one_line_that_names_it(tmp_path: Path, name: str, content: str, told: str) -> None:
    folder = write_run(tmp_path, LABELLED)
    (folder / name).write_text(content)
    with pytest.raises(ConfigError) as caught:
        build(folder)
    assert name in str(caught.value)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_keys_of_a_row_that_hold_something_else_count_as_not_recorded(tmp_path: Path) -> None:
    odd = {"labels": 3, "turns": [1], "retried": "x", "recovered": {}, "acted": None}
    data = build(rewrite(write_run(tmp_path, LABELLED), lambda row: row.update(odd)))
    assert data["labels"] == []
    assert data["recovered"] is None
    assert data["endpoint_health"]["retried"] == {}


def test_a_secret_that_the_probe_saw_does_not_reach_the_report(tmp_path: Path) -> None:
    checks = [{"check": "c", "status": "no", "detail": "Authorization: Bearer sk-verysecretvalue1234"}]
    data = run(tmp_path, probe={**PROBE, "checks": checks})
    assert "verysecret" not in json.dumps(data)

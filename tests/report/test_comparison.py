"""Two runs compared: what moved is seen, what cannot be compared is named, and all forms say the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness_eval import store
from harness_eval.compat.targets import targets
from harness_eval.errors import ConfigError
from harness_eval.importing import Wishes, import_run
from harness_eval.report import compare, comparison_text, write_comparison
from tests.report.synthetic import Plan, write_run
from tests.report.test_forms import HOSTILE, Page

COSTS = {"protocol=json-text": 0.32, "protocol=xml-function": 0.1, "truncation=silent": 0.2}
FRAGILE = Plan(tasks=100, base=0.82, costs=COSTS, endpoints=("one",), lost=0.004, labelled=True)
ROBUST = Plan(tasks=100, base=0.66, costs={}, endpoints=("two",), again=99, lost=0.01, labelled=True)
SMALL = Plan(tasks=25, harnesses=4, labelled=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return write_run(folder / "before", FRAGILE), write_run(folder / "after", ROBUST)


@pytest.fixture(scope="module")
def data(runs: tuple[Path, Path]) -> dict[str, Any]:
    return compare(*map(str, runs))


@pytest.fixture(scope="module")
def forms(data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    folder = tmp_path_factory.mktemp("out") / "new"
    write_comparison(data, folder)
    assert json.loads((folder / "comparison.json").read_text()) == json.loads(json.dumps(data))
    return (folder / "comparison.md").read_text(), (folder / "comparison.html").read_text(), comparison_text(data)


def small(folder: Path, **keys: Any) -> Path:
    """A small run like `SMALL`, with what its study.json says changed."""
    write_run(folder, SMALL)
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(study | {key: change(study[key]) for key, change in keys.items()}))
    return folder


def of(*folders: Path, **given: Any) -> dict[str, Any]:
    return compare(str(folders[0]), str(folders[1]), **given)


def reasons(data: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(entry["what"], len(entry["names"]), entry["reason"]) for entry in data["left_out"]]


def test_the_same_mean_with_a_narrower_spread_is_said(data: dict[str, Any], forms: tuple[str, str, str]) -> None:
    figures = data["figures"]
    verdicts = [figures[name]["verdict"] for name in ("mean", "spread", "worst", "gap")]
    assert verdicts == ["no difference seen", "narrower", "better", "narrower"]
    text = " ".join(forms[2].split())
    assert "Same mean (within " in text
    assert ", narrower spread, higher worst." in text
    assert "The mean is the same within " in text
    assert ", the spread fell from 1" in text
    assert " and the worst rose from 3" in text


def test_a_gap_that_narrows_since_canonical_fell_is_no_gain(tmp_path: Path) -> None:
    low = Plan(tasks=60, harnesses=8, base=0.75, costs={"protocol=json-text": 0.6, "protocol=xml-function": 0.6})
    fallen = Plan(tasks=60, harnesses=8, base=0.2, again=99)
    data = of(write_run(tmp_path / "before", low), write_run(tmp_path / "after", fallen))
    assert [data["figures"][name]["verdict"] for name in ("gap", "canonical")] == ["narrower", "worse"]
    text = " ".join(comparison_text(data).split())
    assert "narrower: canonical fell" in text
    assert "lower canonical." in text
    assert "the gap is narrower for that, not because the worst rose" in text


def test_a_mean_that_may_have_moved_far_is_not_called_the_same(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / name, SMALL) for name in ("one", "other")]
    text = " ".join(comparison_text(of(*folders)).split())
    assert "No change of the mean seen, " in text
    assert "ame mean" not in text


def test_every_figure_before_and_after_adds_up_to_its_change(data: dict[str, Any]) -> None:
    rows = [*data["figures"].values(), *data["pass_k"].values(), *data["harnesses"]]
    for row in rows:
        difference = row["after"]["estimate"] - row["before"]["estimate"]
        assert row["change"]["estimate"] == pytest.approx(difference, abs=1e-9)
        assert row["change"]["low"] <= row["change"]["estimate"] <= row["change"]["high"]


def test_the_level_that_costs_less_is_named(data: dict[str, Any]) -> None:
    first = data["levels"]["rows"][0]
    assert (first["axis"], first["level"], first["verdict"]) == ("protocol", "json-text", "better")
    assert first["p_adjusted"] < 0.05


def test_all_forms_say_the_same(data: dict[str, Any], forms: tuple[str, str, str]) -> None:
    worst = data["figures"]["worst"]
    told = f"{100 * worst['change']['estimate']:+.1f} pp"
    assert all(told in form for form in forms)
    assert all(row["harness"] in forms[0] for row in data["harnesses"])
    assert len(forms[0]) < 60_000


def test_the_page_is_whole_and_loads_nothing(forms: tuple[str, str, str]) -> None:
    page = Page(forms[1])
    assert not page.open
    assert not page.loads
    assert not page.handlers
    assert len(page.ids) == len(set(page.ids))
    assert page.tags["svg"] == 6
    assert page.tags["script"] == 0


def test_losses_labels_and_what_was_used_are_on_both_sides(data: dict[str, Any]) -> None:
    assert data["lost"]["before"]["lost"] == 8
    assert data["lost"]["after"]["lost"] == 15
    assert sum(data["lost"]["after"]["owners"].values()) == 15
    assert {row["what"] for row in data["spent"]} == {"tokens", "seconds", "cost"}
    assert all(row["ratio"]["estimate"] == pytest.approx(1) for row in data["spent"])
    assert "no verdict in one of the runs" in data["notes"][-1]


def test_a_label_that_grew_is_told_from_one_that_did_not(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", SMALL)
    other = write_run(
        tmp_path / "other", Plan(tasks=25, harnesses=4, labelled=True, oddities={"model.loop_alternating_calls": 1})
    )
    rows = of(one, other)["labels"]
    assert [(row["label"], row["after"]["trials"]) for row in rows if row["moved"]] == [
        ("model.loop_alternating_calls", 100)
    ]
    assert len(rows) > 1


def test_a_task_that_broke_everywhere_is_found(tmp_path: Path) -> None:
    plan = Plan(tasks=40, harnesses=16, base=1.5)
    one, other = write_run(tmp_path / "one", plan), write_run(tmp_path / "other", plan)
    lines = [json.loads(line) for line in (other / "results.jsonl").read_text().splitlines()]
    for row in lines:
        if row["task"] == "task-007":
            row |= {"solved": False, "score": 0.0}
    (other / "results.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in lines))
    tasks = of(one, other)["tasks"]
    assert [(row["task"], row["down"]) for row in tasks["rows"]] == [("task-007", 16)]
    assert tasks["rows"][0]["p_adjusted"] < 0.001
    assert (tasks["unmoved"], tasks["up"], tasks["down"]) == (39, 0, 16)


def test_what_only_one_run_has_is_left_out_and_named(tmp_path: Path) -> None:
    one = small(tmp_path / "one", tasks=lambda tasks: tasks[1:])
    other = small(tmp_path / "other", harnesses=lambda harnesses: harnesses[:3], tasks=lambda tasks: tasks[:-2])
    data = of(one, other)
    assert reasons(data) == [
        ("task", 2, "only in the first run"),
        ("task", 1, "only in the second run"),
        ("harness", 1, "only in the first run"),
    ]
    assert (data["compared"]["tasks"], data["compared"]["harnesses"]) == (22, 3)
    assert "only in the second run" in comparison_text(data)


def test_the_same_name_with_another_content_is_left_out_unless_it_is_wanted(tmp_path: Path) -> None:
    def changed(entries: list[dict[str, Any]], **keys: str) -> list[dict[str, Any]]:
        return [entries[0] | keys, *entries[1:]]

    one = small(tmp_path / "one")
    other = small(
        tmp_path / "other",
        tasks=lambda tasks: changed(tasks, digest="e"),
        harnesses=lambda harnesses: [*harnesses[:2], harnesses[2] | {"id": "f"}, harnesses[3] | {"version": "2"}],
    )
    assert reasons(of(one, other)) == [
        ("task", 1, "the same name, but its content differs"),
        ("harness", 1, "the same name, but its levels differ (another id)"),
        ("harness", 1, "the same name, but its version differs"),
    ]
    assert reasons(of(one, other, ignore_versions=True)) == []


def test_runs_without_a_common_cell_are_refused_with_the_reason(tmp_path: Path) -> None:
    one = small(tmp_path / "one")
    other = small(tmp_path / "other", tasks=lambda tasks: [task | {"digest": "e"} for task in tasks])
    with pytest.raises(ConfigError, match=r"no common tasks; --ignore-versions .*25 tasks .*its content differs"):
        of(one, other)
    (other / "results.jsonl").write_text("")
    with pytest.raises(ConfigError, match="no common cells with a verdict"):
        of(one, other, ignore_versions=True)


def test_a_harness_that_cannot_run_in_one_run_is_left_out(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", SMALL)
    aborts = {2: "harness.tool_name_rejected"}
    other = write_run(tmp_path / "other", Plan(tasks=25, harnesses=4, labelled=True, aborts=aborts))
    assert [(what, number) for what, number, _ in reasons(of(one, other))] == [("harness", 1)]


def test_the_endpoint_of_a_run_with_several_must_be_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", Plan(tasks=25, harnesses=4, endpoints=("left", "right")))
    with pytest.raises(ConfigError, match=r"2 endpoints \(left, right\); name one"):
        of(run, run)
    with pytest.raises(ConfigError, match="no endpoint 'lefd'; did you mean 'left'"):
        compare(f"{run}:lefd", f"{run}:right")
    data = compare(f"{run}:left", str(run), endpoint="right")
    assert [data[side]["endpoint"]["name"] for side in ("before", "after")] == ["left", "right"]
    assert "Both are the same endpoint of the same run." in of(run, run, endpoint="left")["notes"]


def test_settings_that_differ_are_noted(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", SMALL)
    other = write_run(tmp_path / "other", Plan(tasks=25, harnesses=4, repeats=2, labelled=True))
    study = json.loads((other / "study.json").read_text())
    study["tasks"] = [task | {"suite": "mine"} for task in study["tasks"]]
    (other / "study.json").write_text(json.dumps(study | {"sandbox": "docker"}))
    notes = of(one, other)["notes"]
    assert "Different repeats: 1 in the first run, 2 in the second." in notes
    assert "Different sandbox: bubblewrap in the first run, docker in the second." in notes
    assert "Different suites: core in the first run, mine in the second." in notes


def test_a_hunt_and_another_order_of_trials_are_noted(tmp_path: Path) -> None:
    one, other = write_run(tmp_path / "one", SMALL), write_run(tmp_path / "other", SMALL)
    study = json.loads((other / "study.json").read_text())
    tasks = [task["name"] for task in study["tasks"]]
    layout = {"allocate": "hunt", "tasks": tasks, "ends": [len(tasks)], "trials": study["planned"]}
    changed = {**study, "adaptive": layout, "order": {"kind": "prefix", "block": 4}}
    (other / "study.json").write_text(json.dumps(changed))
    notes = " ".join(of(one, other)["notes"])
    assert "The second run is a hunt: its results decided which harness met further tasks" in notes
    assert (
        "Different orders of trials: interleaved in the first run, prefix in blocks of 4 tasks in the second" in notes
    )
    assert "is a hunt" not in " ".join(of(one, one)["notes"])
    assert any("is a hunt" in note for part in targets([str(other)]).parts for note in part.notes)


def test_imported_runs_are_paired_by_name(tmp_path: Path) -> None:
    def bare(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"name": entry["name"], "labels": {}} for entry in entries]

    folders = [
        small(tmp_path / name, harnesses=bare, tasks=bare, canonical=lambda _: None) for name in ("one", "other")
    ]
    data = of(*folders)
    assert data["levels"] == {"rows": [], "reason": "the axes of the harnesses are unknown"}
    assert data["figures"]["gap"]["change"]["estimate"] is None
    assert data["compared"]["cells"] == 100
    assert "the runs have no canonical harness in common" in comparison_text(data) or data["canonical_harness"] is None


def test_an_imported_run_is_compared_with_a_real_one_of_the_same_names(tmp_path: Path) -> None:
    real = small(tmp_path / "real")
    table = tmp_path / "table.csv"
    rows = [
        f"m,{harness['name']},{task['name']},1,2"
        for harness in store.read_study(real)["harnesses"]
        for task in store.read_study(real)["tasks"]
    ]
    table.write_text("\n".join(["model,harness,task,successes,trials", *rows]) + "\n")
    import_run([table], tmp_path / "imported", Wishes(canonical="canonical"))
    data = of(real, tmp_path / "imported")
    assert (data["compared"]["tasks"], data["compared"]["harnesses"], data["left_out"]) == (25, 4, [])
    assert any("names alone say what belongs together" in note for note in data["notes"])


def test_an_endpoint_may_have_a_colon_in_its_name(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", Plan(tasks=25, harnesses=4, endpoints=("lab/m:8b", "two")))
    data = compare(f"{run}:lab/m:8b", f"{run}:two")
    assert [data[side]["endpoint"]["name"] for side in ("before", "after")] == ["lab/m:8b", "two"]


def test_no_limit_is_beyond_what_a_change_can_be(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    for name, solved in (("all", 1), ("none", 0)):
        rows = [f"m,{harness},t{task},{solved},1" for harness in "abc" for task in range(25)]
        table.write_text("\n".join(["model,harness,task,successes,trials", *rows]) + "\n")
        import_run([table], tmp_path / name, Wishes(canonical="a"))
    data = of(tmp_path / "all", tmp_path / "none")
    assert "the change of the spread has no interval (0.0 pp, then 0.0 pp)" in " ".join(comparison_text(data).split())
    found = [*data["figures"].values(), *data["pass_k"].values(), *data["harnesses"]]
    assert all(-1 <= (each["change"]["low"] or 0) <= (each["change"]["high"] or 0) <= 1 for each in found)


def test_one_harness_has_no_gap_to_itself(tmp_path: Path) -> None:
    data = of(*(write_run(tmp_path / name, Plan(tasks=25, harnesses=1)) for name in ("one", "two")))
    assert data["figures"]["gap"]["verdict"] is None
    assert data["figures"]["worst"]["verdict"] is not None


def test_who_asks_is_taken_out_of_an_address(tmp_path: Path) -> None:
    run = small(tmp_path / "run")
    study = store.read_study(run)
    study["endpoints"][0] |= {"base_url": "https://me:hunter2@host/v1?api_key=topsecret", "api_key": "sk-123456789"}
    (run / "study.json").write_text(json.dumps(study))
    data = of(run, run)
    write_comparison(data, tmp_path / "out")
    told = comparison_text(data) + "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert not [secret for secret in ("hunter2", "topsecret", "sk-123456789") if secret in told]


def test_scripted_agents_are_said_to_be_scripted(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / name, Plan(tasks=25, harnesses=4, scripted=True)) for name in ("one", "other")]
    data = of(*folders)
    assert "Both runs are of the scripted agent, not of a language model." in comparison_text(data)


def test_few_tasks_have_points_and_say_why_no_more(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / name, Plan(tasks=6, harnesses=3)) for name in ("one", "other")]
    text = comparison_text(of(*folders))
    assert "with 6 common tasks, fewer than 20, no change has an interval" in " ".join(text.split())
    assert "unknown" in text


def test_foreign_names_break_nothing(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", HOSTILE)
    study = json.loads((one / "study.json").read_text())
    study["tasks"][3]["name"] = "only-here \x1b[31m <b>x</b> | `y`"
    other = tmp_path / "other"
    shutil.copytree(one, other)
    (one / "study.json").write_text(json.dumps(study))
    data = of(one, other)
    write_comparison(data, tmp_path / "out")
    page = Page((tmp_path / "out" / "comparison.html").read_text())
    assert not page.open
    assert page.tags["script"] == 0
    assert "\x1b" not in comparison_text(data)
    text = (tmp_path / "out" / "comparison.md").read_text()
    assert "<script" not in text
    assert "\x1b" not in text
    assert "<b>" not in text


def test_a_folder_that_cannot_be_written_is_one_clear_line(data: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file: cannot be made"):
        write_comparison(data, tmp_path / "file")


def test_a_level_that_one_run_did_not_test_has_no_change(tmp_path: Path) -> None:
    one = write_run(tmp_path / "one", Plan(tasks=25, harnesses=18))
    void = [{"axis": "protocol", "reason": "compares nothing here: all are one", "but": ["xml-function"]}]
    probe = {"model": "m", "checks": [], "void": void}
    other = write_run(tmp_path / "other", Plan(tasks=25, harnesses=18, never=("context",), probe=probe))
    data = of(one, other)
    untested = {row["level"]: row["reason"] for row in data["levels"]["rows"] if row["change"]["estimate"] is None}
    assert untested["window(steps=4)"] == "not exercised: never acted in a trial (second run)"
    assert untested["json-text"] == "not compared here: all are one (second run)"
    assert "xml-function" not in untested

"""The worst harness taken apart: which harnesses a trace has, and the study that it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness_eval import recording, store, tracing
from harness_eval.combinations import RULES, Rule, broken_rule, named
from harness_eval.design import Design, plan_harnesses
from harness_eval.errors import ConfigError
from harness_eval.family import load_family
from harness_eval.harness import Harness, canonical, load_harness, make_harness, named_harnesses
from harness_eval.planning import record, resolve
from harness_eval.study_file import StudyConfig
from harness_eval.tracing import lay_out
from tests.doubles import make_task

RENDER = {"protocol": "json-text", "toolset": "pascal-case", "truncation": {"level": "head", "cap": 2500}}


def worst(**levels: object) -> Harness:
    return make_harness({"name": "bad", **levels}, "bad")


def axes(harness: Harness) -> list[tuple[str, ...]]:
    return [change.axes for change in lay_out(canonical(), harness).changes]


def test_each_change_is_added_alone_and_reverted_alone_with_its_parameters() -> None:
    layout = lay_out(canonical(), worst(planning="todo", truncation={"level": "head", "cap": 2500}, shell="persistent"))
    made = {harness.name: harness.labels for harness in layout.harnesses}
    usual = canonical().labels
    assert list(made) == [
        "canonical",
        "bad",
        *(f"{w}-{a}" for a in ("truncation", "planning", "shell") for w in ("add", "revert")),
    ]
    assert made["add-truncation"] == {**usual, "truncation": "head(cap=2500)"}
    assert made["revert-truncation"] == {**made["bad"], "truncation": "middle"}
    (change,) = (each for each in layout.changes if each.axes == ("truncation",))
    assert (change.level, change.canonical_level, change.reason) == ("head(cap=2500)", "middle", "")


def test_axes_that_cannot_change_on_their_own_are_one_change_with_the_reason() -> None:
    layout = lay_out(canonical(), worst(protocol="json-text", planning="todo"))
    assert [change.axes for change in layout.changes] == [("protocol", "results"), ("planning",)]
    tied = layout.changes[0]
    assert (tied.level, tied.canonical_level) == ("json-text + user-message", "native + tool-message")
    assert "no tool role" in tied.reason


def test_what_can_be_added_but_not_reverted_is_tied_as_well() -> None:
    # The list cannot be added to a fresh shell; the shell that stays could be, but not be reverted under the list.
    rule = Rule("planning", named("todo"), "shell", named("fresh"), "a list wants a shell that stays")
    harness = worst(planning="todo", shell="persistent")
    assert [change.axes for change in lay_out(canonical(), harness, [rule]).changes] == [("planning", "shell")]
    assert axes(harness) == [("planning",), ("shell",)]


def test_ties_reach_over_several_axes() -> None:
    assert axes(worst(protocol="fenced-bash", errors="terse")) == [
        ("protocol", "toolset", "stopping", "results"),
        ("errors",),
    ]


def test_two_changes_need_four_harnesses_and_one_needs_both_ends_only() -> None:
    two = lay_out(canonical(), worst(planning="todo", shell="persistent"))
    assert [harness.name for harness in two.harnesses] == ["canonical", "bad", "add-planning", "revert-planning"]
    assert (two.changes[1].added, two.changes[1].reverted) == ("revert-planning", "add-planning")
    one = lay_out(canonical(), worst(planning="todo"))
    assert [harness.name for harness in one.harnesses] == ["canonical", "bad"]
    assert (one.changes[0].added, one.changes[0].reverted) == ("bad", "canonical")
    assert lay_out(canonical(), canonical().model_copy(update={"name": "same"})).changes == ()


def test_a_harness_that_is_called_like_a_part_of_the_trace_keeps_its_name() -> None:
    odd = make_harness({"name": "add-planning", "planning": "todo", "shell": "persistent", "errors": "terse"}, "odd")
    names = [harness.name for harness in lay_out(canonical(), odd).harnesses]
    assert len(names) == len(set(names)) == 8
    assert names[1] == "add-planning"


def possible(start: Harness, then: Harness, changed: set[str]) -> bool:
    levels = {axis: (then if axis in changed else start).levels[axis] for axis in start.levels}
    return broken_rule(levels) is None


def test_groups_are_possible_in_both_directions_and_as_small_as_can_be() -> None:
    family = load_family("everything")
    drawn = plan_harnesses(family, Design(kind="random", size=12), 0).harnesses[1:]
    for harness in [*drawn, *(load_harness(name) for name in named_harnesses())]:
        layout = lay_out(canonical(), harness)  # building each is the proof that it is possible
        for change in layout.changes:
            parts = [{axis} for axis in change.axes] + [set(change.axes) - {axis} for axis in change.axes]
            for part in parts if len(change.axes) > 1 else ():
                alone = possible(canonical(), harness, part), possible(harness, canonical(), part)
                rest = set(change.axes) - part
                left = possible(canonical(), harness, rest), possible(harness, canonical(), rest)
                assert not all((*alone, *left)), (harness.name, change.axes, part)


def run_of(tmp_path: Path, **keys: object) -> Path:
    for name in ("alpha", "beta"):
        make_task(tmp_path / "suite", name)
    (tmp_path / "bad.yaml").write_text(json.dumps(RENDER))
    return written(tmp_path, harnesses=[str(tmp_path / "bad.yaml")], **keys)


def written(tmp_path: Path, **keys: object) -> Path:
    """The folder of a run that has just begun."""
    given = {"name": "first", "reference": {}, "tasks": {"suite": str(tmp_path / "suite")}, "sandbox": "local"}
    study = resolve(StudyConfig.model_validate({**given, "seed": 3, **keys}))
    with store.open_run(tmp_path / "run", record(study)):
        return tmp_path / "run"


def test_the_study_of_a_trace_is_the_same_from_the_record_and_from_the_run(tmp_path: Path) -> None:
    folder = run_of(tmp_path, limits={"steps": 7}, reference={"couplings": {"needs-thinking": 0.25}})
    base = tracing.config_of(folder, "reference", str(tmp_path / "suite"))
    ours = StudyConfig.model_validate(
        {
            "name": "first",
            "reference": {"couplings": {"needs-thinking": 0.25}},
            "tasks": {"suite": str(tmp_path / "suite"), "limit": 5},
            "harnesses": [str(tmp_path / "bad.yaml")],
            "limits": {"steps": 7},
            "sandbox": "local",
            "seed": 3,
            "concurrency": 2,
            "trace": True,
        }
    )
    made = [record(tracing.prepare(folder, "reference", "bad", config)) for config in (base, ours)]
    assert list(recording.differences(made[0], made[1])) == []
    found = made[0]
    assert (found["seed"] != 3, found["limits"]["steps"], found["repeats"]) == (True, 7, 1)
    assert found["canonical"] == "canonical"
    assert found["planned"] == 2 * 8
    assert found["trace"]["harness"] == "bad"
    changes = [change["axes"] for change in found["trace"]["changes"]]
    assert changes == [("protocol", "results"), ("toolset",), ("truncation",)]
    assert any("no trial of that run is used" in note for note in found["notes"])
    assert any(note.startswith("protocol + results change together") for note in found["notes"])


def refused(folder: Path, harness: str = "bad", suite: str | None = None) -> str:
    base = tracing.config_of(folder, "reference", suite or str(folder.parent / "suite"))
    with pytest.raises(ConfigError) as caught:
        tracing.prepare(folder, "reference", harness, base)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def change_study(folder: Path, **keys: object) -> None:
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps({**study, **keys}))


def test_what_is_not_as_it_was_in_the_run_is_not_traced(tmp_path: Path) -> None:
    folder = run_of(tmp_path)
    assert "no harness 'bda' in this run; did you mean 'bad'?" in refused(folder, "bda")
    assert "the canonical one" in refused(folder, "canonical")
    assert "--suite names the folder of the run's tasks" in refused(folder, suite="suite")
    with pytest.raises(ConfigError, match="no endpoint 'refrence' in this run; did you mean 'reference'"):
        tracing.config_of(folder, "refrence", None)
    instruction = tmp_path / "suite" / "beta" / "instruction.md"
    instruction.write_text(instruction.read_text() + "Quickly.\n")
    assert "not what they were in the run, so its drop cannot be traced: beta" in refused(folder)


def test_a_harness_that_sends_something_else_today_is_not_traced(tmp_path: Path) -> None:
    folder = run_of(tmp_path)
    harnesses = json.loads((folder / "study.json").read_text())["harnesses"]
    change_study(folder, harnesses=[{**each, "wire": "0" * 64} for each in harnesses])
    assert "what a model receives from it has changed since the run" in refused(folder)


def test_a_run_without_levels_cannot_be_taken_apart(tmp_path: Path) -> None:
    folder = run_of(tmp_path)
    harnesses = json.loads((folder / "study.json").read_text())["harnesses"]
    change_study(folder, harnesses=[{**each, "spec": {}} for each in harnesses])
    assert "the run holds no levels of it" in refused(folder)


def test_a_trace_is_not_traced_again(tmp_path: Path) -> None:
    folder = run_of(tmp_path)
    change_study(folder, trace={"harness": "bad"})
    assert "is itself a trace" in refused(folder)


def test_a_real_model_goes_on_in_the_local_sandbox_only_where_that_is_said(tmp_path: Path) -> None:
    real = {"name": "kimi", "base_url": "http://127.0.0.1:9/v1", "model": "kimi-k3", "timeout_seconds": 7}
    folder = run_of(tmp_path, endpoints=[real], reference=None, allow_local=True)
    suite = str(tmp_path / "suite")
    base = tracing.config_of(folder, "kimi", suite)
    with pytest.raises(ConfigError, match="say --allow-local to go on there"):
        tracing.prepare(folder, "kimi", "bad", base)
    allowed = tracing.config_of(folder, "kimi", suite, allow_local=True, concurrency=3)
    study = tracing.prepare(folder, "kimi", "bad", allowed)
    assert study.endpoints == ("kimi",)
    assert (study.config.concurrency, study.config.endpoints[0].base_url) == (3, real["base_url"])


def test_what_a_family_leaves_out_ties_its_axes_too(tmp_path: Path) -> None:
    excluded: Mapping[str, object] = {"planning": "todo", "shell": "fresh", "reason": "not wanted"}
    given = {"axes": {"planning": ["todo"], "shell": ["persistent"]}, "exclude": [excluded]}
    (tmp_path / "own.yaml").write_text(json.dumps({"name": "own", **given}))
    make_task(tmp_path / "suite", "alpha")
    keys: dict[str, object] = {"family": str(tmp_path / "own.yaml"), "design": {"kind": "random", "size": 3}}
    folder = written(tmp_path, **keys)
    study = store.read_study(folder)
    names = {each["name"]: each["labels"] for each in study["harnesses"]}
    both = next(n for n, labels in names.items() if (labels["planning"], labels["shell"]) == ("todo", "persistent"))
    assert [change.axes for change in tracing.layout_of(study, both).changes] == [("planning", "shell")]


def test_each_endpoint_of_several_has_a_folder_of_its_own() -> None:
    run = Path("run")
    assert tracing.place(run, ["a/b"], "a/b") == run / "trace"
    one, other = (tracing.place(run, ["a/b", "a:b", "plain"], name) for name in ("a/b", "a:b"))
    assert one != other
    assert {one.parent, other.parent} == {run / "trace"}
    assert tracing.place(run, ["a/b", "plain"], "plain") == run / "trace" / "plain"


def test_the_largest_trace_of_a_study_is_known_before_it_runs(tmp_path: Path) -> None:
    make_task(tmp_path / "suite", "alpha")
    (tmp_path / "bad.yaml").write_text(json.dumps(RENDER))
    given = {"name": "s", "reference": {}, "tasks": {"suite": str(tmp_path / "suite")}, "sandbox": "local"}
    bad = StudyConfig.model_validate({**given, "harnesses": [str(tmp_path / "bad.yaml")]})
    assert tracing.most_harnesses(resolve(bad)) == 8
    assert tracing.most_harnesses(resolve(StudyConfig.model_validate(given))) == 0


def test_every_rule_is_about_two_axes() -> None:
    """What makes the groups of changes connected ones, and the search for them short."""
    assert all(rule.axis != rule.other for rule in RULES)

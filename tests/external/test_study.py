"""External harnesses in a study: chosen, planned, recorded, resumed, and reported beside harnesses of levels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from harness_eval import report, store
from harness_eval.cli.diagnose import report_of
from harness_eval.errors import ConfigError
from harness_eval.estimate import estimate
from harness_eval.planning import Study, record, resolve
from harness_eval.replaying import check, rebuilt
from harness_eval.report.trajectory import trial_html
from harness_eval.study_file import load_study
from tests.doubles import make_task
from tests.external.scripted import script_harness
from tests.test_study import run

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A study of one task beside two adapters, with these keys."""
    make_task(tmp_path / "suite")
    for mode in ("", "drop", "crash"):
        adapter = script_harness(mode)
        spec = {key: value for key, value in adapter.spec().items() if key != "kind"}
        (tmp_path / f"{adapter.name}.yaml").write_text(yaml.safe_dump(spec))

    def _write(**keys: object) -> Path:
        given = {"name": "s", "reference": {}, "tasks": {"suite": "./suite"}, "sandbox": "local", **keys}
        path = tmp_path / "study.yaml"
        path.write_text(json.dumps({"harnesses": ["script-plain.yaml", "script-drop.yaml"], **given}))
        return path

    return _write


def resolved(path: Path, **overrides: object) -> Study:
    return resolve(load_study(path, overrides))


def test_they_stand_behind_the_harnesses_of_levels_and_are_trials_as_these_are(write: Write) -> None:
    found = resolved(write(repeats=2, canonical_repeats=3))
    assert [each.name for each in found.harnesses] == ["canonical"]
    assert [each.name for each in found.externals] == ["script-plain", "script-drop"]
    names = [key.harness for key in found.keys]
    assert {name: names.count(name) for name in names} == {"canonical": 3, "script-plain": 2, "script-drop": 2}


def test_an_adapter_that_travels_with_the_package_is_known_by_its_name(write: Write) -> None:
    found = resolved(write(harnesses=["pi", "canonical", "pi"]))
    assert [each.name for each in found.externals] == ["pi"]


def test_study_json_holds_the_adapter_and_no_levels(write: Write) -> None:
    found = resolved(write())
    told = record(found)
    assert [each["name"] for each in told["harnesses"]] == ["canonical", "script-plain", "script-drop"]
    assert told["harnesses"][1]["labels"] == {}
    assert told["harnesses"][1]["external"] == script_harness().spec()
    assert told["harnesses"][1]["id"] == script_harness().id
    assert told["axes"] == []


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"harnesses": ["kimi-cod"]}, "no harness 'kimi-cod'; did you mean 'kimi-code'?"),
        ({"harnesses": ["no-such.yaml"]}, "no-such.yaml"),
        ({"allocate": "hunt"}, "a hunt is for harnesses of levels, and script-plain has none"),
    ],
)
def test_what_cannot_be_chosen_is_said_in_one_line(write: Write, keys: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolved(write(**keys))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_that_differ_cannot_have_one_name(write: Write) -> None:
    path = write()
    other = path.with_name("other.yaml")
    other.write_text(path.with_name("script-plain.yaml").read_text().replace("'1.0'", "'1.1'"))
    with pytest.raises(ConfigError, match="two of them have the name 'script-plain'"):
        resolved(write(harnesses=["script-plain.yaml", "other.yaml"]))


def test_two_that_are_the_same_are_run_once_whatever_is_said_of_them(write: Write) -> None:
    path = write()
    other = path.with_name("other.yaml")
    other.write_text(path.with_name("script-plain.yaml").read_text().replace("licence: ''", "licence: MIT"))
    found = resolved(write(harnesses=["script-plain.yaml", "other.yaml"]))
    assert [each.name for each in found.externals] == ["script-plain"]
    assert len(found.keys) == len(set(found.keys))


def test_what_a_study_will_take_counts_them(write: Write) -> None:
    assert estimate(resolved(write())).tokens > 2 * estimate(resolved(write(harnesses=[]))).tokens


def test_one_that_is_not_installed_stops_the_run_before_anything_is_run(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_EVAL_EXTERNALS", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="harness-eval harness install pi"):
        run(resolved(write(harnesses=["pi"])), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_records_reports_and_resumes_them(write: Write, tmp_path: Path) -> None:
    found = resolved(write(harnesses=["script-plain.yaml", "script-crash.yaml"], lost_limit=1.0))
    folder = tmp_path / "run"
    ended, _ = run(found, folder)
    assert (ended.planned, ended.judged, ended.solved, ended.lost) == (3, 2, 2, {"harness": 1})
    rows = {row["harness"]: row for row in store.latest(folder)}
    assert rows["script-plain"]["external"]["thinking"]["policy"] == "kept"
    assert rows["script-plain"]["harness_wire"] == rows["script-plain"]["external"]["tools"]["hash"]
    assert "external" not in rows["canonical"]
    (wire,) = (folder / "wire" / "say-hello").glob("script-plain.*.jsonl.zst")
    assert [line["label"] for line in report_of(wire)][-1] == "ok.final_answer"
    made = report.write(folder)
    assert [each["harness"] for each in made["harnesses"]] == ["canonical", "script-plain", "script-crash"]
    page = trial_html(folder, rows["script-plain"])
    assert "requests taken from the wire log" in page
    assert "1 tool offered: <code>bash</code>" in page
    assert "the agent has lost its way" in trial_html(folder, rows["script-crash"])
    again, _ = run(resolved(tmp_path / "study.yaml"), folder)
    assert (again.judged, again.lost) == (2, {"harness": 1})
    assert sum(1 for _ in store.rows(folder)) == 4


def test_a_replay_derives_nothing_of_them(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(resolved(write(harnesses=["script-plain.yaml"])), folder)
    harnesses = rebuilt(store.read_study(folder))
    checked = check(folder, store.latest(folder), harnesses)
    assert (checked.trials, checked.external, checked.differing) == (1, 1, 0)


def test_a_folder_is_not_resumed_under_another_adapter(write: Write, tmp_path: Path) -> None:
    path, folder = write(harnesses=["script-plain.yaml"]), tmp_path / "run"
    run(resolved(path), folder)
    adapter = path.with_name("script-plain.yaml")
    adapter.write_text(adapter.read_text().replace("MODE: ''", "MODE: drop"))
    with pytest.raises(ConfigError, match=r"harnesses\.script-plain\.id"):
        run(resolved(path), folder)

"""From a study's file to all its trials, and the straight line that runs them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from harness_eval import study
from harness_eval.errors import ConfigError
from harness_eval.planning import record, resolve
from harness_eval.study_file import DEMO, load_study
from tests.doubles import make_task

REAL = {"name": "kimi", "base_url": "http://127.0.0.1:9/v1", "model": "kimi-k3"}


@pytest.fixture
def write(tmp_path: Path) -> object:
    for name in ("alpha", "beta", "gamma"):
        make_task(tmp_path / "suite", name)

    def _write(**keys: object) -> Path:
        given = {"name": "s", "reference": {}, "tasks": {"suite": "./suite"}, "sandbox": "local", **keys}
        path = tmp_path / "study.yaml"
        path.write_text(json.dumps({key: value for key, value in given.items() if value is not None}))
        return path

    return _write


def refused(path: Path, **overrides: object) -> str:
    with pytest.raises(ConfigError) as caught:
        resolve(load_study(path, overrides))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"tusks": {}}, "study.yaml: tusks: unknown key; did you mean 'tasks'?"),
        ({"tasks": {"siute": "core"}}, "tasks.siute: unknown key; did you mean 'suite'?"),
        ({"endpoints": [{**REAL, "modle": "x"}]}, "endpoints.0.modle: unknown key; did you mean 'model'?"),
        ({"sandbox": "dokcer"}, "sandbox: 'dokcer' is not known; did you mean 'docker'?"),
        (
            {"family": "demo", "design": "orthogonl"},
            "design: 'orthogonl' is not known; did you mean 'orthogonal'?",
        ),
        ({"family": "dmeo"}, "did you mean 'demo'?"),
        ({"design": "random"}, "so `family` is needed too"),
        ({"harnesses": ["canonicl"]}, "did you mean 'canonical'?"),
        ({"tasks": {"suite": "./suite", "include": ["aplha"]}}, "'aplha' matches no task of"),
        ({"tasks": {"suite": "./suite", "exclude": ["*"]}}, "nothing is left"),
        ({"tasks": {"suite": "coer"}}, "did you mean 'core'?"),
        ({"repeats": 0}, "repeats: input should be greater than 0, not 0"),
        ({"repeats": 10**12}, "repeats: input should be less than or equal to 1000, not 1000000000000"),
        ({"canonical_repeats": 1001}, "canonical_repeats: input should be less than or equal to 1000"),
        ({"family": "demo", "design": {"kind": "random", "size": 10**12}}, "should be less than or equal to 1000"),
        ({"family": "demo", "design": {"kind": "random", "size": 900}, "repeats": 1000}, "at most 1,000,000"),
        ({"limits": {"steps": 10**6}}, "limits: steps must be at most 10,000"),
        ({"limits": {"tokens": 10**12}}, "limits: tokens must be at most 1,000,000,000"),
        ({"limits": {"seconds": float("nan")}}, "limits: seconds must be at most 604,800"),
        ({"limits": {"steps": 0}}, "limits: steps, tokens and seconds must all be above 0"),
        ({"limits": {"step": 3}}, "limits.step: unknown key; did you mean 'steps'?"),
        ({"reference": {"couplings": {"needs-thnking": 1}}}, "did you mean 'needs-thinking'?"),
        ({"reference": {"couplings": {"needs-thinking": 2}}}, "strength 2 is outside of 0..1"),
        ({"reference": None}, "endpoints: is required"),
        ({"endpoints": [REAL, REAL]}, "endpoints: the name 'kimi' is taken"),
        ({"endpoints": [{**REAL, "name": "reference"}]}, "the name 'reference' is taken"),
        ({"name": "../up"}, "name: string should match"),
        ({"budgets": {"tokens": -1}}, "budgets.tokens: input should be greater than 0"),
    ],
)
def test_a_mistake_in_a_study_is_one_line_that_names_the_key(write: object, keys: dict[str, object], said: str) -> None:
    assert said in refused(write(**keys))


def test_tasks_beside_the_study_are_found_from_anywhere(write: object) -> None:
    assert [task.name for task in resolve(load_study(write())).tasks] == ["alpha", "beta", "gamma"]


def test_globs_and_limit_choose_tasks(write: object) -> None:
    path = write(tasks={"suite": "./suite", "exclude": ["b*"], "limit": 5})
    assert [task.name for task in resolve(load_study(path)).tasks] == ["alpha", "gamma"]
    assert [task.name for task in resolve(load_study(path, {"tasks": {"limit": 1}})).tasks] == ["alpha"]


def test_overrides_change_only_their_own_key(write: object) -> None:
    config = load_study(write(limits={"steps": 5, "tokens": 77}), {"limits": {"steps": 9}, "seed": 3})
    assert (config.limits.steps, config.limits.tokens, config.seed) == (9, 77, 3)


def test_an_endpoint_override_changes_the_only_endpoint(write: object) -> None:
    config = load_study(write(endpoints=[{**REAL, "retries": 1}], reference=None), {"endpoint": {"model": "other"}})
    (endpoint,) = config.endpoints
    assert (endpoint.name, endpoint.model, endpoint.retries) == ("kimi", "other", 1)


def test_an_endpoint_override_stands_for_the_embedded_one(write: object) -> None:
    config = load_study(write(), {"endpoint": {"base_url": "http://127.0.0.1:9/v1", "model": "org/kimi-k3"}})
    assert [endpoint.name for endpoint in config.endpoints] == ["kimi-k3"]
    assert config.reference is None


def test_the_same_seed_gives_the_same_trials_for_ever(write: object) -> None:
    path = write(family="demo", design="smoke", repeats=2, seed=5)
    assert resolve(load_study(path)).keys == resolve(load_study(path)).keys
    assert resolve(load_study(path)).keys != resolve(load_study(path, {"seed": 6})).keys


def test_trials_are_interleaved_so_that_drift_is_no_effect_of_a_harness(write: object) -> None:
    resolved = resolve(load_study(write(family="demo", design="smoke", repeats=2)))
    size = len(resolved.harnesses)
    blocks = [resolved.keys[start : start + size] for start in range(0, len(resolved.keys), size)]
    assert [{(key.task, key.repeat) for key in block} for block in blocks] == [
        {(task.name, repeat)} for repeat in range(2) for task in resolved.tasks
    ]
    assert len({tuple(key.harness for key in block) for block in blocks}) > 1, "each block has its own order"
    assert len(set(resolved.keys)) == len(resolved.keys)


def test_the_canonical_harness_may_have_more_repeats(write: object) -> None:
    resolved = resolve(load_study(write(family="demo", design="smoke", canonical_repeats=4)))
    counted = Counter(key.harness for key in resolved.keys)
    assert counted.pop("canonical") == 4 * 3
    assert set(counted.values()) == {3}


def test_a_named_harness_is_added_once(write: object, tmp_path: Path) -> None:
    for name, text in (("mine", "stopping: submit-tool"), ("twin", "stopping: no-call")):
        (tmp_path / f"{name}.yaml").write_text(text)
    resolved = resolve(load_study(write(harnesses=["./mine.yaml", "./twin.yaml", "canonical"])))
    assert [harness.name for harness in resolved.harnesses] == ["canonical", "mine"]
    assert resolved.notes == ("harness twin is left out: it is the same as canonical",)


def test_the_record_names_everything_by_content_and_no_secret(write: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "sk-very-secret")
    path = write(endpoints=[{**REAL, "api_key_env": "SECRET_KEY"}], reference=None, allow_local=True)
    held = record(resolve(load_study(path)))
    assert held.keys() >= {
        *("name", "seed", "created", "versions", "endpoints", "tasks", "harnesses", "canonical", "design", "family"),
        *("repeats", "planned", "unsupported", "notes", "sandbox", "limits"),
    }
    assert held["planned"] == 3
    assert held["sandbox"] == "local"
    assert held["canonical"] == held["harnesses"][0]["name"] == "canonical"
    assert held["harnesses"][0].keys() == {"name", "id", "version", "wire", "labels", "spec"}
    assert held["tasks"][0].keys() == {"name", "suite", "digest", "stresses", "difficulty"}
    (endpoint,) = held["endpoints"]
    assert (endpoint["base_url"], endpoint["scripted"]) == (REAL["base_url"], False)
    assert "sk-very-secret" not in json.dumps(held)


def test_the_embedded_endpoint_is_recorded_as_scripted(write: object) -> None:
    (endpoint,) = record(resolve(load_study(write())))["endpoints"]
    assert (endpoint["name"], endpoint["base_url"], endpoint["scripted"]) == ("reference", "embedded", True)


def test_a_real_model_is_not_let_loose_in_the_local_sandbox(write: object) -> None:
    path = write(endpoints=[REAL], reference=None)
    assert "--sandbox local --allow-local" in refused(path)
    assert resolve(load_study(path, {"allow_local": True})).provider.name == "local"


def test_the_demo_is_a_study_of_the_embedded_endpoint_alone() -> None:
    resolved = resolve(load_study(DEMO, {"sandbox": "local"}))
    assert resolved.scripted
    assert resolved.endpoints == ("reference",)
    assert len(resolved.harnesses) >= 16


def test_a_run_is_incomplete_when_too_much_was_lost_or_nothing_judged(tmp_path: Path) -> None:
    def code(judged: int, lost: int) -> int:
        owners = {"endpoint": lost} if lost else {}
        return study.Ended(tmp_path, 10, judged, judged, owners, study.Outcome(), 0.1).exit_code

    assert (code(10, 0), code(9, 1), code(8, 2), code(0, 0), code(0, 10)) == (0, 0, 3, 3, 3)


def test_a_study_without_a_name_has_that_of_its_file(write: object) -> None:
    assert load_study(write(name=None)).name == "study"

"""From a study's file to all its trials, and the straight line that runs them."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from harness_eval import probing, store, study
from harness_eval.endpoints.probe import Check
from harness_eval.errors import ConfigError
from harness_eval.judging import Proof
from harness_eval.planning import record, resolve
from harness_eval.probing import Probe, recorded
from harness_eval.study_file import DEMO, load_study
from harness_eval.task import Task
from harness_eval.types import Result
from tests.doubles import OwnJudge, make_task, needs_a_service

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
        ({"design": "random"}, "design: random chooses from a family, so `family` is needed too"),
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


@pytest.mark.parametrize("design", ["canonical", {"kind": "canonical"}])
def test_the_canonical_design_needs_no_family(write: object, design: object) -> None:
    resolved = resolve(load_study(write(design=design, harnesses=["pi-like"])))
    assert [harness.name for harness in resolved.harnesses] == ["canonical", "pi-like"]


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


class Seen:
    """Who watches a run and remembers what it was told."""

    def __init__(self) -> None:
        self.probes: list[tuple[str, Probe]] = []
        self.planned = 0
        self.results: list[Result] = []

    def proven(self, task: Task, proof: Proof) -> None:
        del task, proof

    def probed(self, endpoint: str, probe: Probe, harnesses: int) -> None:
        del harnesses
        self.probes.append((endpoint, probe))

    def begin(self, planned: int, *given: object) -> None:
        del given
        self.planned = planned

    def ended(self, result: Result) -> None:
        self.results.append(result)

    def fallen(self, endpoint: str, reason: str) -> None: ...

    def stopping(self) -> None: ...

    @property
    def harnesses(self) -> set[str]:
        return {result.key.harness for result in self.results}


@pytest.fixture
def two(write: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """A study of the canonical harness and one that drops reasoning; the endpoint has the faults that are named."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "dropping.yaml").write_text("thinking: drop")

    def _two(*faults: str, **keys: object) -> study.Study:
        reference = {"faults": dict.fromkeys(faults, 1.0)}
        given = {"tasks": {"suite": "./suite", "limit": 2}, "harnesses": ["./dropping.yaml"], **keys}
        return resolve(load_study(write(reference=reference, **given)))

    return _two


def run(resolved: study.Study, folder: Path, again: bool = False) -> tuple[study.Ended, Seen]:
    seen = Seen()
    return anyio.run(study.run, resolved, folder, seen, study.Agenda(probe_again=again)), seen


def test_a_harness_that_the_probe_finds_refused_is_never_started(two: object, tmp_path: Path) -> None:
    ended, seen = run(two("reasoning-required"), tmp_path / "run")
    assert seen.harnesses == {"canonical"}
    assert (ended.planned, ended.judged, seen.planned) == (2, 2, 2)
    assert (ended.problems, ended.lost, ended.exit_code) == ([], {}, 0)
    (refused,) = ended.unsupported["reference"]
    assert (refused.harness, refused.label) == ("dropping", "harness.reasoning_dropped")
    record = json.loads((tmp_path / "run" / "probe.json").read_text())["endpoints"]["reference"]
    assert record.keys() >= {"model", "checks", "void", "unsupported"}
    assert record["unsupported"][0].keys() == {"harness", "reason", "label"}
    assert record["checks"][0].keys() == {"check", "status", "detail", "label"}


def test_without_a_probe_the_first_lost_trial_shows_it(two: object, tmp_path: Path) -> None:
    ended, seen = run(two("reasoning-required", probe=False, concurrency=1), tmp_path / "run")
    lost = [result for result in seen.results if result.failure is not None]
    assert [result.key.harness for result in lost] == ["dropping"]
    assert (seen.probes, (tmp_path / "run" / "probe.json").exists()) == ([], False)
    assert (ended.planned, ended.judged, ended.lost, ended.problems) == (2, 2, {}, [])
    assert [each.label for each in ended.unsupported["reference"]] == ["harness.reasoning_dropped"]


def test_what_cannot_run_is_not_tried_again_when_a_run_is_resumed(two: object, tmp_path: Path) -> None:
    run(two("reasoning-required", probe=False, concurrency=1), tmp_path / "run")
    ended, seen = run(two("reasoning-required", probe=False), tmp_path / "run")
    assert (seen.results, ended.exit_code) == ([], 0)
    assert [each.harness for each in ended.unsupported["reference"]] == ["dropping"]


def test_a_resumed_run_uses_the_recorded_probe(two: object, tmp_path: Path) -> None:
    resolved = two("reasoning-required", tasks={"suite": "./suite"})
    run(resolved, tmp_path / "run")
    lines = (tmp_path / "run" / "results.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "run" / "results.jsonl").write_text(lines[0])
    _, seen = run(resolved, tmp_path / "run")
    assert (seen.probes, len(seen.results), seen.harnesses) == ([], 2, {"canonical"})


def test_a_probe_that_is_asked_for_again_gives_the_refused_another_chance(two: object, tmp_path: Path) -> None:
    resolved = two("reasoning-required", probe=False, concurrency=1)
    run(resolved, tmp_path / "run")
    mended = replace(resolved, served=replace(resolved.served, faults={}))  # the server behind it has changed
    mended = replace(mended, config=mended.config.model_copy(update={"probe": True}))
    ended, seen = run(mended, tmp_path / "run", again=True)
    assert len(seen.probes) == 1
    assert (seen.harnesses, ended.judged, ended.planned) == ({"dropping"}, 4, 4)
    assert ended.unsupported["reference"] == ()


def test_an_agenda_names_the_trials_their_order_and_when_it_is_enough(two: object, tmp_path: Path) -> None:
    resolved, order = two(concurrency=1, repeats=2), []
    meant = [key for key in reversed(resolved.keys) if key.harness == "dropping"]

    def enough(result: Result) -> bool:
        order.append(result.key)
        return len(order) == 3

    ended = anyio.run(study.run, resolved, tmp_path / "run", seen := Seen(), study.Agenda(meant, enough))
    assert order == meant[:3]
    assert (seen.planned, ended.judged, ended.exit_code) == (4, 3, 0)
    anyio.run(study.run, resolved, tmp_path / "run", Seen(), study.Agenda(meant))
    assert [store.key_of(row) for row in store.rows(tmp_path / "run")] == meant


def test_a_probe_from_which_nothing_was_learned_is_made_again(two: object, tmp_path: Path) -> None:
    resolved = two()
    with store.open_run(tmp_path / "run", record(resolved)):
        probing.write(tmp_path / "run", {"reference": Probe("m", (Check("usage", "unknown", "busy"),))})
    _, seen = run(resolved, tmp_path / "run")
    assert [endpoint for endpoint, _ in seen.probes] == ["reference"]
    assert seen.probes[0][1].settled


def test_a_probe_that_fails_does_not_fail_the_run(two: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> Probe:
        raise ZeroDivisionError

    monkeypatch.setattr(recorded, "probe", broken)
    ended, seen = run(two(), tmp_path / "run")
    assert (ended.judged, ended.exit_code) == (4, 0)
    assert [check.status for check in seen.probes[0][1].checks] == ["unknown"]


def test_a_probe_counts_towards_the_budget(two: object, tmp_path: Path) -> None:
    ended, seen = run(two(budgets={"tokens": 50}), tmp_path / "run")
    assert (len(seen.probes), seen.results) == (1, [])
    assert ended.problems == ["the budget of 50 tokens is used up"]


def test_an_endpoint_that_is_down_when_it_is_probed_gets_no_trial(two: object, tmp_path: Path) -> None:
    ended, seen = run(two("quota-exhausted"), tmp_path / "run")
    assert (seen.results, seen.probes, ended.exit_code) == ([], [], 3)
    assert ended.problems[0].startswith("endpoint reference cannot be used: ")
    assert not (tmp_path / "run" / "probe.json").exists()


def test_a_finished_run_is_not_probed_again(two: object, tmp_path: Path) -> None:
    run(two(), tmp_path / "run")
    (tmp_path / "run" / "probe.json").unlink()
    _, seen = run(two(), tmp_path / "run")
    assert seen.probes == []


def test_what_a_harness_did_before_it_was_found_impossible_counts_nowhere(two: object, tmp_path: Path) -> None:
    resolved, folder = two(probe=False, concurrency=1), tmp_path / "run"
    whole, _ = run(resolved, folder)
    rows = [dict(row) for row in store.rows(folder)]
    last = next(row for row in reversed(rows) if row["harness"] == "dropping")
    failure = {"owner": "harness", "message": "400 no", "label": "harness.schema_rejected"}
    last |= {"failure": failure, "solved": None, "score": None}
    (folder / store.RESULTS).write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = study.ended(resolved, folder, whole.outcome)
    assert (whole.planned, whole.judged) == (4, 4)
    assert (ended.planned, ended.judged, ended.lost, ended.problems) == (2, 2, {}, [])


def test_a_task_judged_beside_what_was_left_is_told(two: object, tmp_path: Path) -> None:
    resolved = two(probe=False)
    task = needs_a_service(tmp_path / "live", f"3{os.getpid()}7")
    resolved = replace(resolved, tasks=(task,), provider=OwnJudge())
    run(resolved, tmp_path / "run")
    notes = json.loads((tmp_path / "run" / "study.json").read_text())["notes"]
    assert "judged beside the processes that were left, since their tests need them: say-hello" in notes


def test_another_suite_brings_its_own_names(write: object, tmp_path: Path) -> None:
    path = write(tasks={"suite": "core", "include": ["fix-off-by-one"]}, reference={})
    config = load_study(path, {"tasks": {"suite": str(tmp_path / "suite")}})
    assert [task.name for task in resolve(config).tasks] == ["alpha", "beta", "gamma"]


def test_a_base_image_goes_with_the_kind_of_sandbox_that_it_was_given_for(write: object) -> None:
    path = write(sandbox={"kind": "docker", "base_image": "base"}, reference={})
    assert load_study(path, {"sandbox": {"kind": "local"}}).sandbox.base_image is None
    assert load_study(path, {"sandbox": {"base_image": "other"}}).sandbox.kind == "docker"


def test_what_is_to_be_known_of_the_tasks_is_noted(write: object, tmp_path: Path) -> None:
    suite = tmp_path / "mixed"
    make_task(suite, "open", toml="").folder.joinpath("task.toml").write_text("[environment]\nallow_internet = true\n")
    make_task(suite, "unsolved").folder.joinpath("solution/solve.sh").unlink()
    make_task(suite, "boxed", toml='docker_image = "some/image"\n')
    resolved = resolve(load_study(write(tasks={"suite": str(suite)}, sandbox="local", reference={})))
    assert [task.name for task in resolved.tasks] == ["open", "unsolved"]
    assert resolved.notes[:3] == (
        "task boxed is left out: it needs the image some/image: use the docker sandbox",
        "1 of 2 tasks reach the network: open",
        "1 of 2 tasks have no solution, so nobody has shown that they can be solved: unsolved",
    )

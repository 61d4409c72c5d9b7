"""Runs of Terminal-Bench and jobs of Harbor: what counts, what is lost and to whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness_eval import store
from harness_eval.errors import ConfigError
from harness_eval.importing import Wishes, import_run

Json = dict[str, Any]


def harbor(folder: Path, name: str, **changes: Any) -> None:
    record = {
        "task_name": "hello",
        "trial_name": name,
        "source": "bench",
        "config": {"agent": {"kwargs": changes.pop("kwargs", {})}},
        "agent_info": {
            "name": changes.pop("agent", "terminus-2"),
            "version": changes.pop("version", "2.0"),
            "model_info": {"name": "m", "provider": "lab"},
        },
        "agent_result": {"n_input_tokens": 50, "n_cache_tokens": 10, "n_output_tokens": 5, "cost_usd": 0.25},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-01-01T10:00:00Z",
        "finished_at": "2026-01-01T10:00:30Z",
        **changes,
    }
    (folder / name).mkdir(parents=True)
    (folder / name / "result.json").write_text(json.dumps(record))


def raised(kind: str, **changes: Any) -> Json:
    return {"exception_info": {"exception_type": kind, "exception_message": "it broke", **changes}}


def rows_of(source: Path, **wishes: Any) -> list[Json]:
    folder = source.parent / "run"
    import_run([source], folder, Wishes(**wishes))
    return list(store.rows(folder))


def test_a_job_of_harbor_becomes_trials(tmp_path: Path) -> None:
    job = tmp_path / "job"
    harbor(job, "hello__a")
    harbor(job, "hello__b", verifier_result={"rewards": {"reward": 0}})
    (job / "result.json").write_text(json.dumps({"stats": {}, "n_total_trials": 2}))
    rows = rows_of(job)
    assert [(row["task"], row["harness"], row["endpoint"]) for row in rows] == [("hello", "terminus-2", "m")] * 2
    assert sorted(row["score"] for row in rows) == [0.0, 1.0]
    assert (rows[0]["usage"]["prompt"], rows[0]["usage"]["cached"], rows[0]["cost"], rows[0]["seconds"]) == (
        50,
        10,
        0.25,
        30,
    )
    assert store.read_study(tmp_path / "run")["tasks"][0]["suite"] == "bench"


@pytest.mark.parametrize(
    ("kind", "owner"),
    [
        ("ApiRateLimitError", "endpoint"),
        ("AgentAuthenticationError", "endpoint"),
        ("EnvironmentStartTimeoutError", "sandbox"),
        ("SandboxLikelyOutOfMemoryError", "sandbox"),
        ("VerifierTimeoutError", "task"),
        ("RewardFileNotFoundError", "task"),
        ("AgentSetupTimeoutError", "harness"),
        ("CancelledError", "harness"),
    ],
)
def test_what_the_machines_did_is_lost_to_its_owner_even_beside_a_reward(kind: str, owner: str, tmp_path: Path) -> None:
    harbor(tmp_path / "job", "t", **raised(kind))
    (row,) = rows_of(tmp_path / "job")
    assert (row["score"], row["failure"]) == (None, {"owner": owner, "message": f"{kind}: it broke", "label": ""})


@pytest.mark.parametrize(
    ("kind", "stop"),
    [
        ("AgentTimeoutError", "time"),
        ("ContextLengthExceededError", "context-overflow"),
        ("OutputTokenExceededError", "tokens"),
    ],
)
def test_limits_that_an_agent_ran_into_are_results(kind: str, stop: str, tmp_path: Path) -> None:
    harbor(tmp_path / "job", "rewarded", **raised(kind))
    harbor(tmp_path / "job", "not judged", verifier_result=None, **raised(kind))
    rows = rows_of(tmp_path / "job")
    assert sorted((row["score"], row["stop"]) for row in rows) == [(0.0, stop), (1.0, stop)]


def test_an_agent_that_crashed_counts_where_it_was_judged(tmp_path: Path) -> None:
    harbor(tmp_path / "job", "a", **raised("NonZeroAgentExitCodeError"))
    harbor(tmp_path / "job", "b", verifier_result=None, **raised("NonZeroAgentExitCodeError"))
    rows = rows_of(tmp_path / "job")
    assert sorted((row["score"] or 0, bool(row["failure"])) for row in rows) == [(0, True), (1.0, False)]


def test_the_policy_that_a_job_was_run_with_decides(tmp_path: Path) -> None:
    harbor(tmp_path / "job", "a", **raised("VerifierTimeoutError", policy={"has_valid_reward": True}))
    assert [row["score"] for row in rows_of(tmp_path / "job")] == [1.0]


def test_agents_of_one_name_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    harbor(tmp_path / "job", "a", version="1.0")
    harbor(tmp_path / "job", "b", kwargs={"mode": "fast"})
    harbor(tmp_path / "job", "c", agent="other")
    found = sorted({row["harness"] for row in rows_of(tmp_path / "job")})
    assert found == ["other", "terminus-2(mode=fast, version=2.0)", "terminus-2(version=1.0)"]


def test_of_several_rewards_one_has_to_be_chosen(tmp_path: Path) -> None:
    harbor(tmp_path / "job", "a", verifier_result={"rewards": {"tests": 1, "style": 0.5}})
    with pytest.raises(ConfigError, match="no 'reward'; choices: style, tests; choose with --scorer"):
        rows_of(tmp_path / "job")
    assert [row["score"] for row in rows_of(tmp_path / "job", scorer="style")] == [0.5]


def trial(task: str, solved: bool | None, mode: str = "unset") -> Json:
    return {
        "trial_name": f"{task}.1-of-1",
        "task_id": task,
        "is_resolved": solved,
        "failure_mode": mode,
        "total_input_tokens": 7,
        "total_output_tokens": None,
        "agent_started_at": "2026-01-01T10:00:00+00:00",
        "agent_ended_at": "2026-01-01T10:00:02+00:00",
    }


def terminal_bench(folder: Path, trials: list[Json], *, ended: bool = True, named: bool = True) -> Path:
    folder.mkdir()
    if named:
        (folder / "run_metadata.json").write_text(json.dumps({"agent_name": "terminus", "model_name": "lab/m"}))
    for one in trials:
        place = folder / one["task_id"] / one["trial_name"]
        place.mkdir(parents=True)
        (place / "results.json").write_text(json.dumps(one))
    if ended:
        (folder / "results.json").write_text(json.dumps({"results": trials}))
    return folder


@pytest.mark.parametrize("ended", [True, False])
def test_a_run_of_terminal_bench_becomes_trials_also_before_its_end(ended: bool, tmp_path: Path) -> None:
    rows = rows_of(terminal_bench(tmp_path / "tb", [trial("a", True), trial("b", False)], ended=ended))
    assert [(row["task"], row["harness"], row["endpoint"], row["score"]) for row in rows] == [
        ("a", "terminus", "lab/m", 1.0),
        ("b", "terminus", "lab/m", 0.0),
    ]
    assert (rows[0]["usage"]["prompt"], rows[0]["seconds"]) == (7, 2.0)


@pytest.mark.parametrize(
    ("mode", "solved", "expected"),
    [
        ("agent_timeout", False, (0.0, "time", None)),
        ("context_length_exceeded", False, (0.0, "context-overflow", None)),
        ("fatal_llm_parse_error", False, (0.0, "malformed", None)),
        ("unknown", False, (0.0, "finished", None)),
        ("agent_installation_failed", False, (None, None, "harness")),
        ("unknown_agent_error", False, (None, None, "harness")),
        ("unknown_agent_error", True, (1.0, "finished", None)),
        ("test_timeout", False, (None, None, "task")),
        ("parse_error", None, (None, None, "task")),
        ("unset", None, (None, None, "task")),
    ],
)
def test_failure_modes_are_results_or_have_an_owner(
    mode: str, solved: bool | None, expected: tuple[Any, ...], tmp_path: Path
) -> None:
    (row,) = rows_of(terminal_bench(tmp_path / "tb", [trial("a", solved, mode)]))
    assert (row["score"], row["stop"], (row["failure"] or {}).get("owner")) == expected


def test_names_that_a_run_does_not_give_are_asked_for(tmp_path: Path) -> None:
    run = terminal_bench(tmp_path / "tb", [trial("a", True)], named=False)
    with pytest.raises(ConfigError, match="names its model; say which with --model NAME"):
        rows_of(run)
    assert [(row["harness"], row["endpoint"]) for row in rows_of(run, model="m", harness="mine")] == [("mine", "m")]


def test_a_folder_of_nothing_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="holds no Inspect logs"):
        rows_of(tmp_path / "empty")


def test_folders_that_overlap_count_once(tmp_path: Path) -> None:
    harbor(tmp_path / "job", "hello__a")
    import_run([tmp_path / "job", tmp_path / "job" / "hello__a"], tmp_path / "run", Wishes())
    assert len(list(store.rows(tmp_path / "run"))) == 1


@pytest.mark.parametrize("wrong", [True, "x", [None], float("inf"), float("nan"), -1, 10**30], ids=repr)
def test_what_nobody_could_have_measured_is_unknown(wrong: Any, tmp_path: Path) -> None:
    used = {"n_input_tokens": wrong, "n_output_tokens": wrong, "n_cache_tokens": wrong, "cost_usd": wrong}
    harbor(tmp_path / "job", "hello__a", agent_result=used, step_results=wrong)
    (row,) = rows_of(tmp_path / "job")
    assert (row["usage"]["prompt"], row["usage"]["completion"], row["cost"]) == (0, 0, None)

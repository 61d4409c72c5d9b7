"""`harness-eval probe`: what a few calls told, as a table or as JSON, and whether trials are possible at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Said

Run = Callable[..., Said]
CHECKS = {"tool_round_trip", "history_reasoning", "call_ids", "streaming", "unknown_tools", "usage", "thinking"}


@pytest.fixture
def study(tmp_path: Path, suite: Path) -> Path:
    path = tmp_path / "study.yaml"
    (tmp_path / "dropping.yaml").write_text("thinking: drop")
    keys = {"name": "small", "reference": {}, "tasks": {"suite": str(suite)}, "sandbox": "local"}
    path.write_text(json.dumps({**keys, "harnesses": ["./dropping.yaml"]}))
    return path


def test_a_table_says_what_was_found_and_what_it_took(study: Path, harness_eval: Run) -> None:
    said = harness_eval("probe", study)
    assert said.code == 0, said.err
    assert all(f"{check} " in said.out for check in CHECKS)
    assert said.out.count("  yes  ") == len(CHECKS) + 3
    assert "calls of at most " in said.out
    assert " prompt and " in said.out
    assert "no price is known" in said.out


def test_as_json_it_is_what_a_run_would_record(study: Path, harness_eval: Run, tmp_path: Path) -> None:
    said = harness_eval("probe", study, "--fault", "reasoning-required=1", "--json")
    assert said.code == 0, said.err
    endpoint = said.json["endpoints"]["reference"]
    assert {check["check"] for check in endpoint["checks"]} > CHECKS
    assert [each["harness"] for each in endpoint["unsupported"]] == ["dropping"]
    assert 0 < endpoint["calls"] <= endpoint["bound"]
    run = harness_eval("run", study, "--limit", "1", "--fault", "reasoning-required=1", "--out", tmp_path / "run")
    assert run.code == 0, run.err
    recorded = json.loads((tmp_path / "run" / "probe.json").read_text())
    assert recorded["endpoints"]["reference"]["unsupported"] == endpoint["unsupported"]


@pytest.mark.parametrize(
    ("fault", "code"), [("parser-mismatch=1", 1), ("markup-leak=1", 0), ("thinking-unsigned=1", 0)]
)
def test_the_exit_code_says_whether_any_harness_can_run(study: Path, harness_eval: Run, fault: str, code: int) -> None:
    said = harness_eval("probe", study, "--fault", fault)
    assert said.code == code, said.out
    assert "tool_round_trip    no " in said.out


@pytest.mark.parametrize("fault", ["quota-exhausted=1", "foreign-envelope=1"])
def test_an_endpoint_that_is_down_is_told_by_the_exit_code(study: Path, harness_eval: Run, fault: str) -> None:
    said = harness_eval("probe", study, "--fault", fault, "--json")
    assert said.code == 3
    assert "endpoint reference cannot be used: " in said.err
    assert said.json["endpoints"]["reference"]["down"]


def test_a_server_that_is_not_there_is_down(harness_eval: Run) -> None:
    flags = ("--base-url", "http://127.0.0.1:9/v1", "--model", "kimi-k3", "--harness", "canonical", "--family", "demo")
    said = harness_eval("probe", *flags)
    assert (said.code, said.out) == (3, "")
    assert "endpoint kimi-k3 cannot be used: nothing answers at http://127.0.0.1:9/v1" in said.err


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (("--harness", "canonicl"), "did you mean 'canonical'?"),
        (("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--api-key-env", "NOT_SET"), "NOT_SET is not set"),
        (("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--profile", "kimi-k9"), "did you mean 'kimi-k"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_asked(harness_eval: Run, flags: tuple[str, ...], hint: str) -> None:
    said = harness_eval("probe", *flags)
    assert (said.code, said.out) == (2, "")
    assert hint in said.err


def test_a_run_says_in_a_few_lines_what_its_probe_found(harness_eval: Run, study: Path, tmp_path: Path) -> None:
    flags = ("--limit", "1", "--fault", "history-reasoning-ignored=1", "--out", tmp_path / "run")
    said = harness_eval("run", study, *flags)
    assert said.code == 0, said.err
    assert "probe of reference: 9 of 10 checks are as wanted (" in said.err
    reason = "the thinking axis compares nothing here: earlier reasoning does not reach the prompt"
    assert f"\n  {reason}\n" in said.err
    (void,) = json.loads((tmp_path / "run" / "probe.json").read_text())["endpoints"]["reference"]["void"]
    assert void == {"axis": "thinking", "reason": reason, "but": []}


def test_a_run_says_which_harnesses_cannot_run_and_is_complete_without_them(
    harness_eval: Run, study: Path, tmp_path: Path
) -> None:
    flags = ("--limit", "1", "--fault", "reasoning-required=1", "--out", tmp_path / "run", "--json")
    said = harness_eval("run", study, *flags)
    assert said.code == 0, said.err
    data = json.loads(said.out)
    assert data["trials"] == {"planned": 1, "judged": 1, "lost": 0}
    assert [(each["endpoint"], each["harness"], each["label"]) for each in data["unsupported"]] == [
        ("reference", "dropping", "harness.reasoning_dropped")
    ]
    assert "1 of 2 harnesses cannot run on reference (--probe tries them again):" in said.err


def test_a_run_without_a_probe_asks_nothing(harness_eval: Run, study: Path, tmp_path: Path) -> None:
    said = harness_eval("run", study, "--limit", "1", "--no-probe", "--out", tmp_path / "run")
    assert said.code == 0, said.err
    assert "probe of" not in said.err
    assert not (tmp_path / "run" / "probe.json").exists()


def test_a_run_is_probed_again_only_when_that_is_asked_for(harness_eval: Run, study: Path, tmp_path: Path) -> None:
    flags = ("--limit", "1", "--fault", "reasoning-required=1", "--out", tmp_path / "run")
    harness_eval("run", study, *flags)
    (tmp_path / "run" / "results.jsonl").write_text("")
    again = [harness_eval("run", study, *flags, *more).err for more in ((), ("--probe",))]
    assert ["probe of reference" in err for err in again] == [False, True]

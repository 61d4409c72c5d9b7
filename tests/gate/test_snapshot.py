"""Snapshots: taken of runs, written as bytes that are the same for the same run, and read with suspicion."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from harness_eval.errors import ConfigError
from harness_eval.gate import snapshot
from harness_eval.gate.kept import LOST, NOT_RUN, SOLVED
from tests.gate.sides import data, side, trials
from tests.report.synthetic import Plan, write_run


def test_a_snapshot_holds_every_trial_of_a_run_at_one_endpoint(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Plan(tasks=30, harnesses=3, repeats=2, lost=0.2, labelled=True))
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]

    taken = snapshot.snapshot_of(folder)

    assert [len(harness.solved) for harness in taken.harnesses] == [2, 2, 2]
    assert sum(harness.count(SOLVED) for harness in taken.harnesses) == sum(row["score"] == 1 for row in rows)
    assert sum(harness.count(LOST) for harness in taken.harnesses) == sum(taken.lost.values())
    wrong = sum("model.wrong_answer" in row["labels"] for row in rows if row["failure"] is None)
    labels = [line for harness in taken.harnesses for line in harness.labels["model.wrong_answer"]]
    assert wrong == sum(line.count(SOLVED) for line in labels) > 0


def test_a_run_that_stopped_early_has_trials_that_are_not_run(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Plan(tasks=30, harnesses=1, repeats=2, stop_after=40))
    taken = snapshot.snapshot_of(folder)
    assert taken.harnesses[0].count(NOT_RUN) == 20


def test_the_order_of_results_leaves_a_snapshot_as_it_is(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Plan(tasks=20, harnesses=3, labelled=True))
    before = snapshot.as_bytes(snapshot.snapshot_of(folder))
    lines = (folder / "results.jsonl").read_text().splitlines()
    (folder / "results.jsonl").write_text("".join(f"{line}\n" for line in reversed(lines)))
    assert snapshot.as_bytes(snapshot.snapshot_of(folder)) == before


def test_a_harness_that_an_endpoint_refuses_has_a_reason_and_no_trials(tmp_path: Path) -> None:
    plan = Plan(tasks=20, harnesses=3, labelled=True, aborts={1: "harness.schema_rejected"})
    refused = snapshot.snapshot_of(write_run(tmp_path / "run", plan)).harness("random-01")
    assert refused is not None
    assert (refused.solved, refused.refused) == ((), "the server answered 400")


def test_several_endpoints_are_told_apart_by_name(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Plan(tasks=20, harnesses=1, endpoints=("one", "two")))
    assert snapshot.read(Path(f"{folder}:two")).endpoint.model == "model-two"
    with pytest.raises(ConfigError, match=r"has 2 endpoints \(one, two\)"):
        snapshot.read(folder)


def test_a_baseline_of_the_standard_size_is_small_and_has_a_line_a_task_and_a_repeat(tmp_path: Path) -> None:
    solved = {f"random-{number:02d}": trials(0.7, 100, 1, number + 1) for number in range(31)}
    kept = side({"canonical": trials(0.7, 100, 5), **solved})
    size = snapshot.write(kept, tmp_path / "baseline.json")
    lines = (tmp_path / "baseline.json").read_text().splitlines()
    assert size < 50_000
    assert sum('"task-' in line for line in lines) == 100
    assert sum(line.strip(' ",') in kept.harnesses[0].solved for line in lines) == 5
    assert snapshot.read(tmp_path / "baseline.json") == kept


def test_neither_an_address_nor_the_name_of_a_variable_with_a_key_is_kept(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Plan(tasks=20, harnesses=1))
    study = json.loads((folder / "study.json").read_text())
    study["endpoints"][0] |= {"api_key_env": "SECRET_KEY", "headers_env": {"X-Route": "ROUTE"}, "max_tokens": 7}
    (folder / "study.json").write_text(json.dumps(study))
    kept = snapshot.as_bytes(snapshot.snapshot_of(folder)).decode()
    assert snapshot.snapshot_of(folder).endpoint.settings == {"max_tokens": 7}
    assert not any(word in kept for word in ("127.0.0.1", "SECRET_KEY", "ROUTE"))


def test_a_replay_is_no_run_of_its_own(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Plan(tasks=20, harnesses=1))
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps({**study, "replay": {"of": "nightly"}}))
    with pytest.raises(ConfigError, match="is a replay: its replies are those of another run"):
        snapshot.snapshot_of(folder)


def test_what_looks_like_a_key_is_not_kept(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Plan(tasks=20, harnesses=1))
    study = json.loads((folder / "study.json").read_text())
    study["endpoints"][0]["model"] = study["name"] = "sk-abcdefgh12345678"
    (folder / "study.json").write_text(json.dumps(study))
    assert b"sk-abcdefgh" not in snapshot.as_bytes(snapshot.snapshot_of(folder))


def test_a_run_of_more_repeats_than_any_has_is_refused_before_they_are_laid_out(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Plan(tasks=20, harnesses=1))
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps({**study, "repeats": 10**12, "canonical_repeats": 10**12}))
    with pytest.raises(ConfigError, match="has a repeat that no run has"):
        snapshot.snapshot_of(folder)


def _broken(**changes: Any) -> str:
    return json.dumps(data(["10101"]) | changes)


def _harness(**changes: Any) -> list[dict[str, Any]]:
    return [{"name": "canonical", "solved": ["10101"], **changes}]


_DEEP: dict[str, Any] = {}
for _ in range(100):
    _DEEP = {"a": _DEEP}

HOSTILE = {
    "not JSON": ("{", "is not JSON"),
    "a list": ("[]", "must hold an object"),
    "no schema": ("{}", "has no schema"),
    "a later version": (_broken(schema="harness-eval/baseline/2"), "'harness-eval/baseline/2'; a baseline of this"),
    "another document": (_broken(schema="harness-eval/check/1"), "make it anew"),
    "an unknown key": (_broken(taks=[]), "taks: unknown key; did you mean 'tasks'"),
    "a short repeat": (_broken(harnesses=_harness(solved=["101"])), r"solved.0: has 3 characters for 5 tasks"),
    "an odd character": (_broken(harnesses=_harness(solved=["1010?"])), r"solved.0: '\?' is none of 1 0 x ."),
    "labels without repeats": (_broken(harnesses=_harness(labels={"a": []})), "has not the repeats"),
    "a name twice": (_broken(harnesses=2 * _harness()), "'canonical' stands 2 times"),
    "a task twice": (_broken(tasks=5 * [{"name": "one"}]), "tasks: the name 'one' stands 5 times"),
    "NaN": (_broken(limits={"steps": float("nan")}), "limits.steps"),
    "no canonical": (_broken(canonical="other"), "canonical: 'other' is none of its harnesses"),
    "no tasks": (_broken(tasks=[]), "has no tasks"),
    "a text for a number": (_broken(seed="a" * 9_000), "seed"),
    "a name without end": (_broken(name="a" * 10_000_000), "a text of 10,000,000 characters"),
    "a key without end": (_broken(**{"a" * 1_000_000: 1}), "a text of 1,000,000 characters"),
    "a long key": (_broken(**{"a" * 9_000: 1}), "unknown key"),
    "deep settings": (_broken(endpoint={"name": "a", "model": "m", "settings": _DEEP}), "nested too deeply"),
    "deeper than any stack": ("[" * 100_000, "is not JSON"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_sound_baseline_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    content, said = HOSTILE[name]
    path = tmp_path / "baseline.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=said) as caught:
        snapshot.read(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1_000
    assert str(caught.value).isprintable()


def test_a_baseline_that_is_not_there_is_told_with_the_command_that_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    with pytest.raises(ConfigError, match=r"there is no such file; `harness-eval baseline RUN --out .*baseline\.json`"):
        snapshot.read(path)


def test_a_file_that_is_too_long_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(ConfigError, match="more than 16,777,216 bytes"):
        snapshot.read(path)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        with pytest.raises(ConfigError, match="no regular file"):
            snapshot.read(tmp_path / name)
    for name in ("loop", "nothing"):
        with pytest.raises(ConfigError, match=name):
            snapshot.read(tmp_path / name)


def test_a_disk_that_is_full_leaves_no_part_of_a_file_and_is_told_with_its_name(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match=r"File too large: '.*baseline\.json'"):
            snapshot.write(side(["1" * 100]), tmp_path / "baseline.json")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_writing_replaces_a_link_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "baseline.json").symlink_to(tmp_path / "precious")
    snapshot.write(side(["101"]), tmp_path / "baseline.json")
    assert (tmp_path / "precious").read_text() == "kept"

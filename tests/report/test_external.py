"""External harnesses in a report: what the wire showed of each, beside the family of levels, and since their lock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness_eval import store
from harness_eval.external.adapter import load_external
from harness_eval.external.locked import lock_file, read_seen
from harness_eval.report import build, external_words, summary_text, write
from harness_eval.report.comparison_pairing import pair, side
from tests.report.synthetic import Plan, write_run

PI = load_external("pi")
LOCKED = read_seen(lock_file())["pi"]


def told(**parts: Mapping[str, Any]) -> dict[str, Any]:
    """What a row has of a trial under an external harness."""
    facts: dict[str, Any] = {
        "adapter": PI.id,
        "version": PI.version,
        "version_found": PI.version,
        "exit_code": 0,
        "tools": {"names": ["read", "<b>bash</b>"], "bytes": 2841, "hash": LOCKED.tools},
        "prompt": {"system_chars": 2334, "first_request_bytes": 6400},
        "thinking": {"replies": 3, "due": 3, "kept": 3, "policy": "kept"},
        "requests": {"all": 4, "main": 4},
        "asked": {"wires": ["chat"], "models": ["m"], "streamed": 1.0, "settings": {"temperature": 0}},
        "stop": "no-call",
    }
    return {**facts, **{key: {**facts.get(key, {}), **value} for key, value in parts.items()}}


def write_external(folder: Path, shown: list[dict[str, Any]]) -> Path:
    """A run whose last harness is pi; its trials showed these things, in turn."""
    write_run(folder, Plan(tasks=24, harnesses=6, names={5: "pi"}))
    study = json.loads((folder / "study.json").read_text())
    entry = next(each for each in study["harnesses"] if each["name"] == "pi")
    entry |= {"labels": {}, "external": PI.spec(), "version": PI.version, "id": PI.id}
    (folder / "study.json").write_text(json.dumps(study))
    rows = list(store.rows(folder))
    for place, row in enumerate(each for each in rows if each["harness"] == "pi"):
        row["external"] = shown[place % len(shown)]
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_all_forms_say_the_same_of_them(tmp_path: Path) -> None:
    folder = write_external(tmp_path, [told(), told(prompt={"system_chars": 2500})])
    data = write(folder)
    (entry,) = data["externals"]
    assert entry["prompt"]["system_chars"] == {"least": 2334, "most": 2500}
    assert entry["thinking"]["due"] == entry["thinking"]["kept"] == 72
    pages = [(folder / name).read_text() for name in ("report.md", "report.html")]
    for said in (*external_words.cells(entry), "comes back: 72 of 72, in 24 trials", "temperature 0"):
        assert all(said in page for page in pages), said
    assert all("<b>bash</b>" not in page for page in pages)


def test_the_families_stand_beside_each_other(tmp_path: Path) -> None:
    data = build(write_external(tmp_path, [told()]))
    assert [(each["kind"], len(each["harnesses"])) for each in data["families"]] == [("external", 1), ("levels", 5)]
    means = {each["harness"]: each["plain"] for each in data["harnesses"]}
    external, levels = data["families"]
    assert external["lowest"] == pytest.approx(means["pi"])
    assert levels["lowest"] == pytest.approx(min(mean for name, mean in means.items() if name != "pi"))


def test_a_run_without_them_has_no_such_section(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=24, harnesses=4))
    data = write(folder)
    assert (data["externals"], data["families"]) == ([], [])
    assert "External harnesses" not in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"thinking": {"kept": 0, "dropped": 3, "policy": "dropped"}}, "dropped: 72 of 72"),
        (
            {"thinking": {"kept": 2, "moved": 1, "policy": "partly"}},
            "comes back in part: 48 of 72, 24 moved into the text",
        ),
        ({"thinking": {"replies": 0, "due": 0, "kept": 0}}, "not measured: no reply had thinking"),
        ({"thinking": {"due": 0, "kept": 0}}, "not measured: no later request showed a reply that had thinking"),
    ],
)
def test_what_becomes_of_thinking_is_told_as_n_of_m_or_why_it_is_not_known(
    tmp_path: Path, parts: dict[str, Any], said: str
) -> None:
    (entry,) = build(write_external(tmp_path, [told(**parts)]))["externals"]
    assert external_words.thinking_phrase(entry["thinking"]) == said


def test_dropped_thinking_is_a_finding(tmp_path: Path) -> None:
    shown = told(thinking={"kept": 0, "dropped": 3, "policy": "dropped"})
    data = build(write_external(tmp_path, [shown]))
    assert "pi: drops earlier thinking." in " ".join(summary_text(data).split())


def test_the_lock_tells_what_changed(tmp_path: Path) -> None:
    same = build(write_external(tmp_path / "a", [told()]))["externals"][0]["lock"]
    assert (same["state"], same["changes"]) == ("same", [])
    other = build(write_external(tmp_path / "b", [told(tools={"hash": "0" * 16})]))["externals"][0]["lock"]
    assert other["state"] == "changed"
    assert other["changes"] == [
        f"the tools it offers changed since it was locked ({LOCKED.tool_count} then, 2 now), without a new version"
    ]
    both = [told(), told(tools={"hash": "0" * 16})]
    lock = build(write_external(tmp_path / "c", both))["externals"][0]["lock"]
    assert lock["changes"][0] == "offered 2 different sets of tools in its trials"
    claims = {**told(), "version_found": "pi 9.9.9"}
    lock = build(write_external(tmp_path / "d", [claims]))["externals"][0]["lock"]
    assert lock["changes"] == [f"says that its version is pi 9.9.9, not {PI.version}"]


def test_two_runs_are_not_compared_under_one_that_offers_other_tools(tmp_path: Path) -> None:
    before = write_external(tmp_path / "a", [told()])
    after = write_external(tmp_path / "b", [told(tools={"hash": "0" * 16})])
    found = pair(side(before, None), side(after, None))
    assert "pi" not in found.harnesses
    assert [each["reason"] for each in found.left_out] == ["the same name, but what a model receives of it differs"]


def test_what_another_version_recorded_otherwise_is_left_out(tmp_path: Path) -> None:
    (entry,) = build(write_external(tmp_path, [{"tools": "many"}]))["externals"]
    assert (entry["trials"], entry["thinking"]["reason"]) == (0, "no trial made a request")

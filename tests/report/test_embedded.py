"""Trajectories inside the page: the right ones, within the budget, and never the end of a report."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_eval import recording, store
from harness_eval.report import build, embedded, write
from harness_eval.types import Action, Observation, Step, StopReason, ToolCall, Trajectory, TrialKey, Usage
from tests.report.synthetic import Plan, write_run
from tests.report.test_forms import Page

RECORD = Trajectory(
    "You are an agent.",
    "Mend </script><script>alert(1)</script> it.",
    (
        Step(
            Action("I look.", None, (ToolCall("c", "bash", {"command": "ls"}),)),
            (Observation("<b>seen</b>", 11),),
            Usage(100, 10),
            0.5,
        ),
    ),
    StopReason.FINISHED,
)


def recorded(folder: Path, plan: Plan, tasks: int) -> Path:
    """A run in which the trials of the first tasks have a trajectory."""
    write_run(folder, plan)
    for row in store.latest(folder):
        if int(row["task"][-3:]) < tasks:
            path = folder / store.TRAJECTORIES / recording.file_name(store.key_of(row))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(recording.pack(store.key_of(row), RECORD, {}))
    return folder


def unpacked(packed: str) -> str:
    return gzip.decompress(base64.b64decode(packed)).decode()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = Plan(tasks=20, harnesses=5, repeats=2, costs={"protocol=json-text": 0.5})
    return recorded(tmp_path_factory.mktemp("run"), plan, 8)


def test_every_repeat_of_a_cell_is_embedded_by_its_name_and_outcome(run: Path) -> None:
    [found] = embedded.collect(run, build(run))
    assert found.recorded == 8 * 5 * 2
    assert len(found.trials) == 8 * 5
    assert all(len(fragments) == 2 for fragments in found.trials.values())
    titles = {fragment.title for fragments in found.trials.values() for fragment in fragments}
    assert titles == {f"repeat {repeat}: {ended}" for repeat in (0, 1) for ended in ("solved", "not solved")}
    assert unpacked(found.trials["task-000", "canonical"][0].packed).startswith("<article class=")


def test_a_cell_stands_beside_canonical_where_their_scores_differ(run: Path) -> None:
    data = build(run)
    [found] = embedded.collect(run, data)
    rows = {store.key_of(row): row for row in store.latest(run)}

    def differs(task: str, harness: str) -> Iterator[bool]:
        for repeat in (0, 1):
            here, there = (rows[TrialKey(task, name, "served", repeat)] for name in (harness, "canonical"))
            yield here["score"] != there["score"]

    assert set(found.pairs) == {cell for cell in found.trials if any(differs(*cell))}
    assert found.pairs


def test_unsolved_cells_of_the_worst_set_come_first(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "FRAGMENTS", 12)
    data = build(run)
    [found] = embedded.collect(run, data)
    assert sum(map(len, found.trials.values())) + len(found.pairs) <= 12
    scores = {
        (task, harness): score
        for harness, row in zip(data["cells"]["harnesses"], data["cells"]["score"], strict=True)
        for task, score in zip(data["cells"]["tasks"], row, strict=True)
    }
    first = next(iter(found.trials))
    assert scores[first] < 1.0
    assert all(scores[cell] < 1.0 or cell[1] == "canonical" for cell in found.trials)
    assert {cell[1] for cell in found.trials} <= {*data["worst"]["set"], "canonical"}


def test_no_more_is_embedded_than_the_budget_of_bytes(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "BYTES", 6_000)
    [found] = embedded.collect(run, build(run))
    packed = [one.packed for fragments in found.trials.values() for one in fragments] + list(found.pairs.values())
    assert 0 < sum(map(len, packed)) <= 6_000


def test_damaged_and_foreign_files_do_not_break_the_report(tmp_path: Path) -> None:
    folder = recorded(tmp_path, Plan(tasks=20, harnesses=3), 2)
    frames = sorted((folder / store.TRAJECTORIES).glob("*/*"))
    frames[0].write_bytes(b"no frame")
    frames[1].write_bytes(frames[1].read_bytes()[:-9])
    frames[2].unlink()
    frames[2].mkdir()
    (folder / store.TRAJECTORIES / "stray").write_text("x")
    [found] = embedded.collect(folder, write(folder))
    told = [unpacked(one.packed) for fragments in found.trials.values() for one in fragments]
    assert sum("I look." in html for html in told) == 3
    assert Page((folder / "report.html").read_text()).open == []


def test_without_trajectories_the_page_says_so(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=3))
    write(folder)
    html = (folder / "report.html").read_text()
    assert "No trajectory of this run is recorded" in html
    assert "-map-trials" not in html.replace('-map"', "")


def test_embedded_data_cannot_end_its_element(tmp_path: Path) -> None:
    names = {1: "</script><script>alert(1)</script><!--"}
    folder = recorded(tmp_path, Plan(tasks=20, harnesses=3, names=names), 2)
    write(folder)
    page = Page((folder / "report.html").read_text())
    assert page.open == []
    assert page.scripts == ["application/json", "application/json", ""]


def test_the_data_of_the_map_are_the_cells_of_the_report(run: Path) -> None:
    data = write(run)
    html = (run / "report.html").read_text()
    block = html.split('<script type="application/json" id="endpoint-0-map">')[1].split("</script>")[0]
    found = json.loads(block)
    scores = base64.b64decode(found["scores"])
    cells = data["cells"]
    for row, harness in enumerate(found["harnesses"]):
        for column, task in enumerate(found["tasks"]):
            score = cells["score"][cells["harnesses"].index(harness)][cells["tasks"].index(task)]
            assert scores[row * len(found["tasks"]) + column] == round(100 * score)

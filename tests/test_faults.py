"""A full run through every fault of the reference endpoint: right verdicts or right owners, and no false accusation."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness_eval import report, store, study
from harness_eval.diagnosis.labels import LABELS, boundary_of
from harness_eval.diagnosis.reply import PLAIN, label_reply
from harness_eval.endpoints.reply import ReplyAssembler
from harness_eval.judging import Proof
from harness_eval.probing import Probe
from harness_eval.reference.faults import FAULTS
from harness_eval.reference.server import ReferenceConfig, listening
from harness_eval.reference.wire import MODEL
from harness_eval.study_file import load_study
from harness_eval.task import Task
from harness_eval.types import Result
from tests.doubles import make_task

pytestmark = pytest.mark.anyio

TRIALS = 4  # one task under four harnesses

HARNESSES = {
    "dropping": {"thinking": "drop", "protocol": "native-single"},
    "listing": {"toolset": "pascal-case", "planning": {"level": "todo", "remind_after": 1}},
    "textual": {"protocol": "xml-json"},
}
ASKED: dict[str, dict[str, Any]] = {
    "thinking-not-applied": {"reasoning_effort": "high"},
    "stall": {"timeout_seconds": 0.3, "retries": 2},
    "deadline": {"retries": 1},
}
"""How an endpoint must be asked for a fault to matter."""

UNSEEN = {"tool-choice-ignored"}
"""What no run can show, since none ever states a tool choice; a recorded exchange that states one does."""

UNTOLD = {"stall", "phantom-tool-calls", "index-collision", "duplicate-ids", "args-snapshots"}
"""What is left out among many: one takes long, one leaves no trace under another finish reason, two calls of one name
cannot be told apart where nothing else differs, and snapshots repeat whatever another fault put before them."""

STEPS = """  - {say: "I look at the log.", run: "cat app.log", learn: {port: "port=(\\\\d+)"}}
  - {say: "I read the file.", read: "app.ini", learn: {old: "port = (\\\\d+)"}}
  - {say: "I set it.", edit: {path: "app.ini", old: "port = 1\\n", new: "port = ${port}\\n"}}
  - {say: "I note it.", create: {path: "answer.txt", text: "${port}\\n"}}
  - {say: "I check.", run: "cat app.ini answer.txt", learn: {done: "port = (\\\\d+)"}}
"""
CHECK = """#!/bin/bash
if grep -qx 'port = 81' app.ini && grep -qx 81 answer.txt; then echo 1; else echo 0; fi > "$VERIFIER_DIR/reward.txt"
"""


class Watching:
    """What a run tells."""

    def proven(self, task: Task, proof: Proof) -> None: ...

    def probed(self, endpoint: str, probe: Probe, harnesses: int) -> None: ...

    def begin(self, *given: object) -> None: ...

    def ended(self, result: Result) -> None: ...

    def fallen(self, endpoint: str, reason: str) -> None: ...

    def stopping(self) -> None: ...


def make_suite(folder: Path) -> Path:
    make_task(folder, "first", CHECK)
    place = folder / "first"
    (place / "environment/files/app.log").write_text("start\nport=81\nend\n")
    (place / "environment/files/app.ini").write_text("[app]\nport = 1\nname = x\n")
    (place / "solution/solve.sh").write_text("sed -i 's/port = 1/port = 81/' app.ini; echo 81 > answer.txt\n")
    (place / "solution/plan.yaml").write_text(f'done: "The port is set."\nsteps:\n{STEPS}')
    (place / "instruction.md").write_text("Work on first: set the port of app.ini as the log has it.\n")
    return folder


@dataclass(frozen=True)
class Ran:
    """What a run left behind."""

    ended: study.Ended
    rows: list[dict[str, Any]]
    probe: dict[str, Any]

    @property
    def lost(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["failure"]]

    @property
    def judged(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if not row["failure"]]

    @property
    def unsupported(self) -> set[str]:
        return {each.harness for cell in self.ended.unsupported.values() for each in cell}

    def labels(self) -> Counter[str]:
        """Every label that is written down anywhere, with how often."""
        found = Counter(label for row in self.rows for label in labels_of(row) if label not in PLAIN)
        checks = [each for key in ("checks", "unsupported") for each in self.probe.get(key, ())]
        return found + Counter(each["label"] for each in checks if each["label"])


def labels_of(row: dict[str, Any]) -> list[str]:
    failed = [row["failure"]["label"]] if row["failure"] else []
    return [*row["labels"], *row["turns"], *row["retried"], *failed]


def resolved(folder: Path) -> study.Study:
    """The study of all these runs, but for the place of its endpoint."""
    for name, levels in HARNESSES.items():
        (folder / f"{name}.yaml").write_text(json.dumps(levels))
    endpoint = {"name": "served", "base_url": "http://127.0.0.1:9/v1", "model": MODEL, "scripted": True}
    asked = {"backoff_seconds": 0.01, "timeout_seconds": 10.0, "retries": 5}
    keys = {
        "name": "faulty",
        "endpoints": [{**endpoint, **asked}],
        "tasks": {"suite": str(make_suite(folder / "suite"))},
        "harnesses": [f"./{name}.yaml" for name in HARNESSES],
        "sandbox": "local",
        "limits": {"steps": 25, "seconds": 60},
    }
    (folder / "study.yaml").write_text(json.dumps(keys))
    return study.resolve(load_study(folder / "study.yaml"))


async def ran(planned: study.Study, folder: Path, faults: dict[str, float], **asked: Any) -> Ran:
    """A run in which the server misbehaves; `asked` changes how the endpoint is asked."""
    async with listening(ReferenceConfig(tuple(task.folder for task in planned.tasks), faults=faults)) as base_url:
        (endpoint,) = planned.config.endpoints
        there = endpoint.model_copy(update={"base_url": base_url, **asked})
        config = planned.config.model_copy(update={"endpoints": [there]})
        ended = await study.run(replace(planned, config=config), folder, Watching())
    probed = json.loads((folder / "probe.json").read_text())["endpoints"] if (folder / "probe.json").exists() else {}
    return Ran(ended, list(store.latest(folder)), probed.get("served", {}))


class Runs:
    """The runs of this module, each made once."""

    def __init__(self, planned: study.Study, folder: Path) -> None:
        self.planned, self.folder = planned, folder
        self.done: dict[tuple[str, float], Ran] = {}

    async def __call__(self, name: str, strength: float | None = None) -> Ran:
        """The run through a fault at this strength; by default at that of its bare name."""
        strength = FAULTS[name].usual if strength is None else strength
        if (name, strength) not in self.done:
            folder = self.folder / f"{name}-{strength:g}"
            self.done[name, strength] = await ran(self.planned, folder, {name: strength}, **ASKED.get(name, {}))
        return self.done[name, strength]


@pytest.fixture(scope="module")
def runs(planned: study.Study, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(planned, tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[study.Study]:
    folder = tmp_path_factory.mktemp("planned")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield resolved(folder)


def effect_of(name: str) -> str:
    """What the first of the labels that a fault shows as does to a score; "" where nothing is wrong."""
    shows = FAULTS[name].shows
    return LABELS[shows[0]].effect if shows else ""


def named(*effects: str, transient: bool = False) -> list[str]:
    return [name for name, kind in FAULTS.items() if effect_of(name) in effects and kind.transient is transient]


def accused(done: Ran, shows: Sequence[str] = ()) -> set[str]:
    """The labels that blame the model, save those of the fault itself."""
    return {label for label in done.labels() if LABELS[label].owner == "model"} - {*shows}


async def test_without_a_fault_everything_is_solved_and_nothing_is_found(planned: study.Study, tmp_path: Path) -> None:
    done = await ran(planned, tmp_path, {})
    assert (done.ended.solved, done.ended.exit_code) == (TRIALS, 0)
    assert not done.labels()
    assert {check["status"] for check in done.probe["checks"]} == {"yes"}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_of_the_server_is_written_down_and_never_held_against_the_model(runs: Runs, name: str) -> None:
    done, shows = await runs(name), FAULTS[name].shows
    assert not accused(done, shows)
    assert name in UNSEEN or not shows or {*shows} & done.labels().keys() or done.ended.outcome.down, done.labels()
    for row in done.lost:
        label = row["failure"]["label"]
        assert label in shows
        assert row["failure"]["owner"] == (boundary_of(LABELS[label].owner) or "endpoint")
    for row in done.judged:
        assert row["solved"] or {*shows} & {*row["labels"]}, row
    assert done.ended.planned == done.ended.judged + len(done.lost) or done.ended.outcome.down


@pytest.mark.parametrize("name", FAULTS)
async def test_the_report_of_a_run_through_a_fault_agrees_with_it(runs: Runs, name: str) -> None:
    done = await runs(name)
    told = report.build(done.ended.folder)
    assert (told["trials"]["judged"], told["trials"]["lost"]) == (done.ended.judged, len(done.lost))


@pytest.mark.parametrize("effect", sorted({effect_of(name) for name in FAULTS}))
async def test_the_report_is_written_whatever_a_fault_does(runs: Runs, effect: str) -> None:
    folder = (await runs([*named(effect), *named(effect, transient=True)][0])).ended.folder
    report.write(folder)
    assert {path.name for path in folder.glob("report.*")} == {"report.md", "report.html", "report.json"}


@pytest.mark.parametrize("name", named("", "tolerated") + named("excluded", transient=True))
async def test_what_can_be_put_right_or_tried_again_costs_no_trial(runs: Runs, name: str) -> None:
    done = await runs(name)
    assert (done.ended.solved, done.ended.exit_code, done.ended.unsupported["served"]) == (TRIALS, 0, ())


@pytest.mark.parametrize("name", named("excluded", transient=True))
async def test_an_outage_loses_trials_to_the_endpoint(runs: Runs, name: str) -> None:
    done, shows = await runs(name, 1.0), FAULTS[name].shows
    assert not accused(done)
    assert {row["failure"]["owner"] for row in done.lost} == {"endpoint"}
    assert {row["failure"]["label"] for row in done.lost} <= {*shows}
    assert all(row["solved"] for row in done.judged), "what the fault does not touch is judged as ever"
    assert done.ended.exit_code == 3


@pytest.mark.parametrize("name", named("config_abort"))
async def test_what_cannot_run_is_unsupported_and_everything_else_is_judged(runs: Runs, name: str) -> None:
    done = await runs(name)
    assert all(row["solved"] for row in done.judged)
    if not done.ended.outcome.down:
        assert {each.label for each in done.ended.unsupported["served"]} == {*FAULTS[name].shows}
        assert done.ended.exit_code == (0 if done.judged else 3)


@pytest.mark.parametrize("name", named("reported_separately"))
async def test_at_full_strength_every_trial_that_fails_says_why(runs: Runs, name: str) -> None:
    done, shows = await runs(name, 1.0), FAULTS[name].shows
    assert not accused(done)
    assert done.ended.lost == {}
    assert all(row["solved"] or {*shows} & {*row["labels"]} for row in done.judged)


@pytest.mark.parametrize("name", ["markup-leak", "foreign-ids"])
async def test_a_call_that_leaked_into_the_text_has_a_second_reading(runs: Runs, name: str) -> None:
    read_again = [row for row in (await runs(name, 1.0)).judged if not row["solved"]]
    assert read_again
    assert all(row["recovered"]["solved"] for row in read_again)


@pytest.mark.parametrize("name", ["quota-exhausted", "foreign-envelope"])
async def test_what_no_later_call_can_pass_stops_a_run_that_did_not_probe(
    planned: study.Study, tmp_path: Path, name: str
) -> None:
    unprobed = replace(planned, config=planned.config.model_copy(update={"probe": False}))
    done = await ran(unprobed, tmp_path, {name: 1.0})
    assert "served" in done.ended.outcome.down
    assert {row["failure"]["label"] for row in done.lost} == {*FAULTS[name].shows}
    assert not done.judged


@pytest.mark.parametrize("seed", range(3))
async def test_where_much_goes_wrong_at_once_nobody_is_accused_falsely(
    planned: study.Study, tmp_path: Path, seed: int
) -> None:
    passing = {*named("excluded", transient=True)} - UNTOLD
    faults = dict.fromkeys(sorted({*named("", "tolerated")} - UNTOLD), 0.2) | dict.fromkeys(sorted(passing), 0.02)
    done = await ran(replace(planned, config=planned.config.model_copy(update={"seed": seed})), tmp_path, faults)
    assert (done.ended.judged, done.ended.exit_code) == (TRIALS, 0)
    assert not accused(done)
    for row in done.judged:
        assert row["solved"] or any(LABELS[label].effect == "reported_separately" for label in row["labels"])


def test_the_embedded_endpoint_misbehaves_as_the_flags_of_a_run_say(planned: study.Study, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(json.dumps({"reference": {}, "tasks": {"suite": planned.config.tasks.suite}}))
    flags = ["--fault", "index-missing", "--fault", "reasoning-placeholder=0", "--sandbox", "local"]
    words = [sys.executable, "-m", "harness_eval", "run", str(tmp_path / "study.yaml"), "--out", str(tmp_path / "run")]
    done = subprocess.run([*words, *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = list(store.latest(tmp_path / "run"))
    assert [row["labels"] for row in rows] == [["serving.index_missing"]]
    assert store.read_study(tmp_path / "run")["endpoints"][0]["faults"] == {
        "index-missing": 1.0,
        "reasoning-placeholder": 0.0,
    }


async def test_an_ignored_tool_choice_shows_in_an_exchange_that_states_one(planned: study.Study) -> None:
    served = ReferenceConfig(tuple(task.folder for task in planned.tasks), faults={"tool-choice-ignored": 1.0})
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    order = [{"role": "user", "content": "Call the tool look with the arguments {}."}]
    body = {"model": MODEL, "messages": order, "tools": [tool], "tool_choice": "none"}
    assembler = ReplyAssembler()
    assembler.add(json.loads(b"".join(served.answerer().answer(json.dumps(body).encode()).pieces)))
    assert label_reply(assembler.reply(), body).label == "serving.tool_choice_ignored"

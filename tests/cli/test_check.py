"""`harness-eval check` from end to end: a server as it was and one that has changed behind the same configuration."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness_eval import store
from harness_eval.gate import snapshot
from harness_eval.gate.kept import Snapshot
from harness_eval.planning import record, resolve
from harness_eval.reference.wire import MODEL
from harness_eval.study_file import load_study
from harness_eval.types import Result, Verdict
from tests.cli.conftest import Said, start
from tests.cli.test_run import until
from tests.doubles import make_task

Run = Callable[..., Said]
TASKS = 20
PLAN = """done: "The word is written."
steps:
  - {say: "I look around.", run: "cat readme.txt", learn: {word: "(Nothing) to see"}, goal: look}
  - {say: "I write it.", create: {path: "answer.txt", text: "hello\\n"}, goal: write}
  - {say: "I check.", run: "cat answer.txt; echo ${word}", goal: write}
"""
WIDE = ("--margin", ".3")  # of so few tasks the limits are wide


class Place:
    """A folder with a suite, two servers that know it, and the run that is the baseline, as a file of three repeats."""

    def __init__(self, folder: Path, urls: dict[str, str]) -> None:
        self.folder, self.urls, self.baseline = folder, urls, folder / "baseline.json"

    def study(self, server: str, **keys: object) -> Path:
        """The same study of one of the servers: nothing of its configuration tells which."""
        endpoint = {"name": "served", "base_url": self.urls[server], "model": MODEL, "scripted": True, "retries": 0}
        given: dict[str, object] = {
            "name": "gate",
            "endpoints": [endpoint],
            "tasks": {"suite": "./suite"},
            "sandbox": "local",
        }
        path = self.folder / f"{server}.yaml"
        path.write_text(json.dumps({**given, "probe": server == "dead", **keys}))
        return path


def solved(path: Path, folder: Path) -> Snapshot:
    """The folder of a run of this study in which every trial was solved, without running any."""
    study = resolve(load_study(path))
    (harness,) = study.harnesses
    with store.open_run(folder, record(study)) as run:
        run.extend([Result(key, harness.id, Verdict(1.0)) for key in study.keys])
    return snapshot.read(folder)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("place")
    for number in range(TASKS):
        task = make_task(folder / "suite", f"task-{number:02d}")
        (task.folder / "solution" / "plan.yaml").write_text(PLAN)
    planted = {"same": (), "changed": ("--coupling", "needs-todo")}
    with contextlib.ExitStack() as opened:
        served = {name: start("serve", "--suite", folder / "suite", *flags) for name, flags in planted.items()}
        for process in served.values():
            opened.enter_context(process)
            opened.callback(process.terminate)
        urls = {name: process.stdout.readline().strip() for name, process in served.items() if process.stdout}
        place = Place(folder, {**urls, "dead": "http://127.0.0.1:9/v1"})
        once = solved(place.study("same"), folder / "base")
        (gated,) = once.harnesses
        gated = gated.model_copy(update={"solved": gated.solved * 3})
        snapshot.write(once.model_copy(update={"harnesses": (gated,)}), place.baseline)
        yield place


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


def trials(folder: Path) -> int:
    """How many are judged, none of them twice."""
    counted = Counter(store.key_of(row) for row in store.rows(folder) if row["failure"] is None)
    assert max(counted.values()) == 1
    return counted.total()


def test_a_server_that_is_as_it_was_passes_early_and_an_interrupted_check_goes_on_with_the_rest(
    harness_eval: Run, place: Place, out: Path, tmp_path: Path
) -> None:
    written = tmp_path / "written"
    command = ("check", place.study("same"), "--baseline", place.baseline, *WIDE, "--out", out, "--json")
    with start(*command, "--concurrency", 2) as process:
        until(process, out / "results.jsonl", 4)
        process.send_signal(signal.SIGINT)
        printed, err = process.communicate(timeout=60)
    assert (process.returncode, printed) == (130, ""), err
    assert f"--out {out}" in err
    assert 4 <= trials(out) < TASKS

    said = harness_eval(*command, "--write", written)
    assert (said.code, said.json["verdict"], said.json["decision"]["repeats"]) == (0, "pass", 1.0), said.err
    ended = trials(out)
    assert TASKS <= ended < 2 * TASKS, "one repeat, and what was under way"
    assert json.loads((written / "check.json").read_text()) == said.json

    again = harness_eval(*command)
    assert (again.code, again.json["decision"], trials(out)) == (0, said.json["decision"], ended), again.err


def test_what_has_changed_behind_the_same_configuration_fails(harness_eval: Run, place: Place, out: Path) -> None:
    said = harness_eval(
        "check", place.study("changed"), "--baseline", place.baseline, "--out", out, "--concurrency", 2, "--json"
    )
    assert (said.code, said.json["verdict"]) == (1, "fail"), said.err
    assert said.json["decision"]["worse"] == said.json["decision"]["pairs"]
    assert trials(out) <= TASKS / 2 + 2


def test_an_endpoint_that_is_down_leaves_the_check_incomplete(harness_eval: Run, place: Place, out: Path) -> None:
    said = harness_eval("check", place.study("dead"), "--baseline", place.baseline, "--out", out, "--json")
    assert (said.code, said.json["verdict"], said.json["trials"]["missing"]) == (3, "incomplete", 3 * TASKS)
    assert said.json["said"].startswith("endpoint served cannot be used: "), "what must be mended comes first"
    assert "incomplete: endpoint served cannot be used" in said.err


def test_a_spent_budget_leaves_the_check_incomplete_and_is_told_in_it(
    harness_eval: Run, place: Place, out: Path
) -> None:
    spent = ("--max-tokens", 1, "--concurrency", 1)
    said = harness_eval("check", place.study("same"), "--baseline", place.baseline, "--out", out, *spent, "--json")
    assert (said.code, said.json["verdict"], said.json["trials"]["judged"]) == (3, "incomplete", 1), said.err
    assert said.json["notes"][-1] == "not all trials were run: the budget of 1 tokens is used up"
    assert "resume with" in said.err


def test_json_holds_names_without_a_command_of_a_ci_system(harness_eval: Run, place: Place, tmp_path: Path) -> None:
    named = snapshot.read(place.baseline).model_copy(update={"name": "###[group]x ##vso[task]"})
    snapshot.write(named, tmp_path / "named.json")
    said = harness_eval("check", tmp_path / "named.json", "--baseline", place.baseline, *WIDE, "--json")
    assert said.json["after"]["name"] == named.name
    assert "##[" not in said.out
    assert "##vso[" not in said.out


def test_a_verdict_is_printed_though_its_files_cannot_be_written(
    harness_eval: Run, place: Place, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    command = ("check", place.folder / "base", "--baseline", place.baseline, *WIDE)
    said = harness_eval(*command, "--write", tmp_path / "file")
    assert (said.code, said.out.split(":")[0]) == (2, "PASS")
    assert f"{tmp_path / 'file'}: cannot be made" in said.err


def test_a_run_with_lost_trials_is_no_regression_and_no_pass(harness_eval: Run, place: Place, out: Path) -> None:
    shutil.copytree(place.folder / "base", out)
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    for line in lines[:5]:
        line |= {"failure": {"owner": "endpoint", "message": "busy"}, "score": None, "solved": None}
    (out / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = harness_eval("check", out, "--baseline", place.baseline, *WIDE, "--json")
    assert (said.code, said.json["verdict"], said.json["trials"]["lost"]) == (3, "incomplete", 5), said.err


def test_a_finished_run_is_checked_without_an_endpoint(harness_eval: Run, place: Place) -> None:
    said = harness_eval("check", place.folder / "base", "--baseline", place.baseline, *WIDE)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("PASS")


def test_the_fixed_gate_looks_at_all_repeats_of_a_finished_run_unless_fewer_are_named(
    harness_eval: Run, place: Place, tmp_path: Path
) -> None:
    once = snapshot.read(place.baseline)
    (gated,) = once.harnesses
    gated = gated.model_copy(update={"solved": gated.solved[:1] * 5})
    snapshot.write(once.model_copy(update={"harnesses": (gated,)}), tmp_path / "five.json")
    command = ("check", tmp_path / "five.json", "--baseline", tmp_path / "five.json", "--gate", "fixed", "--json")
    caps = [harness_eval(*command, *more).json["decision"]["cap"] for more in ((), ("--repeats", 2))]
    assert caps == [5, 2]


def test_a_baseline_of_another_kind_is_refused_before_anything_runs(
    harness_eval: Run, place: Place, out: Path, tmp_path: Path
) -> None:
    before = snapshot.read(place.baseline)
    tasks = (before.tasks[0].model_copy(update={"digest": "0" * 64}), *before.tasks[1:])
    snapshot.write(before.model_copy(update={"tasks": tasks}), tmp_path / "other.json")
    said = harness_eval("check", place.study("same"), "--baseline", tmp_path / "other.json", "--out", out, "--github")
    assert said.code == 2
    assert said.out.startswith("::error title=Harness gate%3A nothing was checked::")
    assert "--changed suite" in said.out
    assert "task-00" in said.err
    assert "--changed suite" in said.err
    assert not out.exists()


def test_a_check_that_costs_money_wants_a_word_first(harness_eval: Run, place: Place, out: Path) -> None:
    priced = json.loads(place.study("same").read_text())["endpoints"][0] | {
        "price": {"prompt": 1, "cached": 1, "completion": 2}
    }
    study = place.study("same", endpoints=[priced])
    said = harness_eval("check", study, "--baseline", place.baseline, "--out", out)
    assert said.code == 2
    assert f"this run is paid for: {3 * TASKS} trials at served" in said.err
    assert not out.exists()


def test_without_a_study_the_baseline_s_own_tasks_are_asked(harness_eval: Run, place: Place, out: Path) -> None:
    server = ("--base-url", place.urls["changed"], "--suite", place.folder / "suite", "--allow-local", "--no-probe")
    accepted = ("--changed", "endpoint")  # the baseline's was said to be scripted, which no flag can say
    said = harness_eval("check", *server, "--baseline", place.baseline, *accepted, "--out", out, "--json")
    assert (said.code, said.json["verdict"]) == (1, "fail"), said.err
    assert "scripted" in said.json["changed"][0]["detail"]


def test_beside_a_baseline_that_is_a_hunt_no_other_harness_is_run_since_none_is_compared(
    harness_eval: Run, place: Place, out: Path, tmp_path: Path
) -> None:
    path, hunt = place.study("same", harnesses=["mini-swe-native"]), tmp_path / "hunt"
    study = resolve(load_study(path))
    tasks = [task.name for task in study.tasks]
    layout = {"allocate": "hunt", "tasks": tasks, "ends": [len(tasks)], "trials": len(study.keys)}
    ids = {harness.name: harness.id for harness in study.harnesses}
    with store.open_run(hunt, record(replace(study, hunt=layout))) as run:
        run.extend([Result(key, ids[key.harness], Verdict(1.0)) for key in study.keys])
    said = harness_eval("check", path, "--baseline", hunt, "--matrix", *WIDE, "--out", out, "--json")
    assert any("worst and spread are not asked" in note for note in said.json["notes"]), said.err
    assert {row["harness"] for row in store.rows(out)} == {"canonical"}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "--baseline: is wanted"),
        (("--baseline", "B"), "nothing to check"),
        (("RUN", "--baseline", "B", "--gate", "sprtt"), "--gate: 'sprtt' is not known; did you mean 'sprt'?"),
        (("RUN", "--baseline", "B", "--release", "--gate", "sprt"), "--release: looks once"),
        (("RUN", "--baseline", "B", "--repeats", "4"), "--repeats: the baseline has 3 of 'canonical'"),
        (("RUN", "--baseline", "B", "--release", "--repeats", "1"), "--repeats: does not go with --release"),
        (("RUN", "--baseline", "B", "--margin", "0"), "--margin: must be above 0 and below 1, not 0"),
        (("RUN", "--baseline", "B", "--margin", "10"), "below 1, not 10 (0.10 are 10 points)"),
        (("RUN", "--baseline", "B", "--alpha", "nan"), "--alpha: must be above 0 and below 0.5, not nan"),
        (("RUN", "--baseline", "B", "--changed", "siute"), "--changed: 'siute' is not known; did you mean 'suite'?"),
        (("RUN", "--baseline", "B", "--harness", "a", "--harness", "b"), "--harness: one harness is gated"),
        (("RUN", "--baseline", "B", "--harness", "canonicl"), "did you mean 'canonical'?"),
        (("RUN", "--baseline", "B", "--base-url", "http://h/v1"), "--base-url: belongs to trials that are run"),
        (("RUN", "--baseline", "B", "--rerun"), "--rerun: belongs to --replay"),
        (("--replay", "RUN", "--baseline", "B"), "--baseline: belongs to a baseline, and --replay has none"),
        (("--replay", "RUN", "--model", "m"), "--model: belongs to an endpoint, and --replay asks none"),
        (("--replay", "RUN", "--out", "o"), "--out: belongs to trials that are run, and without --rerun none is"),
        (("nowhere", "--baseline", "B"), "nowhere"),
        (("nowhere.yaml", "--baseline", "B"), "nowhere.yaml: cannot be read: No such file"),
        (("##[group]x", "--baseline", "B"), "# #[group]x: no study.json here"),
    ],
)
def test_flags_that_do_not_go_together_are_refused_in_one_line(
    harness_eval: Run, place: Place, flags: tuple[str, ...], said: str
) -> None:
    names = {"B": place.baseline, "RUN": place.folder / "base"}
    found = harness_eval("check", *(names.get(flag, flag) for flag in flags))
    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert found.err.count("\n") == 1

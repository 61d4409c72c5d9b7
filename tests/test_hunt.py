"""A hunt for the worst harness: blocks, halving, and what a stopped one goes on with."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness_eval import allocating, hunt, predicting, report, runner, store, study
from harness_eval.cli.hunting import predict_all
from harness_eval.cli.trace import Asked
from harness_eval.errors import ConfigError
from harness_eval.planning import record
from harness_eval.report import hunted as hunted_words
from harness_eval.study import Agenda, Ended, Study
from harness_eval.study_file import load_study
from harness_eval.types import TrialKey
from tests.doubles import make_task
from tests.test_study import Seen

TASKS, OTHERS = 40, ("dropping", "emptied", "terse")


@pytest.fixture(scope="module")
def hunting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """Forty tasks and four harnesses, of which the one that drops reasoning solves nothing."""
    tmp_path = tmp_path_factory.mktemp("hunt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        yield allocating.resolve(load_study(_written(tmp_path)))


def _written(tmp_path: Path) -> Path:
    for number in range(TASKS):
        make_task(tmp_path / "suite", f"task-{number:02d}")
    levels = {"dropping": "thinking: drop", "emptied": "shell: persistent", "terse": "errors: terse"}
    for name in OTHERS:
        (tmp_path / f"{name}.yaml").write_text(levels[name])
    path = tmp_path / "study.yaml"
    given = {
        "name": "s",
        "reference": {"couplings": {"needs-thinking": 1.0}},
        "tasks": {"suite": "./suite"},
        "sandbox": "local",
        "harnesses": [f"./{name}.yaml" for name in OTHERS],
        "allocate": "hunt",
        "concurrency": 4,
        "probe": False,
    }
    path.write_text(json.dumps(given))
    return path


@pytest.fixture(scope="module")
def hunted(hunting: Study, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended, Seen]:
    """The folder of a whole hunt, how it ended, and what was told of it."""
    folder = tmp_path_factory.mktemp("hunted") / "run"
    seen = Seen()
    return folder, run(hunting, folder, seen), seen


@pytest.fixture
def copied(hunted: tuple[Path, Ended, Seen], tmp_path: Path) -> Path:
    """A copy of that folder, to be changed."""
    return Path(shutil.copytree(hunted[0], tmp_path / "run"))


def run(study: Study, folder: Path, seen: Seen | None = None, agenda: Agenda | None = None) -> Ended:
    return anyio.run(allocating.run, study, folder, seen or Seen(), agenda or Agenda())


def cut(folder: Path, lines: int) -> None:
    """Leave so many results, and nothing of what was decided."""
    results = folder / store.RESULTS
    results.write_text("".join(results.read_text().splitlines(keepends=True)[:lines]))
    (folder / hunt.FILE).unlink()


def of(study: Study, folder: Path) -> hunt.Hunt:
    found = hunt.of(study, folder)
    assert found is not None
    return found


def by_harness(folder: Path) -> Counter[str]:
    return Counter(row["harness"] for row in store.latest(folder))


def test_a_hunt_drops_the_better_half_after_a_block_and_leaves_the_worst(
    hunting: Study, hunted: tuple[Path, Ended, Seen]
) -> None:
    folder, ended, seen = hunted
    met = by_harness(folder)
    assert (met["canonical"], met["dropping"]) == (TASKS, TASKS)
    assert sorted(met[name] for name in OTHERS) == [20, TASKS, TASKS]  # of three two go on
    assert ended.planned == ended.judged == record(hunting)["planned"] == seen.planned == TASKS + 20 * 3 + 20 * 2
    assert (ended.problems, ended.exit_code) == ([], 0)
    assert hunt.Standing(hunting.hunt["ends"], hunt.read(folder)["reference"]).left == ["dropping"]


def test_all_that_stand_meet_the_same_tasks_first(hunting: Study, hunted: tuple[Path, Ended, Seen]) -> None:
    rows = list(store.rows(hunted[0]))
    first = {row["task"] for row in rows[:80]}
    assert first == set(hunting.hunt["tasks"][:20])
    assert [row["task"] in first for row in rows] == [True] * 80 + [False] * 60
    assert hunting.hunt["tasks"] != sorted(hunting.hunt["tasks"])  # dealt by the seed


def test_a_stopped_hunt_goes_on_with_the_same_blocks(hunting: Study, copied: Path) -> None:
    before, stood = by_harness(copied), (copied / hunt.FILE).read_text()
    results = copied / store.RESULTS
    lines = results.read_text().splitlines(keepends=True)
    results.write_text("".join(lines[5:130]) + lines[130][:40])  # some of the first block are owed again, too
    ended = run(hunting, copied, seen := Seen())
    assert len(seen.results) == 15
    assert (by_harness(copied), ended.judged) == (before, ended.planned)
    assert (copied / hunt.FILE).read_text() == stood
    run(hunting, copied, seen := Seen())
    assert seen.results == []


def test_a_hunt_killed_while_it_decides_a_block_decides_as_an_undisturbed_one(
    hunting: Study, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, whole, started, serve = by_harness(copied), (copied / hunt.FILE).read_text(), [], study.serve
    monkeypatch.setattr(study, "serve", lambda config: started.append(config) or serve(config))
    cut(copied, 77)
    (copied / f".{hunt.FILE}.123").write_text('{"stood": {"refer')  # as a kill leaves it
    run(hunting, copied)
    assert (by_harness(copied), (copied / hunt.FILE).read_text()) == (before, whole)
    assert len(started) == 1  # one server for all blocks


def test_without_its_record_all_blocks_are_decided_again_as_they_were(hunting: Study, copied: Path) -> None:
    whole = (copied / hunt.FILE).read_text()
    (copied / hunt.FILE).unlink()
    run(hunting, copied, seen := Seen())
    assert seen.results == []
    assert (copied / hunt.FILE).read_text() == whole


@pytest.mark.parametrize(
    "stood",
    [
        [["dropping", "nobody"]],
        [[], []],  # all harnesses stood in the first block
        [[*OTHERS], ["terse", "terse"]],
        [[*OTHERS], ["terse"], ["emptied"]],
        [[*OTHERS]] + [["terse"]] * 3,
        "terse",
        [[1]],
    ],
)
def test_a_record_that_no_hunt_can_have_left_is_refused(hunting: Study, copied: Path, stood: object) -> None:
    (copied / hunt.FILE).write_text(json.dumps({"stood": {"reference": stood}}))
    with pytest.raises(ConfigError, match=r"hunt\.json"):
        run(hunting, copied)
    with pytest.raises(ConfigError, match=r"hunt\.json"):
        report.build(copied)


def test_the_seconds_of_a_budget_go_on_counting_over_the_blocks(hunting: Study, copied: Path) -> None:
    budgets = hunting.config.budgets.model_copy(update={"seconds": 60.0})
    hasty = replace(hunting, config=hunting.config.model_copy(update={"budgets": budgets}))
    cut(copied, 80)
    ended = run(hasty, copied, seen := Seen(), Agenda(started=time.monotonic() - 61))
    assert (ended.problems, ended.exit_code) == (["the budget of 60 seconds is used up"], 3)
    assert seen.results == []
    assert len(hunt.read(copied)["reference"]) == 2  # the block that was over is decided


def test_too_many_lost_trials_end_the_hunt_where_it_stands(hunting: Study, copied: Path) -> None:
    cut(copied, 80)
    results = copied / store.RESULTS
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    lost = {"verdict": None, "score": None, "solved": None}
    failure = {"owner": "task", "message": "broken", "label": None}
    rows = [{**row, **lost, "failure": failure} if at < 20 else row for at, row in enumerate(rows)]
    results.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    ended = run(hunting, copied, Seen(), Agenda(retry_lost=False))
    assert ended.problems == ["20 trials (25%) were lost, more than 10% (task 20)"]
    assert hunt.read(copied) == {}


def test_what_the_probe_refuses_stands_in_no_block_and_in_its_record_all_the_same(hunting: Study, copied: Path) -> None:
    (copied / hunt.FILE).unlink()
    found, refused = of(hunting, copied), {("dropping", "reference")}
    assert found.go_on(refused)
    first, second = hunt.read(copied)["reference"]
    assert (set(first), len(second)) == (set(OTHERS), 1)
    assert "dropping" not in second
    assert {key.harness for key in found.trials()} == {"canonical", *OTHERS}
    assert found.planned(refused) == TASKS + 20 * 2 + 20
    assert not found.go_on({(name, "reference") for name in ("canonical", *OTHERS)})
    assert len(hunt.read(copied)["reference"]) == 2  # where nothing can run no block is over


def test_an_endpoint_that_cannot_be_used_does_not_keep_the_others(hunting: Study, copied: Path) -> None:
    (copied / hunt.FILE).unlink()
    both = of(replace(hunting, endpoints=("reference", "silent")), copied)
    assert both.go_on((), {"silent"})
    assert [len(hunt.read(copied)[name]) for name in both.study.endpoints] == [2, 1]
    assert not both.go_on((), {"silent"})
    assert both.standing("reference").left == ["dropping"]
    assert both.standing("silent").left is None


def test_trials_lost_at_an_endpoint_that_cannot_be_used_do_not_end_the_hunt_at_another(
    hunting: Study, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut(copied, 80)
    results = copied / store.RESULTS
    row = json.loads(results.read_text().splitlines()[0])
    failure = {"owner": "endpoint", "message": "nothing answers", "label": None}
    dead = {**row, "endpoint": "silent", "verdict": None, "score": None, "solved": None, "failure": failure}
    with results.open("a") as file:
        file.writelines(json.dumps({**dead, "repeat": number}) + "\n" for number in range(20))
    whole, blocks = study.run, []

    async def silent(*given: Any) -> Ended:
        blocks.append(given[-1].trials)
        ended = await whole(*given) if len(blocks) == 1 else study.ended(*given[:2], runner.Outcome())
        return replace(ended, lost={"endpoint": 20}, outcome=replace(ended.outcome, down={"silent": "nothing answers"}))

    monkeypatch.setattr(study, "run", silent)
    assert "cannot be used: nothing answers" in run(hunting, copied).problems[0]
    assert len(blocks) == 2


def test_every_repeat_of_a_block_is_run_and_counts(hunting: Study, copied: Path) -> None:
    twice = allocating.resolve(hunting.config.model_copy(update={"repeats": 2}))
    assert twice.planned == 2 * hunting.planned
    (copied / hunt.FILE).unlink()
    assert len(of(twice, copied).trials()) == 2 * 20 * 4


def test_a_hunt_among_no_harness_says_so_and_runs_all(hunting: Study, copied: Path) -> None:
    alone = allocating.resolve(hunting.config.model_copy(update={"harnesses": []}))
    assert alone.planned == len(alone.keys) == TASKS
    assert "no harness beside the canonical one" in alone.notes[-1]
    (copied / hunt.FILE).unlink()
    found = of(alone, copied)
    assert len(found.trials()) == TASKS
    assert not found.go_on(())
    assert found.standing("reference").left == []


def test_a_budget_that_is_used_up_decides_no_block(hunting: Study, tmp_path: Path) -> None:
    budgets = hunting.config.budgets.model_copy(update={"tokens": 1})
    poor = replace(hunting, config=hunting.config.model_copy(update={"budgets": budgets}))
    ended = run(poor, tmp_path / "run")
    assert ended.exit_code == 3
    assert not (tmp_path / "run" / hunt.FILE).exists()
    assert ended.planned == record(hunting)["planned"]


def test_a_report_of_a_hunt_is_stamped_adaptive_and_owes_nothing(hunted: tuple[Path, Ended, Seen]) -> None:
    data = report.build(hunted[0])
    assert data["worst"]["adaptive"] is True
    assert data["incomplete"] is False
    assert data["trials"]["planned"] == data["trials"]["judged"]


def test_a_report_says_how_trials_were_allocated_in_every_form(hunted: tuple[Path, Ended, Seen]) -> None:
    data = report.write(hunted[0])
    assert data["hunt"]["blocks"] == [{"tasks": 20, "harnesses": 3}, {"tasks": 40, "harnesses": 2}]
    assert (data["hunt"]["left"], data["hunt"]["uniform"]) == (["dropping"], 4 * TASKS)
    assert data["predicted"] is None
    assert data["unpredicted"] is None
    for text in (report.summary_text(data), (hunted[0] / "report.md").read_text()):
        told = " ".join(text.split())
        assert "there stood 3 up to task 20; 2 up to task 40" in told
        assert "The hunt ended at dropping" in told
        assert "what was dropped looks too good there" in told
        assert "the numbers of tasks had been fixed beforehand" in told


def test_a_stopped_hunt_owes_the_rest_of_the_blocks_begun_and_those_to_come(copied: Path) -> None:
    cut(copied, 70)
    data = report.build(copied)
    assert "The hunt is not over." in report.summary_text(data).replace("\n", " ")
    assert (data["incomplete"], data["trials"]["owed"]) == (True, 70)
    owed = {one["harness"]: one["trials"] for one in data["owed"]}
    done = by_harness(copied)
    assert owed.get("canonical") == TASKS - done["canonical"]
    assert all(owed.get(name, 0) == 20 - done[name] for name in OTHERS)


def test_a_configuration_that_was_predicted_is_told_beside_where_the_hunt_ended(hunting: Study, copied: Path) -> None:
    section = report.build(copied)
    family = copied.parent / "family.yaml"
    family.write_text("axes: {thinking: [keep, drop], errors: [explain, terse]}")
    config = hunting.config.model_copy(update={"family": str(family)})
    study = predicting.prepare(replace(hunting, config=config), copied, section)
    assert isinstance(study, Study)
    assert study.predicted["differs"] == {"thinking": "drop", "errors": "terse"}  # drop alone was run
    few = replace(study, tasks=study.tasks[:5])
    anyio.run(allocating.run, few, copied / "predicted", Seen(), Agenda())
    found = report.build(copied)["predicted"]
    assert (found["harness"], found["against"], found["judged"]) == (study.harnesses[0].name, "dropping", 5)
    assert found["score"]["estimate"] == 0
    assert found["difference"]["estimate"] == 0
    assert "predicted worst untested configuration" in report.summary_text(report.build(copied)).replace("\n", " ")
    again = predicting.prepare(replace(hunting, config=config), copied, report.build(copied))
    assert isinstance(again, Study)
    assert again.harnesses == study.harnesses


def test_why_nothing_is_predicted_is_said_in_the_report(
    hunting: Study, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    section = {"endpoint": {"name": "reference"}, "hunt": {"left": ["dropping"]}}
    code, data = predict_all(hunting, Asked(copied, {}), section)
    assert (code, data["predicted"]) == (0, None)
    assert "no untested configuration is predicted at reference: the harnesses do not come" in capsys.readouterr().err
    assert "No untested configuration was predicted: the harnesses do not come" in " ".join(
        (copied / "report.md").read_text().split()
    )
    assert len(hunt.read(copied)["reference"]) == 3  # the blocks are still there


def test_a_uniform_study_records_nothing_of_hunts(hunting: Study) -> None:
    uniform = allocating.resolve(hunting.config.model_copy(update={"allocate": "uniform"}))
    assert uniform.hunt is None
    assert "adaptive" not in record(uniform)
    assert uniform.planned == len(uniform.keys) == 4 * TASKS


def test_too_few_tasks_for_two_blocks_are_said(hunting: Study) -> None:
    tasks = hunting.config.tasks.model_copy(update={"limit": 39})
    few = allocating.resolve(hunting.config.model_copy(update={"tasks": tasks}))
    assert few.hunt["ends"] == [39]
    assert few.planned == len(few.keys)
    assert "a single block" in few.notes[-1]


def test_what_cannot_run_stands_in_no_block() -> None:
    standing = hunt.Standing((20, 54), [["a", "c"]])
    assert standing.cells() == 20 * 2 + 34 * 1
    assert standing.met == {"a": 20, "c": 20}
    assert standing.left is None
    assert hunt.Standing((20, 54), [[]]).cells() == 0
    assert TrialKey("t", "a", "e", 0).harness == "a"


def test_a_hunt_that_dropped_nothing_is_said_to_be_one_in_name_only() -> None:
    section = {"predicted": None, "unpredicted": "why not", "trials": {"planned": 90}}
    nobody = {"blocks": [{"tasks": 45, "harnesses": 0}], "of": 1, "left": [], "uniform": 90}
    told = hunted_words.paragraphs({**section, "hunt": nobody})
    assert "no harness stood beside the canonical one" in told[0]
    assert told[1:] == ["No untested configuration was predicted: why not."]
    single = {"blocks": [{"tasks": 30, "harnesses": 2}], "of": 1, "left": ["a", "b"], "uniform": 90}
    told = hunted_words.paragraphs({**section, "hunt": single})
    assert "a single block" in told[0]
    assert told[0].endswith("The hunt ended at a, b, since there were too few tasks for another block.")

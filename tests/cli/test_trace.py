"""`harness-eval trace` from end to end on the embedded endpoint: which change costs what."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval import report, store, tracing
from harness_eval.cli.trace import Asked, left_of, trace_all
from harness_eval.planning import record, resolve
from harness_eval.study_file import Budgets, StudyConfig
from tests.cli.conftest import Said, start
from tests.doubles import PLAN, make_task

Run = Callable[..., Said]
BOTH = {"native-calls-only": 1.0, "trained-tool-names": 1.0}
BAD = {"protocol": "json-text", "toolset": "pascal-case", "planning": "plan-first"}
TWO_GOALS = PLAN.replace('{say: "I look', '{goal: look, say: "I look').replace(
    '{say: "I write', '{goal: w, say: "I write'
)


def study_of(folder: Path, tasks: int, levels: dict[str, object], couplings: dict[str, float]) -> dict[str, object]:
    """A study of some tasks, with a harness of these levels beside the canonical one."""
    for name in ("alpha", "beta")[:tasks]:
        make_task(folder / "suite", name)
    (folder / "bad.yaml").write_text(json.dumps(levels))
    given = {"name": "small", "tasks": {"suite": str(folder / "suite")}, "sandbox": "local", "probe": False}
    return given | {"reference": {"couplings": couplings}, "harnesses": [str(folder / "bad.yaml")]}


def run_of(folder: Path, scores: tuple[float, float], **study: object) -> Path:
    """A finished run of such a study in which the canonical harness and the other one had these scores."""
    made = record(resolve(StudyConfig.model_validate(study)))
    with store.open_run(folder / "run", made):
        pass
    rows = [
        {"task": task["name"], "harness": harness["name"], "endpoint": "reference", "repeat": 0, "score": score}
        | {"usage": {"prompt": 9, "completion": 1, "reasoning": 0, "cached": 0}, "seconds": 1.0, "attempt": 1}
        | {"solved": score == 1, "failure": None, "cost": None}
        for task in made["tasks"]
        for harness, score in zip(made["harnesses"], scores, strict=True)
    ]
    (folder / "run" / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "run"


def traced(harness_eval: Run, folder: Path, *flags: object) -> Said:
    return harness_eval("trace", folder, "--suite", folder.parent / "suite", "--no-probe", *flags)


def trace_of(folder: Path) -> dict[str, object]:
    return json.loads((folder / "report.json").read_text())["trace"]


def effects(folder: Path) -> dict[str, float]:
    return {row["axis"]: row["effect"] for row in trace_of(folder)["axes"]}


def record_of(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in ("study.json", "results.jsonl")]


def test_two_couplings_are_named_with_their_sizes_and_innocent_axes_are_not(tmp_path: Path, harness_eval: Run) -> None:
    folder = run_of(tmp_path, (1.0, 0.0), **study_of(tmp_path, 2, BAD, BOTH))
    offered = report.build(folder)
    assert offered["trace"] is None
    assert offered["trace_offer"] == {"harness": "bad", "changes": 3, "harnesses": 8, "trials": 16}
    assert "WORST DROP  not traced: harness-eval trace RUN says" in report.summary_text(offered)
    assert "harness-eval trace 'my runs/1' says" in " ".join(report.summary_text(offered, "my runs/1").split())
    before = record_of(folder)
    said = traced(harness_eval, folder)
    assert said.code == 0, said.err
    assert effects(folder) == {"protocol + results": -0.5, "toolset": -0.5, "planning": 0.0}
    trace = trace_of(folder)
    assert (trace["harness"], trace["trials"], trace["tasks"], trace["owed"]) == ("bad", 16, 2, 0)
    assert [trace[end]["estimate"] for end in ("from", "to", "drop", "residual")] == [1.0, 0.0, -1.0, 0.0]
    assert {row["axis"]: row["interaction"] for row in trace["axes"]}["toolset"] == 1.0  # nothing is left to spoil
    assert all(row["low"] is None and row["p_adjusted"] is None for row in trace["axes"])  # of fewer than 20 tasks
    assert "protocol + results = json-text + user-message  −50.0 pp" in said.out
    assert "With so few tasks no change has an interval." in said.out
    assert record_of(folder) == before
    for form in ("report.html", "report.md"):
        assert "protocol + results" in (folder / form).read_text()
        assert "harness-eval trace RUN" not in (folder / form).read_text()
    _is_a_run_of_its_own(folder, harness_eval)


def _is_a_run_of_its_own(folder: Path, harness_eval: Run) -> None:
    """The folder of a trace: readers of runs read it, under a seed of its own."""
    inner = folder / "trace"
    assert store.read_study(inner)["seed"] != store.read_study(folder)["seed"]
    again = harness_eval("report", inner)
    assert (again.code, "WORST DROP  protocol + results −50.0 pp · toolset −50.0 pp" in again.out) == (0, True)
    assert trace_of(inner) == trace_of(folder)
    shown = harness_eval("show", inner, "alpha/add-toolset")
    assert (shown.code, "alpha/add-toolset" in shown.out) == (0, True), shown.out
    refused = traced(harness_eval, inner)
    assert (refused.code, "is itself a trace" in refused.err) == (2, True)


def test_a_change_that_helps_is_named_as_such(tmp_path: Path, harness_eval: Run) -> None:
    levels: dict[str, object] = {"planning": "todo", "errors": "terse", "shell": "persistent"}
    study = study_of(tmp_path, 1, levels, {"needs-todo": 1.0})
    (tmp_path / "suite" / "alpha" / "solution" / "plan.yaml").write_text(TWO_GOALS)
    folder = run_of(tmp_path, (0.0, 1.0), **study)
    nothing = traced(harness_eval, folder)
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing to trace at reference: the canonical harness itself is the lowest plain mean" in nothing.err
    assert not (folder / "trace").exists()
    assert report.build(folder)["trace_offer"] is None
    assert traced(harness_eval, folder, "--harness", "bad").code == 0
    assert effects(folder) == {"planning": 1.0, "errors": 0.0, "shell": 0.0}


def test_a_run_traces_its_worst_drop_at_its_end(tmp_path: Path, harness_eval: Run) -> None:
    path, out = tmp_path / "study.yaml", tmp_path / "run"
    path.write_text(json.dumps({**study_of(tmp_path, 1, {"toolset": "pascal-case"}, BOTH), "trace": True}))
    said = harness_eval("run", path, "--out", out, "--json")
    assert said.code == 0, said.err
    assert "a trace of the worst drop follows: 2 harnesses at most, 2 trials more" in said.err
    (found,) = said.json["traces"]
    assert said.json["report"]["trace"] == found["trace"]
    assert (found["harness"], found["why"]) == ("bad", "the lowest plain mean")
    assert [(row["axis"], row["effect"]) for row in found["trace"]["axes"]] == [("toolset", -1.0)]
    assert found["trace"]["residual"] == {"estimate": 0.0, "low": None, "high": None}
    results = out / "trace" / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert [line["harness"] for line in lines].count("bad") == 1
    lost = {"solved": None, "score": None, "failure": {"owner": "endpoint", "message": "busy"}}
    lines = [line | (lost if line["harness"] == "bad" else {}) for line in lines]
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    trace = report.build(out)["trace"]
    assert (trace["lost"], trace["axes"][0]["effect"]) == (1, None)
    assert trace["axes"][0]["reason"] == "a harness that it needs has no judged trial"
    # from the record it is the same study, so that only the lost trial is owed
    assert traced(harness_eval, out).code == 0
    assert (effects(out), trace_of(out)["lost"], len(list(store.rows(out / "trace")))) == ({"toolset": -1.0}, 0, 3)


def test_an_interrupted_trace_is_resumed_with_the_harness_that_it_began_with(tmp_path: Path, harness_eval: Run) -> None:
    folder = run_of(tmp_path, (1.0, 0.0), **study_of(tmp_path, 1, BAD, BOTH))
    results = folder / "trace" / "results.jsonl"
    flags = ("trace", folder, "--suite", tmp_path / "suite", "--no-probe", "--concurrency", "1")
    with start(*flags) as process:
        while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 2):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"harness-eval trace {folder}" in err
    assert "Traceback" not in err
    partial = report.build(folder)
    assert partial["trace"]["owed"] > 0
    assert "unknown" in report.summary_text(partial)
    other = traced(harness_eval, folder, "--harness", "canonical")
    assert (other.code, "holds the trace of 'bad'; move it away" in other.err) == (2, True)
    assert traced(harness_eval, folder).code == 0
    done = Counter(store.key_of(row) for row in store.rows(folder / "trace"))
    assert (len(done), max(done.values())) == (8, 1)


def test_budgets_hold_for_a_run_and_its_traces_together(tmp_path: Path) -> None:
    folder = run_of(tmp_path, (1.0, 0.0), **study_of(tmp_path, 1, BAD, BOTH))  # of two trials of 10 tokens
    assert left_of(Budgets(tokens=30, seconds=9), [folder, folder / "trace"], 4) == Budgets(tokens=10, seconds=5)
    assert left_of(Budgets(tokens=20), [folder], 0) is None
    assert left_of(Budgets(), [folder], 100) == Budgets()
    base = tracing.config_of(folder, "reference", str(tmp_path / "suite"), budgets={"tokens": 20})
    (done,), _ = trace_all(Asked(folder, {"reference": base}, charged=(folder,)), report.build(folder))
    assert (done.exit_code, done.problem) == (3, "the budget is used up, so the trace was not begun")
    assert not (folder / "trace").exists()


def test_what_cannot_be_traced_is_one_line(tmp_path: Path, harness_eval: Run) -> None:
    folder = run_of(tmp_path, (1.0, 1.0), **study_of(tmp_path, 1, {"planning": "plan-first"}, {}))
    for flags, said in (
        (("--harness", "bda"), "no harness 'bda' in this run; did you mean 'bad'?"),
        (("--harness", ""), "no harness '' in this run; choices: "),
        (("--endpoint", "refrence"), "no endpoint 'refrence' in this run; did you mean 'reference'?"),
        (("--max-tokens", "0"), "budgets.tokens: input should be greater than 0"),
    ):
        refused = traced(harness_eval, folder, *flags)
        assert (refused.code, said in refused.err, "Traceback" in refused.err) == (2, True, False), refused.err
    assert "is this the folder of a run?" in harness_eval("trace", tmp_path / "nowhere").err
    assert "--suite" in harness_eval("trace", folder, "--harness", "bad").err
    (tmp_path / "cells.csv").write_text("model,harness,task,successes,trials\nm,a,t,1,2\nm,b,t,0,2\n")
    assert harness_eval("import", tmp_path / "cells.csv", "--out", tmp_path / "imported").code == 0
    assert "was imported, so that nothing of it can be run again" in harness_eval("trace", tmp_path / "imported").err
    equal = traced(harness_eval, folder)
    assert (equal.code, equal.out) == (0, "")
    assert "there is no drop below it" in equal.err
    assert json.loads(traced(harness_eval, folder, "--json").out)["traces"][0]["trace"] is None


@pytest.mark.parametrize("price", ["{}", '{"prompt": 3, "cached": 0.3, "completion": 15}'])
def test_a_trace_that_would_cost_money_is_refused_with_its_price(tmp_path: Path, harness_eval: Run, price: str) -> None:
    paid = {"name": "kimi", "model": "m", "base_url": "https://api.example.com/v1", "price": json.loads(price) or None}
    study = study_of(tmp_path, 1, BAD, {}) | {"reference": None, "endpoints": [paid], "allow_local": True}
    folder = run_of(tmp_path, (1.0, 0.0), **study)
    lines = (folder / "results.jsonl").read_text().replace('"reference", "repeat"', '"kimi", "repeat"')
    (folder / "results.jsonl").write_text(lines)
    said = traced(harness_eval, folder, "--allow-local")
    assert said.code == 2
    assert "this run is paid for: 8 trials at kimi: about" in said.err
    assert ("$" in said.err) == (price != "{}")
    assert not (folder / "trace").exists()

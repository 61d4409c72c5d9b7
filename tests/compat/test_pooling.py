"""What is put together in a cell, and what is not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness_eval.compat import Asked, Margins, Matrix, collect
from harness_eval.errors import ConfigError
from tests.compat import kept
from tests.compat.kept import Kept
from tests.compat.test_recount import K3, OTHER, by_name, first_outcome, second_outcome

LATER = "2026-11-20T00:00:00+00:00"


def plain(matrix: Matrix) -> Matrix:
    return matrix.model_copy(update={"made": "", "notes": ()})


def trials(matrix: Matrix, harness: str = "ours", model: str = "kimi-k3") -> int:
    return by_name(matrix)[model, harness].trials


def test_a_run_and_its_copy_count_once_and_that_is_said(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome))
    copy = shutil.copytree(run, tmp_path / "elsewhere")
    once, twice = (collect(map(str, given)) for given in ([run], [run, copy, f"{run}:k3"]))
    assert plain(once) == plain(twice)
    assert twice.notes == ("kept was given 3 times: it counts once.",)


def test_of_two_states_of_one_run_the_longer_counts_in_either_order(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome, planned=180))
    begun = shutil.copytree(run, tmp_path / "begun")
    lines = (run / "results.jsonl").read_text().splitlines(keepends=True)
    (begun / "results.jsonl").write_text("".join(lines[:100]))
    for given in ([run, begun], [begun, run]):
        matrix = collect(map(str, given))
        assert trials(matrix) == 60
        assert matrix.notes == ("kept was given 2 times: it counts once, in its longest state.",)


def test_an_unfinished_run_counts_as_far_as_it_is_and_is_named(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome, planned=200))
    matrix = collect([str(run)])
    assert trials(matrix) == 60
    assert matrix.notes == ("kept is unfinished: 20 trials of 200 not run yet.",)
    assert matrix.sources[0].notes == matrix.notes


def test_runs_of_one_name_at_other_times_are_pooled(tmp_path: Path) -> None:
    one = kept.write(tmp_path / "one", Kept(first_outcome))
    other = kept.write(tmp_path / "other", Kept(second_outcome, created=LATER))
    matrix = collect([str(one), str(other)])
    assert trials(matrix) == 120
    assert by_name(matrix)["kimi-k3", "ours"].measured == LATER
    assert len(by_name(matrix)["kimi-k3", "ours"].sources) == 2


def test_tasks_whose_content_is_not_known_pair_by_name(tmp_path: Path) -> None:
    one = kept.write(tmp_path / "one", Kept(first_outcome))
    unknown = {f"t{n:02d}": None for n in range(60)}
    other = kept.write(tmp_path / "other", Kept(second_outcome, tasks=unknown, created=LATER))
    assert trials(collect([str(one), str(other)])) == 120


def test_one_endpoint_of_a_run_can_be_taken(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome, endpoints=(K3, OTHER)))
    assert [subject.model for subject in collect([f"{run}:other"]).subjects] == ["qwen"]
    assert [subject.model for subject in collect([str(run)]).subjects] == ["kimi-k3", "qwen"]
    with pytest.raises(ConfigError, match=r"no endpoint 'othr'; did you mean 'other'\?"):
        collect([f"{run}:othr"])


def test_another_wire_is_another_harness_even_under_the_same_version(tmp_path: Path) -> None:
    one = kept.write(tmp_path / "one", Kept(first_outcome))
    changed = Kept(second_outcome, created=LATER, wires={"loose": "another"}, endpoints=(OTHER,))
    other = kept.write(tmp_path / "other", changed)
    cells = by_name(collect([str(one), str(other)]))
    assert cells["kimi-k3", "loose"].stale == "what a model receives of it is not what it was"
    assert cells["qwen", "loose"].stale is None
    both = kept.write(tmp_path / "both", replace(changed, endpoints=(K3,)))
    cell = by_name(collect([str(one), str(both)]))["kimi-k3", "loose"]
    assert (cell.trials, cell.stale) == (60, None)
    assert cell.notes == ("Left out: 60 trials of version 1, measured 2026-11-01T00:00:00+00:00.",)


def test_what_was_compared_with_an_older_canonical_harness_is_stale(tmp_path: Path) -> None:
    one = kept.write(tmp_path / "one", Kept(first_outcome))
    newer = {"ours": "2", "loose": "1"}
    other = kept.write(tmp_path / "other", Kept(second_outcome, newer, created=LATER))
    cells = by_name(collect([str(one), str(other)]))
    assert cells["kimi-k3", "tight"].stale == "its canonical harness: measured with version 1, now 2"
    assert (cells["kimi-k3", "loose"].stale, cells["kimi-k3", "loose"].trials) == (None, 60)
    assert any("another canonical harness" in note for note in cells["kimi-k3", "loose"].notes)


def test_the_lock_says_what_is_current_where_it_knows_the_name(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome))
    lock = tmp_path / "harnesses.lock"
    lock.write_text("harnesses:\n  tight: {version: '3', id: id-tight, wire: w}\n")
    matrix = collect([str(run)], Asked(lock=lock))
    assert {cell.harness: cell.stale for cell in matrix.cells} == {
        "ours": None,
        "tight": "measured with version 1, now 3",
        "loose": None,
    }
    with pytest.raises(ConfigError, match="--lock nowhere: no such file"):
        collect([str(run)], Asked(lock=Path("nowhere")))


def test_without_a_canonical_harness_the_rate_is_known_and_the_verdict_is_not(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome, canonical=None))
    for cell in collect([str(run)]).cells:
        assert cell.rate.low is not None
        assert (cell.verdict, cell.reason) == ("unclear", "no canonical harness is known to compare it with")


def test_a_harness_that_the_endpoint_refuses_is_unsupported_and_why(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome))
    probe = {"model": "kimi-k3", "checks": [], "unsupported": [{"harness": "tight", "reason": "no\x1b[2J tool role"}]}
    (run / "probe.json").write_text(json.dumps({"endpoints": {"k3": probe}}))
    cells = by_name(collect([str(run)]))
    assert (cells["kimi-k3", "tight"].verdict, cells["kimi-k3", "tight"].trials) == ("unsupported", 0)
    assert cells["kimi-k3", "tight"].reason == "no [2J tool role"
    assert cells["kimi-k3", "loose"].pairs == 60


def test_where_the_canonical_harness_cannot_run_no_other_is_judged(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome))
    probe = {"model": "kimi-k3", "checks": [], "unsupported": [{"harness": "ours", "reason": "no"}]}
    (run / "probe.json").write_text(json.dumps({"endpoints": {"k3": probe}}))
    cells = by_name(collect([str(run)]))
    assert cells["kimi-k3", "loose"].verdict == "unclear"
    assert "the canonical harness cannot run here" in str(cells["kimi-k3", "loose"].reason)


def test_a_verdict_that_lost_trials_could_change_is_withheld(tmp_path: Path) -> None:
    def outcome(task: str, harness: str, _: int) -> float | None:
        number = int(task[1:])
        return None if harness == "loose" and number < 12 else float(number % 20 != 0)

    tasks = {f"t{n:03d}": "d" for n in range(400)}
    run = kept.write(tmp_path / "run", Kept(outcome, tasks=tasks, harnesses={"ours": "1", "loose": "1", "tight": "1"}))
    cells = by_name(collect([str(run)]))
    assert (cells["kimi-k3", "tight"].verdict, cells["kimi-k3", "loose"].lost) == ("compatible", 12)
    low = cells["kimi-k3", "loose"].difference.low
    assert low is not None
    just_kept = Margins(compatible=0.001 - low, broken=0.001 - low)  # by the interval of the judged trials
    cell = by_name(collect([str(run)], Asked(margins=just_kept)))["kimi-k3", "loose"]
    assert (cell.verdict, cell.reason) == ("unclear", "lost trials could change the verdict")


def test_only_the_models_and_harnesses_that_are_asked_for_are_taken(tmp_path: Path) -> None:
    run = str(kept.write(tmp_path / "run", Kept(first_outcome, endpoints=(K3, OTHER))))
    whole = by_name(collect([run]))
    matrix = collect([run], Asked(models="qw*", harnesses="l*"))
    (cell,) = matrix.cells
    assert cell.difference == whole["qwen", "loose"].difference
    with pytest.raises(ConfigError, match="no cell: nothing that was given fits --model gpt"):
        collect([run], Asked(models="gpt"))


def test_evidence_leads_to_the_row_of_the_harness_where_there_is_a_report(tmp_path: Path) -> None:
    from harness_eval import report

    run = kept.write(tmp_path / "runs" / "a b#", Kept(first_outcome, {"ours": "1", "We<ird> x": "1"}))
    out = tmp_path / "out"
    assert {cell.evidence for cell in collect([str(run)], Asked(out=out)).cells} == {None}
    report.write(run)
    cells = by_name(collect([str(run)], Asked(out=out)))
    page = (run / "report.html").read_text()
    for cell in cells.values():
        path, _, anchor = str(cell.evidence).partition("#")
        assert path == "../runs/a%20b%23/report.html"
        assert f'id="{anchor}"' in page
    linked = collect([str(run)], Asked(out=out, links="https://ci.example/7/"))
    assert str(linked.cells[0].evidence).startswith("https://ci.example/7/a%20b%23/report.html#endpoint-0-harness-ours")
    (run / "report.html").write_text("written before rows had a name")
    assert collect([str(run)], Asked(out=out)).cells[0].evidence == "../runs/a%20b%23/report.html"

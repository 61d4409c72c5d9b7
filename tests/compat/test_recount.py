"""A matrix of several runs, each cell counted again by hand."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from harness_eval.compat import Asked, Margins, Matrix, collect
from harness_eval.compat.document import Cell
from harness_eval.importing import import_run
from harness_eval.importing.attempts import Wishes
from tests.compat import kept
from tests.compat.kept import Kept

OTHER = {"name": "other", "model": "qwen", "base_url": "https://b.example/v1", "profile": "qwen"}
K3 = {"name": "k3", "model": "kimi-k3", "base_url": "https://a.example/v1"}


def number(task: str) -> int:
    return int(task[1:])


def first_outcome(task: str, harness: str, repeat: int) -> float:
    easy = number(task) % 5 != repeat
    return float(easy and not (harness == "tight" and number(task) % 2) and not (harness == "loose" and repeat))


def second_outcome(task: str, harness: str, _: int) -> float:
    return float(number(task) % 7 != 0 and not (harness == "tight" and number(task) % 4 != 1))


def first_run(folder: Path) -> Path:
    """Both models; `tight` as it was."""
    return kept.write(folder, Kept(first_outcome, repeats=2, endpoints=(K3, OTHER), name="first"))


def second_run(folder: Path) -> Path:
    """One of the models, later; `tight` in a new version, and one task that was changed since."""
    tasks = {f"t{n:02d}": "d2" if n == 59 else "d1" for n in range(30, 90)}
    harnesses = {"ours": "1", "tight": "2", "loose": "1"}
    when = "2026-11-20T00:00:00+00:00"
    return kept.write(folder, Kept(second_outcome, harnesses, tasks, when, name="second"))


def by_name(matrix: Matrix) -> dict[tuple[str, str], Cell]:
    models = {subject.id: subject.model for subject in matrix.subjects}
    return {(models[cell.subject], cell.harness): cell for cell in matrix.cells}


def check(cell: Cell, scores: kept.Cell, canonical: kept.Cell) -> None:
    """Counts, rate, difference, and the verdict that follows from the limits."""
    margins = Margins()
    assert cell.rate.estimate == pytest.approx(float(kept.rate(scores)), abs=1e-12)
    assert (cell.tasks, cell.trials) == (len(scores), sum(map(len, scores.values())))
    if scores is canonical:
        assert (cell.difference.estimate, cell.p, cell.verdict) == (None, None, "compatible")
        return
    assert cell.pairs == len(scores.keys() & canonical.keys())
    difference, low, high = cell.difference.estimate, cell.difference.low, cell.difference.high
    assert difference == pytest.approx(float(kept.drop(scores, canonical)), abs=1e-12)
    assert low is not None
    assert high is not None
    assert low < difference < high
    surely = "compatible" if low > -margins.compatible else "broken" if high < -margins.broken else None
    assert cell.verdict == (surely or ("degraded" if high < 0 else "unclear"))
    assert (cell.extra_tasks is not None) == (cell.verdict == "unclear")


def table_of(path: Path) -> dict[str, kept.Cell]:
    """The cells of a table of successes out of trials, by harness."""
    cells: dict[str, kept.Cell] = {}
    with path.open() as lines:
        for row in csv.DictReader(lines):
            solved, trials = int(row["successes"]), int(row["trials"])
            scores = [Fraction(1)] * solved + [Fraction(0)] * (trials - solved)
            if scores:
                task = row["task"].replace(".", "-")  # which one of the submissions spells it with
                cells.setdefault(row["harness"], {})[task] = scores
    return cells


def test_three_runs_with_one_stale_version_are_right_cell_by_cell(tmp_path: Path, shared: Path) -> None:
    first, second = first_run(tmp_path / "first"), second_run(tmp_path / "second")
    table = shared / "data" / "terminal_bench_2_opus_4_6.csv"
    elsewhere = table_of(table)
    usual = min(elsewhere)
    import_run([table], tmp_path / "theirs", Wishes(canonical=usual))
    matrix = collect([str(tmp_path / "theirs"), str(second), str(first)], Asked(out=tmp_path))
    cells = by_name(matrix)

    changed = ["t59"]  # the first run has more trials of it, so that the second one's are left out
    canonical, loose = (
        kept.pooled(kept.recounted(first, name), kept.recounted(second, name, leave_out=changed))
        for name in ("ours", "loose")
    )
    tight = kept.recounted(second, "tight", leave_out=changed)
    check(cells["kimi-k3", "ours"], canonical, canonical)
    check(cells["kimi-k3", "loose"], loose, canonical)
    check(cells["kimi-k3", "tight"], tight, canonical)
    assert (cells["kimi-k3", "tight"].version, cells["kimi-k3", "tight"].stale) == ("2", None)
    assert any("120 trials of version 1" in note for note in cells["kimi-k3", "tight"].notes)
    assert any("second: 3 trials of 1 task (t59) are left out" in note for note in matrix.notes)

    alone = {name: kept.recounted(first, name, "other") for name in ("ours", "loose", "tight")}
    for name, scores in alone.items():
        check(cells["qwen", name], scores, alone["ours"] if name != "ours" else scores)
    assert cells["qwen", "tight"].stale == "measured with version 1, now 2"
    assert [cell.harness for cell in matrix.cells if cell.stale] == ["tight"]

    for name, scores in elsewhere.items():
        check(cells["Claude-Opus-4.6", name], scores, elsewhere[usual])
        assert cells["Claude-Opus-4.6", name].main_label is None  # nothing was recorded of why
    assert len(matrix.cells) == 6 + len(elsewhere)
    bound = kept.by_hochberg(cell.p for cell in matrix.cells if cell.p is not None)
    assert all(cell.flagged == (cell.p is not None and cell.p <= bound) for cell in matrix.cells)
    assert any(cell.flagged for cell in matrix.cells)
    assert [column.version for column in matrix.harnesses if column.name == "tight"] == ["2"]


def test_the_main_label_is_that_of_most_unsolved_trials_with_its_owner(tmp_path: Path) -> None:
    cell = by_name(collect([str(first_run(tmp_path / "first"))]))["kimi-k3", "tight"]
    unsolved = sum(score == 0 for scores in kept.recounted(tmp_path / "first", "tight").values() for score in scores)
    assert cell.main_label is not None
    assert (cell.main_label.label, cell.main_label.owner) == ("model.wrong_answer", "model")
    assert cell.main_label.trials == unsolved


def test_groups_of_tasks_are_the_units_of_every_interval(tmp_path: Path) -> None:
    alike = Kept(lambda task, harness, _: float(number(task) % 12 < (9 if harness == "ours" else 7)))
    grouped = Kept(alike.outcome, groups={f"t{n:02d}": f"g{n % 12}" for n in range(60)})
    alone, together = (
        by_name(collect([str(kept.write(tmp_path / name, run))]))["kimi-k3", "loose"]
        for name, run in (("alone", alike), ("together", grouped))
    )
    assert alone.difference.estimate == together.difference.estimate
    assert alone.difference.low is not None
    assert together.difference.low is not None
    assert together.difference.low < alone.difference.low - 0.02
    assert together.rate.low is not None
    assert alone.rate.low is not None
    assert together.rate.low < alone.rate.low


def test_a_matrix_of_one_run_says_what_its_report_says(tmp_path: Path) -> None:
    from harness_eval import report

    def outcome(task: str, harness: str, repeat: int) -> float | None:
        return None if number(task) == 7 and harness == "loose" else first_outcome(task, harness, repeat)

    run = kept.write(tmp_path / "run", Kept(outcome, repeats=2))
    told = {entry["harness"]: entry for entry in report.build(run)["harnesses"]}
    for (_, name), cell in by_name(collect([str(run)])).items():
        entry = told[name]
        assert (cell.trials, cell.lost) == (entry["judged"], entry["lost"])
        if name != "ours":
            figures = {key: entry["difference"][key] for key in ("estimate", "low", "high")}
            assert cell.difference.model_dump() == figures
            assert (cell.verdict, cell.reason) == (entry["verdict"], entry["reason"])
            assert (cell.extra_tasks, cell.p) == (entry["extra_tasks"], entry["p_adjusted"])

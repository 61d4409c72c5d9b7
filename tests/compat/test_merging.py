"""Documents that are merged: with each other, with runs, by other margins, from other folders."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from harness_eval import recording
from harness_eval.compat import Asked, Margins, Matrix, collect
from harness_eval.compat.document import Against, Cell, Column, Figure, Source, Subject
from harness_eval.errors import ConfigError
from tests.compat import kept
from tests.compat.kept import Kept
from tests.compat.test_pooling import LATER, plain
from tests.compat.test_recount import by_name, first_outcome, second_outcome

MARGINS = [Margins(), Margins(compatible=0.05, broken=0.2)]


def save(matrix: Matrix, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(recording.dump(matrix.model_dump(mode="json", by_alias=True)))
    return path


def without_time(matrix: Matrix) -> Matrix:
    return matrix.model_copy(update={"made": ""})


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """Two runs of one model: the later one has a newer version of `tight`, and no `loose`."""
    one = kept.write(tmp_path / "one", Kept(first_outcome))
    newer = Kept(second_outcome, {"ours": "1", "tight": "2"}, created=LATER)
    return str(one), str(kept.write(tmp_path / "other", newer))


def test_cells_of_a_document_stay_where_no_run_has_them_anew(tmp_path: Path, runs: tuple[str, str]) -> None:
    one, other = runs
    document = save(collect([one]), tmp_path / "compatibility.json")
    before, after = by_name(collect([one])), by_name(collect([str(document), other]))
    assert after["kimi-k3", "loose"].model_dump(exclude={"flagged"}) == before["kimi-k3", "loose"].model_dump(
        exclude={"flagged"}
    )
    tight = after["kimi-k3", "tight"]
    assert (tight.version, tight.stale, tight.trials) == ("2", None, 60)
    assert tight.notes == ("Left out: 60 trials of version 1, measured 2026-11-01T00:00:00+00:00.",)
    assert after["kimi-k3", "ours"].notes == ("Left out: 60 trials of an earlier document, of runs not given now.",)


def test_a_newer_stale_cell_never_replaces_the_current_one(tmp_path: Path, runs: tuple[str, str]) -> None:
    one, other = runs
    lock = tmp_path / "lock"
    lock.write_text("harnesses:\n  tight: {version: '1', id: id-tight, wire: wire-tight-1}\n")
    document = save(collect([one]), tmp_path / "compatibility.json")
    for given_now in ([str(document), other], [one, other]):
        cell = by_name(collect(given_now, Asked(lock=lock)))["kimi-k3", "tight"]
        assert (cell.version, cell.stale) == ("1", None)
        assert cell.notes == (f"Left out: 60 trials of version 2, measured {LATER}.",)


def test_a_run_that_a_document_rests_on_already_takes_nothing_from_it(tmp_path: Path, runs: tuple[str, str]) -> None:
    whole = collect(runs)
    document = save(whole, tmp_path / "compatibility.json")
    for again in ([document], [document, *runs], [document, document]):
        assert without_time(collect(map(str, again))) == without_time(whole)


def test_a_document_of_other_margins_is_judged_again_as_its_run_would_be(tmp_path: Path) -> None:
    def outcome(task: str, harness: str, repeat: int) -> float | None:
        lost = harness == "loose" and int(task[1:]) in (3, 5)
        return None if lost else first_outcome(task, harness, repeat)

    run = str(kept.write(tmp_path / "run", Kept(outcome, repeats=2)))
    verdicts = set()
    for first, second in (MARGINS, MARGINS[::-1]):
        document = save(collect([run], Asked(first)), tmp_path / "compatibility.json")
        again, anew = collect([str(document)], Asked(second)), collect([run], Asked(second))
        assert plain(again) == plain(anew)
        verdicts |= {cell.verdict for cell in again.cells}
    assert {"broken", "compatible"} <= verdicts


def test_links_of_a_document_lead_to_the_same_place_from_another_folder(tmp_path: Path) -> None:
    run = kept.write(tmp_path / "runs" / "a", Kept(first_outcome))
    (run / "report.html").write_text('<tr id="endpoint-0-harness-ours">')
    document = save(collect([str(run)], Asked(out=tmp_path / "here")), tmp_path / "here" / "compatibility.json")
    moved = collect([str(document)], Asked(out=tmp_path / "there" / "deep"))
    assert by_name(moved)["kimi-k3", "ours"].evidence == "../../runs/a/report.html#endpoint-0-harness-ours"
    assert moved.sources[0].report == "../../runs/a/report.html"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("model,harness\n", "is not JSON.*a table becomes a run by `harness-eval import`"),
        ('{"schema": "harness-eval/compatibility/2"}', "has schema 'harness-eval/compatibility/2'; a compatibility"),
        ("[]", "has no schema"),
        ('{"schema": "harness-eval/compatibility/1", "made": "x"}', "made_by"),
    ],
)
def test_a_file_that_is_no_document_is_one_line(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "other.json").write_text(content)
    with pytest.raises(ConfigError, match=told) as found:
        collect([str(tmp_path / "other.json")])
    assert "\n" not in str(found.value)


def test_a_cell_of_no_row_is_refused(tmp_path: Path, runs: tuple[str, str]) -> None:
    data = json.loads(save(collect(runs), tmp_path / "compatibility.json").read_text())
    data["subjects"] = []
    (tmp_path / "compatibility.json").write_text(json.dumps(data))
    with pytest.raises(ConfigError, match=r"cells\.0\.subject names none of `subjects`"):
        collect([str(tmp_path / "compatibility.json")])


def stopped_at(number_of_tasks: int, folder: Path) -> Path:
    """The first run, as it was when it had got so far."""
    run = kept.write(folder, Kept(first_outcome))
    lines = (run / "results.jsonl").read_text().splitlines(keepends=True)
    (run / "results.jsonl").write_text("".join(lines[: 3 * number_of_tasks]))
    return run


def test_an_earlier_state_of_a_run_takes_nothing_from_a_document_of_a_later_one(tmp_path: Path) -> None:
    early, late = stopped_at(40, tmp_path / "early"), stopped_at(60, tmp_path / "late")
    (late / "report.html").write_text('<tr id="endpoint-0-harness-ours">')
    asked = Asked(out=tmp_path)
    whole = collect([str(late)], asked)
    document = save(whole, tmp_path / "compatibility.json")
    assert without_time(collect([str(document), str(early)], asked)) == without_time(whole)
    document = save(collect([str(early)], asked), tmp_path / "compatibility.json")
    assert without_time(collect([str(document), str(late)], asked)) == without_time(whole)


def test_a_run_that_was_resumed_counts_though_a_document_rests_on_more_runs(tmp_path: Path) -> None:
    early, late = stopped_at(40, tmp_path / "early"), stopped_at(60, tmp_path / "late")
    other = kept.write(tmp_path / "other", Kept(second_outcome, created=LATER))
    document = save(collect([str(early), str(other)]), tmp_path / "compatibility.json")
    cell = by_name(collect([str(document), str(late)]))["kimi-k3", "ours"]
    assert (cell.trials, cell.source_trials) == (60, (60,))
    assert cell.notes == ("Left out: 100 trials of an earlier document, of runs not given now.",)
    assert by_name(collect([str(document), str(early)]))["kimi-k3", "ours"].trials == 100


def test_what_several_cells_note_is_said_once(tmp_path: Path, runs: tuple[str, str]) -> None:
    document = save(collect([runs[0]]), tmp_path / "compatibility.json")
    other = kept.write(tmp_path / "third", Kept(second_outcome, created=LATER, name="third"))
    assert collect([str(document), str(other)]).notes == (
        "kimi-k3 under ours, loose, tight: Left out: 60 trials of an earlier document, of runs not given now.",
    )


@pytest.mark.parametrize("address", ["//[", "http://[", "a/../[::1", "\ud800"])
def test_an_address_that_is_none_stops_nothing(tmp_path: Path, runs: tuple[str, str], address: str) -> None:
    made = collect(runs)
    cells = [cell.model_copy(update={"evidence": address}) for cell in made.cells]
    document = save(made.model_copy(update={"cells": tuple(cells)}), tmp_path / "compatibility.json")
    assert collect([str(document)], Asked(out=tmp_path / "deep")).cells


def test_the_newest_version_is_remembered_though_its_cell_is_left_out(tmp_path: Path) -> None:
    """A canonical harness that is current goes before a newer run; what is current is not forgotten over it."""
    lock = tmp_path / "lock"
    lock.write_text("harnesses:\n  ours: {version: '1', id: id-ours, wire: wire-ours-1}\n")
    old = kept.write(tmp_path / "old", Kept(first_outcome))
    new = kept.write(tmp_path / "new", Kept(first_outcome, {"ours": "2", "tight": "1"}, created=LATER))
    other = Kept(first_outcome, {"ours": "1", "tight": "2"}, created="2026-11-10T00:00:00+00:00")
    third = kept.write(tmp_path / "third", replace(other, endpoints=({"name": "q", "model": "qwen"},)))
    asked = Asked(lock=lock)
    whole = collect(map(str, (old, new, third)), asked)
    assert [cell.stale is None for cell in whole.cells if cell.harness == "tight"] == [True, False]
    document = save(whole, tmp_path / "compatibility.json")
    assert without_time(collect([str(document)], asked)) == without_time(whole)


SUBJECTS = [Subject(id=f"s{n}", model=f"model-{n}") for n in range(2)]
MOMENTS = [None, "2026-11-01", "2026-11-02", "2026-11-03"]


@st.composite
def cells(draw: st.DrawFn, subject: Subject, harness: str) -> Cell:
    version = draw(st.sampled_from([None, "1", "2"]))
    figures = [Figure(estimate=d, low=d - 0.06, high=d + 0.06) for d in draw(st.tuples(*[st.floats(-0.5, 0.2)] * 3))]
    runs = sorted(draw(st.sets(st.sampled_from("abc"), min_size=1)))
    against = Against(harness="ours", version=draw(st.sampled_from(["1", "2"])))
    return Cell(
        subject=subject.id,
        harness=harness,
        version=version,
        against=draw(st.sampled_from([None, against])),
        verdict="unclear",
        difference=figures[0],
        if_lost=figures[1:] if draw(st.booleans()) else (),
        withheld=draw(st.booleans()),
        p=draw(st.sampled_from([None, 0.001, 0.04, 0.08, 0.5])),
        pairs=draw(st.integers(0, 200)),
        trials=draw(st.integers(0, 300)),
        measured=draw(st.sampled_from(MOMENTS)),
        sources=tuple(runs),
        source_trials=tuple(draw(st.integers(0, 3)) for _ in runs) if draw(st.booleans()) else (),
        notes=tuple(draw(st.sets(st.sampled_from(["one", "two"])))),
    )


@st.composite
def documents(draw: st.DrawFn) -> Matrix:
    places = draw(
        st.sets(st.tuples(st.sampled_from([0, 1]), st.sampled_from(["ours", "tight", "loose"])), min_size=1, max_size=5)
    )
    return Matrix(
        made="",
        made_by="",
        margins=draw(st.sampled_from(MARGINS)),
        subjects=tuple(SUBJECTS),
        harnesses=tuple(Column(name=name) for name in ("ours", "tight", "loose")),
        cells=tuple(draw(cells(SUBJECTS[row], name)) for row, name in sorted(places)),
        sources=tuple(Source(id=name, name=name, created=f"2026-11-0{n}") for n, name in enumerate("abc", 1)),
    )


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.lists(documents(), min_size=1, max_size=3), st.sampled_from(MARGINS), st.randoms(use_true_random=False))
def test_a_merge_is_idempotent_and_does_not_depend_on_the_order(
    given_now: Sequence[Matrix], margins: Margins, dice: random.Random
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(save(one, Path(folder) / f"{n}.json")) for n, one in enumerate(given_now)]
        merged = without_time(collect(paths, Asked(margins, out=Path(folder))))
        again = dice.sample(paths, len(paths))
        assert without_time(collect(again, Asked(margins, out=Path(folder)))) == merged
        document = str(save(merged, Path(folder) / "merged.json"))
        assert without_time(collect([document], Asked(margins, out=Path(folder)))) == merged
        with_all = without_time(collect([document, *again], Asked(margins, out=Path(folder))))
        assert with_all == merged
    places = [(cell.subject, cell.harness) for cell in merged.cells]
    assert len(places) == len(set(places))
    assert set(places) == {(cell.subject, cell.harness) for one in given_now for cell in one.cells}

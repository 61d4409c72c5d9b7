"""Laws of snapshots and checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.gate import snapshot
from harness_eval.gate.asked import Asked, look_order
from harness_eval.gate.checking import check
from harness_eval.gate.kept import Snapshot
from tests.gate.sides import side

FEW = settings(max_examples=15, deadline=None)
ASKED = (Asked(), Asked(gate="fixed"), Asked(gate="e-process"), Asked(release=True))
TASKS = 24


@st.composite
def sides(draw: st.DrawFn, repeats: int | None = None) -> Snapshot:
    """A snapshot with trials of all kinds, the gated harness with at least one verdict; most have no other harness."""
    line = st.text("1110x.", min_size=TASKS - 1, max_size=TASKS - 1).map("1{}".format)
    lines = st.lists(line, min_size=repeats or 1, max_size=repeats or 4)
    names = ["canonical", *draw(st.sampled_from([(), (), (), ("a", "b")]))]
    return side({name: draw(lines) for name in names})


@FEW
@given(sides(), st.sampled_from(ASKED))
def test_a_run_against_itself_never_fails(run: Snapshot, asked: Asked) -> None:
    assert check(run, run, asked).verdict != "fail"


@FEW
@given(sides(3), sides(3), st.sampled_from(ASKED))
def test_swapping_the_sides_turns_worse_and_better(one: Snapshot, other: Snapshot, asked: Asked) -> None:
    asked = replace(asked, matrix=False)
    there, back = check(one, other, asked), check(other, one, asked)
    assert there.flipped == tuple(
        each.model_copy(
            update={
                "before_solved": each.after_solved,
                "before_trials": each.after_trials,
                "after_solved": each.before_solved,
                "after_trials": each.before_trials,
            }
        )
        for each in back.improved
    )
    assert (there.questions[0].change.estimate or 0) == -(back.questions[0].change.estimate or 0)
    assert there.decision is not None
    assert back.decision is not None
    if asked.release or asked.gate == "fixed":  # the others stop at a look, which may be another one
        assert (there.decision.worse, there.decision.better) == (back.decision.better, back.decision.worse)


@FEW
@given(sides(), sides())
def test_a_verdict_depends_neither_on_the_order_of_tasks_nor_of_harnesses(before: Snapshot, after: Snapshot) -> None:
    after = after.model_copy(update={"name": "after"})
    order = look_order([task.name for task in after.tasks], 7)
    place = {task.name: at for at, task in enumerate(after.tasks)}
    turned = after.model_copy(
        update={
            "tasks": tuple(after.tasks[place[name]] for name in order),
            "harnesses": tuple(
                each.model_copy(
                    update={"solved": tuple("".join(line[place[name]] for name in order) for line in each.solved)}
                )
                for each in reversed(after.harnesses)
            ),
        }
    )
    assert check(before, turned) == check(before, after)


@FEW
@given(sides(), st.text(max_size=30), st.dictionaries(st.text(max_size=10), st.integers(0, 9), max_size=3))
def test_a_snapshot_written_and_read_again_is_the_same(run: Snapshot, name: str, lost: dict[str, int]) -> None:
    kept = run.model_copy(update={"name": name, "lost": lost})
    with TemporaryDirectory() as folder:
        path = Path(folder) / "baseline.json"
        snapshot.write(kept, path)
        assert snapshot.read(path) == kept
        assert snapshot.as_bytes(snapshot.read(path)) == path.read_bytes()


def test_the_order_of_looks_follows_names_and_seed_alone() -> None:
    names = [f"task-{number}" for number in range(50)]
    order = look_order(names, 3)
    assert look_order(reversed(names), 3) == order != look_order(names, 4)
    assert look_order(names[:20], 3) == [name for name in order if name in names[:20]]

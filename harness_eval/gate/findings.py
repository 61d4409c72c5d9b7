"""Beside the verdict: the tasks that flipped, and the labels that grew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness_eval.diagnosis.labels import LABELS
from harness_eval.gate.document import Flipped, Grown, Outcome
from harness_eval.gate.kept import SOLVED, UNSOLVED, Snapshot, SnapshotHarness
from harness_eval.gate.matching import Matched
from harness_eval.gate.pairs import Pairs, characters

_LIKELY = 0.5  # posterior chance of a drop from which on a task counts as flipped
_LEVEL = 0.05  # of the labels that grew, all together


def flipped(tasks: Sequence[Outcome], *, up: bool = False) -> tuple[Flipped, ...]:
    """The tasks whose rate probably fell by over 0.2, the surest first; `up`: whose rate rose by so much."""
    import numpy  # lazy: slow import

    from harness_eval.stats.posterior import chance_of_drop  # lazy: slow import

    tried = [task for task in tasks if task.before_trials and task.after_trials]
    before_T2 = _counts([(task.before_solved, task.before_trials) for task in tried])
    after_T2 = _counts([(task.after_solved, task.after_trials) for task in tried])
    counts_T4 = numpy.hstack([after_T2, before_T2] if up else [before_T2, after_T2])
    rows, place_T = numpy.unique(counts_T4, axis=0, return_inverse=True)  # what is alike has one chance
    chance_T = chance_of_drop(rows[:, :2], rows[:, 2:], numpy.random.default_rng(0))[place_T.ravel()]
    found = [
        Flipped(**task.model_dump(exclude={"lost", "missing"}), chance=round(float(chance), 3))
        for task, chance in zip(tried, chance_T, strict=True)
        if chance >= _LIKELY
    ]
    return tuple(sorted(found, key=lambda one: (-one.chance, one.task)))


def _counts(solved: Sequence[tuple[int, int]]) -> Any:
    import numpy  # lazy: slow import

    return numpy.array([(number, trials - number) for number, trials in solved]).reshape(-1, 2)


def grown(matched: Matched, pairs: Pairs) -> tuple[Grown, ...]:
    """The labels that are surely more frequent than before, over the tasks that both sides have judged."""
    from scipy import stats  # lazy: slow import

    from harness_eval.stats.effects import holm  # lazy: slow import

    one, other = matched.gated
    judged = [_judged(side_TR) for side_TR in (pairs.before_TR, pairs.after_TR)]
    both_T = judged[0].any(axis=1) & judged[1].any(axis=1)
    totals = [int(judged_TR[both_T].sum()) for judged_TR in judged]
    names = sorted(one.labels.keys() | other.labels.keys())
    if not names or not all(totals):
        return ()
    sides = [(matched.before, one, judged[0] & both_T[:, None]), (matched.after, other, judged[1] & both_T[:, None])]
    counts = [[_labelled(*side, name, matched.tasks) for side in sides] for name in names]
    tables = [[[new, totals[1] - new], [old, totals[0] - old]] for old, new in counts]
    adjusted = holm([float(stats.fisher_exact(table, alternative="greater").pvalue) for table in tables])
    found = [
        Grown(
            label=name,
            owner=LABELS[name].owner if name in LABELS else "undetermined",
            before=old,
            before_trials=totals[0],
            after=new,
            after_trials=totals[1],
            p=p,
        )
        for name, (old, new), p in zip(names, counts, adjusted, strict=True)
        if p is not None and p < _LEVEL
    ]
    return tuple(sorted(found, key=lambda each: (each.p, each.label)))


def _judged(side_TR: Any) -> Any:
    import numpy  # lazy: slow import

    return numpy.isin(side_TR, (SOLVED, UNSOLVED))


def _labelled(side: Snapshot, harness: SnapshotHarness, counted_TR: Any, label: str, tasks: Sequence[str]) -> int:
    """How many of the trials that count have a label."""
    lines = harness.labels.get(label)
    if lines is None:
        return 0
    has_TR = characters(side, lines, tasks)[:, : counted_TR.shape[1]] == SOLVED
    return int((has_TR & counted_TR).sum())

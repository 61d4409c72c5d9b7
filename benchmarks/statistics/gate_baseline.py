"""What the gate must not do with its baseline, and what its three questions say together when nothing changed."""

from __future__ import annotations

from functools import partial

import numpy as np

from harness_eval.stats import compare, gate, intervals

from .cells import Cell, Values
from .gate import CAP, GATES, REPEATS, Gates, chances_of, counted, plus_two_drop, reaches, simulate, specified, stopped
from .population import Size, chances, harness_logits, stream

NIGHTS = (1, 5, 10, 30)
_CHOSEN = {
    "all tasks": None,
    "solved in the 3 paired repeats": slice(0, 3),
    "solved in any of the 5 repeats": slice(0, 5),
    "solved in 2 spare repeats": slice(3, 5),
}
_USES = (simulate, chances_of, counted, specified, stopped, gate._ends)


def _subset(name: str, reps: int) -> Values:
    """The gate on the tasks that the baseline solved in some of its repeats, and a tenth of the others."""
    tasks, chosen = name.split("|")
    gates = simulate(f"{tasks}|0", reps)
    repeats = _CHOSEN[chosen]
    if repeats is not None:
        solved_NT = gates.before_NTR[..., repeats].any(axis=2)
        kept_NT = solved_NT | (stream("subset", name).random(solved_NT.shape) < 0.1)
        gates = Gates(*(np.where(kept_NT[..., None], side, np.nan) for side in (gates.before_NTR, gates.after_NTR)))
    drop_NTR = (gates.before_NTR - gates.after_NTR)[..., :CAP]
    paired_NT = gates.before_NTR[..., :CAP].mean(axis=2)
    return {
        "tasks": (~np.isnan(drop_NTR[..., 0])).sum(axis=1).astype(float),
        "drop": 100 * np.nanmean(drop_NTR.reshape(reps, -1), axis=1),
        "SPRT": specified(gates)["FAIL"],
        "1 v 5": plus_two_drop(gates.before_NTR.mean(axis=2), gates.after_NTR[..., 0]),
        "1 v 3": plus_two_drop(paired_NT, gates.after_NTR[..., 0]),
    }


def subset_cells() -> list[Cell]:
    uses = (_subset, plus_two_drop, *_USES)
    names = [f"{tasks}|{chosen}" for tasks in (100, 200) for chosen in _CHOSEN]
    return [Cell("gate subset", name, partial(_subset, name), GATES, 500, uses) for name in names]


def _nights(name: str, reps: int) -> Values:
    """Evidence watched night after night, one new repeat a night, that is ever enough by so many nights."""
    tasks, paired = name.split("|")
    rng = stream("nights", name)
    chance_NT, _ = chances_of("0", int(tasks), reps, rng)
    frozen_RNT = rng.random((REPEATS, *chance_NT.shape)) < chance_NT
    worse_N, better_N, ever_N = np.zeros(reps, dtype=int), np.zeros(reps, dtype=int), np.zeros(reps, dtype=bool)
    found = {}
    for night in range(NIGHTS[-1]):
        new_NT = rng.random(chance_NT.shape) < chance_NT
        if paired == "a baseline trial of its own":
            old_NT = rng.random(chance_NT.shape) < chance_NT
        else:
            old_NT = frozen_RNT[night % REPEATS if paired == "5 repeats in turn" else 0]
        worse_N += (old_NT & ~new_NT).sum(axis=1)
        better_N += (new_NT & ~old_NT).sum(axis=1)
        ever_N = ever_N | np.vectorize(reaches)(worse_N, better_N)
        if night + 1 in NIGHTS:
            found[f"{night + 1} nights"] = ever_N
    return found


def night_cells() -> list[Cell]:
    kinds = ("a baseline trial of its own", "5 repeats in turn", "the same repeat")
    uses = (_nights, chances_of, gate.e_value)
    return [
        Cell("gate nights", name, partial(_nights, name), GATES, 200, uses)
        for name in (f"{tasks}|{kind}" for tasks in (64, 100) for kind in kinds)
    ]


def _questions(name: str, reps: int) -> Values:
    """A check with a matrix of one repeat and up to three of canonical, of harnesses that did not change."""
    scenario, size_text = name.split("|")
    size = Size.parse(size_text)
    rows = [_check(scenario, size, rep) for rep in range(reps)]
    return {metric: [row[metric] for row in rows] for metric in rows[0]}


def _check(scenario: str, size: Size, rep: int) -> dict[str, bool]:
    rng = stream("questions", scenario, size, rep)
    chance_TH = chances(harness_logits(scenario, size.harnesses, rng), size.tasks, rng)
    sides = [(rng.random(chance_TH.shape) < chance_TH).astype(float) for _ in range(2)]
    more = [(rng.random((size.tasks, CAP - 1)) < chance_TH[:, :1]).astype(float) for _ in range(2)]
    before_TR, after_TR = (np.column_stack([side[:, 0], extra]) for side, extra in zip(sides, more, strict=True))
    seen = gate.watch(before_TR, after_TR, np.ones(before_TR.shape, dtype=bool))
    run = max(1, -(-seen.used // size.tasks))  # whole repeats of canonical in the new run
    sides[0][:, 0], sides[1][:, 0] = before_TR.mean(axis=1), after_TR[:, :run].mean(axis=1)
    moved = compare.compare(sides[0], sides[1], rep, 0)
    failed = seen.decision == "fail"
    found = {"canonical": failed}
    for level, title in ((0.025, "at 2.5 %"), (intervals.MATRIX_LEVEL, "as shipped")):
        worst = _beyond(-1, moved.worst, level)
        wider = _beyond(1, moved.spread, level)
        found |= {f"WORST {title}": worst, f"SPREAD {title}": wider, f"any {title}": failed or worst or wider}
    return found


def _beyond(sign: int, change: compare.Change, level: float) -> bool:
    limits = intervals.at_level(change.change, level).limits
    return limits is not None and min(sign * limit for limit in limits) > 0


def question_cells() -> list[Cell]:
    uses = (_questions, _check, _beyond, compare.compare, compare._spread, gate.watch, gate._Terms, intervals.at_level)
    return [
        Cell("gate questions", name, partial(_questions, name), 400, 40, uses)
        for name in (
            f"{kind}|{size}" for size in ("64,8,1", "100,16,1") for kind in ("equal", "mild", "broken", "ceiling")
        )
    ]

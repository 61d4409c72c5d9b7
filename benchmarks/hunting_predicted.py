"""What the figures of a hunt are worth, and the prediction that follows it; a part of `python -m benchmarks.hunting`.

Six axes of four levels: 32 of the 4,096 configurations are hunted among, then the one with the lowest predicted score
of those not run is run on all the tasks of the hunt. How well levels add up is varied: what is peculiar to a
configuration is a normal draw on the logit scale. Scores and predictions are those of the package's report.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.statistics.population import CELL_SD, CENTRE, TASK_SD, stream, true_score
from harness_eval.predicting import effects_of
from harness_eval.stats.estimate import Array, Counts, Estimate
from harness_eval.stats.hunting import block_ends, worse_half
from harness_eval.stats.intervals import mean_over_tasks
from harness_eval.stats.paired import paired_difference
from harness_eval.stats.posterior import Posterior, posterior

HARNESSES, AXES, LEVELS = 32, 6, 4
TASKS = (200, 377, 900)
PECULIAR = {0.15: "levels add up", 0.4: "mostly", 0.8: "hardly"}  # standard deviation, logits
Z = 1.96
FIGURES = (
    "WORST (model)",
    "score of the named (model)",
    "scores of those dropped first (model)",
    "plain mean of the named",
    "plain means of those dropped first",
    "named less canonical, paired",
    "those dropped first less canonical, paired",
)


@dataclass(frozen=True)
class Drawn:
    """The truth of one repetition: scores of all that are hunted among, the first of them the canonical one."""

    level_DL: Array
    chosen_HD: Counts
    logit_H: Array


@dataclass(frozen=True)
class Found:
    """What one hunt was worth: true scores, the predicted one, and how the figures of the report did."""

    named: float  # true score of the harness at which the hunt ended
    lowest: float  # of the worst of those run
    predicted: float  # of the predicted configuration
    expected: float
    difference: tuple[float, float]  # predicted less named, on the same tasks: as `_met` has it
    met: dict[str, list[tuple[float, float]]]  # by figure, of each harness that it is of


def drawn(peculiar: float, rng: np.random.Generator) -> Drawn:
    """Two of six axes have a bad level; harnesses are drawn at random from the family, no two alike."""
    level_DL = rng.normal(0, 0.15, (AXES, LEVELS))
    level_DL[rng.choice(AXES, 2, replace=False), rng.integers(0, LEVELS, 2)] = -0.8
    places = rng.choice(LEVELS**AXES, HARNESSES, replace=False)
    chosen_HD = np.stack(np.unravel_index(places, (LEVELS,) * AXES), axis=1)
    logit_H = level_DL[np.arange(AXES), chosen_HD].sum(axis=1) + rng.normal(0, peculiar, HARNESSES) + CENTRE
    return Drawn(level_DL, chosen_HD, logit_H)


def once(peculiar: float, tasks: int, rep: int) -> Found:
    """One hunt, what it predicts, and that one run."""
    rng = stream("hunting", "predicted", peculiar, tasks, rep)
    truth = drawn(peculiar, rng)
    task_T1 = rng.normal(0, TASK_SD, (tasks, 1))
    mean_TH, left = _hunt(_passed(truth.logit_H, task_T1, rng))
    seen = posterior(mean_TH, np.random.default_rng([rep, 0]))
    base = seen.score(0).estimate or 0.0
    chosen_D, cost = _lowest(truth.chosen_HD, effects_of(_section(truth, seen, mean_TH), base))
    logit = truth.level_DL[np.arange(AXES), chosen_D].sum() + rng.normal(0, peculiar) + CENTRE
    apart = paired_difference(_passed(np.array([logit]), task_T1, rng)[:, 0], mean_TH[:, left])
    score_H = true_score(truth.logit_H)
    predicted, named = float(true_score(np.array([logit]))[0]), float(score_H[left])
    met: dict[str, list[tuple[float, float]]] = {figure: [] for figure in FIGURES}
    for figure, estimate, true in _figures(score_H, seen, mean_TH, left):
        met[figure].append(_met(estimate, true))
    return Found(named, float(score_H.min()), predicted, base + cost, _met(apart, predicted - named), met)


def _met(found: Estimate, true: float) -> tuple[float, float]:
    """Whether the interval holds the truth (1 or 0), and how far the estimate lies above it."""
    if found.estimate is None or found.low is None or found.high is None:
        raise ValueError("an estimate of a simulated hunt has no interval")
    return float(found.low <= true <= found.high), found.estimate - true


def _figures(score_H: Array, seen: Posterior, mean_TH: Array, left: int) -> Iterator[tuple[str, Estimate, float]]:
    """What a report would state, each with the truth."""
    met_H = (~np.isnan(mean_TH)).sum(axis=0)
    yield FIGURES[0], seen.worst(), float(score_H.min())
    for place in range(HARNESSES):
        if place == left or met_H[place] == met_H.min():
            own, dropped = mean_TH[:, place], int(place != left)
            yield FIGURES[1 + dropped], seen.score(place), float(score_H[place])
            yield FIGURES[3 + dropped], mean_over_tasks(own), float(score_H[place])
            yield FIGURES[5 + dropped], paired_difference(own, mean_TH[:, 0]), float(score_H[place] - score_H[0])


def _passed(logit_H: Array, task_T1: Array, rng: np.random.Generator) -> Array:
    logit_TH = logit_H + task_T1 + rng.normal(0, CELL_SD, (len(task_T1), len(logit_H)))
    return (rng.random(logit_TH.shape) < 1 / (1 + np.exp(-logit_TH))).astype(np.float64)


def _hunt(passed_TH: Array) -> tuple[Array, int]:
    """The table of a hunt, NaN where nothing was run, and the harness at which it ended."""
    mean_TH = np.full(passed_TH.shape, np.nan)
    mean_TH[:, 0] = passed_TH[:, 0]
    standing: tuple[int, ...] = tuple(range(1, HARNESSES))
    start = 0
    for end in block_ends(len(passed_TH), len(standing)):
        mean_TH[start:end, standing] = passed_TH[start:end, standing]
        standing, start = worse_half(passed_TH[:end], standing), end
    return mean_TH, standing[0]


def _section(truth: Drawn, seen: Posterior, mean_TH: Array) -> dict[str, list[dict[str, object]]]:
    """As a report has it: of each harness its score, and the levels that are not the canonical one's."""
    rows = []
    for place in range(HARNESSES):
        score, own = seen.score(place), truth.chosen_HD[place]
        differs = {str(axis): str(own[axis]) for axis in range(AXES) if own[axis] != truth.chosen_HD[0, axis]}
        met = int((~np.isnan(mean_TH[:, place])).sum())
        limits = {"estimate": score.estimate, "low": score.low, "high": score.high}
        rows.append({**limits, "canonical": not place, "tasks": met, "differs": differs})
    return {"harnesses": rows}


def _lowest(chosen_HD: Counts, effects: dict[tuple[str, str], float]) -> tuple[Counts, float]:
    """Of all configurations with known levels that were not run the one with the lowest sum of effects."""
    known = [[chosen_HD[0, axis], *(int(at) for of, at in effects if of == str(axis))] for axis in range(AXES)]
    run = {tuple(own) for own in chosen_HD.tolist()}
    free = [each for each in itertools.product(*(map(int, levels) for levels in known)) if each not in run]
    costs = [sum(effects.get((str(axis), str(at)), 0.0) for axis, at in enumerate(each)) for each in free]
    best = int(np.argmin(costs))
    return np.array(free[best]), costs[best]


def page(reps: int, processes: int = 1, tasks: Sequence[int] = TASKS) -> list[str]:
    """The part of HUNTING.md on the figures of a hunt, and on what follows it."""
    found = {
        (peculiar, amount): _all(peculiar, amount, reps, processes)
        for peculiar, amount in itertools.product(PECULIAR, tasks)
    }
    return [*_of_figures(found, reps), *_of_predictions(found, reps)]


def _all(peculiar: float, tasks: int, reps: int, processes: int) -> list[Found]:
    if processes == 1:
        return [once(peculiar, tasks, rep) for rep in range(reps)]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(partial(once, peculiar, tasks), range(reps), chunksize=10))


def _of_figures(found: dict[tuple[float, int], list[Found]], reps: int) -> list[str]:
    lines = [
        "## What the figures of a hunt are worth",
        "",
        f"{reps:,} hunts a column. Six axes of four levels with small effects, two of them bad; 32 of 4,096",
        "configurations are hunted among; *peculiar* is what each has beside its levels (standard deviation, logits).",
        "How often the 95 % interval holds the truth, and how many points the estimate lies above it in the mean.",
        "",
        f"| peculiar; tasks | {' | '.join(f'{peculiar:g}; {tasks:,}' for peculiar, tasks in found)} |",
        "|---|" + "---|" * len(found),
    ]
    for figure in FIGURES:
        cells = []
        for each in found.values():
            hold, above = np.mean([one for hunt in each for one in hunt.met[figure]], axis=0)
            cells.append(f"{hold:.0%}, {100 * above:+.1f}")
        lines.append(f"| {figure} | {' | '.join(cells)} |")
    return [*lines, ""]


def _of_predictions(found: dict[tuple[float, int], list[Found]], reps: int) -> list[str]:
    lines = [
        "## The predicted worst configuration that was not run",
        "",
        f"After the same {reps:,} hunts a row. How often the predicted configuration is truly lower than the harness",
        "at which the hunt ended, and than all that were run (± 95 %); its true score less that of the former, and",
        "less what was predicted; and of the difference between the two that the report states, on the same tasks, how",
        "often the interval holds the truth and how far it lies above it: the hunt ends at what had bad luck, too.",
        "",
        "| peculiar | tasks | lower than the named | than all | less the named | less predicted | interval | above |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (peculiar, amount), each in found.items():
        lines.append(f"| {peculiar:g}: {PECULIAR[peculiar]} | {amount:,} | {' | '.join(_cells(each))} |")
    return [*lines, ""]


def _cells(found: Sequence[Found]) -> list[str]:
    lower = [
        float(np.mean([one.predicted < one.named for one in found])),
        float(np.mean([one.predicted < one.lowest for one in found])),
    ]
    shares = [f"{share:.0%} ± {Z * (share * (1 - share) / len(found)) ** 0.5:.0%}" for share in lower]
    apart = np.mean([one.predicted - one.named for one in found])
    off = np.mean([one.predicted - one.expected for one in found])
    hold, above = np.mean([one.difference for one in found], axis=0)
    return [*shares, f"{100 * apart:+.1f}", f"{100 * off:+.1f}", f"{hold:.0%}", f"{100 * above:+.1f}"]

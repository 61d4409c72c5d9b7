"""The share of uniform's trials that `allocate: hunt` needs to name the worst harness as surely, by simulation.

python -m benchmarks.hunting                  # some five minutes of two cores; HUNTING.md
python -m benchmarks.hunting --reps 200 --scenarios wide --predictions 20 --out FILE

An unlimited stream of tasks, one trial a cell, 32 harnesses: the first is the canonical one, which a hunt runs on every
task. Both name one harness: uniform the one with the lowest mean, a hunt the lower of the last that stands and the
canonical one. It is right where its true score is within 3 points of the lowest. Both meet the same tasks, outcome for
outcome. The blocks are those of the package, and so is what the halving leaves (a test holds one against the other).
`hunting_predicted` measures what follows a hunt.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks import hunting_predicted
from benchmarks.statistics.population import chances, harness_logits, stream, true_score
from harness_eval.stats.estimate import Array
from harness_eval.stats.hunting import block_ends, trials
from harness_eval.stats.intervals import wilson

HARNESSES, WITHIN, SURE = 32, 0.03, 0.95
Z = 1.96  # 95 % limits
UNIFORM = (20, 40, 60, 80, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 800, 1000)  # tasks
HUNT = (20, 40, 60, 80, 100, 150, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1300, 1600)
GRADUAL = ("mild", "wide", "factor")
SCENARIOS = (*GRADUAL, "broken")
REPS = {"mild": 16_000, "wide": 4_000, "factor": 4_000, "broken": 4_000}  # the share is largest where it is mild
MEANING = {
    "mild": "scores with a standard deviation of about 3 points",
    "wide": "of about 7 points",
    "factor": "six axes of four levels with small effects, two of them bad",
    "broken": "all alike but one, 25 points lower",
}
PAGE = Path(__file__).parent / "HUNTING.md"


def hunted(passed_TH: Array) -> int:
    """The harness that a hunt over these tasks names."""
    return _hunted(np.cumsum(passed_TH, axis=0))


def _hunted(total_TH: Array) -> int:
    """The same from the sums over the tasks so far: without a missing cell `worse_half` is the lower half of these."""
    standing = np.arange(1, HARNESSES)
    for end in _ends(len(total_TH)):
        lower = np.argsort(total_TH[end - 1, standing], kind="stable")[: (len(standing) + 1) // 2]
        standing = standing[np.sort(lower)]
    named = (0, *standing.tolist())
    return named[int(total_TH[-1, named].argmin())]


@cache
def _ends(tasks: int) -> tuple[int, ...]:
    return block_ends(tasks, HARNESSES - 1)


def bill(tasks: int) -> int:
    """Trials of a hunt over so many tasks, those of the canonical harness among them."""
    return tasks + trials(_ends(tasks), HARNESSES - 1)


@dataclass(frozen=True)
class Right:
    """Which repetitions named a harness near enough to the worst, by amount of tasks."""

    uniform_RK: Array
    hunt_RK: Array


def simulate(scenario: str, reps: int, processes: int = 1) -> Right:
    """Both ways on the same streams of tasks."""
    if processes == 1:
        found = [_repetition(scenario, rep) for rep in range(reps)]
    else:
        with ProcessPoolExecutor(processes) as pool:
            found = list(pool.map(partial(_repetition, scenario), range(reps), chunksize=100))
    return Right(np.array([each[0] for each in found]) * 1.0, np.array([each[1] for each in found]) * 1.0)


def _repetition(scenario: str, rep: int) -> tuple[list[bool], list[bool]]:
    rng = stream("hunting", scenario, rep)
    logit_H = harness_logits(scenario, HARNESSES, rng)
    score_H = true_score(logit_H)
    near_H = (score_H <= score_H.min() + WITHIN).tolist()
    most = max(*UNIFORM, *HUNT)
    total_TH = np.cumsum(rng.random((most, HARNESSES)) < chances(logit_H, most, rng), axis=0, dtype=np.float64)
    uniform = [near_H[int(total_TH[tasks - 1].argmin())] for tasks in UNIFORM]
    return uniform, [near_H[_hunted(total_TH[:tasks])] for tasks in HUNT]


def needed(share_K: Array, trials_K: Sequence[int]) -> float:
    """Trials at which the share of right names reaches 95 %, between the amounts by a straight line; NaN: beyond."""
    share_K = np.maximum.accumulate(share_K)
    if share_K[-1] < SURE:
        return float("nan")
    at = int(np.argmax(share_K >= SURE))
    if at == 0:
        return float(trials_K[0])
    part = (SURE - share_K[at - 1]) / (share_K[at] - share_K[at - 1])
    return float(trials_K[at - 1] + part * (trials_K[at] - trials_K[at - 1]))


@dataclass(frozen=True)
class Limited:
    """A number with its 95 % limits over the repetitions."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """Trials that each way needs, and their ratio."""

    scenario: str
    uniform: Limited
    hunt: Limited
    ratio: Limited


def row(scenario: str, right: Right, rng: np.random.Generator) -> Row:
    """What one scenario needs; the limits from resampled repetitions, the same ones for both ways."""
    uniform_K, hunt_K = [tasks * HARNESSES for tasks in UNIFORM], [bill(tasks) for tasks in HUNT]
    reps = len(right.hunt_RK)

    def all_three(weight_R: Array) -> tuple[float, float, float]:
        uniform = needed(weight_R @ right.uniform_RK / reps, uniform_K)
        hunt = needed(weight_R @ right.hunt_RK / reps, hunt_K)
        return uniform, hunt, hunt / uniform

    drawn = np.array([all_three(np.bincount(rng.integers(reps, size=reps), minlength=reps)) for _ in range(1000)])
    limits = np.nanquantile(drawn, (0.025, 0.975), axis=0).T
    found = all_three(np.ones(reps))
    return Row(scenario, *(Limited(value, *map(float, each)) for value, each in zip(found, limits, strict=True)))


def certain(right_RK: Array, trials_K: Sequence[int]) -> tuple[int, Limited] | None:
    """The least amount tried at which even the lower limit of the share of right names is 95 %, with that share."""
    for at, amount in enumerate(trials_K):
        share = _share(right_RK[:, at])
        if share.low >= SURE:
            return amount, share
    return None


def _share(right_R: Array) -> Limited:
    share = float(right_R.mean())
    return Limited(share, *wilson(share, len(right_R), Z))


def page(rows: Sequence[Row], rights: Mapping[str, Right]) -> list[str]:
    """The part of HUNTING.md on what a hunt saves."""
    lines = [
        "# What `allocate: hunt` saves",
        "",
        f"`python -m benchmarks.hunting`. {HARNESSES} harnesses, one trial a cell, an endless stream of tasks. Trials",
        "that each way needs to name a harness within 3 points of the truly worst in 95 % of the repetitions; those of",
        "the canonical harness, which a hunt runs on every task, are counted. In brackets 95 % limits.",
        "",
        "| scenario | repetitions | uniform | hunt | share of uniform's trials |",
        "|---|---|---|---|---|",
    ]
    for each in rows:
        amounts = [f"{one.value:,.0f} ({one.low:,.0f} to {one.high:,.0f})" for one in (each.uniform, each.hunt)]
        share = f"**{each.ratio.value:.0%}** ({each.ratio.low:.1%} to {each.ratio.high:.1%})"
        told = f"{each.scenario}: {MEANING[each.scenario]} | {len(rights[each.scenario].hunt_RK):,}"
        lines.append(f"| {told} | {' | '.join(amounts)} | {share} |")
    lines += ["", *_certainty(rights), "", "## How often the name is right, by amount", ""]
    uniform = [f"| {tasks:,} | {tasks * HARNESSES:,} |" for tasks in UNIFORM]
    hunt = [f"| {tasks:,} | {bill(tasks):,} |" for tasks in HUNT]
    for title, starts in (("uniform", uniform), ("hunt", hunt)):
        lines += [f"| {title}: tasks | trials | {' | '.join(rights)} |", "|---|---|" + "---|" * len(rights)]
        for place, start in enumerate(starts):
            tables = [right.uniform_RK if title == "uniform" else right.hunt_RK for right in rights.values()]
            shares = " | ".join(f"{table[:, place].mean():.3f}" for table in tables)
            lines.append(f"{start} {shares} |")
        lines.append("")
    return lines


def _certainty(rights: Mapping[str, Right]) -> list[str]:
    """The claim of 95 % by its own limit, for both ways."""
    lines = [
        "The share of right names is itself known within limits only. The least amount tried at which even its lower",
        "limit is 95 %, with the share there:",
        "",
        "| scenario | uniform | hunt |",
        "|---|---|---|",
    ]
    for scenario, right in rights.items():
        found = (
            certain(right.uniform_RK, [tasks * HARNESSES for tasks in UNIFORM]),
            certain(right.hunt_RK, [bill(tasks) for tasks in HUNT]),
        )
        cells = [
            "beyond"
            if one is None
            else f"{one[0]:,} trials: {one[1].value:.1%} ({one[1].low:.1%} to {one[1].high:.1%})"
            for one in found
        ]
        lines.append(f"| {scenario} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reps", type=int, help="of every scenario; else 16,000 of mild and 4,000 of each other")
    parser.add_argument("--predictions", type=int, default=150, help="hunts after which a configuration is predicted")
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    rights = {name: simulate(name, options.reps or REPS[name], options.processes) for name in options.scenarios}
    rows = [row(scenario, right, stream("hunting", "limits", scenario)) for scenario, right in rights.items()]
    saved = "\n".join(page(rows, rights))
    print(saved, flush=True)
    followed = "\n".join(hunting_predicted.page(options.predictions, options.processes))
    print(followed)
    options.out.write_text(f"{saved}\n{followed}")


if __name__ == "__main__":
    main()

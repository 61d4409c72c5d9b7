"""The share of uniform's trials that `allocate: hunt` needs to name the worst harness as surely, by simulation.

python -m benchmarks.hunting                  # 3,000 repetitions of all scenarios; HUNTING.md
python -m benchmarks.hunting --reps 200 --scenarios wide

An unlimited stream of tasks, one trial a cell, 32 harnesses: the first is the canonical one, which a hunt runs on every
task. Both name one harness: uniform the one with the lowest mean, a hunt the lower of the last that stands and the
canonical one. It is right where its true score is within 3 points of the lowest. Both meet the same tasks, outcome for
outcome. The blocks and the halving are those of the package.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.statistics.population import chances, harness_logits, stream, true_score
from harness_eval.stats.estimate import Array
from harness_eval.stats.hunting import block_ends, trials, worse_half

HARNESSES, WITHIN, SURE = 32, 0.03, 0.95
UNIFORM = (20, 40, 60, 80, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 1000)  # tasks
HUNT = (20, 40, 60, 80, 100, 150, 200, 300, 400, 500, 600, 750, 900, 1100, 1300, 1600)
GRADUAL = ("mild", "wide", "factor")
SCENARIOS = (*GRADUAL, "broken")
MEANING = {
    "mild": "scores with a standard deviation of about 3 points",
    "wide": "of about 7 points",
    "factor": "six axes of four levels with small effects, two of them bad",
    "broken": "all alike but one, 25 points lower",
}
PAGE = Path(__file__).parent / "HUNTING.md"


def hunted(mean_TH: Array) -> int:
    """The harness that a hunt over these tasks names."""
    standing: tuple[int, ...] = tuple(range(1, HARNESSES))
    ends = block_ends(len(mean_TH), len(standing))
    for end in ends:
        standing = worse_half(mean_TH[:end], standing)
    named = (0, *standing)
    return named[int(mean_TH[:, named].mean(axis=0).argmin())]


def bill(tasks: int) -> int:
    """Trials of a hunt over so many tasks, those of the canonical harness among them."""
    return tasks + trials(block_ends(tasks, HARNESSES - 1), HARNESSES - 1)


@dataclass(frozen=True)
class Right:
    """Which repetitions named a harness near enough to the worst, by amount of tasks."""

    uniform_RK: Array
    hunt_RK: Array


def simulate(scenario: str, reps: int) -> Right:
    """Both ways on the same streams of tasks."""
    uniform, hunt = [], []
    for rep in range(reps):
        rng = stream("hunting", scenario, rep)
        logit_H = harness_logits(scenario, HARNESSES, rng)
        score_H = true_score(logit_H)
        near_H = score_H <= score_H.min() + WITHIN
        most = max(*UNIFORM, *HUNT)
        passed_TH = (rng.random((most, HARNESSES)) < chances(logit_H, most, rng)).astype(np.float64)
        uniform.append([near_H[passed_TH[:tasks].mean(axis=0).argmin()] for tasks in UNIFORM])
        hunt.append([near_H[hunted(passed_TH[:tasks])] for tasks in HUNT])
    return Right(np.array(uniform, dtype=np.float64), np.array(hunt, dtype=np.float64))


def needed(right_RK: Array, trials_K: Sequence[int]) -> float:
    """Trials at which the share of right names reaches 95 %, between the amounts by a straight line; NaN: beyond."""
    share_K = np.maximum.accumulate(right_RK.mean(axis=0))
    if share_K[-1] < SURE:
        return float("nan")
    at = int(np.argmax(share_K >= SURE))
    if at == 0:
        return float(trials_K[0])
    part = (SURE - share_K[at - 1]) / (share_K[at] - share_K[at - 1])
    return float(trials_K[at - 1] + part * (trials_K[at] - trials_K[at - 1]))


@dataclass(frozen=True)
class Row:
    """Trials that each way needs, and their ratio with 95 % limits over the repetitions."""

    scenario: str
    uniform: float
    hunt: float
    ratio: float
    low: float
    high: float


def row(scenario: str, right: Right, rng: np.random.Generator) -> Row:
    """The ratio for one scenario; the limits from resampled repetitions."""
    uniform_K, hunt_K = [tasks * HARNESSES for tasks in UNIFORM], [bill(tasks) for tasks in HUNT]

    def both(rows: Array | slice) -> tuple[float, float]:
        return needed(right.uniform_RK[rows], uniform_K), needed(right.hunt_RK[rows], hunt_K)

    reps = len(right.hunt_RK)
    drawn = np.array([both(rng.integers(reps, size=reps)) for _ in range(1000)])
    low, high = np.nanquantile(drawn[:, 1] / drawn[:, 0], (0.025, 0.975))
    uniform, hunt = both(slice(None))
    return Row(scenario, uniform, hunt, hunt / uniform, float(low), float(high))


def page(rows: Sequence[Row], rights: dict[str, Right], reps: int) -> str:
    """HUNTING.md."""
    lines = [
        "# What `allocate: hunt` saves",
        "",
        f"`python -m benchmarks.hunting`; {reps:,} repetitions a scenario. {HARNESSES} harnesses, one trial a cell, an",
        "unlimited stream of tasks. Trials that each way needs to name a harness within 3 points of the truly worst in",
        "95 % of the repetitions; those of the canonical harness, which a hunt runs on every task, are counted.",
        "",
        "| scenario | uniform | hunt | share of uniform's trials (95 %) |",
        "|---|---|---|---|",
    ]
    for each in rows:
        share = f"**{each.ratio:.0%}** ({each.low:.0%} to {each.high:.0%})"
        told = f"{each.scenario}: {MEANING[each.scenario]}"
        lines.append(f"| {told} | {each.uniform:,.0f} | {each.hunt:,.0f} | {share} |")
    lines += ["", "## How often the name is right, by amount", ""]
    uniform = [f"| {tasks:,} | {tasks * HARNESSES:,} |" for tasks in UNIFORM]
    hunt = [f"| {tasks:,} | {bill(tasks):,} |" for tasks in HUNT]
    for title, starts in (("uniform", uniform), ("hunt", hunt)):
        lines += [f"| {title}: tasks | trials | {' | '.join(rights)} |", "|---|---|" + "---|" * len(rights)]
        for place, start in enumerate(starts):
            tables = [right.uniform_RK if title == "uniform" else right.hunt_RK for right in rights.values()]
            shares = " | ".join(f"{table[:, place].mean():.3f}" for table in tables)
            lines.append(f"{start} {shares} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reps", type=int, default=3000)
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    rights = {scenario: simulate(scenario, options.reps) for scenario in options.scenarios}
    rows = [row(scenario, right, stream("hunting", "limits", scenario)) for scenario, right in rights.items()]
    text = page(rows, rights, options.reps)
    options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()

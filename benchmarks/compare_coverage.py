"""How often the intervals of `harness-eval compare` hold the true change, by simulation.

python -m benchmarks.compare_coverage                                 # 200 repetitions of all cells; COMPARISON.md
python -m benchmarks.compare_coverage --reps 40 --cells 100,18,1      # a quick look

Both runs meet the same tasks. logit p = centre + task + harness + cell, with tasks of SD 2.5 and cells of SD 1, of
which the two runs share most (correlation .9 and .5: two models find much the same tasks hard). `seen` is the share of
repetitions in which the interval leaves zero out: under "no change" the false alarms, elsewhere the power.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from benchmarks.statistics.population import CELL_SD, TASK_SD, true_score
from harness_eval.stats.compare import Change, Movement, compare
from harness_eval.stats.estimate import Array

TASK_LIKENESS, CELL_LIKENESS = 0.9, 0.5  # correlations between the two runs
SIZES = ((50, 8, 1), (100, 18, 1), (100, 18, 3), (200, 32, 1))


def centred(effect_H: Array, mean: float) -> Array:
    """The effects, moved so that their mean score is this."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if true_score(effect_H + middle).mean() < mean else (low, middle)
    return effect_H + low


def scenario(name: str, harnesses: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """True logits of the harnesses before and after; the first harness is the canonical one."""
    gradual_H = rng.normal(0, 0.4, harnesses)
    wide_H = rng.normal(0, 0.9, harnesses)
    broken_H = gradual_H.copy()
    broken_H[-1] -= 2.0
    shift = centred(gradual_H, 0.65)[0] - gradual_H[0]
    return {
        "no change": (centred(gradual_H, 0.65), centred(gradual_H, 0.65)),
        "narrower": (centred(wide_H, 0.65), centred(wide_H / 4, 0.65)),
        "one broken": (gradual_H + shift, broken_H + shift),
        "5 pp better": (centred(gradual_H, 0.65), centred(gradual_H, 0.70)),
        "10 pp better": (centred(gradual_H, 0.65), centred(gradual_H, 0.75)),
    }[name]


SCENARIOS = ("no change", "narrower", "one broken", "5 pp better", "10 pp better")


def outcomes(logit_H: Array, easy_TH: Array, repeats: int, rng: np.random.Generator) -> Array:
    chance_TH = 1 / (1 + np.exp(-(logit_H + easy_TH)))
    return (rng.random((repeats, *chance_TH.shape)) < chance_TH).mean(axis=0)


def tasks_of_two_runs(tasks: int, harnesses: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """How easy each task is for each harness in the two runs, logits: two correlated draws."""

    def alike(likeness: float, shape: tuple[int, int]) -> tuple[Array, Array]:
        one, other = rng.standard_normal((2, *shape))
        return one, likeness * one + (1 - likeness**2) ** 0.5 * other

    task, cell = alike(TASK_LIKENESS, (tasks, 1)), alike(CELL_LIKENESS, (tasks, harnesses))
    before, after = (TASK_SD * task[run] + CELL_SD * cell[run] for run in (0, 1))
    return before, after


def true_changes(before_H: Array, after_H: Array) -> dict[str, float]:
    before, after = (summaries(true_score(logit_H)) for logit_H in (before_H, after_H))
    return {name: after[name] - before[name] for name in before}


def summaries(mu_H: Array) -> dict[str, float]:
    return {"mean": mu_H.mean(), "worst": mu_H.min(), "spread": mu_H.std(ddof=1), "gap": mu_H[0] - mu_H.min()}


def figures_of(found: Movement) -> dict[str, Change]:
    return {"mean": found.mean, "worst": found.worst, "spread": found.spread, "gap": found.gap}


@dataclass
class Tally:
    covered: int = 0
    seen: int = 0
    error: float = 0.0
    width: float = 0.0
    true: float = 0.0


def simulate(name: str, size: tuple[int, int, int], reps: int, seed: int) -> dict[str, Tally]:
    tasks, harnesses, repeats = size
    tallies: dict[str, Tally] = defaultdict(Tally)
    for rep in range(reps):
        rng = np.random.default_rng([seed, rep, *size])
        before_H, after_H = scenario(name, harnesses, rng)
        easy = tasks_of_two_runs(tasks, harnesses, rng)
        tables = [outcomes(h, e, repeats, rng) for h, e in zip((before_H, after_H), easy, strict=True)]
        found = compare(tables[0], tables[1], rep, canonical=0)
        true, p = true_changes(before_H, after_H), found.p_adjusted
        for figure, change in figures_of(found).items():
            count(tallies[figure], change, true[figure])
        mu_H = true_score(after_H) - true_score(before_H)
        inside = [c.change.low <= m <= c.change.high for c, m in zip(found.harnesses, mu_H, strict=True)]  # type: ignore[operator]
        every = tallies["harnesses"]
        every.covered += all(inside)
        every.seen += min(p) < 0.05  # type: ignore[type-var, operator]
    return tallies


def count(tally: Tally, change: Change, true: float) -> None:
    low, high = change.change.limits or (-1.0, 1.0)
    tally.covered += low <= true <= high
    tally.seen += not low <= 0 <= high
    tally.error += (change.change.estimate or 0.0) - true
    tally.width += high - low
    tally.true += true


def row(tally: Tally, reps: int) -> str:
    true, error, width = (f"{100 * total / reps:+.1f}" for total in (tally.true, tally.error, tally.width))
    points = (true, error, width.lstrip("+")) if tally.width else ("", "", "")  # of all harnesses together: none
    return " | ".join((*points[:2], f"{tally.covered / reps:.3f}", points[2], f"{tally.seen / reps:.2f}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cells", nargs="*", default=[",".join(map(str, size)) for size in SIZES], metavar="T,H,R")
    parser.add_argument("--scenarios", nargs="*", default=SCENARIOS)
    given = parser.parse_args()
    print("| scenario | T,H,R | figure | true change pp | bias pp | coverage | width pp | seen |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for name in given.scenarios:
        for cell in given.cells:
            found = simulate(name, tuple(map(int, cell.split(","))), given.reps, given.seed)  # type: ignore[arg-type]
            for figure, t in found.items():
                print(f"| {name} | {cell} | {figure} | {row(t, given.reps)} |", flush=True)


if __name__ == "__main__":
    main()

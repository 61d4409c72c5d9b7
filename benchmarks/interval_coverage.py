"""Check the interval of WORST and the simultaneous verdict intervals by simulation, beside the published tables.

python benchmarks/interval_coverage.py                                  # a quick pass over the small cells
python benchmarks/interval_coverage.py --cells 50,8,1 100,16,1 --scenarios equal broken --reps 200
python benchmarks/interval_coverage.py --table verdicts --reps 400
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness_eval.stats.estimate import Array
from harness_eval.stats.intervals import t_quantile
from harness_eval.stats.paired import simultaneous as simultaneous_intervals
from harness_eval.stats.worst import logit_summary, posterior_draws

SCENARIOS = ("equal", "mild", "wide", "broken", "halfbad", "factor", "ceiling")
TASK_SD, CELL_SD = 2.5, 1.0  # logits

# bias pp / coverage / width pp of naive and hbdp, 200 to 250 repetitions: a coverage has a standard error of .015
PUBLISHED = """
equal|50,8,1|-7.3 / 0.89 / 28|-3.3 / 0.95 / 23
equal|50,32,1|-10.6 / 0.76 / 28|-4.3 / 0.94 / 24
equal|100,16,1|-6.2 / 0.83 / 20|-2.1 / 0.95 / 16
equal|100,64,1|-8.9 / 0.57 / 20|-3.2 / 0.89 / 17
equal|200,32,3|-3.4 / 0.80 / 11|-0.9 / 0.96 / 10
equal|500,64,1|-3.8 / 0.62 / 9|-0.9 / 0.93 / 7
mild|50,8,1|-5.4 / 0.94 / 28|+0.2 / 0.97 / 24
mild|50,32,1|-6.6 / 0.92 / 29|+0.7 / 0.96 / 25
mild|100,16,1|-2.7 / 0.96 / 20|+1.2 / 0.95 / 18
mild|100,64,1|-3.8 / 0.93 / 20|+0.5 / 0.97 / 19
mild|200,32,3|-0.9 / 0.93 / 11|+1.2 / 0.92 / 11
mild|500,64,1|-1.0 / 0.95 / 9|+1.2 / 0.92 / 8
wide|50,8,1|-3.0 / 0.95 / 28|+2.8 / 0.96 / 26
wide|50,32,1|-2.8 / 0.96 / 28|+2.7 / 0.97 / 27
wide|100,16,1|-1.1 / 0.98 / 20|+2.4 / 0.94 / 19
wide|100,64,1|-1.9 / 0.96 / 20|+2.3 / 0.98 / 19
wide|200,32,3|-0.5 / 0.94 / 11|+1.2 / 0.95 / 12
wide|500,64,1|-0.4 / 0.93 / 9|+1.1 / 0.93 / 9
broken|50,8,1|+0.2 / 0.94 / 28|+3.8 / 0.95 / 30
broken|50,32,1|+0.3 / 0.97 / 28|+5.8 / 0.89 / 31
broken|100,16,1|+0.2 / 0.93 / 19|+1.4 / 0.95 / 20
broken|100,64,1|+0.0 / 0.96 / 19|+1.0 / 0.93 / 20
broken|200,32,3|-0.3 / 0.93 / 11|+0.1 / 0.96 / 12
broken|500,64,1|+0.0 / 0.94 / 9|+0.3 / 0.96 / 9
halfbad|50,8,1|-5.6 / 0.92 / 28|-1.4 / 0.98 / 24
halfbad|50,32,1|-10.2 / 0.79 / 29|-2.5 / 0.96 / 25
halfbad|100,16,1|-5.9 / 0.84 / 20|-1.2 / 0.98 / 18
halfbad|100,64,1|-7.8 / 0.70 / 20|-2.6 / 0.94 / 18
halfbad|200,32,3|-2.9 / 0.86 / 11|-1.1 / 0.95 / 10
halfbad|500,64,1|-3.5 / 0.72 / 9|-1.0 / 0.94 / 7
factor|50,8,1|-2.6 / 0.96 / 28|+3.4 / 0.95 / 26
factor|50,32,1|-3.2 / 0.97 / 28|+3.7 / 0.95 / 26
factor|100,16,1|-1.5 / 0.95 / 20|+2.1 / 0.95 / 19
factor|100,64,1|-2.3 / 0.94 / 19|+2.8 / 0.94 / 19
factor|200,32,3|-0.1 / 0.94 / 11|+1.1 / 0.95 / 11
factor|500,64,1|-0.5 / 0.96 / 9|+1.3 / 0.88 / 8
ceiling|50,8,1|-2.2 / 0.99 / 20|-0.1 / 0.99 / 17
ceiling|50,32,1|-2.9 / 0.98 / 22|+0.2 / 0.96 / 19
ceiling|100,16,1|-1.9 / 0.98 / 15|+0.5 / 0.98 / 13
ceiling|100,64,1|-2.0 / 0.99 / 15|+1.0 / 0.99 / 15
ceiling|200,32,3|-0.2 / 0.94 / 8|+0.6 / 0.96 / 9
ceiling|500,64,1|-0.4 / 0.98 / 7|+0.9 / 0.92 / 7
"""

# simultaneous coverage of all differences from canonical: range over the scenarios without ceiling, and ceiling
PUBLISHED_VERDICTS = """
20,8,1|.912-.955|.600|.978-.993|1.000
50,32,1|.922-.940|.843|.948-.973|.993
100,32,1|.935-.950|.938|.953-.965|.975
200,32,3|.932-.948|.920|.943-.955|.955
"""


@dataclass(frozen=True)
class Size:
    tasks: int
    harnesses: int
    repeats: int

    @classmethod
    def parse(cls, text: str) -> Size:
        return cls(*(int(number) for number in text.split(",")))

    def __str__(self) -> str:
        return f"{self.tasks},{self.harnesses},{self.repeats}"


@dataclass(frozen=True)
class Table:
    mean_TH: Array
    true_H: Array


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


def true_score(logit_H: Array) -> Array:
    """Expected success probability of a harness over tasks, by quadrature."""
    logit_HN = logit_H[:, None] + np.hypot(TASK_SD, CELL_SD) * NODES
    return 1 / (1 + np.exp(-logit_HN)) @ WEIGHTS / WEIGHTS.sum()


def centre(score: float) -> float:
    """Logit at which the expected score is this, by bisection."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if true_score(np.array([middle]))[0] < score else (low, middle)
    return low


CENTRE, CENTRE_AT_CEILING = centre(0.65), centre(0.92)


def harness_effects(scenario: str, harnesses: int, rng: np.random.Generator) -> Array:
    """Logit effects of the harnesses of one simulated study."""
    effect_H = np.zeros(harnesses)
    if scenario in ("mild", "wide", "ceiling"):
        effect_H = rng.normal(0, 0.25 if scenario == "mild" else 0.6, harnesses)
    elif scenario == "broken":
        effect_H[rng.integers(harnesses)] = -2.0
    elif scenario == "halfbad":
        effect_H[rng.permutation(harnesses)[: harnesses // 2]] = -0.5
    elif scenario == "factor":
        level_DL = rng.normal(0, 0.15, (6, 4))
        level_DL[rng.choice(6, 2, replace=False), rng.integers(0, 4, 2)] = -0.8
        chosen_HD = rng.integers(0, 4, (harnesses, 6))
        effect_H = level_DL[np.arange(6), chosen_HD].sum(axis=1) + rng.normal(0, 0.15, harnesses)
    return effect_H


def simulate(scenario: str, size: Size, rng: np.random.Generator) -> Table:
    """Cell means of one simulated study with the true scores of its harnesses."""
    base = CENTRE_AT_CEILING if scenario == "ceiling" else CENTRE
    effect_H = base + harness_effects(scenario, size.harnesses, rng)
    task_T1 = rng.normal(0, TASK_SD, (size.tasks, 1))
    logit_TH = effect_H + task_T1 + rng.normal(0, CELL_SD, (size.tasks, size.harnesses))
    passed_TH = rng.binomial(size.repeats, 1 / (1 + np.exp(-logit_TH)))
    return Table(passed_TH / size.repeats, true_score(effect_H))


Interval = tuple[float, float, float]


def naive(mean_TH: Array, rng: np.random.Generator) -> Interval:
    """Minimum of the means with the t interval of the harness that has it."""
    del rng
    mean_H, tasks = mean_TH.mean(axis=0), len(mean_TH)
    at = int(mean_H.argmin())
    reach = t_quantile(0.975, tasks - 1) * mean_TH[:, at].std(ddof=1) / tasks**0.5
    return float(mean_H[at]), float(mean_H[at] - reach), float(mean_H[at] + reach)


def max_t(mean_TH: Array, rng: np.random.Generator) -> Interval:
    """Minimum of the means within simultaneous limits of all harnesses."""
    tasks = len(mean_TH)
    centred_TH = mean_TH - mean_TH.mean(axis=0)
    error_H = np.maximum(centred_TH.std(axis=0, ddof=1) / tasks**0.5, 1e-9)
    z_BH = rng.standard_normal((1_000, tasks)) @ (centred_TH / (tasks * error_H))
    reach_H = np.quantile(np.abs(z_BH).max(axis=1), 0.95) * error_H
    mean_H = mean_TH.mean(axis=0)
    return float(mean_H.min()), float((mean_H - reach_H).min()), float((mean_H + reach_H).min())


def hbdp(mean_TH: Array, rng: np.random.Generator) -> Interval:
    """The estimator of the package."""
    summary = logit_summary(mean_TH)
    assert summary is not None
    worst_I = posterior_draws(summary, rng).min(axis=1)
    low, high = np.quantile(worst_I, (0.025, 0.975))
    return float(worst_I.mean()), float(low), float(high)


METHODS: dict[str, Callable[[Array, np.random.Generator], Interval]] = {"naive": naive, "maxT": max_t, "hbdp": hbdp}


def published_worst() -> dict[tuple[str, str, str], str]:
    rows = (line.split("|") for line in PUBLISHED.split("\n") if line)
    return {(row[0], row[1], method): row[at] for row in rows for method, at in (("naive", 2), ("hbdp", 3))}


def worst_table(sizes: list[Size], options: argparse.Namespace) -> None:
    published = published_worst()
    print("published for maxT, all cells together: the bias of naive, coverage .960 to 1.000, width 26 pp on average")
    print(f"{'scenario':9}{'T,H,R':11}{'method':7}{'bias pp / coverage / width pp':32}published")
    for scenario in options.scenarios:
        for size in sizes:
            studies = [simulate(scenario, size, np.random.default_rng([options.seed, i])) for i in range(options.reps)]
            for method in options.methods:
                rows = np.array(
                    [
                        (*METHODS[method](s.mean_TH, np.random.default_rng(i)), s.true_H.min())
                        for i, s in enumerate(studies)
                    ]
                )
                point, low, high, truth = rows.T
                found = (
                    f"{100 * (point - truth).mean():+.1f} / {((low <= truth) & (truth <= high)).mean():.2f}"
                    f" / {100 * (high - low).mean():.0f}"
                )
                print(
                    f"{scenario:9}{size!s:11}{method:7}{found:32}{published.get((scenario, str(size), method), '-')}",
                    flush=True,
                )


def plain_coverage(difference_TK: Array, truth_K: Array, rng: np.random.Generator) -> bool:
    """Whether max-T intervals without pseudo-tasks hold all differences."""
    tasks = len(difference_TK)
    centred_TK = difference_TK - difference_TK.mean(axis=0)
    error_K = centred_TK.std(axis=0, ddof=1) / tasks**0.5
    z_BK = rng.standard_normal((1_000, tasks)) @ (centred_TK / (tasks * np.maximum(error_K, 1e-12)))
    c = np.quantile(np.abs(z_BK).max(axis=1), 0.95) * t_quantile(0.975, tasks - 1) / 1.96
    return bool((np.abs(difference_TK.mean(axis=0) - truth_K) <= c * error_K).all())


def padded_coverage(difference_TK: Array, truth_K: Array, rng: np.random.Generator) -> bool:
    """Whether the intervals of the package hold all differences."""
    found = simultaneous_intervals(difference_TK, rng).difference_K
    return all(d.low <= t <= d.high for d, t in zip(found, truth_K, strict=True) if d.low is not None)


def verdict_table(sizes: list[Size], options: argparse.Namespace) -> None:
    published = {line.split("|")[0]: line.split("|")[1:] for line in PUBLISHED_VERDICTS.split("\n") if line}
    print(f"{'scenario':9}{'T,H,R':11}{'plain':8}{'with +2 rows':14}published: plain, ceiling | +2 rows, ceiling")
    for size in sizes:
        for scenario in options.scenarios:
            hits = []
            for i in range(options.reps):
                study = simulate(scenario, size, np.random.default_rng([options.seed, i]))
                difference_TK = study.mean_TH[:, 1:] - study.mean_TH[:, :1]
                truth_K = study.true_H[1:] - study.true_H[0]
                hits.append(
                    [
                        check(difference_TK, truth_K, np.random.default_rng(i))
                        for check in (plain_coverage, padded_coverage)
                    ]
                )
            plain, padded = np.mean(hits, axis=0)
            print(f"{scenario:9}{size!s:11}{plain:<8.3f}{padded:<14.3f}{published.get(str(size), '-')}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=("worst", "verdicts"), default="worst")
    parser.add_argument("--cells", nargs="+", metavar="T,H,R", help="sizes, such as 50,8,1")
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--methods", nargs="+", choices=tuple(METHODS), default=list(METHODS))
    parser.add_argument("--reps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    default = ["50,8,1", "100,16,1"] if options.table == "worst" else ["20,8,1", "50,32,1"]
    started = time.perf_counter()
    table = worst_table if options.table == "worst" else verdict_table
    table([Size.parse(text) for text in options.cells or default], options)
    print(f"{options.reps} repetitions a cell, seed {options.seed}, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

"""Simulated studies: logit p = a + task + harness + cell, tasks N(0, 2.5^2), cells N(0, 1), outcomes Bernoulli."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from harness_eval.stats.estimate import Array

SCENARIOS = ("equal", "mild", "wide", "broken", "halfbad", "factor", "ceiling")
EXTREMES = ("dead", "perfect")  # not published: a harness at .02 among others at .65; all at .98
SEED = 1
TASK_SD, CELL_SD = 2.5, 1.0  # logits
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


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
class Drawn:
    """One simulated study: cell means, and the true score of each harness."""

    mean_TH: Array
    true_H: Array


def stream(*name: object) -> np.random.Generator:
    """A generator that is the same for the same name, whatever else runs."""
    return np.random.default_rng([SEED, *(crc32(str(part).encode()) for part in name)])


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


CENTRE, CENTRE_AT_CEILING, CENTRE_OF_DEAD, CENTRE_OF_PERFECT = (centre(score) for score in (0.65, 0.92, 0.02, 0.98))


def harness_logits(scenario: str, harnesses: int, rng: np.random.Generator) -> Array:
    """Mean logit of each harness of one simulated study."""
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
    elif scenario == "dead":
        effect_H[rng.integers(harnesses)] = CENTRE_OF_DEAD - CENTRE
    return effect_H + {"ceiling": CENTRE_AT_CEILING, "perfect": CENTRE_OF_PERFECT}.get(scenario, CENTRE)


def chances(logit_H: Array, tasks: int, rng: np.random.Generator) -> Array:
    """Success probability of every cell, for tasks drawn anew."""
    task_T1 = rng.normal(0, TASK_SD, (tasks, 1))
    logit_TH = logit_H + task_T1 + rng.normal(0, CELL_SD, (tasks, len(logit_H)))
    return np.asarray(1 / (1 + np.exp(-logit_TH)))


def draw(scenario: str, size: Size, rng: np.random.Generator) -> Drawn:
    logit_H = harness_logits(scenario, size.harnesses, rng)
    passed_TH = rng.binomial(size.repeats, chances(logit_H, size.tasks, rng))
    return Drawn(passed_TH / size.repeats, true_score(logit_H))


def studies(scenario: str, size: Size, reps: int) -> Iterator[Drawn]:
    """The same studies for every method that is tried on a cell."""
    return (draw(scenario, size, stream(scenario, size, rep)) for rep in range(reps))

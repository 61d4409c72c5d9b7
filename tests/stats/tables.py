"""Tables that several tests read."""

from __future__ import annotations

import numpy as np

from harness_eval.stats.estimate import Array

# successes of 4 of 5 harnesses on 12 tasks
SUCCESSES = "44314 34203 44424 21102 43314 01001 44434 32213 12001 44324 23213 44444"
REFERENCE: Array = np.array([[int(digit) for digit in row] for row in SUCCESSES.split()]) / 4


def coin_flips(seed: int, shape: tuple[int, ...], chance: float = 0.6) -> Array:
    return (np.random.default_rng(seed).random(shape) < chance).astype(np.float64)


def logistic(value: Array) -> Array:
    return 1 / (1 + np.exp(-value))


def study(effect_H: Array, tasks: int, seed: int) -> Array:
    """Outcomes of one repeat with tasks of very different difficulty."""
    rng = np.random.default_rng(seed)
    harnesses = len(effect_H)
    logit_TH = effect_H + rng.normal(0, 2.5, (tasks, 1)) + rng.normal(0, 1, (tasks, harnesses))
    return (rng.random((tasks, harnesses)) < logistic(logit_TH)).astype(np.float64)

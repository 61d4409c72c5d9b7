"""What every estimator returns: a number with its interval, where None means unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = NDArray[np.int64]

MIN_TASKS_FOR_INTERVALS = 20
MIN_TASKS_FOR_PRECISION = 50
DEFAULT_REPLICATES = 4_999  # of a resampled reference distribution


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point and its two-sided 95 % limits, on the scale 0..1 of scores; None is unknown, never zero."""

    estimate: float | None
    low: float | None = None
    high: float | None = None

    @property
    def limits(self) -> tuple[float, float] | None:
        """Both limits, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def without_interval(self) -> Estimate:
        """The point alone, for samples too small to support limits."""
        return Estimate(self.estimate)


UNKNOWN = Estimate(None)


def lowest(values: Sequence[float | None]) -> float | None:
    """The lowest of them; None where one is unknown, or there is none."""
    known = [value for value in values if value is not None]
    return min(known) if known and len(known) == len(values) else None


def from_draws(draws_I: Array) -> Estimate:
    """Posterior mean and central 95 % interval."""
    low, high = np.quantile(draws_I, (0.025, 0.975))
    return Estimate(float(draws_I.mean()), float(low), float(high))

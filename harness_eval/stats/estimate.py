"""What every estimator returns: a number with its interval, where None means unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = NDArray[np.int64]

MIN_TASKS_FOR_INTERVALS = 20
MIN_TASKS_FOR_PRECISION = 50


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate and its two-sided 95 % limits; None is unknown, never zero. Scores and differences are 0..1 scaled."""

    estimate: float | None
    low: float | None = None
    high: float | None = None

    def without_interval(self) -> Estimate:
        """The point alone, for samples too small to support limits."""
        return Estimate(self.estimate)


UNKNOWN = Estimate(None)

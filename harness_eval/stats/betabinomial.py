"""Counts of passes that vary more than one common pass rate explains."""

from __future__ import annotations

from dataclasses import dataclass

from .estimate import Array


@dataclass(frozen=True, slots=True)
class BetaBinomial:
    """A Beta(a, b) of pass rates: its mean, and the correlation rho of two trials of the same unit."""

    mean: float
    correlation: float

    @property
    def shape(self) -> tuple[float, float] | None:
        """a and b; None when the rates do not vary."""
        if self.correlation <= 0:
            return None
        strength = 1 / self.correlation - 1
        return self.mean * strength, (1 - self.mean) * strength

    def shrink(self, passed: float, trials: int) -> float:
        """Posterior mean pass rate of a unit."""
        if self.shape is None:
            return self.mean
        a, b = self.shape
        return (passed + a) / (trials + a + b)


def fit_moments(passed_N: Array, trials: int) -> BetaBinomial | None:
    """Method of moments for units of at least two trials; None when every trial passed or every trial failed."""
    rate_N = passed_N / trials
    mean = float(rate_N.mean())
    if not 0 < mean < 1:
        return None
    correlation = (trials * float(rate_N.var(ddof=1)) / (mean * (1 - mean)) - 1) / (trials - 1)
    return BetaBinomial(mean, min(1.0, max(0.0, correlation)))

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


def fit_likelihood(passed_N: Array, trials: int) -> BetaBinomial | None:
    """Maximum likelihood, for units of at least two trials; None when every trial passed or every trial failed."""
    from scipy import optimize, special  # lazy: slow import

    start = fit_moments(passed_N, trials)
    if start is None:
        return None

    def loss(place_2: Array) -> float:
        return -log_likelihood(BetaBinomial(*special.expit(place_2).tolist()), passed_N, trials)

    first_2 = special.logit([start.mean, min(0.9, max(0.05, start.correlation))])
    found = optimize.minimize(loss, first_2, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    mean, correlation = special.expit(found.x).tolist()
    return BetaBinomial(mean, correlation)


def log_likelihood(fit: BetaBinomial, passed_N: Array, trials: int) -> float:
    """Logarithm of the probability of the counts."""
    from scipy import stats  # lazy: slow import

    if fit.shape is None:
        return float(stats.binom.logpmf(passed_N, trials, fit.mean).sum())
    return float(stats.betabinom.logpmf(passed_N, trials, *fit.shape).sum())

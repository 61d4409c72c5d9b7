"""How many tasks a question needs, before any trial is paid for."""

from __future__ import annotations

from dataclasses import dataclass

from .intervals import normal_quantile

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Noise:
    """Variances of a paired difference of two scores: between tasks, and within tasks on both sides together."""

    between: float
    within: float = 0.0

    @property
    def total(self) -> float:
        """Variance of one task's difference."""
        return self.between + self.within


# two harnesses that are equally good, one repeat: 2 (s2_int + s2_within), calibrated to published run-to-run noise
TYPICAL = Noise(between=2 * 0.019, within=2 * 0.115)


def typical_noise(repeats: int) -> Noise:
    """Noise of a typical binary suite when both sides run this many repeats."""
    return Noise(TYPICAL.between, TYPICAL.within / repeats)


def tasks_needed(drop: float, noise: Noise) -> float:
    """Tasks that find a drop with 80 % power in a two-sided 5 % test: (z + z)^2 variance / drop^2 (Miller 2024)."""
    return (normal_quantile(0.975) + normal_quantile(POWER)) ** 2 * noise.total / drop**2


def detectable_drop(tasks: int, noise: Noise) -> float:
    """Smallest drop found with 80 % power by a two-sided 5 % test."""
    return float((normal_quantile(0.975) + normal_quantile(POWER)) * (noise.total / tasks) ** 0.5)

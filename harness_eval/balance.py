"""What a set of harnesses can and cannot say: how often each level stands in it, and which pairs of levels."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness_eval.design import Kind, pairs
from harness_eval.family import Family
from harness_eval.harness import Harness

SAYS: dict[Kind, tuple[str, str]] = {
    "canonical": ("how the canonical harness does", "anything about other harnesses"),
    "one-at-a-time": (
        "what each single change does at the canonical harness",
        "whether two changes together do more than either; spread over the family",
    ),
    "random": (
        "the distribution over the family: spread, quantiles, WORST@8",
        "single levels as precisely as a balanced design of the same size",
    ),
    "covering": (
        "whether any pair of levels breaks something",
        "effects of levels as precisely as a balanced design; the distribution over the family",
    ),
    "orthogonal": (
        "the effect of every level, each estimated from all harnesses; worst and spread of those tested",
        "interactions one by one; the distribution over the family",
    ),
    "smoke": ("whether a harness is broken", "effects of levels; small differences"),
    "standard": (
        "the effect of every level, worst, spread and verdicts, with the canonical harness repeated",
        "interactions one by one; the distribution over the family",
    ),
    "family": ("all that standard says, and the distribution over the family", "interactions one by one"),
}
"""For each kind of design: what it can say, and what it cannot."""


@dataclass(frozen=True, slots=True)
class Balance:
    """How often each level stands among the harnesses, and how many of the possible pairs of levels stand together."""

    counts: dict[str, dict[str, int]]
    covered: int
    possible: int


def balance(family: Family, harnesses: Sequence[Harness]) -> Balance:
    """Counts over the axes of the family; levels that are not of the family are counted too, but make no pair."""
    counts = {axis: dict(Counter(h.labels[axis] for h in harnesses)) for axis in family.axes}
    possible = set(pairs(family))
    together = {
        ((one, harness.levels[one]), (other, harness.levels[other]))
        for harness in harnesses
        for one, other in itertools.combinations(family.axes, 2)
    }
    return Balance(counts, len(possible & together), len(possible))

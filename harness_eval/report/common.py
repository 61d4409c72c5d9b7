"""What the unsolved trials of one endpoint have in common: a level that costs, and that acted in most of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness_eval.report.effect_words import standing_out
from harness_eval.report.outcomes import Outcome
from harness_eval.types import Json

_STRIKING = 0.25  # by which a share among the unsolved exceeds that among the solved


def in_common(
    outcomes: Sequence[Outcome], levels: Mapping[str, Mapping[str, str]], effects: Mapping[str, Json]
) -> list[dict[str, Json]]:
    """The axes with levels that cost (as `effects` tells) which acted far more often in unsolved judged trials than in
    solved ones, with both counts; `levels` are those of each harness. It is a count and no test: the effects are.
    """
    found = []
    for axis, costly in _costly(effects).items():
        met, of = _met(outcomes, levels, axis, costly)
        if not all(of) or met[0] / of[0] - met[1] / of[1] < _STRIKING:
            continue
        counts = {"unsolved": (met[0], of[0]), "solved": (met[1], of[1])}
        found.append(
            {"axis": axis, "levels": sorted(costly)}
            | {name: {"met": number, "trials": of} for name, (number, of) in counts.items()}
        )
    return found


def _costly(effects: Mapping[str, Json]) -> dict[str, set[str]]:
    """By axis, the levels that cost something beyond noise."""
    costly: dict[str, set[str]] = {}
    for row in standing_out(effects):
        if row["effect"] < 0:
            costly.setdefault(row["axis"], set()).add(row["level"])
    return costly


def _met(
    outcomes: Iterable[Outcome], levels: Mapping[str, Mapping[str, str]], axis: str, costly: set[str]
) -> tuple[list[int], list[int]]:
    """Of the unsolved judged trials and of the solved ones: in how many such a level acted, and how many there are."""
    met, trials = [0, 0], [0, 0]
    for each in outcomes:
        if each.score is not None:
            solved = each.score == 1.0
            trials[solved] += 1
            met[solved] += axis in each.acted and levels[each.harness].get(axis) in costly
    return met, trials

"""What the axes do, as plain JSON: effects of levels with their exposure, shares of the variance by axis and kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness_eval.axes import KINDS
from harness_eval.probing import Void
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.summary import AxisEffects, Summary

Exposure = Mapping[tuple[str, str], float]  # (axis, level) -> share of judged trials in which the axis acted

_KIND_OF = {axis: kind for kind, axes in KINDS.items() for axis in axes}
SIGNIFICANT = 0.05  # of a p-value adjusted for all comparisons of its kind
NEVER_ACTED = "not exercised: never acted in a trial"
_OTHER_KIND = "other"


def why(
    summary: Summary, exposure: Exposure, reference: int | None, void: Mapping[str, Void] | None = None
) -> dict[str, Json]:
    """Axes: effects with exposure (what matters first), shares of the variance by axis and by kind.

    `void` holds the axes that compare nothing at this endpoint: they have no effect to print, but for some levels.
    """
    if reference is None:
        return {
            "axes": [],
            "shares": [],
            "kinds": [],
            "entangled_share": None,
            "other_share": None,
            "lack_of_fit": None,
        }
    shares = _shares(summary.effects, exposure, void or {})
    return {
        "axes": _levels(summary.effects, exposure, [one["axis"] for one in shares], void or {}),
        "shares": shares,
        "kinds": _kinds(shares),
        "entangled_share": summary.effects.entangled_share,
        "other_share": summary.effects.other_share,
        "lack_of_fit": summary.effects.lack_of_fit,
    }


def _shares(effects: AxisEffects, exposure: Exposure, void: Mapping[str, Void]) -> list[dict[str, Json]]:
    """Shares of the variance, the largest first. An axis of which no changed level ever acted was not tested."""
    shares = []
    for one in effects.axes:
        levels = [level.level for level in effects.levels if level.axis == one.axis]
        untested = why_untested(void, exposure, one.axis, levels)
        shares.append(
            {
                "axis": one.axis,
                "share": None if untested else one.share,
                "kind": _KIND_OF.get(one.axis, _OTHER_KIND),
                "p_adjusted": None if untested else one.p_adjusted,
                "reason": untested or one.reason,
            }
        )
    return sorted(shares, key=lambda one: (one["share"] is None, -(one["share"] or 0.0)))


def _levels(
    effects: AxisEffects, exposure: Exposure, order: Sequence[str], void: Mapping[str, Void]
) -> list[dict[str, Json]]:
    rows = [
        {
            "axis": one.axis,
            "level": one.level,
            "effect": one.effect.estimate,
            "low": one.effect.low,
            "high": one.effect.high,
            "p_adjusted": one.p_adjusted,
            "exposure": exposure.get((one.axis, one.level)),
            "harnesses": one.harnesses,
            "detectable": one.detectable,
            "reason": one.reason,
        }
        for one in effects.levels
    ]
    for row, one in zip(
        rows, effects.levels, strict=True
    ):  # what never acted, or acts on nothing here, was not tested: a difference is not its doing
        untested = why_untested(void, exposure, one.axis, [one.level])
        if untested:
            row.update(effect=None, low=None, high=None, p_adjusted=None, detectable=None, reason=untested)

    def importance(row: Mapping[str, Json]) -> tuple[bool, bool, int, float, float]:
        p = 1.0 if row["p_adjusted"] is None else row["p_adjusted"]
        place = order.index(row["axis"]) if row["axis"] in order else len(order)
        return (row["effect"] is None, p >= SIGNIFICANT, place, p, -abs(row["effect"] or 0.0))

    return sorted(rows, key=importance)


def why_untested(void: Mapping[str, Void], exposure: Exposure, axis: str, levels: Sequence[str]) -> str | None:
    """Why these levels of an axis were not tested: they compare nothing here, or never acted; None where one was."""
    never = bool(levels) and all(exposure.get((axis, level)) == 0 for level in levels)
    return _not_compared(void, axis, levels) or (NEVER_ACTED if never else None)


def _not_compared(void: Mapping[str, Void], axis: str, levels: Sequence[str]) -> str | None:
    """Why these levels of an axis make no difference at this endpoint; None where one of them may."""
    one = void.get(axis)
    may_differ = one is None or any(level.partition("(")[0] in one.but for level in levels)
    return None if one is None or may_differ else one.reason


def significant(p_adjusted: float | None) -> bool:
    """Whether chance alone would rarely show so much, after all that was looked at; an unknown p says no."""
    return p_adjusted is not None and p_adjusted < SIGNIFICANT


def _kinds(shares: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """Shares summed by kind of harness overfitting; unknown where no axis of the kind has a known share."""
    summed = []
    for kind in (*KINDS, _OTHER_KIND):
        members = [one for one in shares if one["kind"] == kind]
        known = [one["share"] for one in members if one["share"] is not None]
        if members:
            entry = {"kind": kind, "share": sum(known) if known else None, "axes": [one["axis"] for one in members]}
            summed.append(entry)
    return sorted(summed, key=lambda one: (one["share"] is None, -(one["share"] or 0.0)))

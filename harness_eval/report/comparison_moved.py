"""What moved between two runs, beside the leading figures: harnesses, levels of axes, tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness_eval.report import counts, support
from harness_eval.report.comparison_pairing import Pairing
from harness_eval.report.leading import figures
from harness_eval.report.why import why_untested
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.compare import Change, Movement
    from harness_eval.stats.effects import AxisEffect

_HALF = 0.5  # a cell flipped when its mean score crossed half


def change(found: Change) -> dict[str, Json]:
    """A figure before and after, its change, what is to be said of it, and what change would have been seen."""
    return {
        "before": figures(found.before),
        "after": figures(found.after),
        "change": figures(found.change),
        "verdict": found.verdict,
        "detectable": found.detectable,
    }


def harnesses(pairing: Pairing, found: Movement) -> list[dict[str, Json]]:
    """Plain means over the common tasks and their change, the largest drop first; limits hold for all together."""
    entries = pairing.before.named("harnesses")
    rows = [
        {
            "harness": name,
            **change(one),
            "p_adjusted": p,
            "labels": pairing.before.recorded.levels(entries[name]),
        }
        for name, one, p in zip(pairing.harnesses, found.harnesses, found.p_adjusted, strict=True)
    ]
    return sorted(rows, key=_largest_drop)


def _largest_drop(row: Mapping[str, Json]) -> tuple[bool, float]:
    moved = row["change"]["estimate"]
    return moved is None, moved or 0.0


def levels(pairing: Pairing, canonical: str | None, before_TH: Any, after_TH: Any) -> dict[str, Json]:
    """The effect of each level in both runs, and its change: the effect of the level on the change of the score.

    `rows` is empty where `reason` says why; harnesses whose levels differ between the runs are left out.
    """
    from harness_eval.stats.effects import axis_effects  # lazy: slow import

    sides = [side.named("harnesses") for side in pairing.sides]
    labels = [[side[name].get("labels") or {} for name in pairing.harnesses] for side in sides]
    reason = _why_no_levels(pairing, canonical, labels)
    if reason or canonical is None:
        return {"rows": [], "reason": reason}
    kept = [place for place, (one, other) in enumerate(zip(*labels, strict=True)) if one == other]
    kept = [place for place in kept if "external" not in sides[0][pairing.harnesses[place]]]  # it has no levels
    varied = [pairing.before.recorded.levels(sides[0][pairing.harnesses[place]]) for place in kept]
    usual = pairing.before.recorded.levels(sides[0][canonical])
    before, after, moved = (
        axis_effects(table[:, kept], varied, usual) for table in (before_TH, after_TH, after_TH - before_TH)
    )
    untested = _untested(pairing)
    every = zip(before.levels, after.levels, moved.levels, strict=True)
    rows = [_level(each, untested(each[2].axis, each[2].level)) for each in every]
    rows.sort(key=lambda row: (row["p_adjusted"] is None, row["p_adjusted"] or 0.0, _largest_drop(row)))
    return {"rows": rows, "reason": None if rows else "no harness that is compared differs from the canonical one"}


def _why_no_levels(pairing: Pairing, canonical: str | None, labels: Sequence[Sequence[Json]]) -> str | None:
    if not any(labels[0]) or not any(labels[1]):
        return "the axes of the harnesses are unknown"
    if canonical is None:
        return "the runs have no canonical harness in common"
    place = pairing.harnesses.index(canonical)
    return "the canonical harnesses differ" if labels[0][place] != labels[1][place] else None


def _level(effects: tuple[AxisEffect, AxisEffect, AxisEffect], reason: str | None) -> dict[str, Json]:
    """A level by its effects before and after, and by that on the change; of an untested one only the reason."""
    from harness_eval.stats.compare import NOT_KNOWN, Change  # lazy: slow import

    before, after, moved = effects
    found = NOT_KNOWN if reason else Change(before.effect, after.effect, moved.effect)
    return {
        "axis": moved.axis,
        "level": moved.level,
        **change(found),
        "p_adjusted": None if reason else moved.p_adjusted,
        "reason": reason or moved.reason,
        "harnesses": moved.harnesses,
    }


def _untested(pairing: Pairing) -> Callable[[str, str], str | None]:
    """What tells of a level why it was not tested in one of the runs, if so."""
    sides = []
    for order, side in (("first", pairing.before), ("second", pairing.after)):
        entries = side.named("harnesses")
        labels = {name: entries[name].get("labels") or {} for name in pairing.harnesses}
        exposure = counts.exposure((one for one in side.outcomes if one.harness in labels), labels)
        sides.append((order, support.void_axes(side.recorded, side.endpoint["name"]), exposure))

    def told(axis: str, level: str) -> str | None:
        reasons = ((order, why_untested(void, exposure, axis, [level])) for order, void, exposure in sides)
        return next((f"{reason} ({order} run)" for order, reason in reasons if reason), None)

    return told


def tasks(pairing: Pairing, before_TH: Any, after_TH: Any) -> dict[str, Json]:
    """Tasks by how their score over the common harnesses changed, the largest drop first, with flipped cells.

    `p_adjusted` is Holm's over tasks of the exact sign test of the cells that went up and down. `rows` leaves out the
    tasks in which nothing changed; they are counted.
    """
    import numpy  # lazy: slow import

    moved_TH = after_TH - before_TH
    up_T, down_T = (moved_TH > 0).sum(axis=1), (moved_TH < 0).sum(axis=1)
    crossed = (before_TH >= _HALF) != (after_TH >= _HALF)
    rows = []
    for place, (name, adjusted) in enumerate(zip(pairing.tasks, _sign_tests(up_T, down_T), strict=True)):
        known_H = ~numpy.isnan(moved_TH[place])
        if up_T[place] or down_T[place]:
            rows.append(
                {
                    "task": name,
                    "before": float(before_TH[place, known_H].mean()),
                    "after": float(after_TH[place, known_H].mean()),
                    "change": {"estimate": float(moved_TH[place, known_H].mean()), "low": None, "high": None},
                    "up": int(up_T[place]),
                    "down": int(down_T[place]),
                    "cells": int(known_H.sum()),
                    "p_adjusted": adjusted,
                }
            )
    up, down = ((crossed & (sign * moved_TH > 0)).sum() for sign in (1, -1))
    compared = int((~numpy.isnan(moved_TH)).any(axis=1).sum())
    return {"rows": sorted(rows, key=_largest_drop), "unmoved": compared - len(rows), "up": int(up), "down": int(down)}


def _sign_tests(up_T: Any, down_T: Any) -> list[float | None]:
    """Exact two-sided binomial p of "as many up as down", adjusted over the tasks in which anything moved."""
    from scipy import special  # lazy: slow import

    from harness_eval.stats.effects import holm  # lazy: slow import

    pairs = zip(up_T.tolist(), down_T.tolist(), strict=True)
    return holm([min(1.0, 2 * float(special.bdtr(min(u, d), u + d, 0.5))) if u + d else None for u, d in pairs])

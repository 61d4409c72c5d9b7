"""The leading estimates of one endpoint as plain JSON, each with its interval; None is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.estimate import Estimate
    from harness_eval.stats.summary import Summary

UNKNOWN: dict[str, Json] = {"estimate": None, "low": None, "high": None}
_RAW_MIN = "biased low, do not quote"
_FAMILY_SHARE = 0.95
_FLOOR_ERROR = 0.05  # FLOOR is a one-sided 95 % limit


def figures(estimate: Estimate) -> dict[str, Json]:
    """Estimate and limits."""
    return {"estimate": estimate.estimate, "low": estimate.low, "high": estimate.high}


def too_few(summary: Summary) -> str | None:
    """Why the model behind WORST cannot be used; None when it can.

    So few tasks tell it less than its prior does: it would print scores that lie off the data.
    """
    from harness_eval.stats.estimate import MIN_TASKS_FOR_INTERVALS  # lazy: slow import

    return f"fewer than {MIN_TASKS_FOR_INTERVALS} tasks" if summary.tasks < MIN_TASKS_FOR_INTERVALS else None


def score(summary: Summary, place: int) -> dict[str, Json]:
    """The score of one harness; the plain mean of its judged tasks where the model cannot be used."""
    one = summary.harnesses[place]
    return {**UNKNOWN, "estimate": one.raw} if too_few(summary) else figures(one.score)


def difference(summary: Summary, place: int, reference: int) -> dict[str, Json]:
    """The score of one harness less that of the canonical one; of plain means where the model cannot be used."""
    mine, canonical = summary.harnesses[place].raw, summary.harnesses[reference].raw
    if too_few(summary) and mine is not None and canonical is not None:
        return {**UNKNOWN, "estimate": None if place == reference else mine - canonical}
    return figures(summary.harnesses[place].difference)


def leading(summary: Summary, names: Sequence[str], reference: int | None) -> dict[str, Json]:
    """The figures that lead. `floor` and `ceiling` are one-sided limits of WORST: one end of their interval is open.

    What rests on the model of WORST is None below 20 tasks; `worst.reason` says so.
    """
    usable = too_few(summary) is None
    quantiles = summary.quantiles
    floor, ceiling = summary.floor.estimate, summary.ceiling.estimate

    def modelled(estimate: Estimate) -> dict[str, Json]:
        return figures(estimate) if usable else dict(UNKNOWN)

    return {
        "canonical": UNKNOWN if reference is None else score(summary, reference),
        "mean": figures(summary.mean),
        "mean_family": figures(summary.mean_family),
        "worst": _worst(summary, names),
        "floor": {"estimate": floor, "low": floor, "high": None},
        "ceiling": {"estimate": ceiling, "low": None, "high": ceiling},
        "gap": UNKNOWN if reference is None else modelled(summary.gap),
        "spread": {**figures(summary.spread.net), "raw": summary.spread.raw, "p_equal": summary.spread.p_harness},
        "spread_family": figures(summary.spread.family),
        "worst_at_8": modelled(summary.worst_at_8),
        "cvar10": modelled(summary.cvar10),
        "quantiles": {name: modelled(getattr(quantiles, name)) for name in ("q10", "q50", "q90")},
        "pass_k": {str(k): figures(chance) for k, chance in summary.pass_k.items()},
        "solved_by_all": summary.solved_by_every,
        "solved_by_none": summary.solved_by_none,
        "raw_min": {"estimate": summary.raw_min, "bias": summary.raw_min_bias, "label": _RAW_MIN},
        "reliability": summary.spread.reliability,
        "wilks": _wilks(summary),
    }


def _wilks(summary: Summary) -> dict[str, Json]:
    """What harnesses drawn at random say of their family (Wilks): with which confidence `share` of it is no worse than
    the worst of them, and no worse than FLOOR; None where it is not known that any were.
    """
    from harness_eval.stats.across import wilks_confidence  # lazy: slow import

    drawn = summary.sampled or 0
    confidence = wilks_confidence(drawn, _FAMILY_SHARE) if drawn else None
    floored = None if confidence is None or summary.floor.estimate is None else max(0.0, confidence - _FLOOR_ERROR)
    return {"sampled": summary.sampled, "share": _FAMILY_SHARE, "confidence": confidence, "confidence_floor": floored}


def _worst(summary: Summary, names: Sequence[str]) -> dict[str, Json]:
    """WORST is never printed above MEAN, where shrinking alone would put it when nothing at all was solved."""
    reason = too_few(summary)
    if reason:
        return {**UNKNOWN, "harness": None, "p_worst": None, "set": [], "reason": reason}
    candidates, most, found = summary.worst.candidates, summary.mean.estimate, figures(summary.worst.score)
    if most is not None and found["estimate"] is not None and found["estimate"] > most:
        found = {**found, "estimate": most, "low": min(most, found["low"])}
    alone = candidates[0] if len(candidates) == 1 else None
    return {
        **found,
        "harness": None if alone is None else names[alone],
        "p_worst": summary.worst.p_worst[candidates[0]] if candidates else None,
        "set": [names[place] for place in candidates],
        "reason": None,
    }

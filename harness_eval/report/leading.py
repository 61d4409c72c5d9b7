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


def figures(estimate: Estimate) -> dict[str, Json]:
    """Estimate and limits."""
    return {"estimate": estimate.estimate, "low": estimate.low, "high": estimate.high}


def leading(summary: Summary, names: Sequence[str], reference: int | None) -> dict[str, Json]:
    """The figures that lead. `floor` and `ceiling` are one-sided limits of WORST: one end of their interval is open."""
    candidates, quantiles = summary.worst.candidates, summary.quantiles
    floor, ceiling = summary.floor.estimate, summary.ceiling.estimate
    return {
        "canonical": UNKNOWN if reference is None else figures(summary.canonical),
        "mean": figures(summary.mean),
        "mean_family": figures(summary.mean_family),
        "worst": {
            **figures(summary.worst.score),
            "harness": names[candidates[0]] if len(candidates) == 1 else None,
            "p_worst": summary.worst.p_worst[candidates[0]] if candidates else None,
            "set": [names[place] for place in candidates],
        },
        "floor": {"estimate": floor, "low": floor, "high": None},
        "ceiling": {"estimate": ceiling, "low": None, "high": ceiling},
        "gap": UNKNOWN if reference is None else figures(summary.gap),
        "spread": {**figures(summary.spread.net), "raw": summary.spread.raw, "p_equal": summary.spread.p_harness},
        "spread_family": figures(summary.spread.family),
        "worst_at_8": figures(summary.worst_at_8),
        "cvar10": figures(summary.cvar10),
        "quantiles": {name: figures(getattr(quantiles, name)) for name in ("q10", "q50", "q90")},
        "pass_k": {str(k): figures(chance) for k, chance in summary.pass_k.items()},
        "solved_by_all": summary.solved_by_every,
        "solved_by_none": summary.solved_by_none,
        "raw_min": {"estimate": summary.raw_min, "bias": summary.raw_min_bias, "label": _RAW_MIN},
        "reliability": summary.spread.reliability,
    }

"""The comparison of two runs as plain JSON: what comparison.json holds, and all that the other forms are made from."""

from __future__ import annotations

from typing import Any

from harness_eval import __version__
from harness_eval.report import comparison_counts, comparison_moved, counts
from harness_eval.report.comparison_moved import change
from harness_eval.report.comparison_pairing import Pairing, Side
from harness_eval.report.recorded import endpoint_of
from harness_eval.types import Json

METHOD = {
    "What is compared": "Cells (a task under a harness) with a verdict in both runs. Repeats of a cell are averaged "
    "first. Names, and the content behind them, decide what belongs together.",
    "MEAN, pass^k, labels": "One difference a task, the mean over harnesses; paired t with two pseudo-tasks.",
    "WORST, GAP, CANONICAL": "One posterior of both runs together. The luck of the tasks and the noise of a cell are "
    "correlated between the runs as the tasks show, so that what they share cancels. Levels may differ by some points "
    "from those of each run's own report, which knows one run only: read the changes here, and the levels there.",
    "SPREAD": "Standard deviations net of noise, each with its delete-one-task jackknife limits; the limits of their "
    "difference from both, less what the tasks show to be shared (Zou and Donner).",
    "Harnesses": "Paired differences with limits that hold for all together (max-T), step-down p.",
    "Levels": "Least squares of the change of the score on the levels, within tasks; Holm over levels.",
    "Tasks": "Exact sign test of the cells that went up and down; Holm over tasks.",
    "Verdicts": "better or worse (GAP and SPREAD: narrower or wider) where the 95 % interval leaves zero out, else no "
    "difference seen, with the smallest change that would be seen in 8 of 10 such comparisons beside it.",
}


def build(pairing: Pairing) -> dict[str, Json]:
    """The content of comparison.json; proportions are 0..1, changes are the second run less the first."""
    from harness_eval.stats.compare import compare  # lazy: slow import

    before_TH, after_TH = _tables(pairing)
    canonical = _canonical(pairing)
    place = None if canonical is None else pairing.harnesses.index(canonical)
    seed = int(pairing.before.recorded.study.get("seed") or 0)
    found = compare(before_TH, after_TH, seed, place)
    names = ("mean", "worst", "spread", "gap", "canonical", "worst_at_8", "cvar10")
    return {
        "before": _side(pairing.before),
        "after": _side(pairing.after),
        "compared": _compared(pairing, before_TH, after_TH),
        "canonical_harness": canonical,
        "figures": {name: change(getattr(found, name)) for name in names},
        "pass_k": {str(k): change(one) for k, one in found.pass_k.items()},
        "floor": {"before": found.floor[0], "after": found.floor[1]},
        "harnesses": comparison_moved.harnesses(pairing, found),
        "levels": comparison_moved.levels(pairing, canonical, before_TH, after_TH),
        "tasks": comparison_moved.tasks(pairing, before_TH, after_TH),
        "labels": comparison_counts.labels(pairing),
        "lost": comparison_counts.lost(pairing),
        "spent": comparison_counts.spent(pairing),
        "left_out": list(pairing.left_out),
        "notes": [*pairing.notes, *_missing(before_TH)],
        "seed": seed,
        "reported_by": f"harness-eval {__version__}",
        "method": [{"what": what, "how": how} for what, how in METHOD.items()],
    }


def _tables(pairing: Pairing) -> tuple[Any, Any]:
    """Cell means of both runs, NaN where either has no verdict."""
    import numpy  # lazy: slow import

    from harness_eval.stats.cells import cell_means  # lazy: slow import

    before_TH, after_TH = (
        cell_means(*counts.arrays(side, pairing.tasks, pairing.harnesses)).mean_TH for side in pairing.outcomes()
    )
    common = ~numpy.isnan(before_TH + after_TH)
    return numpy.where(common, before_TH, numpy.nan), numpy.where(common, after_TH, numpy.nan)


def _canonical(pairing: Pairing) -> str | None:
    """The canonical harness where it is the same in both runs and compared."""
    one, other = (side.recorded.study.get("canonical") for side in pairing.sides)
    return one if one == other and one in pairing.harnesses else None


def _side(side: Side) -> dict[str, Json]:
    study = side.recorded.study
    judged = sum(outcome.judged for outcome in side.outcomes)
    return {
        "name": study.get("name") or "unnamed study",
        "folder": side.folder.resolve().name,
        "created": study.get("created"),
        "seed": study.get("seed"),
        "repeats": study.get("repeats"),
        "suites": side.recorded.suites,
        "imported": study.get("imported"),
        "versions": dict(study.get("versions") or {}),
        "endpoint": endpoint_of(side.endpoint),
        "trials": {"run": len(side.outcomes), "judged": judged, "lost": len(side.outcomes) - judged},
        "n_tasks": len(side.recorded.named("tasks")),
        "n_harnesses": len(side.recorded.named("harnesses")),
    }


def _compared(pairing: Pairing, before_TH: Any, after_TH: Any) -> dict[str, Json]:
    import numpy  # lazy: slow import

    common = ~numpy.isnan(before_TH)
    before, after = (sum(outcome.judged for outcome in side) for side in pairing.outcomes())
    return {
        "tasks": int(common.any(axis=1).sum()),
        "harnesses": int(common.any(axis=0).sum()),
        "cells": int(common.sum()),
        "cells_possible": len(pairing.tasks) * len(pairing.harnesses),
        "judged_before": before,
        "judged_after": after,
        "moved_cells": int((after_TH[common] != before_TH[common]).sum()),
    }


def _missing(before_TH: Any) -> list[str]:
    import numpy  # lazy: slow import

    missing = int(numpy.isnan(before_TH).sum())
    if not missing:
        return []
    return [f"{missing:,} of {before_TH.size:,} cells have no verdict in one of the runs, or in neither: left out."]

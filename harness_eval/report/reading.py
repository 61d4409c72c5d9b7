"""The strict and the recovered reading: what scores would be, had calls that leaked as text been taken for calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness_eval.report import counts
from harness_eval.report.recorded import Outcome
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.cells import Cells


def readings(outcomes: Sequence[Outcome], tasks: Sequence[str], names: Sequence[str]) -> dict[str, Json] | None:
    """Both means, over all harnesses and for each that has a recovered trial, most first; None where no trial has.

    `trials` counts those that ended on a leaked call. The strict mean is that of the headline.
    """
    leaked = [outcome for outcome in outcomes if outcome.judged and outcome.recovered is not None]
    if not leaked:
        return None
    lenient = [outcome if outcome.recovered is None else _recovered(outcome) for outcome in outcomes]
    strict, recovered = (_cells(group, tasks, names) for group in (outcomes, lenient))
    met = [outcome.harness for outcome in leaked]
    return {
        "trials": len(leaked),
        "mean": {"strict": _mean(strict), "recovered": _mean(recovered)},
        "harnesses": [
            {
                "harness": name,
                "trials": met.count(name),
                "strict": _harness_mean(strict, place),
                "recovered": _harness_mean(recovered, place),
            }
            for place, name in sorted(enumerate(names), key=lambda item: -met.count(item[1]))
            if name in met
        ],
    }


def _recovered(outcome: Outcome) -> Outcome:
    return replace(outcome, score=outcome.recovered if outcome.judged else None)


def _cells(outcomes: Sequence[Outcome], tasks: Sequence[str], names: Sequence[str]) -> Cells:
    from harness_eval.stats.cells import cell_means  # lazy: slow import

    return cell_means(*counts.arrays(outcomes, tasks, names))


def _mean(cells: Cells) -> float | None:
    from harness_eval.stats.cells import judged_columns  # lazy: slow import
    from harness_eval.stats.spread import mean_of_tested  # lazy: slow import

    return mean_of_tested(cells.mean_TH[:, judged_columns(cells.mean_TH)]).estimate


def _harness_mean(cells: Cells, place: int) -> float:
    """Plain mean over judged tasks; the harness has at least one."""
    import numpy  # lazy: slow import

    mean_T: Any = cells.mean_TH[:, place]
    return float(numpy.nanmean(mean_T))

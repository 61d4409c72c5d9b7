"""Other readings beside the strict one: leaked calls taken for calls, and the mean without what is the wire's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from harness_eval.report import counts
from harness_eval.report.diagnosed import cause, known
from harness_eval.report.outcomes import Outcome, column
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.cells import Cells

_Reading: TypeAlias = Callable[[Outcome], float | None]

_WIRE = ("serving", "gateway", "undetermined")
_OF_BEHAVIOUR = "model."  # of these labels it is undetermined whether model or harness must act: not the wire


def readings(outcomes: Sequence[Outcome], tasks: Sequence[str], names: Sequence[str]) -> dict[str, Json] | None:
    """Both means, over all harnesses and for each that has a recovered trial, most first; None where no trial has.

    `trials` counts those that ended on a leaked call. The strict mean is that of the headline.
    """
    if all(again is None for again in column(outcomes, "recovered")):
        return None
    leaked = [outcome for outcome in outcomes if outcome.judged and outcome.recovered is not None]
    if not leaked:
        return None
    strict, recovered = (_cells(outcomes, tasks, names, reading) for reading in (_strict, _recovered))
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


def of_the_wire(outcomes: Sequence[Outcome], tasks: Sequence[str], names: Sequence[str]) -> dict[str, Json] | None:
    """The unsolved trials that are scored as zeros and whose cause is, or may be, the wire's; None without any.

    `unsolved` counts all judged trials below a full score, `owners` those of the wire. `mean_without` leaves the
    latter out: the plain mean of the plain means of the harnesses that have trials left (`harnesses_left`), so that it
    never falls for a zero that is taken away; None where none has, as is that of a harness without any.
    """
    unsolved = sum(score is not None and score < 1.0 for score in column(outcomes, "score"))
    owners: Counter[str] = Counter()
    met: Counter[str] = Counter()
    for outcome in outcomes:
        if owner := _wire_owner(outcome):
            owners[owner] += 1
            met[outcome.harness] += 1
    if not owners:
        return None
    rest = _cells(outcomes, tasks, names, lambda outcome: None if _wire_owner(outcome) else outcome.score)
    left = {name: _harness_mean(rest, place) for place, name in enumerate(names)}
    known_means = [mean for mean in left.values() if mean is not None]
    return {
        "trials": owners.total(),
        "unsolved": unsolved,
        "owners": dict(owners.most_common()),
        "mean_without": fmean(known_means) if known_means else None,
        "harnesses_left": len(known_means),
        "harnesses": [
            {"harness": name, "trials": number, "mean_without": left[name]} for name, number in met.most_common()
        ],
    }


def _wire_owner(outcome: Outcome) -> str:
    """Serving, gateway or undetermined, where the cause of an unsolved trial is scored and not the model's; else ""."""
    if outcome.score is None or outcome.score >= 1.0:
        return ""
    owner, name = cause(outcome)
    separate = known(name).effect == "reported_separately" and not name.startswith(_OF_BEHAVIOUR)
    return owner if separate and owner in _WIRE else ""


def _strict(outcome: Outcome) -> float | None:
    return outcome.score


def _recovered(outcome: Outcome) -> float | None:
    return outcome.score if outcome.recovered is None or not outcome.judged else outcome.recovered


def _cells(outcomes: Sequence[Outcome], tasks: Sequence[str], names: Sequence[str], reading: _Reading) -> Cells:
    from harness_eval.stats.cells import cell_means  # lazy: slow import

    return cell_means(*counts.arrays(outcomes, tasks, names, reading))


def _mean(cells: Cells) -> float | None:
    from harness_eval.stats.cells import judged_columns  # lazy: slow import
    from harness_eval.stats.spread import mean_of_tested  # lazy: slow import

    return mean_of_tested(cells.mean_TH[:, judged_columns(cells.mean_TH)]).estimate


def _harness_mean(cells: Cells, place: int) -> float | None:
    """Plain mean over judged tasks; None without one."""
    import numpy  # lazy: slow import

    mean_T: Any = cells.mean_TH[:, place]
    return None if numpy.isnan(mean_T).all() else float(numpy.nanmean(mean_T))

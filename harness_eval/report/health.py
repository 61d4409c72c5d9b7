"""How an endpoint served: what it cost in retries, what had to be put right, and what the probe found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness_eval.diagnosis.reply import PLAIN
from harness_eval.errors import redact
from harness_eval.probing import Probe
from harness_eval.report.counts import UNLABELLED
from harness_eval.report.diagnosed import known
from harness_eval.report.outcomes import Outcome
from harness_eval.report.recorded import Spent
from harness_eval.types import Json

_USAGE_MISSING = "ok.usage_missing"


def health(spent: Spent, outcomes: Iterable[Outcome], probe: Probe | None) -> dict[str, Json]:
    """Over all attempts, those of lost trials too; shares are 0..1, and None without anything to divide by.

    `requests` are turns and failed requests together, those for summaries not counted; `oddities` and `usage_missing`
    count turns; `lost` counts trials that ended without a verdict through the endpoint; `probe` is None where none was
    made.
    """
    failed = spent.retried.total()
    requests = spent.steps + failed
    lost = Counter(
        outcome.label or UNLABELLED for outcome in outcomes if not outcome.judged and outcome.owner == "endpoint"
    )
    return {
        "requests": requests,
        "turns": spent.steps,
        "retried": {label: _part(number, requests) for label, number in spent.retried.most_common()},
        "retried_share": _share(failed, requests),
        "oddities": {
            label: _part(number, spent.steps) for label, number in spent.turns.most_common() if _is_odd(label)
        },
        "lost": dict(lost.most_common()),
        "seconds_per_turn": _pace(spent.pace),
        "cached_share": _share(spent.tokens["cached"], spent.tokens["prompt"]),
        "reasoning_share": _share(spent.tokens["reasoning"], spent.tokens["completion"]),
        "usage_missing": spent.turns[_USAGE_MISSING],
        "probe": _probe(probe) if probe else None,
    }


def _probe(probe: Probe) -> dict[str, Json]:
    """The checks, the axes that compare nothing, and the number of calls that it took."""
    return {
        "checks": [
            {"check": one.check, "status": one.status, "detail": redact(one.detail), "label": one.label}
            for one in probe.checks
        ],
        "void": [{"axis": one.axis, "reason": redact(one.reason)} for one in probe.void],
        "calls": probe.calls,
    }


def _is_odd(label: str) -> bool:
    """Whether it was tolerated, and is more than a plain turn; missing token counts have their own line."""
    return label not in PLAIN and label != _USAGE_MISSING and known(label).effect == "tolerated"


def _part(number: int, whole: int) -> Mapping[str, Json]:
    return {"count": number, "share": _share(number, whole)}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _pace(seconds: Sequence[float]) -> dict[str, Json]:
    """Median and 95th percentile over attempts of the seconds a turn, tools and the box included."""
    import numpy  # lazy: slow import

    if not seconds:
        return {"median": None, "p95": None}
    median, high = numpy.quantile(seconds, (0.5, 0.95))
    return {"median": round(float(median), 3), "p95": round(float(high), 3)}

"""SPREAD and the other functionals of the draws: GAP, WORST@8, CVaR10, the named worst and its sets."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from harness_eval.stats import across, paired, worst
from harness_eval.stats import spread as spreads
from harness_eval.stats.estimate import Array

from . import estimators, published
from .cells import Cell, Known, Values
from .population import Drawn, Size, stream, studies
from .worst import USES

SIZES = ("50,16,1", "100,32,1", "200,32,3")
SPREAD_SCENARIOS = ("equal", "mild", "wide", "broken", "halfbad", "factor")
OTHER_SCENARIOS = ("equal", "mild", "wide", "broken", "factor")


def _within(low: float, truth: float, high: float) -> float:
    return float(low - 1e-9 <= truth <= high + 1e-9)


def _spread_of(study: Drawn, draws_IH: Array) -> dict[str, float]:
    mean_H, true_H = study.mean_TH.mean(axis=0), study.true_H
    found, table = spreads.spread(study.mean_TH), spreads.anova(study.mean_TH)
    assert table is not None
    assert found.net.estimate is not None
    assert found.raw is not None
    truth, noncentral = float(true_H.std(ddof=1)), spreads.noncentral_interval(table)
    assert noncentral is not None
    low, high = found.net.limits or (0.0, 1.0)
    _, range_low, range_high = estimators.middle(np.ptp(draws_IH, axis=1))
    return {
        "true SD": 100 * truth,
        "raw SD": 100 * found.raw,
        "net SD": 100 * found.net.estimate,
        "coverage ncF": _within(noncentral.low, truth, noncentral.high),
        "coverage jackknife": _within(low, truth, high),
        "width ncF": 100 * (noncentral.high - noncentral.low),
        "width jackknife": 100 * (high - low),
        "true range": 100 * float(np.ptp(true_H)),
        "raw range": 100 * float(np.ptp(mean_H)),
        "hbdp range": 100 * float(np.ptp(draws_IH, axis=1).mean()),
        "coverage range": _within(range_low, float(np.ptp(true_H)), range_high),
    }


def _gathered(rows: list[dict[str, float]]) -> Values:
    return {metric: np.array([row[metric] for row in rows]) for metric in rows[0]}


def _run_spread(scenario: str, size: Size, reps: int) -> Values:
    tables = (study.mean_TH for study in studies(scenario, size, reps))
    draws = estimators.shipped(tables, stream("hbdp", scenario, size))
    rows = [_spread_of(*both) for both in zip(studies(scenario, size, reps), draws, strict=True)]
    return _gathered(rows)


def spread_cells() -> list[Cell]:
    uses = (
        _spread_of,
        spreads.spread,
        spreads.jackknife_interval,
        spreads.noncentral_interval,
        *USES["hbdp as shipped"],
    )
    return [
        Cell("spread", f"{scenario}|{size}", partial(_run_spread, scenario, Size.parse(size)), 300, 40, uses)
        for scenario in SPREAD_SCENARIOS
        for size in SIZES
    ]


def _numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"[-+]?\d*\.?\d+", text)]


def spread_published() -> dict[tuple[str, str], Known]:
    found = {}
    for line in published.SPREAD.strip().splitlines():
        scenario, size, deviation, coverage, width, ranges = line.split("|")
        name = f"{scenario}|{size}"
        values: dict[str, tuple[float, float, bool]] = {}
        for metrics, text, step, share in (
            (("true SD", "raw SD", "net SD"), deviation, 0.01, False),
            (("coverage ncF", "coverage jackknife"), coverage, 0.001, True),
            (("width ncF", "width jackknife"), width, 0.1, False),
            (("true range", "raw range", "hbdp range", "coverage range"), ranges, 0.1, False),
        ):
            if text != "-":
                values |= {m: (v, step, share) for m, v in zip(metrics, _numbers(text), strict=True)}
        for metric, (value, step, share) in values.items():
            found[name, metric] = Known(value, value, 300, step, share or metric == "coverage range")
    return found


def _others_of(scenario: str, rep: int, study: Drawn, draws_IH: Array) -> dict[str, float]:
    harnesses = len(study.true_H)
    rng = stream("others", scenario, harnesses, rep)
    canonical = int(rng.integers(harnesses))
    mean_H, true_H = study.mean_TH.mean(axis=0), study.true_H
    gap, low, high = estimators.middle(draws_IH[:, canonical] - draws_IH.min(axis=1))
    true_gap = float(true_H[canonical] - true_H.min())
    at_8, tenth = (estimators.middle(f(draws_IH)) for f in (lambda d: across.worst_at(d, 8), across.lowest_tenth))
    p_H = worst.probability_of_worst(draws_IH)
    named = int(p_H.argmax())
    own = estimators.middle(draws_IH[:, named])
    first_H = np.bincount(draws_IH.argmin(axis=1), minlength=harnesses) / len(draws_IH)
    posterior_set, shared_set = _likeliest(first_H), _likeliest(p_H)
    mcb = paired.worst_set(study.mean_TH, rng)
    lowest = np.flatnonzero(true_H <= true_H.min() + 1e-12)
    return {
        "GAP true": 100 * true_gap,
        "GAP": 100 * gap,
        "GAP raw": 100 * float(mean_H[canonical] - mean_H.min()),
        "GAP coverage": _within(low, true_gap, high),
        "GAP width": 100 * (high - low),
        "WORST@8 coverage": _within(at_8[1], float(across.worst_at(true_H[None], 8)[0]), at_8[2]),
        "CVaR10 coverage": _within(tenth[1], float(across.lowest_tenth(true_H[None])[0]), tenth[2]),
        "own score coverage": _within(own[1], float(true_H[named]), own[2]),
        "posterior set holds": float(np.isin(lowest, posterior_set).any()),
        "posterior set size": float(len(posterior_set)),
        "shared set holds": float(np.isin(lowest, shared_set).any()),
        "shared set size": float(len(shared_set)),
        "worst set holds": float(np.isin(lowest, mcb).any()),
        "worst set size": float(len(mcb)),
    }


def _likeliest(p_H: Array) -> Array:
    """Harnesses that together are the worst with probability .95, likeliest first."""
    order = np.argsort(-p_H, kind="stable")
    return order[: int(np.searchsorted(np.cumsum(p_H[order]), 0.95) + 1)]


def _run_others(scenario: str, size: Size, reps: int) -> Values:
    tables = (study.mean_TH for study in studies(scenario, size, reps))
    draws = estimators.shipped(tables, stream("hbdp", scenario, size))
    pairs = zip(studies(scenario, size, reps), draws, strict=True)
    return _gathered([_others_of(scenario, rep, *both) for rep, both in enumerate(pairs)])


def other_cells() -> list[Cell]:
    uses = (_others_of, across.worst_at, across.lowest_tenth, paired.worst_set, *USES["hbdp as shipped"])
    return [
        Cell("others", f"{scenario}|{size}", partial(_run_others, scenario, Size.parse(size)), 400, 30, uses)
        for scenario in OTHER_SCENARIOS
        for size in SIZES
    ]


def other_published() -> dict[tuple[str, str], Known]:
    found = {}
    for line in published.OTHERS.strip().splitlines():
        scenario, size, *fields = line.split("|")
        name = f"{scenario}|{size}"
        true, gap, raw, coverage, width, at_8, tenth, own, *sets = _numbers(" ".join(fields))
        shares = {
            "GAP coverage": coverage,
            "WORST@8 coverage": at_8,
            "CVaR10 coverage": tenth,
            "own score coverage": own,
        }
        shares["posterior set holds"] = sets[0]
        sizes = {"GAP true": true, "GAP": gap, "GAP raw": raw, "GAP width": width, "posterior set size": sets[1]}
        if scenario != "equal":
            shares["worst set holds"], sizes["worst set size"] = sets[2:]
        found |= {(name, metric): Known(v, v, 200, 0.005, share=True) for metric, v in shares.items()}
        found |= {(name, metric): Known(v, v, 200, 0.1, share=False) for metric, v in sizes.items()}
    return found

"""WORST and FLOOR: bias, coverage and width over seven scenarios and nine sizes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from harness_eval.stats import floor, worst
from harness_eval.stats.estimate import Array

from . import estimators, published
from .cells import Cell, Known, Values
from .population import EXTREMES, SCENARIOS, Size, draw, stream, studies

SIZES = ("50,8,1", "50,32,1", "50,16,5", "100,16,1", "100,16,3", "100,64,1", "200,32,1", "200,32,3", "500,64,1")
FLOOR_SIZES = ("20,8,1", "50,32,1", "100,32,1", "200,32,3")
PUBLISHED_AS = {"naive": "naive", "hbdp as specified": "hbdp", "hbdp as shipped": "hbdp"}
_SUMMARY = (estimators.shipped_summary, worst.logit_summary, worst._own_noise, worst._common_variance)
USES: dict[str, tuple[object, ...]] = {
    "naive": (estimators.naive, estimators.lowest_limit, draw),
    "maxT": (estimators.max_t, draw),
    "hbdp as specified": (
        estimators.specified,
        estimators.specified_summary,
        worst.draws_of_tables,
        worst.Gibbs,
        draw,
    ),
    "hbdp as shipped": (
        estimators.shipped,
        *_SUMMARY,
        worst.prior_scale,
        worst.Prior,
        worst.draws_of_tables,
        worst.Gibbs,
        draw,
    ),
}


def _intervals(method: str, name: tuple[str, Size], reps: int) -> Iterator[estimators.Interval]:
    tables = (study.mean_TH for study in studies(*name, reps))
    if method == "naive":
        return map(estimators.naive, tables)
    if method == "maxT":
        return (estimators.max_t(table, stream("maxT", *name, rep)) for rep, table in enumerate(tables))
    draws = estimators.specified if method == "hbdp as specified" else estimators.shipped
    return (estimators.middle(mu_IH.min(axis=1)) for mu_IH in draws(tables, stream("hbdp", *name)))


def _run(method: str, scenario: str, size: Size, reps: int) -> Values:
    truth_N = np.array([study.true_H.min() for study in studies(scenario, size, reps)])
    point_N, low_N, high_N = np.array(list(_intervals(method, (scenario, size), reps))).T
    values: dict[str, Array] = {
        "bias": 100 * (point_N - truth_N),
        "coverage": ((low_N <= truth_N) & (truth_N <= high_N)).astype(float),
        "width": 100 * (high_N - low_N),
    }
    if method == "naive":
        limits = [estimators.lowest_limit(study.mean_TH) for study in studies(scenario, size, reps)]
        values["above"] = (np.array(limits) > truth_N).astype(float)
    return values


def worst_cells() -> list[Cell]:
    return [
        Cell("worst", f"{scenario}|{size}|{method}", partial(_run, method, scenario, Size.parse(size)), 250, 40, uses)
        for scenario in SCENARIOS
        for size in SIZES
        for method, uses in USES.items()
    ]


def extreme_cells() -> list[Cell]:
    return [
        Cell(
            "extremes", f"{scenario}|{size}|{method}", partial(_run, method, scenario, Size.parse(size)), 250, 40, uses
        )
        for scenario in EXTREMES
        for size in ("20,8,1", "50,8,1", "50,32,1", "100,16,1")
        for method, uses in USES.items()
        if method.startswith("hbdp")
    ]


def worst_published() -> dict[tuple[str, str], Known]:
    found = {}
    for line in published.WORST.strip().splitlines():
        scenario, size, naive, hbdp = line.split("|")
        for method, name in PUBLISHED_AS.items():
            bias, coverage, width = (float(part) for part in (naive if name == "naive" else hbdp).split("/"))
            reps = 200 if name == "naive" else 250
            cell = f"{scenario}|{size}|{method}"
            found[cell, "bias"] = Known(bias, bias, reps, 0.1, share=False)
            found[cell, "coverage"] = Known(coverage, coverage, reps, 0.01, share=True)
            found[cell, "width"] = Known(width, width, reps, 1.0, share=False)
    return found


def _floor(scenario: str, size: Size, reps: int) -> Values:
    limits = [floor.lower_limits(study.mean_TH) for study in studies(scenario, size, reps)]
    lowest_N = np.array([min(limit for limit in some if limit is not None) for some in limits])
    truth_N = np.array([study.true_H.min() for study in studies(scenario, size, reps)])
    return {"held": (lowest_N <= truth_N).astype(float), "slack": 100 * (truth_N - lowest_N)}


def floor_cells() -> list[Cell]:
    uses = (_floor, floor.lower_limits, floor._lower_limit, floor.one_sided_wilson, draw)
    scenarios = [scenario for scenario in SCENARIOS if scenario != "factor"]
    return [
        Cell("floor", f"{scenario}|{size}", partial(_floor, scenario, Size.parse(size)), 400, 60, uses)
        for size in FLOOR_SIZES
        for scenario in scenarios
    ]


def floor_published() -> dict[tuple[str, str], Known]:
    slack = {"200,32,3": (4.0, 8.0), "100,32,1": (8.0, 16.0), "50,32,1": (11.0, 22.0)}
    found = {(cell.name, "held"): Known(0.940, 1.0, 400, 0.001, share=True) for cell in floor_cells()}
    for cell in floor_cells():
        size = cell.name.split("|")[1]
        if size in slack:
            found[cell.name, "slack"] = Known(*slack[size], 400, 1.0, share=False)
    return found

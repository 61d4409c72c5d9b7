"""Adaptive and sparse crossing: the additive fit and the draws on tables with holes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from harness_eval.stats import cells as package_cells
from harness_eval.stats.estimate import Array

from . import estimators, published
from .cells import Cell, Known, Values
from .population import Size, chances, harness_logits, stream, studies, true_score
from .worst import USES

HARNESSES, ROUNDS = 32, 5
_SHIPPED = (
    *USES["hbdp as shipped"],
    package_cells.additive_fit,
    package_cells._alternate,
    package_cells._effective_tasks,
)


def _survivors(mean_TH: Array, ends: list[int]) -> Array:
    """The table with what sequential halving would not have run: after each block the better half is dropped."""
    table = mean_TH.copy()
    alive = np.arange(mean_TH.shape[1])
    for end in ends:
        alive = alive[np.argsort(table[:end, alive].mean(axis=0))[: max(1, len(alive) // 2)]]
        gone = np.setdiff1d(np.arange(mean_TH.shape[1]), alive)
        table[end:, gone] = np.nan
    return table


def _quality(draws_IH: Array, table: Array, true_H: Array) -> dict[str, float]:
    point, low, high = estimators.middle(draws_IH.min(axis=1))
    truth = float(true_H.min())
    full = np.flatnonzero(~np.isnan(table[-1]))
    chosen = full[table[:, full].mean(axis=0).argmin()]
    return {
        "bias": 100 * (point - truth),
        "squared error": (100 * (point - truth)) ** 2,
        "coverage": float(low <= truth <= high),
        "width": 100 * (high - low),
        "chosen within 3 pp": float(true_H[chosen] - truth <= 0.03),
    }


def _assess(tables: list[Array], truths: list[Array], rng: np.random.Generator) -> Values:
    draws = estimators.shipped(iter(tables), rng)
    rows = [_quality(*three) for three in zip(draws, tables, truths, strict=True)]
    return {metric: np.array([row[metric] for row in rows]) for metric in rows[0]}


def _hunt(scenario: str, tasks: int, crossing: str, reps: int) -> Values:
    found = list(studies(scenario, Size(tasks, HARNESSES, 1), reps))
    ends = [tasks * block // ROUNDS for block in range(1, ROUNDS)]
    tables = [study.mean_TH if crossing == "full" else _survivors(study.mean_TH, ends) for study in found]
    return _assess(tables, [study.true_H for study in found], stream("hunt", scenario, tasks))


def _budget(scenario: str, trials: int, crossing: str, reps: int) -> Values:
    tables, truths = [], []
    for rep in range(reps):
        rng = stream("budget", scenario, trials, rep)
        logit_H = harness_logits(scenario, HARNESSES, rng)
        ends = np.cumsum([trials // ROUNDS // (HARNESSES >> block) for block in range(ROUNDS)]).tolist()
        tasks = trials // HARNESSES if crossing == "uniform" else ends[-1]
        table = (rng.random((tasks, HARNESSES)) < chances(logit_H, tasks, rng)).astype(np.float64)
        tables.append(table if crossing == "uniform" else _survivors(table, ends[:-1]))
        truths.append(true_score(logit_H))
    return _assess(tables, truths, stream("budget draws", scenario, trials))


def _cells(table: str, run: Callable[..., Values], text: str, kinds: tuple[str, str], reps: int) -> list[Cell]:
    uses = (_survivors, _quality, run, *_SHIPPED)
    rows = [line.split("|")[:2] for line in text.strip().splitlines()]
    return [
        Cell(table, f"{scenario}|{amount}|{kind}", partial(run, scenario, int(amount), kind), reps, 20, uses)
        for scenario, amount in rows
        for kind in kinds
    ]


def hunt_cells() -> list[Cell]:
    return _cells("hunt", _hunt, published.HUNT, ("full", "hunt"), 120)


def budget_cells() -> list[Cell]:
    return _cells("budget", _budget, published.BUDGET, ("uniform", "halving"), 400)


def _known(fields: str, reps: int) -> dict[str, Known]:
    bias, rms, coverage, width = (float(number) for number in fields.split("/"))
    return {
        "bias": Known(bias, bias, reps, 0.1, share=False),
        "RMSE": Known(rms, rms, reps, 0.1, share=False),
        "coverage": Known(coverage, coverage, reps, 0.01, share=True),
        "width": Known(width, width, reps, 0.1, share=False),
    }


def hunt_published() -> dict[tuple[str, str], Known]:
    found = {}
    for line in published.HUNT.strip().splitlines():
        scenario, tasks, full, hunt, chosen = line.split("|")
        for kind, fields, share in zip(("full", "hunt"), (full, hunt), chosen.split("/"), strict=True):
            name = f"{scenario}|{tasks}|{kind}"
            found |= {(name, metric): known for metric, known in _known(fields, 120).items()}
            found[name, "chosen within 3 pp"] = Known(float(share), float(share), 120, 0.01, share=True)
    return found


def budget_published() -> dict[tuple[str, str], Known]:
    found = {}
    for line in published.BUDGET.strip().splitlines():
        scenario, trials, *both = line.split("|")
        for kind, fields in zip(("uniform", "halving"), both, strict=True):
            found |= {(f"{scenario}|{trials}|{kind}", metric): k for metric, k in _known(fields, 100).items()}
    return found


POOL, SPARSE_HARNESSES = 200, 64


def _sparse(trials: int, crossing: str, reps: int) -> Values:
    """Absolute errors in pp of the quantiles, the minimum and all scores, for raw means, additive fit and draws."""
    each = trials // SPARSE_HARNESSES
    tables, truths = [], []
    for rep in range(reps):
        rng = stream("sparse", trials, rep)
        logit_H = harness_logits("factor", SPARSE_HARNESSES, rng)
        table = (rng.random((POOL, SPARSE_HARNESSES)) < chances(logit_H, POOL, rng)).astype(np.float64)
        order_TH = rng.random(table.shape).argsort(axis=0).argsort(axis=0)
        sparse_TH = np.where(order_TH < each, table, np.nan)
        tables.append(table[:each] if crossing == "crossed" else sparse_TH[~np.isnan(sparse_TH).all(axis=1)])
        truths.append(true_score(logit_H))
    values: dict[str, list[float]] = {}
    draws = estimators.shipped(iter(tables), stream("sparse draws", trials, crossing))
    for mu_IH, table, true_H in zip(draws, tables, truths, strict=True):
        scores = {"raw": np.nanmean(table, axis=0)}
        if crossing == "sparse":
            scores["additive"] = package_cells.additive_fit(table).harness_H
        for name, score_H in scores.items():
            for metric, error in _errors(score_H[None], true_H).items():
                values.setdefault(f"{name}: {metric}", []).append(error)
        for metric, error in _errors(mu_IH, true_H).items():
            values.setdefault(f"HB: {metric}", []).append(error)
    return values


def _errors(mu_IH: Array, true_H: Array) -> dict[str, float]:
    found = {
        name: 100 * abs(float(np.quantile(mu_IH, q, axis=1).mean() - np.quantile(true_H, q)))
        for name, q in (("q05", 0.05), ("q50", 0.5), ("q95", 0.95), ("min", 0.0))
    }
    return found | {"RMSE": 100 * float(((mu_IH.mean(axis=0) - true_H) ** 2).mean() ** 0.5)}


def sparse_cells() -> list[Cell]:
    uses = (_sparse, _errors, *_SHIPPED)
    amounts = dict.fromkeys(int(line.split("|")[0]) for line in published.SPARSE.strip().splitlines())
    return [
        Cell("sparse", f"{amount}|{crossing}", partial(_sparse, amount, crossing), 60, 15, uses)
        for amount in amounts
        for crossing in ("crossed", "sparse")
    ]


def sparse_published() -> dict[tuple[str, str], Known]:
    found = {}
    for line in published.SPARSE.strip().splitlines():
        trials, estimator, *errors = line.split("|")
        crossing, name = estimator.split(" ")
        for metric, error in zip(("q05", "q50", "q95", "min", "RMSE"), errors, strict=True):
            found[f"{trials}|{crossing}", f"{name}: {metric}"] = Known(float(error), float(error), 60, 0.1, share=False)
    return found

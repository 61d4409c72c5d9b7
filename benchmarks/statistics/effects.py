"""Effects of axes: false alarms, shares net of noise, and power of one design against another."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from pydoe import get_orthogonal_array

from harness_eval.stats import effects
from harness_eval.stats.cells import additive_fit
from harness_eval.stats.contrast_coding import Coding, code_levels
from harness_eval.stats.effects import axis_effects, holm
from harness_eval.stats.estimate import Array

from . import published
from .cells import Cell, Known, Values
from .population import CENTRE, centre, chances, stream

LEVELS = (4, 4, 4, 3, 4, 3, 4, 3)  # of eight axes; the design has four columns of levels each
CONFIG_NOISE = 0.15  # logits, of each configuration
Levels = list[dict[str, str]]
CANONICAL = {f"axis{axis}": "0" for axis in range(len(LEVELS))}


def orthogonal() -> Levels:
    """32 harnesses; a three-level axis has its canonical level twice as often."""
    rows = np.asarray(get_orthogonal_array("L32(2^1 4^9)"), dtype=int)[:, 1:9]
    rows = np.where(rows < np.array(LEVELS), rows, 0)
    return [{f"axis{axis}": str(level) for axis, level in enumerate(row)} for row in rows]


def one_at_a_time() -> Levels:
    changes = [{f"axis{axis}": str(level)} for axis, count in enumerate(LEVELS) for level in range(1, count)]
    return [CANONICAL, *(CANONICAL | change for change in changes)]


def outcomes(levels: Levels, drops: Mapping[str, float], tasks: int, noise: float, rng: np.random.Generator) -> Array:
    """One trial a cell; `drops` are logits of "axis=level"."""
    effect_H = np.array([-sum(drops.get(f"{a}={b}", 0.0) for a, b in row.items()) for row in levels])
    effect_H = effect_H + rng.normal(0, noise, len(levels))
    return (rng.random((tasks, len(levels))) < chances(CENTRE + effect_H, tasks, rng)).astype(np.float64)


def _without_lack_of_fit(mean_TH: Array, coding: Coding) -> list[float]:
    """p values from differences between tasks alone."""
    from scipy import special

    beta_TP = mean_TH @ coding.solve_PH.T
    tasks = len(beta_TP)
    t_P = beta_TP.mean(axis=0) / (beta_TP.std(axis=0, ddof=1) / tasks**0.5)
    p_K: list[float] = (2 * special.stdtr(tasks - 1, -np.abs(t_P[1:]))).tolist()
    return p_K


def _false_alarms(tasks: int, reps: int) -> Values:
    levels = orthogonal()
    coding = code_levels(levels, CANONICAL)
    without, shipped, adjusted = [], [], []
    for rep in range(reps):
        table = outcomes(levels, {}, tasks, CONFIG_NOISE, stream("false alarms", tasks, rep))
        found = axis_effects(table, levels, CANONICAL).levels
        without.append(float(np.mean([p < 0.05 for p in _without_lack_of_fit(table, coding)])))
        shipped.append(float(np.mean([effect.p is not None and effect.p < 0.05 for effect in found])))
        adjusted.append(any(effect.p_adjusted is not None and effect.p_adjusted < 0.05 for effect in found))
    return {"without tau_r": without, "as shipped": shipped, "any after Holm": adjusted}


def alarm_cells() -> list[Cell]:
    uses = (_false_alarms, effects._least_squares, effects._wald, outcomes)
    return [
        Cell("false alarms", f"L32|{tasks}", partial(_false_alarms, tasks), 400, 50, uses)
        for tasks in (22, 44, 88, 176)
    ]


def alarm_published() -> dict[tuple[str, str], Known]:
    return {
        ("L32|176", "without tau_r"): Known(0.10, 0.10, 250, 0.01, share=False),
        ("L32|176", "as shipped"): Known(0.04, 0.04, 250, 0.01, share=False),
    }


_ACTIVE = {"axis0=1": 0.8, "axis1=2": 0.4}


def _shares(reps: int) -> Values:
    """Variances in pp^2: what two active axes have (V_d), raw and net of noise; and what an idle axis seems to have."""
    levels = orthogonal()
    rows = [_share(outcomes(levels, _ACTIVE, 100, CONFIG_NOISE, stream("shares", rep)), levels) for rep in range(reps)]
    return {metric: np.array([row[metric] for row in rows]) for metric in rows[0]}


def _share(table: Array, levels: Levels) -> dict[str, float]:
    fit = effects._least_squares(additive_fit(table), code_levels(levels, CANONICAL))
    columns = fit.coding.by_axis()
    raw, net = {}, {}
    for axis, some in columns.items():
        centred_HL = fit.coding.design_HP[:, some] - fit.coding.design_HP[:, some].mean(axis=0)
        weight_LL = centred_HL.T @ centred_HL / len(centred_HL)
        raw[axis] = 1e4 * float(fit.beta_P[some] @ weight_LL @ fit.beta_P[some])
        net[axis] = raw[axis] - 1e4 * float(np.trace(weight_LL @ fit.covariance_PP[np.ix_(some, some)]))
    idle = list(columns)[2:]
    return {
        "first raw": raw["axis0"],
        "first net": net["axis0"],
        "second raw": raw["axis1"],
        "second net": net["axis1"],
        "idle raw": float(np.mean([raw[axis] for axis in idle])),
        "idle net": float(np.mean([net[axis] for axis in idle])),
    }


def share_cells() -> list[Cell]:
    return [Cell("shares", "L32|100", _shares, 400, 100, (_shares, _share, effects._least_squares, outcomes))]


def share_published() -> dict[tuple[str, str], Known]:
    values = {"first raw": (18.6, 18.6), "first net": (16.9, 16.9), "second raw": (6.1, 6.1), "second net": (4.4, 4.4)}
    values |= {"idle raw": (1.4, 1.6), "idle net": (-0.3, -0.1)}
    return {("L32|100", metric): Known(*value, 400, 0.1, share=False) for metric, value in values.items()}


def _power(design: str, tasks: int, drop: float, reps: int) -> Values:
    levels = one_at_a_time() if design == "OFAT" else orthogonal()
    logit = CENTRE - centre(0.65 - drop)
    coding, at = code_levels(levels, CANONICAL), 0  # the planted level is the first contrast
    single, adjusted, plain, plain_adjusted = [], [], [], []
    for rep in range(reps):
        table = outcomes(levels, {"axis0=1": logit}, tasks, 0.0, stream("power", design, tasks, drop, rep))
        p, p_adjusted = _found(table, levels)
        single.append(p < 0.05)
        adjusted.append(p_adjusted < 0.05)
        p_K = _without_lack_of_fit(table, coding)
        plain.append(p_K[at] < 0.05)
        plain_adjusted.append((holm(p_K)[at] or 0.0) < 0.05)
    return {"single": single, "Holm": adjusted, "plain single": plain, "plain Holm": plain_adjusted}


def _found(table: Array, levels: Levels) -> tuple[float, float]:
    """p of the planted level, alone and after Holm: as shipped from 20 tasks on."""
    found = axis_effects(table, levels, CANONICAL).levels
    assert holm([effect.p for effect in found]) == [effect.p_adjusted for effect in found]
    planted = next(effect for effect in found if (effect.axis, effect.level) == ("axis0", "1"))
    return planted.p or 0.0, planted.p_adjusted or 0.0


def power_cells() -> list[Cell]:
    uses = (_power, _found, effects._least_squares, effects._wald, outcomes)
    designs = [line.split("|")[1].rstrip(")").split(" (") for line in published.POWER.strip().splitlines()]
    return [
        Cell("power", f"{design}|{tasks}|{drop:.2f}", partial(_power, design, int(tasks), drop), 250, 40, uses)
        for design, tasks in designs
        for drop in (0.05, 0.10, 0.20)
    ]


def power_published() -> dict[tuple[str, str], Known]:
    found = {}
    for line in published.POWER.strip().splitlines():
        _, design, *texts = line.split("|")
        name = design.replace(" (", "|").rstrip(")")
        for drop, text in zip((0.05, 0.10, 0.20), texts, strict=True):
            for metric, number in zip(("plain single", "plain Holm"), text.split("/"), strict=True):
                found[f"{name}|{drop:.2f}", metric] = Known(float(number), float(number), 250, 0.01, share=True)
    return found

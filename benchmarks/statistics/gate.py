"""The gate on the canonical harness: the sequential test as specified, the rule as shipped, and others beside them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from harness_eval.stats import gate
from harness_eval.stats.estimate import Array, Counts, Mask
from harness_eval.stats.intervals import t_quantile

from . import published
from .cells import Cell, Known, Values
from .population import CELL_SD, TASK_SD, centre, stream

SCORE, REPEATS, CAP, GATES = 0.65, 5, 3, 2_000
DROPS = (0, 3, 5, 10, 20)
OUTCOMES = ("FAIL", "PASS", "INCONCLUSIVE", "repeats")
RULES = (
    "any drop",
    "drop > 5 pp",
    "unpaired z",
    "McNemar",
    "1 v 5",
    "3 v 5",
    "sign test",
    "e-process",
    "e-process repeats",
    "SPRT",
    "SPRT repeats",
)


@dataclass(frozen=True)
class Gates:
    """Trials of simulated gates: N gates x T tasks x R repeats, solved or not, before and after a change."""

    before_NTR: Array
    after_NTR: Array


def _chance(logit: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-logit)))


def chances_of(change: str, tasks: int, reps: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Chances (N x T) before and after a change.

    change: a drop in pp, which moves the logits of all tasks alike, with the score it is from where that is not .65
    (`.95-10`); `breaks`, 15 % of the tasks are never solved again; `churn`, what each task does to the harness is
    drawn anew; `identical`, every task always or never.
    """
    task_NT, cell_NT, other_NT = (rng.normal(0, sd, (reps, tasks)) for sd in (TASK_SD, CELL_SD, CELL_SD))
    found = re.fullmatch(r"(?:(\.\d+)-)?(\d+)", change)
    score, drop = (float(found[1] or SCORE), int(found[2]) / 100) if found else (SCORE, 0.0)
    before_NT = _chance(centre(score) + task_NT + cell_NT)
    after_NT = _chance(centre(score - drop) + task_NT + (other_NT if change == "churn" else cell_NT))
    if change == "breaks":
        after_NT = np.where(rng.random((reps, tasks)).argsort(axis=1) < round(0.15 * tasks), 0.0, before_NT)
    if change == "identical":
        before_NT = after_NT = (before_NT > 0.5).astype(float)
    return before_NT, after_NT


def simulate(name: str, reps: int, repeats: int = REPEATS) -> Gates:
    """Gates of a cell named `T|change`, or `T|change lost`, which loses one trial in ten on either side (NaN)."""
    tasks, what = name.split("|")
    change = what.removesuffix(" lost")
    rng = stream("gate", name)
    sides = [
        (rng.random((*chance_NT.shape, repeats)) < chance_NT[..., None]).astype(float)
        for chance_NT in chances_of(change, int(tasks), reps, rng)
    ]
    if change != what:
        sides = [np.where(rng.random(side_NTR.shape) < 0.1, np.nan, side_NTR) for side_NTR in sides]
    return Gates(*sides)


def counted(gates: Gates, cap: int) -> tuple[Counts, Counts, Array]:
    """Discordant pairs (worse, better) seen by each of the looks, N x looks, and the repeats that each has seen."""
    change_NTR = gates.after_NTR[..., :cap] - gates.before_NTR[..., :cap]
    gates_N, tasks = change_NTR.shape[:2]
    change_NP = change_NTR.transpose(0, 2, 1).reshape(gates_N, -1)
    end_L = np.array(list(gate._ends(tasks, cap, 4)))
    worse, better = ((sign * change_NP > 0).cumsum(axis=1)[:, end_L - 1] for sign in (-1, 1))
    return worse, better, end_L / tasks


def stopped(fail_NL: Mask, pass_NL: Mask, repeats_L: Array) -> dict[str, Array]:
    """Outcome of each gate at the first look that decides, and the repeats it took."""
    ended_NL = fail_NL | pass_NL
    first_N, any_N = ended_NL.argmax(axis=1), ended_NL.any(axis=1)
    row_N = np.arange(len(first_N))
    failed, passed = fail_NL[row_N, first_N] & any_N, pass_NL[row_N, first_N] & any_N
    taken = np.where(any_N, repeats_L[first_N], repeats_L[-1])
    shares = (one.astype(float) for one in (failed, passed, ~any_N))
    return dict(zip(OUTCOMES, (*shares, taken), strict=True))


def specified(gates: Gates, cap: int = CAP) -> dict[str, Array]:
    """The sequential test alone."""
    worse_NL, better_NL, repeats_L = counted(gates, cap)
    steps, empty = (gate.sprt(1, 0).statistic, gate.sprt(0, 1).statistic), gate.sprt(0, 0)
    statistic_NL = steps[0] * worse_NL + steps[1] * better_NL
    return stopped(statistic_NL >= empty.fail_at, statistic_NL <= empty.pass_at, repeats_L)


def e_process(gates: Gates, cap: int = REPEATS) -> dict[str, Array]:
    worse_NL, better_NL, repeats_L = counted(gates, cap)
    fail_NL = np.vectorize(reaches)(worse_NL, better_NL)
    return stopped(fail_NL, np.zeros_like(fail_NL), repeats_L)


@cache
def reaches(worse: int, better: int) -> bool:
    return gate.e_process(worse, better).decision == "fail"


def shipped(gates: Gates) -> dict[str, Array]:
    """What a check does, by the code of the package."""
    found = []
    for before_TR, after_TR in zip(gates.before_NTR[..., :CAP], gates.after_NTR[..., :CAP], strict=True):
        found.append(gate.watch(before_TR, after_TR, np.ones(before_TR.shape, dtype=bool)))
    decisions, tasks = np.array([one.decision for one in found]), gates.before_NTR.shape[1]
    shares = ((decisions == outcome.lower()).astype(float) for outcome in OUTCOMES[:3])
    return dict(zip(OUTCOMES, (*shares, np.array([one.used / tasks for one in found])), strict=True))


def _both(name: str, reps: int) -> Values:
    gates = simulate(name, reps, CAP)
    ours = {f"shipped {metric}": values for metric, values in shipped(gates).items()}
    return specified(gates) | ours


def plus_two_drop(before_NT: Array, after_NT: Array) -> Mask:
    """Whether the lower one-sided 95 % limit of each gate's drop is above 0; NaN: a task that is left out."""
    drop_NT = before_NT - after_NT
    count_N = (~np.isnan(drop_NT)).sum(axis=1) + 2
    mean_N = np.nansum(drop_NT, axis=1) / count_N
    error_N = (((np.nansum(drop_NT**2, axis=1) + 2) / count_N - mean_N**2) / count_N) ** 0.5
    quantile_N = np.vectorize(cache(partial(t_quantile, 0.95)))(count_N - 1.0)
    return np.asarray(mean_N > quantile_N * error_N)


@cache
def _sign_p(worse: int, better: int) -> float:
    """One-sided p of the sign test."""
    from scipy import stats  # lazy: slow import

    return float(stats.binom.sf(worse - 1, worse + better, 0.5))


def _sign_test(gates: Gates, repeats: int) -> Mask:
    change_NP = (gates.after_NTR - gates.before_NTR)[..., :repeats].reshape(len(gates.after_NTR), -1)
    return np.asarray(np.vectorize(_sign_p)((change_NP < 0).sum(axis=1), (change_NP > 0).sum(axis=1)) <= 0.05)


def _rules(name: str, reps: int) -> Values:
    gates = simulate(name, reps)
    before_N, after_N = (side_NTR[..., 0].mean(axis=1) for side_NTR in (gates.before_NTR, gates.after_NTR))
    error_N = ((before_N * (1 - before_N) + after_N * (1 - after_N)) / gates.before_NTR.shape[1]) ** 0.5
    before_NT = gates.before_NTR.mean(axis=2)
    sequential = (e_process(gates), specified(gates, REPEATS))
    rules = (
        before_N > after_N,
        before_N - after_N > 0.05,
        before_N - after_N > 1.6449 * error_N,
        _sign_test(gates, 1),
        plus_two_drop(before_NT, gates.after_NTR[..., 0]),
        plus_two_drop(before_NT, gates.after_NTR[..., :3].mean(axis=2)),
        _sign_test(gates, 3),
        *(found[metric] for found in sequential for metric in ("FAIL", "repeats")),
    )
    return dict(zip(RULES, rules, strict=True))


_USES = (simulate, chances_of, counted, stopped, specified, gate._ends, gate.sprt)
_SHIPPED = (shipped, gate.watch, gate._Terms, gate.non_inferior, gate._one_sided, gate._mean_drop, gate._seen)


def _cells(table: str, names: list[str], run: Callable[[str, int], Values], uses: tuple[object, ...]) -> list[Cell]:
    return [Cell(table, name, partial(run, name), GATES, 500, (run, *_USES, *uses)) for name in names]


def gate_cells() -> list[Cell]:
    return _cells("gate", [f"{tasks}|{drop}" for tasks in (50, 100, 200) for drop in DROPS], _both, _SHIPPED)


def rule_cells() -> list[Cell]:
    names = [name for name, _ in _published_rules()]
    names += [f"{tasks}|churn" for tasks in (50, 100, 200)]
    return _cells("gate rules", names, _rules, (plus_two_drop, _sign_test, e_process, gate.e_value))


def edge_cells() -> list[Cell]:
    ceilings = [f"{tasks}|{score}-{drop}" for score in (".95", ".99") for tasks in (64, 100) for drop in (0, 10, 20)]
    identical = [f"{tasks}|identical" for tasks in (20, 35, 64, 100)]
    small = [f"{tasks}|{drop}" for tasks in (20, 35, 64) for drop in (0, 10, 20)]
    moved = ["100|breaks", *(f"{tasks}|churn" for tasks in (50, 100, 200))]
    lost = [f"100|{drop} lost" for drop in (0, 10, 20)]
    return _cells("gate edges", [*ceilings, *identical, *small, *moved, *lost], _both, _SHIPPED)


def _number(text: str) -> tuple[float, float]:
    """A published number, and the step it is rounded to."""
    return float(text), 10.0 ** -len(text.partition(".")[2])


def _known(text: str, reps: int, share: bool) -> Known:
    value, step = _number(text)
    return Known(value, value, reps, step, share)


def gate_published() -> dict[tuple[str, str], Known]:
    found = {}
    for line in published.GATE.strip().splitlines():
        drop, *sizes = line.split("|")
        for tasks, texts in zip((50, 100, 200), sizes, strict=True):
            for metric, text in zip(OUTCOMES, texts.split("/"), strict=True):
                found[f"{tasks}|{drop}", metric] = _known(text.strip(), 2_000, metric != "repeats")
    return found


def _published_rules() -> list[tuple[str, dict[str, str]]]:
    rows = []
    for line in published.GATE_RULES.strip().splitlines():
        tasks, change, *texts = line.split("|")
        rows.append((f"{tasks}|{change}", dict(zip(RULES, texts, strict=True))))
    return rows


def rules_published() -> dict[tuple[str, str], Known]:
    return {
        (name, rule): _known(text, 1_000, "repeats" not in rule)
        for name, texts in _published_rules()
        for rule, text in texts.items()
        if text != "-"
    }

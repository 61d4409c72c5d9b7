"""Everything a report prints about one run, from one array of trials."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import across, spread
from .cells import Cells, cell_means, column_means, judged_columns, judged_tasks
from .effects import AxisEffect, AxisEffects, AxisShare, axis_effects, within_range
from .estimate import MIN_TASKS_FOR_INTERVALS, MIN_TASKS_FOR_PRECISION, UNKNOWN, Array, Estimate, Mask, lowest
from .floor import ceiling, lower_limits
from .groups import MIN_GROUPS, Groups, units
from .missing import Lost, lost_trials
from .paired import worst_set
from .posterior import Posterior, posterior
from .spread import Spread
from .verdicts import Comparison, Verdict, compare_to_canonical

__all__ = [
    "AxisEffect",
    "AxisEffects",
    "AxisShare",
    "Estimate",
    "HarnessSummary",
    "Lost",
    "Origin",
    "Quantiles",
    "Spread",
    "Summary",
    "Verdict",
    "Worst",
    "summarise",
]

Levels = Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Worst:
    """WORST over the tested harnesses; name a harness only when `candidates` has one member."""

    score: Estimate
    p_worst: tuple[float | None, ...]  # one a harness: posterior probability of being the worst; None: never judged
    candidates: tuple[int, ...]  # holds the true worst with probability >= .95; likeliest first; empty: unknown


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles over the tested harnesses."""

    q10: Estimate
    q50: Estimate
    q90: Estimate


@dataclass(frozen=True, slots=True)
class HarnessSummary:
    """One harness. `score` is shrunken (posterior mean), so that scores, WORST and GAP add up; `raw` is as measured.

    Below 20 tasks `score` is the raw mean.
    """

    score: Estimate
    raw: float | None  # plain mean over judged tasks
    floor: float | None  # one-sided 95 % lower limit, model-free
    difference: Estimate  # to canonical; limits hold for all harnesses together; unknown for canonical itself
    p_adjusted: float | None  # of "no difference to canonical", adjusted for all harnesses
    verdict: Verdict | None  # None for canonical itself
    reason: str | None  # why the verdict is withheld, in words
    extra_tasks: int | None  # roughly how many more tasks would decide; None: unknown or not needed
    detectable: float | None  # difference to canonical found with 80 % power beside all others
    planned: int  # trials
    judged: int
    lost: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All estimates of one run: proportions 0..1, None where unknown. Harnesses keep the order of the input."""

    tasks: int  # with at least one judged trial
    groups: int  # of these tasks, such as repositories: the units of sampling; equal to `tasks` where none was named
    sampled: int | None  # tested harnesses drawn at random from the family; None: how they were chosen is not known
    canonical: Estimate
    mean: Estimate  # over the tested harnesses
    mean_family: Estimate  # generalising to the family, from the harnesses drawn from it at random
    worst: Worst
    floor: Estimate  # every tested harness is at least `estimate` (one-sided 95 %, model-free); no low, no high
    ceiling: Estimate  # the worst tested harness is at most `estimate` (one-sided 95 %); no low, no high
    gap: Estimate  # canonical - WORST
    worst_at_8: Estimate  # expected minimum of 8 harnesses (of those drawn at random, if 8 are); unknown below 8
    cvar10: Estimate  # mean of the lowest tenth of harnesses
    quantiles: Quantiles
    spread: Spread
    pass_k: Mapping[int, Estimate]  # k = 1, 2, 4, ...: chance that k different harnesses all pass a task
    solved_by_every: float | None
    solved_by_none: float | None
    raw_min: float | None  # biased low: do not quote
    raw_min_bias: float | None  # how far it lies low on average when all harnesses are equal (<= 0)
    harnesses: tuple[HarnessSummary, ...]
    effects: AxisEffects
    lost: Lost
    low_precision: bool  # fewer than 50 tasks: read with care, verdicts stay "unclear"
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where tasks and harnesses come from, which decides what may be concluded from them to others."""

    groups: Sequence[Hashable] | None = None  # the group of each task, such as its repository; None: each stands alone
    sampled: Sequence[int] | None = None  # harnesses drawn at random from the family; None: not known, all may be

    def summarise(
        self, score_THR: Array, valid_THR: Mask, canonical: int, levels: Sequence[Levels], *, seed: int
    ) -> Summary:
        """`summarise` of tasks and harnesses of this origin. Raises ValueError when there are not as many groups."""
        cells = cell_means(score_THR, valid_THR)
        harnesses = cells.mean_TH.shape[1]
        if not 0 <= canonical < harnesses or len(levels) != harnesses:
            raise ValueError(f"{harnesses} harnesses, {len(levels)} of them with levels, canonical {canonical}")
        if self.groups is not None and len(self.groups) != len(cells.mean_TH):
            raise ValueError(f"{len(cells.mean_TH)} tasks, {len(self.groups)} of them with a group")
        tested, judged_T = judged_columns(cells.mean_TH), judged_tasks(cells.mean_TH)
        groups = Groups.of(self.groups)
        mean_TH, kept = cells.mean_TH[judged_T][:, tested], groups and groups.rows(judged_T)
        draws = posterior(mean_TH, np.random.default_rng([seed, 0]), kept)
        run = _Run(cells, mean_TH, tuple(tested.tolist()), canonical, draws, seed, groups, kept, self.sampled)
        effects = axis_effects(cells.mean_TH, levels, levels[canonical] or {}, groups)
        return _summary(run, within_range(effects))


def summarise(score_THR: Array, valid_THR: Mask, canonical: int, levels: Sequence[Levels], *, seed: int) -> Summary:
    """Everything a report prints, of tasks that stand alone and harnesses of unknown origin (else: `Origin.summarise`).

    score_THR: scores 0..1 of task, harness, repeat. **NaN marks a slot that was never planned** (padding, when
    harnesses have different numbers of repeats); a planned trial that was lost carries any number, say 0.
    valid_THR: True where a verdict exists; False for lost trials and for padding.
    canonical: index of the canonical harness.  levels: for each harness its level on each axis, axis -> label; None for
    one that is no harness of levels, which no effect rests on.
    Raises ValueError when shapes disagree, a valid score is outside 0..1, or there is no harness.
    """
    return Origin().summarise(score_THR, valid_THR, canonical, levels, seed=seed)


@dataclass(frozen=True, slots=True)
class _Run:
    cells: Cells
    mean_TH: Array  # of the tested harnesses, over tasks with a judged trial
    tested: tuple[int, ...]
    canonical: int
    draws: Posterior
    seed: int
    groups: Groups | None  # of all tasks
    kept: Groups | None  # of the tasks with a judged trial
    chosen: Sequence[int] | None

    def rng(self, purpose: int) -> np.random.Generator:
        """A stream of its own for each purpose, so that one procedure never shifts another."""
        return np.random.default_rng([self.seed, purpose])

    def position(self, harness: int) -> int | None:
        """Column of a harness among the tested ones."""
        return self.tested.index(harness) if harness in self.tested else None

    @property
    def sampled(self) -> list[int]:
        """Columns that speak for the family: the harnesses drawn at random, or all where that is not known."""
        return [at for at, harness in enumerate(self.tested) if self.chosen is None or harness in self.chosen]


def _summary(run: _Run, effects: AxisEffects) -> Summary:
    mean_TH, draws, canonical = run.mean_TH, run.draws, run.position(run.canonical)
    worst = _worst(run)
    candidates = [run.tested.index(harness) for harness in worst.candidates]
    floors = lower_limits(run.cells.mean_TH, run.groups)
    lost = lost_trials(run.cells, worst.score.estimate, run.rng(3), run.groups)
    harnesses = _harnesses(run, floors)
    return Summary(
        tasks=len(mean_TH),
        groups=units(np.ones(len(mean_TH), dtype=bool), run.kept),
        sampled=None if run.chosen is None else len(run.sampled),
        canonical=UNKNOWN if canonical is None else harnesses[run.canonical].score,
        mean=spread.mean_of_tested(mean_TH, run.kept),
        mean_family=spread.mean_of_family(mean_TH[:, run.sampled], run.kept),
        worst=worst,
        floor=Estimate(lowest([floors[harness] for harness in run.tested])),
        ceiling=Estimate(ceiling(mean_TH, candidates, run.rng(2), run.kept)),
        gap=UNKNOWN if canonical is None else draws.gap(canonical),
        worst_at_8=draws.worst_at(8, run.sampled if len(run.sampled) >= 8 else None),
        cvar10=draws.lowest_tenth(),
        quantiles=Quantiles(draws.quantile(0.1), draws.quantile(0.5), draws.quantile(0.9)),
        spread=_spread(run),
        pass_k=across.pass_powers(mean_TH, run.kept),
        solved_by_every=across.solved_by_every(mean_TH),
        solved_by_none=across.solved_by_none(mean_TH),
        raw_min=lowest(column_means(mean_TH)),
        raw_min_bias=spread.minimum_bias(mean_TH, run.kept),
        harnesses=harnesses,
        effects=effects,
        lost=lost,
        low_precision=len(mean_TH) < MIN_TASKS_FOR_PRECISION,
        notes=_notes(run, lost, effects),
    )


def _spread(run: _Run) -> Spread:
    """Over the tested harnesses; the family's from those drawn at random alone."""
    found = spread.spread(run.mean_TH, run.kept)
    if len(run.sampled) == len(run.tested):
        return found
    return replace(found, family=spread.spread(run.mean_TH[:, run.sampled], run.kept).family)


def _worst(run: _Run) -> Worst:
    positions = [run.position(harness) for harness in range(run.cells.mean_TH.shape[1])]
    p_worst = tuple(None if at is None else run.draws.p_worst(at) for at in positions)
    candidates = [run.tested[at] for at in worst_set(run.mean_TH, run.rng(1), run.kept)]
    return Worst(run.draws.worst(), p_worst, tuple(sorted(candidates, key=lambda harness: -(p_worst[harness] or 0.0))))


def _harnesses(run: _Run, floors: list[float | None]) -> tuple[HarnessSummary, ...]:
    compared = compare_to_canonical(run.cells, run.canonical, run.seed, run.groups)
    return tuple(_harness(run, harness, floors[harness], found) for harness, found in enumerate(compared))


def _harness(run: _Run, harness: int, floor: float | None, compared: Comparison) -> HarnessSummary:
    at = run.position(harness)
    score = UNKNOWN if at is None else run.draws.score(at)
    (raw,) = column_means(run.cells.mean_TH[:, [harness]])
    planned, judged = int(run.cells.planned_TH[:, harness].sum()), int(run.cells.judged_TH[:, harness].sum())
    judgement = compared.judgement
    return HarnessSummary(
        score=score if score.estimate is not None else Estimate(raw),
        raw=raw,
        floor=floor,
        difference=compared.difference,
        p_adjusted=compared.p_adjusted,
        verdict=judgement.verdict if judgement else None,
        reason=judgement.reason if judgement else None,
        extra_tasks=judgement.extra_tasks if judgement else None,
        detectable=compared.detectable,
        planned=planned,
        judged=judged,
        lost=planned - judged,
    )


def _notes(run: _Run, lost: Lost, effects: AxisEffects) -> tuple[str, ...]:
    tasks, harnesses = run.mean_TH.shape
    said = [
        (tasks < MIN_TASKS_FOR_INTERVALS, f"fewer than {MIN_TASKS_FOR_INTERVALS} tasks: no intervals, no p values"),
        (tasks < MIN_TASKS_FOR_PRECISION, f"fewer than {MIN_TASKS_FOR_PRECISION} tasks: low precision, no verdicts"),
        (
            run.kept is not None,
            f"tasks come in {0 if run.kept is None else len(run.kept)} groups, which are the units of sampling",
        ),
        (
            run.kept is not None and len(run.kept) < MIN_GROUPS,
            f"fewer than {MIN_GROUPS} groups of tasks: no intervals, no p values",
        ),
        (harnesses < 4, "fewer than 4 harnesses: their noise is pooled, WORST is unchecked at this size"),
        (harnesses < run.cells.mean_TH.shape[1], "some harnesses have no judged trial and count nowhere"),
        (run.position(run.canonical) is None, "canonical has no judged trial: no gap, no comparisons"),
        (lost.flagged, "many trials were lost, or unevenly: compare WORST with its bounds"),
    ]
    return (*(text for applies, text in said if applies), *effects.notes)

"""The tables, in the order of the specification: what is simulated, what was published, and which columns are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness_eval.stats.intervals import MATRIX_LEVEL

from . import adaptive, effects, gate, gate_baseline, pairs, spread, worst
from .cells import Cell, Known


@dataclass(frozen=True)
class Column:
    metric: str
    title: str
    share: bool  # of repetitions, printed as .95; otherwise percentage points (or a count), printed as 1.5
    ideal: float | None = None  # what a better estimator is nearer to; None: no direction is better


@dataclass(frozen=True)
class Table:
    key: str
    title: str
    fields: str  # of the names of its cells
    cells: Callable[[], list[Cell]]
    published: Callable[[], dict[tuple[str, str], Known]]
    columns: tuple[Column, ...]
    note: str = ""


def _coverage(metric: str, title: str | None = None) -> Column:
    return Column(metric, title or metric, share=True, ideal=0.95)


def _points(metric: str, title: str | None = None, ideal: float | None = None) -> Column:
    return Column(metric, f"{title or metric}, pp", share=False, ideal=ideal)


_INTERVAL = (_points("bias", ideal=0.0), _points("RMSE", ideal=0.0), _coverage("coverage"), _points("width", ideal=0.0))
_OUTCOMES = tuple(
    Column(f"{rule}{metric}", f"{title}: {metric}", share=True)
    for rule, title in (("", "SPRT"), ("shipped ", "shipped"))
    for metric in gate.OUTCOMES
)
_ERRORS = tuple(_points(metric, ideal=0.0) for metric in ("q05", "q50", "q95", "min", "RMSE"))

TABLES = (
    Table(
        "worst",
        "WORST",
        "scenario | T,H,R | method",
        worst.worst_cells,
        worst.worst_published,
        _INTERVAL,
        "Published by cell: naive (200 repetitions) and hbdp (250), six of nine sizes. `hbdp as specified` follows the"
        " formulas to the letter (alpha 1, kappa 1); `hbdp as shipped` is the code of the package (alpha 2, kappa 2 or"
        " more). All methods see the"
        " same simulated studies.",
    ),
    Table(
        "extremes",
        "WORST where harnesses pass or fail nearly everything",
        "scenario | T,H,R | method",
        worst.extreme_cells,
        dict,
        _INTERVAL,
        "Not published: one harness at .02 among others at .65 (`dead`), and all at .98 (`perfect`). What is shipped"
        " widens kappa where a harness lies far out, gives a harness without variance half the binomial one, and never"
        " claims to know the task luck exactly.",
    ),
    Table(
        "floor",
        "FLOOR",
        "scenario | T,H,R",
        worst.floor_cells,
        worst.floor_published,
        (Column("held", "held", share=True, ideal=1.0), _points("slack", "truth - FLOOR")),
        "Published as ranges over 24 cells; slack at H = 32. `FLOOR` is one-sided at 95 %.",
    ),
    Table(
        "spread",
        "SPREAD net of noise",
        "scenario | T,H,R",
        spread.spread_cells,
        spread.spread_published,
        (
            _points("true SD"),
            _points("raw SD"),
            _points("net SD"),
            _coverage("coverage ncF"),
            _coverage("coverage jackknife"),
            _points("width ncF", ideal=0.0),
            _points("width jackknife", ideal=0.0),
            _points("true range"),
            _points("raw range"),
            _points("hbdp range"),
            _coverage("coverage range"),
        ),
        "A report prints the jackknife interval. The range of the draws is descriptive.",
    ),
    Table(
        "others",
        "GAP, WORST@8, CVaR10, the named worst and its sets",
        "scenario | T,H,R",
        spread.other_cells,
        spread.other_published,
        (
            _points("GAP true"),
            _points("GAP"),
            _points("GAP raw"),
            _coverage("GAP coverage"),
            _points("GAP width", ideal=0.0),
            _coverage("WORST@8 coverage"),
            _coverage("CVaR10 coverage"),
            _coverage("own score coverage"),
            Column("posterior set holds", "posterior set holds", share=True, ideal=1.0),
            Column("posterior set size", "size", share=False, ideal=0.0),
            Column("shared set holds", "same, ties shared: holds", share=True, ideal=1.0),
            Column("shared set size", "size", share=False),
            Column("worst set holds", "worst set holds", share=True, ideal=1.0),
            Column("worst set size", "size", share=False, ideal=0.0),
        ),
        "Canonical is a random tested harness. The posterior set was published with ties of a draw given to the first"
        " harness; a report shares them, which makes the set larger and lets it hold the worst. It names the members of"
        " the worst set (max-T).",
    ),
    Table(
        "pairs",
        "One paired difference: the +2 rule",
        "T,R,mean | drop",
        pairs.pair_cells,
        pairs.pair_published,
        (
            _coverage("paired t"),
            _points("paired t width", "width", 0.0),
            _coverage("+2 rule"),
            _points("+2 rule width", "width", 0.0),
            _coverage("unpaired"),
            _points("unpaired width", "width", 0.0),
            Column("zero width", "paired t of width zero", share=True, ideal=0.0),
        ),
        "Published as ranges over differences that are not named; here 0 and 3 pp, which have the widths at the ends of"
        " these ranges. The unpaired interval is Wald's.",
    ),
    Table(
        "simultaneous",
        "All differences from canonical at once: max-T",
        "scenario | T,H,R",
        pairs.together_cells,
        pairs.together_published,
        (_coverage("plain"), _coverage("with +2 rows")),
        "Published as ranges over five scenarios, and at the ceiling; `factor` was not published. A report uses the two"
        " pseudo-tasks.",
    ),
    Table(
        "losses",
        "Bias of the raw minimum when 6 % of the trials are lost unevenly",
        "scenario | T,H,R | shape",
        pairs.loss_cells,
        pairs.loss_published,
        tuple(_points(metric) for metric in ("nothing lost", "lost is failed", "lost is dropped", "rate of the worst")),
        f"How unevenly was not published: here rates are Gamma with shape {pairs.RATE_SHAPE}, which gives about the"
        " loss that was published for the apparent worst.",
    ),
    Table(
        "false alarms",
        "Effects of axes: false alarms with peculiar configurations (.15 logits)",
        "design | T",
        effects.alarm_cells,
        effects.alarm_published,
        (
            Column("without tau_r", "single contrasts without tau_r", share=True, ideal=0.05),
            Column("as shipped", "as shipped", share=True, ideal=0.05),
            Column("any after Holm", "any of all after Holm", share=True),
        ),
        "Share of idle levels with p below .05.",
    ),
    Table(
        "shares",
        "Effects of axes: variance of an axis, pp^2",
        "design | T",
        effects.share_cells,
        effects.share_published,
        tuple(
            Column(f"{axis} {kind}", f"{axis} {kind}", share=False)
            for axis in ("first", "second", "idle")
            for kind in ("raw", "net")
        ),
        "Truth: 17.5 and 4.3 for the two active axes (one bad level of -.8 and -.4 logits), 0 for the idle ones.",
    ),
    Table(
        "power",
        "Effects of axes: power of OFAT and L32",
        "design | T | drop",
        effects.power_cells,
        effects.power_published,
        (
            Column("plain single", "plain t: single contrast", share=True, ideal=1.0),
            Column("plain Holm", "after Holm", share=True, ideal=1.0),
            Column("single", "as shipped: single contrast", share=True),
            Column("Holm", "after Holm", share=True),
        ),
        "Published for the plain t test between tasks. What is shipped adds the +2 rule and lack of fit, which cost"
        " power here and keep false alarms down where configurations are peculiar.",
    ),
    Table(
        "hunt",
        "WORST after hunting: after every fifth of the tasks the better half is dropped",
        "scenario | T | crossing",
        adaptive.hunt_cells,
        adaptive.hunt_published,
        (*_INTERVAL, Column("chosen within 3 pp", "chosen within 3 pp", share=True, ideal=1.0)),
    ),
    Table(
        "budget",
        "WORST for a bill: uniform and halving, tasks without end",
        "scenario | trials | crossing",
        adaptive.budget_cells,
        adaptive.budget_published,
        _INTERVAL,
        "A fifth of the bill goes to each block of tasks, the better half is dropped after it, and survivors keep the"
        " tasks they have: blocks of 10, 20, 40, 80, 160 tasks for 1,600 trials, 30 to 480 for 4,800. The error of an"
        " RMSE follows from the squared errors of the studies: a worst harness dropped early is rare, and far off.",
    ),
    Table(
        "sparse",
        "Sparse crossing: mean absolute error",
        "trials | crossing",
        adaptive.sparse_cells,
        adaptive.sparse_published,
        tuple(
            Column(f"{name}: {column.metric}", f"{name}: {column.title}", share=False, ideal=0.0)
            for name in ("raw", "additive", "HB")
            for column in _ERRORS
        ),
        "64 harnesses, scenario factor, 200 tasks to draw from.",
    ),
    Table(
        "gate",
        "The gate: at most three repeats",
        "T | drop, pp",
        gate.gate_cells,
        gate.gate_published,
        _OUTCOMES,
        "The SPRT of discordant pairs after every quarter of the tasks, alone, as published; and as shipped, where"
        " limits of the drop may end a check too. Chances of tasks as elsewhere, about a score of .65; a drop moves all"
        " logits alike, which makes a quarter of the pairs discordant.",
    ),
    Table(
        "gate rules",
        "Other rules for a gate, and tests of up to five repeats: FAIL",
        "T | change",
        gate.rule_cells,
        gate.rules_published,
        tuple(Column(rule, rule, share=True) for rule in gate.RULES),
        "`0` to `20`: drop in pp. `breaks`: 15 % of the tasks are never solved again. `churn`: tasks move in both"
        " directions, the mean does not. v: repeats of the new side against those of the baseline (paired t, +2 rule);"
        " McNemar and the sign test are exact and one-sided.",
    ),
    Table(
        "gate edges",
        "The gate at ceilings, in small suites, with churn and with lost trials",
        "T | change",
        gate.edge_cells,
        dict,
        _OUTCOMES,
        "Not published. `.95-10`: a drop of 10 pp from .95. `identical`: each task always or never solved. `lost`: one"
        " trial in ten, on both sides.",
    ),
    Table(
        "gate subset",
        "The gate on tasks chosen by what the baseline solved: false alarms",
        "T | chosen",
        gate_baseline.subset_cells,
        dict,
        (
            Column("tasks", "tasks", share=False),
            _points("drop", "drop seen"),
            Column("SPRT", "SPRT: FAIL", share=True),
            Column("1 v 5", "paired t, 1 v 5: FAIL", share=True),
            Column("1 v 3", "1 v the 3 paired: FAIL", share=True),
        ),
        "Nothing changed. Chosen are tasks that the baseline solved, and a tenth of the others.",
    ),
    Table(
        "gate nights",
        "The e-process night after night: false alarms so far",
        "T | paired with",
        gate_baseline.night_cells,
        dict,
        tuple(Column(f"{nights} nights", f"{nights} nights", share=True) for nights in gate_baseline.NIGHTS),
        "Nothing changed. One new repeat a night, against the five repeats of a frozen baseline or new trials of it.",
    ),
    Table(
        "gate questions",
        "Canonical, WORST and SPREAD asked together: false alarms",
        "scenario | T,H,R",
        gate_baseline.question_cells,
        dict,
        (
            Column("canonical", "canonical", share=True),
            *(
                Column(f"{asked} {level}", f"{asked} {level}", share=True)
                for asked in ("WORST", "SPREAD", "any")
                for level in ("at 2.5 %", "as shipped")
            ),
        ),
        f"Nothing changed. Limits of WORST and SPREAD one-sided at 2.5 %, as a comparison has them, and at"
        f" {100 * MATRIX_LEVEL:g} %, as a check asks.",
    ),
)

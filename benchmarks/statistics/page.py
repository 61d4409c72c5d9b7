"""Results as Markdown: own value (published; difference in Monte-Carlo errors of both), marked beyond three."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from . import published
from .cells import Known, Result, Stat
from .tables import TABLES, Column, Table

LIMIT = 3.0  # Monte-Carlo errors
_EVERY_CELL = 63  # of the published summary of WORST
Results = Mapping[str, Mapping[str, Result]]  # table, then cell

_HOW_TO_READ = """\
- **published**: the simulation tables of the specification of these statistics, made by other code (each figure:
  `docs/statistics.md`). **Monte-Carlo error**: the standard error of a number from so many simulated studies. Every
  entry: own value (published; difference in Monte-Carlo errors of both). **differs** marks a difference of more than
  three; **better** one that is nearer to what it should be (coverage to .95, bias and width to 0). A published range
  counts as met anywhere inside. **Coverage**: how often a nominal 95 % interval holds the truth.
- **hbdp**: the model behind WORST (hierarchical Bayes, Dirichlet process), *as specified* with alpha and kappa 1, *as
  shipped* in this package. **naive**: the lowest plain mean with its own t interval. **max-T**: limits that hold for
  all harnesses at once, from the bootstrapped largest statistic. **+2 rows**: two pseudo-tasks, +1 and -1, added to
  each difference.
- **T,H,R**: tasks, harnesses, repeats. Studies are drawn from logit p = a + task + harness + cell, tasks N(0, 2.5²),
  cells N(0, 1). Draws in these simulations: 1,024 a study, a quarter of a report's.
- **Scenarios**, mean .65: `equal` harnesses; `mild` and `wide` differences (SD .25 and .6 logits, about 3 and 7 pp);
  `broken`, one harness 2 logits (about 25 pp) lower; `halfbad`, half of them .5 logits lower; `factor`, six axes of
  four levels, two of them bad; `ceiling`, as wide at a mean of .92.
- **SPRT**, **e-process**: sequential tests of pairs of the same task and repeat of which only one was solved. **FAIL**,
  **PASS**: share of simulated checks.
- **pp**: percentage points. **ncF**: interval of SPREAD from the noncentral F distribution. **OFAT**: one axis at a
  time. **L32**: the orthogonal array of 32 harnesses."""


@dataclass(frozen=True)
class Compared:
    table: str
    cell: str
    column: Column
    own: Stat
    known: Known
    distance: float

    @property
    def agrees(self) -> bool:
        return abs(self.distance) <= LIMIT

    @property
    def better(self) -> bool:
        """Outside, but nearer to what it should be."""
        ideal = self.column.ideal
        if self.agrees or ideal is None:
            return False
        before = self.known.low if self.distance < 0 else self.known.high
        return abs(self.own.mean - ideal) < abs(before - ideal)

    @property
    def mark(self) -> str:
        return "" if self.agrees else " **better**" if self.better else " **differs**"


def stat(result: Result, metric: str) -> Stat | None:
    """A metric; the root mean square error follows from the errors.

    Its own error comes from the spread of the squares (the worst harness is missed rarely, but then by far), or from
    the normal distribution where they were not kept.
    """
    if metric == "RMSE" and "bias" in result.stats and "RMSE" not in result.stats:
        value, square = result.stats["bias"].root_mean_square, result.stats.get("squared error")
        return Stat(result.stats["bias"].reps, value, square.sd / (2 * value) if square else value / 2**0.5)
    return result.stats.get(metric)


def compared(table: Table, results: Mapping[str, Result]) -> list[Compared]:
    known = table.published()
    found = []
    for cell, result in results.items():
        for column in table.columns:
            own, other = stat(result, column.metric), known.get((cell, column.metric))
            if own is not None and own.reps and other is not None:
                found.append(Compared(table.key, cell, column, own, other, other.distance(own)))
    return found


def number(value: float, share: bool, signed: bool = False) -> str:
    text = f"{value:{'+' if signed else ''}.{3 if share else 1}f}"
    return text.replace("0.", ".", 1) if share and abs(value) < 1 else text


def _published(known: Known, share: bool) -> str:
    ends = [f"{end:g}" for end in dict.fromkeys((known.low, known.high))]
    return "-".join(end.replace("0.", ".", 1) if share and end.startswith("0.") else end for end in ends)


def entry(column: Column, own: Stat | None, found: Compared | None) -> str:
    if own is None or not own.reps:
        return "-"
    value = number(own.mean, column.share)
    if found is None:
        return value
    return f"{value} ({_published(found.known, column.share)}; {found.distance:+.1f}){found.mark}"


def table_lines(table: Table, results: Mapping[str, Result]) -> Iterable[str]:
    reps = sorted({result.reps for result in results.values()})
    found = compared(table, results)
    by_place = {(item.cell, item.column.metric): item for item in found}
    yield f"\n## {table.title}\n"
    yield f"{table.note} {' or '.join(map(str, reps))} repetitions a cell. {_tally(found)}\n".lstrip()
    names = [field.strip() for field in table.fields.split("|")]
    yield _row([*names, *(column.title for column in table.columns)])
    yield _row(["---"] * (len(names) + len(table.columns)))
    for cell, result in results.items():
        entries = [entry(c, stat(result, c.metric), by_place.get((cell, c.metric))) for c in table.columns]
        yield _row([*cell.split("|"), *entries])


def _row(fields: Iterable[str]) -> str:
    return f"| {' | '.join(fields)} |"


def _tally(found: list[Compared]) -> str:
    if not found:
        return "Nothing was published for these cells."
    better = sum(item.better for item in found)
    worse = sum(not item.agrees and not item.better for item in found)
    return (
        f"Of {len(found)} published numbers {len(found) - better - worse} are within {LIMIT:g} Monte-Carlo errors,"
        f" {better} outside and better, {worse} outside and not better."
    )


def worst_summary(results: Mapping[str, Result]) -> Iterable[str]:
    """The summary over all cells, beside the published one; extremes carry the error of their cell."""
    rows = {line.split("|")[0]: line.split("|")[1:] for line in published.WORST_SUMMARY.strip().splitlines()}
    titles = ("mean bias pp", "max abs bias pp", "RMSE pp", "mean coverage", "min coverage", "cells >= .93", "width pp")
    yield "\n### All cells together\n"
    yield _row(["method", "cells", *titles])
    yield _row(["---"] * (len(titles) + 2))
    for method in dict.fromkeys(name.split("|")[2] for name in results):
        some = [result for name, result in results.items() if name.endswith(f"|{method}")]
        before = [float(text.strip(" %")) for text in rows["hbdp" if "hbdp" in method else method]]
        texts = _summary(some, before, 250 if "hbdp" in method else 200)
        if len(some) < _EVERY_CELL:  # not comparable before all scenarios are in
            texts = [text.split("; ")[0].rstrip(")") + ")" for text in texts]
        yield _row([method, f"{len(some)} of {_EVERY_CELL}", *texts])


def _summary(results: list[Result], before: list[float], reps: int) -> list[str]:
    bias, coverage, width = ([r.stats[m] for r in results] for m in ("bias", "coverage", "width"))
    widest, lowest = max(bias, key=lambda s: abs(s.mean)), min(coverage, key=lambda s: s.mean)
    values: list[tuple[float, float | None, bool]] = [
        (*_mean(bias, reps), False),
        (abs(widest.mean), widest.error * (1 + widest.reps / reps) ** 0.5, False),
        (float(np.mean([s.root_mean_square for s in bias])), None, False),
        (*_mean(coverage, reps), True),
        (lowest.mean, lowest.error * (1 + lowest.reps / reps) ** 0.5, True),
        (100 * float(np.mean([s.mean >= 0.93 for s in coverage])), None, False),
        (*_mean(width, reps), False),
    ]
    texts = []
    for (value, error, share), known in zip(values, before, strict=True):
        distance = "" if error is None else f"; {(value - known) / error:+.1f}"
        texts.append(f"{number(value, share)} ({number(known, share)}{distance})")
    return texts


def _mean(stats: list[Stat], reps: int) -> tuple[float, float]:
    """Mean over cells, and the error of its difference to one from so many repetitions."""
    variance = sum(s.sd**2 * (1 / s.reps + 1 / reps) for s in stats) / len(stats) ** 2
    return float(np.mean([s.mean for s in stats])), variance**0.5


def criteria(results: Results) -> Iterable[str]:
    """What has to hold, and whether it does."""
    yield "\n## Criteria\n"
    yield _row(["criterion", "found", "holds"])
    yield _row(["---"] * 3)
    worst = results.get("worst", {})
    shares = {
        method: [r.stats["coverage"].mean for name, r in worst.items() if name.endswith(f"|{method}")]
        for method in ("naive", "hbdp as specified", "hbdp as shipped")
    }
    for method in ("hbdp as specified", "hbdp as shipped"):
        if shares[method]:
            mean = float(np.mean(shares[method]))
            yield _row([f"WORST, {method}: mean coverage at least .94", number(mean, True), _yes(mean >= 0.94)])
    if shares["naive"]:
        text = f"{number(float(np.mean(shares['naive'])), True)}, lowest {number(min(shares['naive']), True)}"
        yield _row(["the naive minimum for comparison: mean coverage .91, lowest .58", text, ""])
    padded = [result.stats["with +2 rows"].mean for result in results.get("simultaneous", {}).values()]
    if padded:
        text = f"mean {number(float(np.mean(padded)), True)}, lowest {number(min(padded), True)}"
        holds = float(np.mean(padded)) >= 0.94 and min(padded) >= 0.92
        yield _row(["max-T with +2 rows: at least .94 on average and .92 in every cell", text, _yes(holds)])
    above = [result.stats["above"].mean for result in worst.values() if "above" in result.stats]
    if above:
        text = f"mean {number(float(np.mean(above)), True)}, highest {number(max(above), True)}"
        yield _row(["lowest one-sided 97.5 % limit above the truth (published: mean .007, at most .045)", text, ""])
    yield from _of_the_gate(results.get("gate", {}))
    every = [item for table in TABLES for item in compared(table, results.get(table.key, {}))]
    apart = [item for item in every if item.cell.endswith("|hbdp as shipped")]
    yield from _reproduced([item for item in every if item not in apart], "published numbers reproduced", judged=True)
    if apart:  # held against numbers of the formulas that it departs from on purpose
        yield from _reproduced(apart, "the same of WORST, hbdp as shipped, which departs on purpose", judged=False)


# of the gate at 100 tasks: drop, outcome, the most or (negative) the least share of it
_GATE = (("0", "FAIL", 0.04), ("10", "FAIL", -0.84), ("10", "PASS", 0.08), ("20", "PASS", 0.005))


def _of_the_gate(results: Mapping[str, Result]) -> Iterable[str]:
    for drop, outcome, bound in _GATE:
        result = results.get(f"100|{drop}")
        if result is not None:
            shares = [result.stats[f"{rule}{outcome}"].mean for rule in ("shipped ", "")]
            asked = f"{'at most' if bound > 0 else 'at least'} {number(abs(bound), True)}"
            held = shares[0] <= bound if bound > 0 else shares[0] >= -bound
            text = f"{number(shares[0], True)} (SPRT alone {number(shares[1], True)})"
            yield _row([f"the gate at 100 tasks, a drop of {drop} pp: {outcome} {asked}", text, _yes(held)])


def _reproduced(items: list[Compared], what: str, *, judged: bool) -> Iterable[str]:
    outside = [item for item in items if not item.agrees and not item.better]
    text = f"{len(items) - len(outside)} of {len(items)}"
    yield _row([f"{what} within three Monte-Carlo errors, or better", text, _yes(not outside) if judged else ""])
    for item in outside:
        yield _row(
            [
                f"outside: {item.table}, {item.cell.replace('|', ' ')}, {item.column.title}",
                entry(item.column, item.own, item),
                "",
            ]
        )


def _yes(holds: bool) -> str:
    return "yes" if holds else "**no**"


def page(results: Results, form: str, seconds: float) -> str:
    lines = [
        "# The statistics, simulated again",
        "",
        f"Written by `make bench-statistics` ({form}). {seconds / 60:.0f} minutes of one core in all.",
        "",
        _HOW_TO_READ,
        *criteria(results),
    ]
    for table in TABLES:
        found = results.get(table.key)
        if found:
            lines += table_lines(table, found)
            lines += worst_summary(found) if table.key == "worst" else ()
    return "\n".join(lines) + "\n"

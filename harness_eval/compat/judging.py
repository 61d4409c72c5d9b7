"""The cells of one row, judged by the statistics of a report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness_eval.compat.document import Against, Cell, Figure, MainLabel, Margins, Subject
from harness_eval.compat.pooling import Pool, Pools, chosen, pools, table
from harness_eval.compat.targets import Part
from harness_eval.compat.versions import Current, Measured
from harness_eval.report import counts
from harness_eval.report.diagnosed import cause
from harness_eval.report.outcomes import Outcome
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.estimate import Estimate
    from harness_eval.stats.verdicts import Comparison

CANONICAL = "the canonical harness: others are compared with it"
_NO_CANONICAL = "no canonical harness is known to compare it with"
_NOT_RUN = "the canonical harness cannot run here, so there is nothing to compare with"
_LENGTH = 200


def judged(subject: Subject, parts: Sequence[Part], current: Current, margins: Margins) -> Iterator[Cell]:
    """The cells of a row, one a harness, without links; each compared with the canonical harness of its runs."""
    all_pools = pools(parts)
    shown = chosen(all_pools, current)
    together: dict[Measured | None, list[Pool]] = defaultdict(list)
    for pool in shown.values():
        together[pool.canonical].append(pool)
    for canonical, same in together.items():
        for cell in _judged_together(subject, all_pools, canonical, same, margins):
            yield cell.model_copy(update={"notes": (*cell.notes, *_others(all_pools, shown[cell.harness]))})


def _judged_together(
    subject: Subject, all_pools: Pools, canonical: Measured | None, same: Sequence[Pool], margins: Margins
) -> Iterator[Cell]:
    """Cells that are compared with one canonical harness: their limits hold for all of them together."""
    base = all_pools.get((canonical, canonical)) if canonical is not None else None
    taken = [*([base] if base is not None else []), *(pool for pool in same if pool is not base)]
    row = _Row.of([pool for pool in taken if pool.refused is None], base, margins)
    for pool in same:
        if pool.refused is not None:
            yield _cell(subject, pool, verdict="unsupported", reason=_why(pool.refused), withheld=True)
        else:
            yield _cell(subject, pool, **row.figures(pool))


@dataclass(frozen=True, slots=True)
class _Row:
    """Trials that are judged together, and what came of it by harness. `lost` says why canonical has no verdict."""

    outcomes: Mapping[str, Sequence[Outcome]]
    rates: Mapping[str, Estimate]
    tasks: Mapping[str, int]
    compared: Mapping[str, Comparison]
    base: Pool | None
    lost: str | None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, same: Sequence[Pool], base: Pool | None, margins: Margins) -> _Row:
        from harness_eval.stats.cells import cell_means  # lazy: slow import
        from harness_eval.stats.groups import Groups  # lazy: slow import
        from harness_eval.stats.intervals import mean_over_tasks  # lazy: slow import
        from harness_eval.stats.verdicts import Margins as Lines  # lazy: slow import
        from harness_eval.stats.verdicts import compare_to_canonical, too_much_lost  # lazy: slow import

        trials = table(same)
        names = _names(same, trials.outcomes)
        cells = cell_means(*counts.arrays(trials.outcomes, trials.tasks, names))
        groups = Groups.of(trials.groups)
        compared: dict[str, Comparison] = {}
        lost = None
        if base is not None and base.refused is None and base.harness.name in names:
            place, seed = names.index(base.harness.name), _seed(same)
            lines = Lines(margins.compatible, margins.broken)
            found = compare_to_canonical(cells, place, seed, groups, lines)
            compared = dict(zip(names, found, strict=True))
            lost = too_much_lost(cells, place)
        rates = {name: mean_over_tasks(cells.mean_TH[:, at], groups) for at, name in enumerate(names)}
        tasks = {name: int((cells.judged_TH[:, at] > 0).sum()) for at, name in enumerate(names)}
        return cls(counts.grouped(trials.outcomes), rates, tasks, compared, base, lost, trials.notes)

    def figures(self, pool: Pool) -> dict[str, Json]:
        """Everything of a cell that its trials say."""
        from harness_eval.stats.estimate import UNKNOWN  # lazy: slow import

        name = pool.harness.name
        outcomes = self.outcomes.get(name, ())
        trials = sum(outcome.judged for outcome in outcomes)
        return {
            "rate": _figure(self.rates.get(name, UNKNOWN)),
            "tasks": self.tasks.get(name, 0),
            "trials": trials,
            "lost": len(outcomes) - trials,
            "main_label": main_label(outcomes),
            "notes": self.notes,
            **self._verdict(pool),
        }

    def _verdict(self, pool: Pool) -> dict[str, Json]:
        found = self.compared.get(pool.harness.name)
        if pool.harness == pool.canonical:
            verdict = "unsupported" if self.lost else "compatible"
            return {"verdict": verdict, "reason": self.lost or CANONICAL, "withheld": True}
        if found is None or found.judgement is None:
            refused = self.base is not None and self.base.refused is not None
            return {"verdict": "unclear", "reason": _NOT_RUN if refused else _NO_CANONICAL, "withheld": True}
        return {
            "verdict": found.judgement.verdict,
            "reason": found.judgement.reason,
            "extra_tasks": found.judgement.extra_tasks,
            "difference": _figure(found.difference),
            "if_lost": tuple(map(_figure, found.if_lost)),
            "withheld": found.withheld,
            "p": found.p_adjusted,
            "pairs": found.pairs,
        }


def _names(same: Iterable[Pool], outcomes: Iterable[Outcome]) -> list[str]:
    """The harnesses that have trials, in the order of the runs that have them."""
    run = {outcome.harness for outcome in outcomes}
    parts = sorted({id(part): part for pool in same for part in pool.parts}.values(), key=lambda part: part.order)
    wanted = {pool.harness.name for pool in same} & run
    return [name for name in dict.fromkeys(name for part in parts for name in part.harnesses) if name in wanted]


def _seed(same: Iterable[Pool]) -> int:
    """That of the first run, so that a matrix of one run has the limits of its report."""
    first = min((part for pool in same for part in pool.parts), key=lambda part: part.order)
    return int(first.study.get("seed") or 0)


def _cell(subject: Subject, pool: Pool, **figures: Any) -> Cell:
    counted = {id(part): part for part, _ in pool.trials}.values() if pool.refused is None else pool.parts
    against = pool.canonical
    judged_of = Counter[str]()
    for part in counted:
        judged_of[part.source] += sum(outcome.judged for outcome in part.outcomes.get(pool.harness.name, ()))
    sources = sorted(judged_of)
    return Cell(
        subject=subject.id,
        harness=pool.harness.name,
        version=pool.harness.version,
        id=pool.harness.id,
        wire=pool.harness.wire,
        against=None if against is None else _against(against),
        measured=max((part.created for part in counted), default="") or None,
        sources=tuple(sources),
        source_trials=tuple(judged_of[source] for source in sources),
        **figures,
    )


def _against(harness: Measured) -> Against:
    return Against(harness=harness.name, version=harness.version, id=harness.id, wire=harness.wire)


def main_label(outcomes: Iterable[Outcome]) -> MainLabel | None:
    """The commonest cause of judged trials that were not solved; None where there is none, or nothing was recorded."""
    unsolved = (one for one in outcomes if one.score is not None and one.score < 1.0)
    met = Counter(cause(one) for one in unsolved)
    met = Counter({key: number for key, number in met.items() if key[0] != "unknown"})
    if not met:
        return None
    (owner, label), trials = min(met.items(), key=lambda item: (-item[1], item[0]))
    return MainLabel(label=one_line(label, _LENGTH), owner=owner, trials=trials)


def _others(all_pools: Pools, shown: Pool) -> Iterator[str]:
    """What else was measured of a harness and is not in its cell."""
    others = [pool for pool in all_pools.values() if pool.harness.name == shown.harness.name and pool is not shown]
    for pool in sorted(others, key=lambda each: (each.measured, each.harness.order)):
        if pool.harness != shown.harness:
            yield left_out(pool.harness, len(pool.trials), pool.measured)
        else:
            runs = sorted({part.name for part in pool.parts})
            yield f"{count(len(pool.trials), 'trial')} of {', '.join(runs)} are left out: another canonical harness."


def left_out(harness: Measured, trials: int, when: str | None) -> str:
    """How evidence is named that is not in a cell, since it is of another version."""
    version = f"version {one_line(harness.version, _LENGTH)}" if harness.version else "an unknown version"
    return f"Left out: {count(trials, 'trial')} of {version}{f', measured {when}' if when else ''}."


def _why(refused: Mapping[str, Json]) -> str:
    return one_line(refused.get("reason") or "it cannot run here", _LENGTH)


def _figure(estimate: Estimate) -> Figure:
    return Figure(estimate=estimate.estimate, low=estimate.low, high=estimate.high)


def judged_again(cell: Cell, margins: Margins) -> Cell:
    """The same cell by other margins, from what it keeps of its differences."""
    from harness_eval.stats.estimate import Estimate  # lazy: slow import
    from harness_eval.stats.verdicts import Margins as Lines  # lazy: slow import
    from harness_eval.stats.verdicts import judge_with_lost  # lazy: slow import

    if cell.withheld:
        return cell
    difference, *if_lost = (Estimate(one.estimate, one.low, one.high) for one in (cell.difference, *cell.if_lost))
    found = judge_with_lost(difference, cell.pairs, if_lost, Lines(margins.compatible, margins.broken))
    return cell.model_copy(update={"verdict": found.verdict, "reason": found.reason, "extra_tasks": found.extra_tasks})

"""The tables of DETECTION.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks.detection.judgement import Judgement
from benchmarks.detection.studies import Case
from harness_eval.reference.coupling import COUPLINGS
from harness_eval.stats.intervals import normal_quantile, wilson

Judged = Mapping[Case, Judgement]
HARNESSES = 32


def share(found: int, of: int) -> str:
    """`19/20 (76 to 99 %)`, with the 95 % Wilson interval."""
    if not of:
        return "not run"
    low, high = wilson(found / of, of, normal_quantile(0.975))
    return f"{found}/{of} ({100 * low:.0f} to {100 * high:.0f} %)"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _counted(judged: Judged, keep: Callable[[Case], bool], of: Callable[[Judgement], bool]) -> str:
    chosen = [each for case, each in judged.items() if keep(case)]
    return share(sum(map(of, chosen)), len(chosen))


def full_strength(judged: Judged, tasks: int) -> str:
    """One row a coupling: found, and innocent axes accused, in runs over so many tasks."""
    rows = []
    for name in COUPLINGS:
        keep = _of(name, 1.0, tasks)
        found = _counted(judged, keep, lambda each: each.level)
        axis = _counted(judged, keep, lambda each: each.axis)
        accused = _counted(judged, keep, lambda each: bool(each.accused))
        named = Counter(each.named for case, each in judged.items() if keep(case))
        rows.append([f"`{name}`", *COUPLINGS[name].hits, axis, found, accused, _most(named)])
    head = ["coupling", "its axis", "right axis", "right axis and level", "runs that accuse an innocent axis", "named"]
    return table(head, rows)


def _most(named: Counter[str]) -> str:
    return ", ".join(f"{name or 'nothing'} ({number})" for name, number in named.most_common(4))


def uncoupled(judged: Judged, tasks: Sequence[int]) -> str:
    """Runs of the uncoupled agent that accuse any axis."""
    rows = [
        [f"{number}", f"{number * HARNESSES}", _counted(judged, _plain(number), lambda each: bool(each.accused))]
        for number in tasks
    ]
    return table(["tasks", "trials a run", "runs that accuse any axis"], rows)


def _plain(tasks: int) -> Callable[[Case], bool]:
    return lambda case: not case.coupling and case.tasks == tasks


def growth(judged: Judged, tasks: Sequence[int], strengths: Sequence[float]) -> str:
    """Found (axis and level) by strength and number of trials."""
    settings = [(by, number) for by in strengths for number in tasks if any(map(_planted(by, number), judged))]
    rows = []
    for name in COUPLINGS:
        cells = [_counted(judged, _of(name, by, number), lambda each: each.level) for by, number in settings]
        rows.append([f"`{name}`", *cells])
    every = [_counted(judged, _planted(by, number), lambda each: each.level) for by, number in settings]
    head = ["found, by strength and trials", *(f"{by:g}: {number * HARNESSES:,}" for by, number in settings)]
    return table(head, [*rows, ["all", *every]])


def _of(name: str, strength: float, tasks: int) -> Callable[[Case], bool]:
    return lambda case: case == Case(name, strength, case.seed, tasks)


def _planted(strength: float, tasks: int) -> Callable[[Case], bool]:
    """Whatever it is that is planted."""
    return lambda case: bool(case.coupling) and (case.strength, case.tasks) == (strength, tasks)


def accused(judged: Judged) -> str:
    """Innocent axes that were accused while something was planted, by coupling and strength."""
    rows = []
    for name in COUPLINGS:
        for by in sorted({case.strength for case in judged if case.coupling == name}, reverse=True):
            chosen = [each for case, each in judged.items() if case.coupling == name and case.strength == by]
            axes = Counter(axis for each in chosen for axis in each.accused)
            if axes:
                told = ", ".join(f"{axis} {number}" for axis, number in axes.most_common())
                rows.append([f"`{name}`", f"{by:g}", share(sum(bool(e.accused) for e in chosen), len(chosen)), told])
    return (
        table(["coupling", "strength", "runs that accuse", "which axes, in how many runs"], rows) if rows else "None."
    )

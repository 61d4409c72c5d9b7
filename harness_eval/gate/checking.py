"""A new run against a baseline: the questions, what was found, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_eval import __version__
from harness_eval.gate import findings, wider
from harness_eval.gate.asked import MARGIN, Asked
from harness_eval.gate.deciding import Decided, decide
from harness_eval.gate.document import Check, Figure, Question, Side, Trials, Verdict
from harness_eval.gate.kept import Snapshot
from harness_eval.gate.matching import Matched, match
from harness_eval.gate.notes import notes, power
from harness_eval.gate.pairs import Pairs, means, pairs_of
from harness_eval.report.wording import count, one_line, percent

_EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 0, "incomplete": 3}


def check(before: Snapshot, after: Snapshot, asked: Asked | None = None) -> Check:
    """Check a new run against a baseline.

    FAIL where any question fails, else what the gated harness says. An inconclusive release exits with 1.

    Raises:
        ConfigError: the two differ in what was not accepted, have nothing in common, or lack the gated harness.
    """
    asked = asked or Asked()
    matched = match(before, after, asked)
    refused = matched.gated[1].refused
    pairs = pairs_of(matched, _cap(matched, asked))
    decided = None if refused else decide(pairs, asked)
    outcomes = pairs.outcomes()
    figures = _figures(pairs, asked)
    gated = _cannot_run(matched, refused) if decided is None else _gated(matched, decided, figures)
    questions = (gated, *(wider.questions(matched, asked.margin or MARGIN) if asked.matrix else ()))
    verdict: Verdict = "fail" if any(each.verdict == "fail" for each in questions) else gated.verdict
    return Check(
        verdict=verdict,
        exit_code=exit_code(verdict, asked.release),
        said=_said(questions),
        harness=matched.harness,
        before=_side(before, len(matched.gated[0].solved)),
        after=_side(after, len(matched.gated[1].solved)),
        questions=questions,
        decision=decided.decision if decided else None,
        flipped=findings.flipped(outcomes),
        improved=findings.flipped(outcomes, up=True),
        tasks=outcomes,
        grown=findings.grown(matched, pairs),
        quarantined=pairs.quarantined,
        changed=matched.changed,
        trials=Trials(most=0, judged=0, lost=0, missing=0) if refused else pairs.trials,
        lost=after.lost,
        notes=(*notes(matched, pairs, asked), *_power(figures, asked)),
        checked_by=f"harness-eval {__version__}",
    )


def exit_code(verdict: Verdict, release: bool) -> int:
    """What a process ends with; a release lets nothing through that is undecided."""
    return 1 if release and verdict == "inconclusive" else _EXIT_CODES[verdict]


def _cap(matched: Matched, asked: Asked) -> int:
    """How many repeats of the new run the gate may use; a sequential one has a baseline trial for each."""
    one, other = (len(side.solved) for side in matched.gated)
    if asked.release:
        return other
    return min(asked.cap, other) if asked.gate == "fixed" else min(asked.cap, other, one)


@dataclass(frozen=True, slots=True)
class _Figures:
    """The gated harness over the tasks that both sides have judged; `error` is the standard error of the change."""

    before: Figure
    after: Figure
    change: Figure
    error: float | None
    detectable: float | None
    tasks: int


def _figures(pairs: Pairs, asked: Asked) -> _Figures:
    import numpy  # lazy: slow import

    from harness_eval.stats.intervals import mean_over_tasks, normal_quantile  # lazy: slow import
    from harness_eval.stats.paired import plus_two  # lazy: slow import
    from harness_eval.stats.power import POWER  # lazy: slow import

    before_T, after_T = map(means, pairs.solved())
    both_T = ~numpy.isnan(before_T - after_T)
    before_T, after_T = before_T[both_T], after_T[both_T]
    if not len(before_T):
        return _Figures(Figure(), Figure(), Figure(), None, None, 0)
    known = [mean_over_tasks(side_T) for side_T in (before_T, after_T)]
    one, other = map(wider.figure, known)
    change = float((after_T - before_T).mean())
    if known[0].limits is None:
        return _Figures(one, other, Figure(estimate=change), None, None, len(before_T))
    test = plus_two(after_T - before_T)
    limits = Figure(estimate=change, low=max(-1.0, min(change, test.low)), high=min(1.0, max(change, test.high)))
    reach = normal_quantile(1 - asked.alpha) + normal_quantile(POWER)
    return _Figures(one, other, limits, test.error, reach * test.error, len(before_T))


def _gated(matched: Matched, decided: Decided, figures: _Figures) -> Question:
    decision, name = decided.decision, one_line(matched.harness, 60)
    solved = f"{percent(figures.before.estimate)} -> {percent(figures.after.estimate)} solved"
    counted = (
        f"{decision.worse} worse and {decision.better} better in {count(decision.pairs, 'pair')} of the same task "
        "and repeat"
    )
    end = decided.why or wider.end(decided.verdict, "worse")
    return Question(
        asked="canonical",
        verdict=decided.verdict,
        said=f"{name}: {solved}, {counted}: {end}",
        before=figures.before,
        after=figures.after,
        change=figures.change,
        detectable=figures.detectable,
    )


def _cannot_run(matched: Matched, reason: str | None) -> Question:
    said = f"{one_line(matched.harness, 60)} cannot run at the endpoint any more: {one_line(reason, 300)}"
    return Question(asked="canonical", verdict="fail", said=said, before=Figure(), after=Figure(), change=Figure())


def _said(questions: Sequence[Question]) -> str:
    """The outcome in one sentence: of the questions that fail, else of the gated harness."""
    told = [each.said for each in questions if each.verdict == "fail"] or [questions[0].said]
    return "; ".join(told)


def _power(figures: _Figures, asked: Asked) -> list[str]:
    if not asked.release or figures.error is None:
        return []
    return [power(asked.margin_of(figures.tasks), figures.error, asked.alpha, figures.tasks)]


def _side(snapshot: Snapshot, repeats: int) -> Side:
    return Side(
        name=snapshot.name,
        created=snapshot.created,
        endpoint=snapshot.endpoint.name,
        model=snapshot.endpoint.model,
        scripted=snapshot.endpoint.scripted,
        versions=snapshot.versions,
        tasks=len(snapshot.tasks),
        repeats=repeats,
    )

"""How the gated harness is decided: by the gate that was asked for, on the pairs that there are."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, Literal

from harness_eval.gate.asked import Asked
from harness_eval.gate.document import Decision, Look, Verdict
from harness_eval.gate.kept import NOT_RUN
from harness_eval.gate.pairs import Pairs, means
from harness_eval.report.wording import count

if TYPE_CHECKING:
    from harness_eval.stats.gate import LimitDecision, Needed, Watched

_MOST_PAIRS = 10_000  # that are counted until a sequential test decides
_ENDED = {"fail": "failed", "pass": "passed"}


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict with the decision it follows from; `why` says what is missing of an incomplete one."""

    verdict: Verdict
    decision: Decision
    why: str = ""


def decide(pairs: Pairs, asked: Asked) -> Decided:
    """Ask the gate. Incomplete where trials are missing that it needs, where lost ones could decide it, or are many.

    What a sequential gate decides rests on the trials up to its look, whatever became of those that were under way.
    """
    found = _watched(pairs, asked) if _sequential(asked) else _at_once(pairs, asked)
    if _sequential(asked) and found.verdict in ("pass", "fail"):
        return found
    why = _why_open(pairs, asked, found)
    return Decided("incomplete", found.decision.model_copy(update={"needed": ""}), why) if why else found


def _why_open(pairs: Pairs, asked: Asked, found: Decided) -> str:
    """What is missing of a check before it says anything; "" where nothing is."""
    trials = pairs.trials
    ended = trials.judged + trials.lost
    if _too_many(pairs, asked):
        share = f"{trials.lost / ended:.0%}, more than {asked.lost_limit:.0%}"
        return f"{count(trials.lost, 'trial')} of {ended:,} were lost ({share})"
    if _could_decide(pairs, asked, found.verdict):
        return f"{count(trials.lost, 'lost trial')} could decide it"
    if found.verdict == "inconclusive" and not found.decision.pairs:
        return "no pair of the same task and repeat has a verdict on both sides"
    return found.why


def _sequential(asked: Asked) -> bool:
    return not asked.release and asked.gate != "fixed"


def _too_many(pairs: Pairs, asked: Asked) -> bool:
    trials = pairs.trials
    return trials.lost > asked.lost_limit * (trials.judged + trials.lost)


def _could_decide(pairs: Pairs, asked: Asked, verdict: Verdict) -> bool:
    """Whether there would be a verdict, or the opposite one, if all lost trials had been solved, or if none had."""
    if not pairs.trials.lost or verdict == "incomplete":
        return False
    judge = _watched if _sequential(asked) else _at_once
    others = {"pass", "fail"} - {verdict}
    if asked.release and verdict == "pass":
        others = {"fail", "inconclusive"}  # a release is let through only where it is sure
    return any(judge(pairs.filled(solved), asked).verdict in others for solved in (True, False))


def _holds(pairs: Pairs, asked: Asked, verdict: Verdict) -> bool:
    """Whether a verdict on these trials bears those that were lost: they are few, and could not turn it around."""
    return not (_too_many(pairs, asked) or _could_decide(pairs, asked, verdict))


def _watched(pairs: Pairs, asked: Asked) -> Decided:
    from harness_eval.stats.gate import watch  # lazy: slow import

    before_TR, after_TR = pairs.verdicts()
    cap = min(before_TR.shape[1], after_TR.shape[1])
    before_TR, after_TR, ended_TR = before_TR[:, :cap], after_TR[:, :cap], (pairs.after_TR != NOT_RUN)[:, :cap]
    kind = _kind(asked)
    margin = asked.margin_of(len(pairs.tasks))
    seen = watch(
        before_TR,
        after_TR,
        ended_TR,
        aside=lambda trials: pairs.until(trials).out_T,
        stands=lambda trials, reached: _holds(pairs.until(trials), asked, reached),
        kind=kind,
        alpha=asked.alpha,
        beta=asked.beta,
        margin=margin,
    )
    last = seen.looks[-1] if seen.looks else None
    decision = Decision(
        gate=kind,
        by=seen.by,
        alpha=asked.alpha,
        beta=asked.beta if kind == "sprt" else None,
        margin=margin,
        worse=seen.worse,
        better=seen.better,
        pairs=last.pairs if last else 0,
        repeats=last.repeats if last else 0,
        cap=cap,
        statistic=seen.statistic,
        fail_at=seen.fail_at,
        pass_at=seen.pass_at,
        looks=tuple(Look(**{name: getattr(look, name) for name in Look.model_fields}) for look in seen.looks),
        needed=_more(seen, asked, margin, (before_TR, after_TR)),
    )
    if seen.waiting:
        return Decided("incomplete", decision, _missing(pairs))
    return Decided(seen.decision, decision)


def _kind(asked: Asked) -> Literal["sprt", "e-process"]:
    return "e-process" if asked.gate == "e-process" else "sprt"


def _missing(pairs: Pairs) -> str:
    return f"{count(pairs.trials.missing, 'trial')} of {pairs.trials.most:,} {_be(pairs.trials.missing)} missing"


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


def _more(seen: Watched, asked: Asked, margin: float, sides: tuple[Any, Any]) -> str:
    """What would have decided a sequential test that has run to its cap, "" for any other: pairs on one side alone, and
    repeats at the rate seen so far."""
    from harness_eval.stats.gate import e_process, needed, share_at, sprt  # lazy: slow import

    if seen.waiting or seen.decision != "inconclusive":
        return ""

    def decision(worse: int, better: int) -> str:
        if asked.gate == "e-process":
            return e_process(worse, better, asked.alpha).decision
        return sprt(worse, better, share=share_at(margin), alpha=asked.alpha, beta=asked.beta).decision

    worse, better = seen.worse, seen.better
    to_fail = next((more for more in range(_MOST_PAIRS) if decision(worse + more, better) == "fail"), _MOST_PAIRS)
    told = f"{_pairs_at(to_fail)} that became worse and none that became better would have failed it"
    if seen.pass_at is not None:
        to_pass = next((more for more in range(_MOST_PAIRS) if decision(worse, better + more) == "pass"), _MOST_PAIRS)
        told += f", {_pairs_at(to_pass)} that became better and none that became worse would have passed it"
    before_TR, after_TR = sides
    further = needed(before_TR, after_TR, kind=_kind(asked), alpha=asked.alpha, beta=asked.beta, margin=margin)
    return told + _as_it_went(further, *before_TR.shape)


def _pairs_at(more: int) -> str:
    return f"at least {more:,} more pairs" if more == _MOST_PAIRS else count(more, "more pair")


def _as_it_went(further: Needed, tasks: int, cap: int) -> str:
    """At the rates seen so far: further repeats for the sequential test, tasks for the limits."""
    told = []
    if further.repeats is not None:
        repeats = count(ceil(further.repeats), "more repeat")
        told.append(f"about {repeats} would have {_ENDED[further.decision]} it")
    if further.tasks is not None and further.tasks > tasks:
        told.append(f"about {further.tasks:,} tasks of {count(cap, 'repeat')} would have passed it")
    return f"; at the rates seen so far {', '.join(told)}" if told else ""


def _at_once(pairs: Pairs, asked: Asked) -> Decided:
    """The fixed and the release gate: the means of all repeats of both sides, looked at once."""
    from harness_eval.stats.gate import fixed, non_inferior  # lazy: slow import

    before_TR, after_TR = pairs.solved()
    drop_T, margin = means(before_TR) - means(after_TR), asked.margin_of(len(pairs.tasks))
    found = (non_inferior if asked.release else fixed)(drop_T, margin, asked.alpha)
    paired = min(before_TR.shape[1], after_TR.shape[1])
    change_TR = after_TR[:, :paired] - before_TR[:, :paired]
    decision = Decision(
        gate="release" if asked.release else "fixed",
        by="none" if found.decision == "inconclusive" else "limits",
        alpha=asked.alpha,
        beta=None,
        margin=margin,
        worse=int((change_TR < 0).sum()),
        better=int((change_TR > 0).sum()),
        pairs=int((change_TR == change_TR).sum()),
        repeats=float(pairs.trials.judged + pairs.trials.lost) / max(1, len(pairs.tasks)),
        cap=after_TR.shape[1],
        statistic=None,
        fail_at=None,
        pass_at=None,
        needed=_times(found, margin, asked.release) if found.decision == "inconclusive" else "",
    )
    if not pairs.ended.all():
        return Decided("incomplete", decision, _missing(pairs))
    return Decided(found.decision, decision)


def _times(found: LimitDecision, margin: float, release: bool) -> str:
    """How many times as many trials would have decided it at the drop that was seen."""
    drop, limits = found.drop.estimate, found.drop.limits
    if drop is None or limits is None:
        return "limits need at least 20 tasks with a verdict on both sides"
    reach, line = limits[1] - drop, margin if release else 0.0
    if not isfinite(reach):
        return "at so small an alpha no number of trials would have decided it"
    passed, failed = margin - drop, drop - line
    times = {"passed": (reach / passed) ** 2} if passed > 1e-9 else {}
    times |= {"failed": (reach / failed) ** 2} if failed > 1e-9 else {}
    if not times:
        return "at this drop, which is the margin itself, no number of trials would have decided it"
    outcome = min(times, key=lambda each: times[each])
    more = max(1.1, ceil(times[outcome] * 10) / 10)  # 1.0 times as many have been, and decided nothing
    return f"at this drop, about {more:.1f} times as many trials would have {outcome} it"

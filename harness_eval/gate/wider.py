"""The worst harness and the spread over harnesses: did either surely become worse?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from harness_eval.errors import listed
from harness_eval.gate.document import Figure, Question, Verdict
from harness_eval.gate.matching import Matched
from harness_eval.gate.pairs import rates
from harness_eval.report.wording import difference, one_line, percent, points

if TYPE_CHECKING:
    from harness_eval.stats.compare import Change, Movement
    from harness_eval.stats.estimate import Estimate

_SHOWN, _NAME = 3, 60  # harnesses in one sentence, and characters of a name


def questions(matched: Matched, margin: float) -> list[Question]:
    """Whether the worst harness and the spread surely became worse; nothing where fewer than 2 harnesses compare.

    Both have wider limits than a comparison's, so that three questions raise no more false alarms than one may.
    """
    import numpy  # lazy: slow import

    from harness_eval.stats.compare import compare  # lazy: slow import
    from harness_eval.stats.intervals import at_level  # lazy: slow import

    names = matched.harnesses
    if len(names) < 2:
        return []
    sides = (matched.before, matched.after)
    harnesses = [[each for name in names if (each := side.harness(name))] for side in sides]
    before_TH, after_TH = [
        numpy.column_stack([rates(side, harness, matched.tasks) for harness in each])
        for side, each in zip(sides, harnesses, strict=True)
    ]
    place = names.index(matched.harness)
    found = compare(before_TH, after_TH, matched.before.seed, place)
    if found.harnesses_compared < 2:
        return []
    worst, spread = (replace(each, change=at_level(each.change)) for each in (found.worst, found.spread))
    return [_worst(worst, margin, _fallen(names, found)), _spread(spread, margin)]


def _fallen(names: Sequence[str], found: Movement) -> str:
    """The harnesses that fell by at least half as much as the one that fell most, by their plain means."""
    fell = [
        (before - after, f"{one_line(name, _NAME)} ({percent(before)} to {percent(after)})")
        for name, before, after in zip(names, found.raw_before, found.raw_after, strict=True)
        if before is not None and after is not None and after < before
    ]
    most = max((each for each, _ in fell), default=0)
    return listed([told for each, told in sorted(fell, reverse=True) if each >= most / 2], _SHOWN)


def _worst(change: Change, margin: float, fallen: str) -> Question:
    low, high = change.change.limits or (None, None)
    verdict = _verdict(None if low is None else -low, None if high is None else -high, margin)
    moved = f"the worst harness: {percent(change.before.estimate)} before, {percent(change.after.estimate)} now"
    told = f", most under {fallen}" if verdict == "fail" and fallen else ""
    said = f"{moved}, a change of {_change(change)}: {end(verdict, 'worse')}{told}"
    return _question("worst", change, verdict, said)


def _spread(change: Change, margin: float) -> Question:
    low, high = change.change.limits or (None, None)
    verdict = _verdict(high, low, margin)
    moved = f"the spread over harnesses: {points(change.before.estimate)} before, {points(change.after.estimate)} now"
    return _question("spread", change, verdict, f"{moved}, a change of {_change(change)}: {end(verdict, 'wider')}")


def end(verdict: Verdict, how: str) -> str:
    """What a verdict says of something that may have become so: "worse", or "wider"."""
    return {
        "fail": f"it became {how}",
        "pass": f"it did not become {how} by more than the margin",
    }.get(verdict, f"it is not sure to have become {how}, nor not to have")


def _verdict(most: float | None, least: float | None, margin: float) -> Verdict:
    """Of limits of how much worse it became."""
    if most is None or least is None:
        return "inconclusive"
    return "fail" if least > 0 else "pass" if most < margin else "inconclusive"


def _change(change: Change) -> str:
    return difference(figure(change.change).model_dump(), signed=True)


def _question(asked: Literal["worst", "spread"], change: Change, verdict: Verdict, said: str) -> Question:
    return Question(
        asked=asked,
        verdict=verdict,
        said=said,
        before=figure(change.before),
        after=figure(change.after),
        change=figure(change.change),
        detectable=change.detectable,
    )


def figure(estimate: Estimate) -> Figure:
    """An estimate of the statistics as a document holds it."""
    return Figure(estimate=estimate.estimate, low=estimate.low, high=estimate.high)

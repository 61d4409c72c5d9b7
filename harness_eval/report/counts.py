"""What recorded trials add up to without any inference: losses, stop reasons, labels, exposure, the table of cells."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from harness_eval.report.outcomes import Outcome, Outcomes
from harness_eval.report.outcomes import column as field
from harness_eval.types import Json

UNLABELLED = "unlabelled"

_MESSAGES_SHOWN = 10


def arrays(
    outcomes: Sequence[Outcome],
    tasks: Sequence[str],
    harnesses: Sequence[str],
    score_of: Callable[[Outcome], float | None] | None = None,
) -> tuple[Any, Any]:
    """Scores (0..1) and validity as arrays of shape (tasks, harnesses, repeats).

    A lost trial is 0 and not valid; NaN marks what was never planned or has not been run yet. `score_of` is another
    reading of the trials.
    """
    import numpy  # lazy: slow import

    row = {name: place for place, name in enumerate(tasks)}
    column = {name: place for place, name in enumerate(harnesses)}
    known = [harness in column for harness in field(outcomes, "harness")]
    repeats = 1 + max(compress(field(outcomes, "repeat"), known), default=0)
    score = numpy.full((len(tasks), len(harnesses), repeats), numpy.nan)
    valid = numpy.zeros(score.shape, dtype=bool)
    given = field(outcomes, "score") if score_of is None else map(score_of, outcomes)
    names = (field(outcomes, name) for name in ("task", "harness", "repeat"))
    for task, harness, repeat, value in compress(zip(*names, given, strict=True), known):
        cell = row[task], column[harness], repeat
        score[cell], valid[cell] = value or 0.0, value is not None
    return score, valid


def cells(score: Any, valid: Any) -> list[list[float | None]]:
    """Mean score of each harness (outer) on each task (inner), to three decimals; None without a verdict."""
    judged = valid.sum(axis=2)
    total = (score * valid).sum(axis=2, where=valid)
    return [
        [round(float(total[t, h] / judged[t, h]), 3) if judged[t, h] else None for t in range(judged.shape[0])]
        for h in range(judged.shape[1])
    ]


def lost_labels(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    """Lost trials by owner and label, the most frequent first."""
    owners: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        if not outcome.judged:
            owners[outcome.owner][outcome.label or UNLABELLED] += 1
    ordered = sorted(owners.items(), key=lambda item: -item[1].total())
    return {owner: dict(labels.most_common()) for owner, labels in ordered}


def by_owner(lost: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Of lost trials by owner and label, how many each owner lost."""
    return {owner: sum(labels.values()) for owner, labels in lost.items()}


def lost_messages(outcomes: Iterable[Outcome]) -> list[dict[str, Json]]:
    """The most frequent messages of lost trials, each with its owner, label, count and harnesses."""
    met: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.score is None:
            met[outcome.owner, outcome.label, outcome.message].append(outcome.harness)
    frequent = sorted(met.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        {"owner": owner, "label": label, "message": message, "count": len(names), "harnesses": sorted(set(names))}
        for (owner, label, message), names in frequent[:_MESSAGES_SHOWN]
    ]


def by_harness(outcomes: Sequence[Outcome]) -> dict[str, dict[str, Json]]:
    """The tally of each harness that has results."""
    return {name: tally(group) for name, group in grouped(outcomes).items()}


def grouped(outcomes: Sequence[Outcome]) -> dict[str, Sequence[Outcome]]:
    """The trials of each harness that has any."""
    groups: dict[str, array[int]] = defaultdict(lambda: array("I"))
    for number, harness in enumerate(field(outcomes, "harness")):
        groups[harness].append(number)
    if isinstance(outcomes, Outcomes):
        return {name: outcomes.pick(numbers) for name, numbers in groups.items()}
    return {name: [outcomes[number] for number in numbers] for name, numbers in groups.items()}


def tally(group: Sequence[Outcome]) -> dict[str, Json]:
    """Counts of one group of trials; labels are counted once a trial. `cost` is None unless every trial was priced."""
    stops: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    tokens, seconds, cost, priced = 0, 0.0, 0.0, 0
    lost: list[Outcome] = []
    for outcome in group:
        tokens, seconds, cost = tokens + outcome.tokens, seconds + outcome.seconds, cost + (outcome.cost or 0.0)
        priced += outcome.cost is not None
        if outcome.score is not None:
            stops[outcome.stop] += 1
            labels.update(set(outcome.labels))
        else:
            lost.append(outcome)
    return {
        "judged": stops.total(),
        "lost": len(lost),
        "lost_by_owner": by_owner(lost_labels(lost)),
        "stops": dict(stops.most_common()),
        "labels": dict(labels.most_common()),
        "tokens": tokens,
        "seconds": round(seconds, 1),
        "cost": cost if group and priced == len(group) else None,
    }


def exposure(outcomes: Iterable[Outcome], levels: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, str], float]:
    """Share of the judged trials with a level (axis, label) in which its axis acted; no entry without such trials."""
    alike = Counter((outcome.harness, outcome.acted) for outcome in outcomes if outcome.score is not None)
    seen: Counter[tuple[str, str]] = Counter()
    acted: Counter[tuple[str, str]] = Counter()
    for (harness, axes), number in alike.items():
        for level in levels[harness].items():
            seen[level] += number
            acted[level] += number * (level[0] in axes)
    return {level: acted[level] / number for level, number in seen.items()}

"""What a reader of a check must know beside its verdict, a sentence each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from harness_eval.endpoints.named import of_kind
from harness_eval.errors import listed
from harness_eval.gate.asked import Asked
from harness_eval.gate.kept import LOST, NOT_RUN, SOLVED, Snapshot
from harness_eval.gate.matching import Matched
from harness_eval.gate.pairs import Pairs
from harness_eval.report.wording import count, one_line, percent, points

FEW_TASKS, FEW_REPEATS = 100, 5  # below which a baseline is less than what the gate was measured with
_OLD = timedelta(days=14)
_NAMES_SHOWN = 4


def small(snapshot: Snapshot, harness: str | None) -> Iterator[str]:
    """Where a baseline is smaller than the gate was measured with."""
    if len(snapshot.tasks) < FEW_TASKS:
        yield f"{count(len(snapshot.tasks), 'task')}, fewer than {FEW_TASKS}: many checks will be inconclusive"
    gated = snapshot.harness(harness) if harness else None
    if gated is not None and len(gated.solved) < FEW_REPEATS:
        told = count(len(gated.solved), "repeat")
        yield f"{told} of the harness {one_line(gated.name, 60)} in the baseline, fewer than {FEW_REPEATS}"
    if gated is not None and gated.judged and not gated.count(SOLVED):
        yield f"the baseline solved no trial of the harness {one_line(gated.name, 60)}: nothing can become worse"
    if gated is not None and (without := gated.count(LOST) + gated.count(NOT_RUN)):
        yield f"the baseline has no verdict of {count(without, 'trial')} of the harness {one_line(gated.name, 60)}"


def notes(matched: Matched, pairs: Pairs, asked: Asked) -> tuple[str, ...]:
    """All notes of a check, in a fixed order."""
    before, after = matched.before, matched.after
    found = [*small(before, matched.harness), *_cap(matched, pairs, asked), *_settings(before, after)]
    found += [
        *_adaptive(before, after, asked),
        *_age(before, after),
        *_known(before, after),
        *_groups(matched),
        *_harnesses(matched, asked),
    ]
    return tuple(found)


def _cap(matched: Matched, pairs: Pairs, asked: Asked) -> Iterator[str]:
    cap = pairs.after_TR.shape[1]
    if asked.release or not cap or cap >= asked.cap:
        return
    one, other = (len(side.solved) for side in matched.gated)
    whose = "the new run" if other <= one else "the baseline"
    yield f"at most {count(cap, 'repeat')} and not {asked.cap}, since {whose} has no more"


def _settings(before: Snapshot, after: Snapshot) -> Iterator[str]:
    if before.seed != after.seed:
        yield (
            f"different seeds ({before.seed} in the baseline, {after.seed} now): a task's trials share no draw, "
            "so fewer pairs agree"
        )
    version = "harness-eval"
    told = {
        "sandbox": (before.sandbox, after.sandbox),
        "recovery of leaked calls": (before.recovery, after.recovery),
        "order of trials": (before.order, after.order),
        version: (before.versions.get(version), after.versions.get(version)),
    }
    for what, (one, other) in told.items():
        if one and other and one != other:
            yield f"different {what}: {one_line(one, 60)} in the baseline, {one_line(other, 60)} now"


def _adaptive(before: Snapshot, after: Snapshot, asked: Asked) -> Iterator[str]:
    for title, side in (("baseline", before), ("new run", after)):
        if side.adaptive:
            told = "; worst and spread are not asked" if asked.matrix else ""
            yield f"the {title} is a hunt, whose results decided what its other harnesses met: of no use here{told}"


def _age(before: Snapshot, after: Snapshot) -> Iterator[str]:
    made, now = _time(before), _time(after)
    if made and now and now - made > _OLD:
        yield f"the baseline is {(now - made).days} days older than the new run: make it anew every {_OLD.days} days"
    if made and now and made > now:
        yield "the baseline was made after the new run: the other way round, what became better would be told as worse"
    if before.created and (before.name, before.created) == (after.name, after.created) and before == after:
        yield "both are the same run"


def _time(side: Snapshot) -> datetime | None:
    try:
        made = datetime.fromisoformat(side.created or "")
    except ValueError:
        return None
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def _known(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """What cannot be compared, since one side does not know it."""
    for title, side in (("baseline", before), ("new run", after)):
        if all(task.digest is None for task in side.tasks):
            yield f"the {title} knows no content of its tasks: names alone say what belongs together"
    for kind in ("model", "fingerprint"):
        one, other = of_kind(before.endpoint.served_as, kind), of_kind(after.endpoint.served_as, kind)
        if one & other and one != other:
            odd = listed([one_line(each, 60) for each in sorted(one ^ other)], _NAMES_SHOWN)
            yield f"the server named a {kind} in one run only: {odd}"


def _groups(matched: Matched) -> Iterator[str]:
    compared = set(matched.tasks)
    sizes = Counter(task.group for task in matched.after.tasks if task.group and task.name in compared)
    shared = [group for group, size in sizes.items() if size > 1]
    if shared:
        tasks = sum(sizes[group] for group in shared)
        yield (
            f"{tasks} of {count(len(compared), 'task')} come in {count(len(shared), 'group')} of one kind each: "
            "the verdict speaks of these tasks, and limits for others like them would be wider"
        )


def _harnesses(matched: Matched, asked: Asked) -> Iterator[str]:
    if not asked.matrix:
        return
    for harness in matched.after.harnesses:
        if harness.refused and harness.name != matched.harness:
            why = one_line(harness.refused, 300)
            yield f"the harness {one_line(harness.name, 60)} cannot run at the endpoint now: {why}"
    others = [
        each for each in matched.after.harnesses if each.name in matched.harnesses and each.name != matched.harness
    ]
    if without := sum(each.count(LOST) + each.count(NOT_RUN) for each in others):
        yield f"the new run has no verdict of {count(without, 'trial')} of the other harnesses"
    names = {harness.name for harness in matched.after.harnesses if harness.run}
    if len(names) > 1:
        one = [harness.name for harness in matched.before.harnesses if harness.run and harness.name not in names]
        other = [name for name in sorted(names) if name not in {each.name for each in matched.before.harnesses}]
        for where, odd in (("the baseline", one), ("the new run", other)):
            if odd:
                shown = listed([one_line(name, 60) for name in odd], _NAMES_SHOWN)
                told = "harness was" if len(odd) == 1 else "harnesses were"
                yield f"{len(odd)} {told} run in {where} only, so left out of worst and spread: {shown}"


def power(margin: float, error: float, alpha: float, tasks: int) -> str:
    """How often a release passes where nothing changed: by the formula, with the error that was seen."""
    from scipy import special  # lazy: slow import

    from harness_eval.stats.intervals import normal_quantile  # lazy: slow import

    chance = float(special.ndtr(margin / error - normal_quantile(1 - alpha)))
    return (
        f"with {count(tasks, 'task')}, this noise and a margin of {points(margin)} a release that changed nothing "
        f"passes in {percent(chance)} of such checks"
    )

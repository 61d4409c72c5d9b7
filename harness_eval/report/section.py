"""What a report says about one endpoint, as plain JSON: the estimates of `stats` joined with the recorded counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness_eval.report import basis, counts, diagnosed, external, hunted, support, undone
from harness_eval.report.common import in_common
from harness_eval.report.follows import followed_in
from harness_eval.report.health import health
from harness_eval.report.leading import UNKNOWN, difference, leading, score, too_few
from harness_eval.report.outcomes import Outcome, Outcomes
from harness_eval.report.reading import of_the_wire, readings
from harness_eval.report.recorded import Recorded, Spent, endpoint_of
from harness_eval.report.why import why
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.summary import Origin, Summary


def section(recorded: Recorded, endpoint: Mapping[str, Json]) -> dict[str, Json]:
    """Everything about one endpoint. Proportions are 0..1; what is unknown is None.

    Trials of a harness that cannot run here are in no figure: `trials.unsupported` counts them, run or not.
    """
    name = endpoint["name"]
    every = recorded.outcomes.whose("endpoint", lambda one: one == name)
    refused = support.unsupported(recorded, name, every)
    outcomes = every.whose("harness", lambda harness: harness not in refused) if refused else every
    levels = {harness["name"]: recorded.levels(harness) for harness in recorded.named("harnesses")}
    names, tasks, canonical = list(levels), recorded.names("tasks"), recorded.study.get("canonical")
    scores, valid = counts.arrays(outcomes, tasks, names)
    summary = _summarise(recorded, origin := _origin(recorded), scores, valid)
    reference = names.index(canonical) if canonical in names and canonical not in refused else None
    trials = _trials(outcomes, *hunted.planned(recorded, name, refused, every))
    made: dict[str, Json] = {
        "endpoint": endpoint_of(endpoint),
        **trials,
        "unsupported": [*support.nowhere(recorded), *refused.values()],
        "left_out": undone.left_out(recorded),
        "owed": undone.owed(recorded, name, outcomes, refused) if trials["incomplete"] else [],
        "hunt": hunted.hunt_of(recorded, name, refused),
        **_sizes(tasks, summary, valid),
        **leading(summary, names, reference),
        "harnesses": _harnesses(recorded, (summary, valid), outcomes, reference, refused),
        **external.shown_by(recorded, name, origin, (scores, valid)),
        **why(summary, counts.exposure(outcomes, levels), reference, support.void_axes(recorded, name)),
        **_caveats(summary, reference),
        "recovery": recorded.study.get("recovery"),
        "recovered": readings(outcomes, tasks, names),
        "of_the_wire": of_the_wire(outcomes, tasks, names),
        "labels": diagnosed.labels(every),
        "blame": diagnosed.blame(outcomes.unsolved),
        "endpoint_health": health(recorded.spent_at(name), outcomes.lost, recorded.probes.get(name)),
        "spent": _spent(recorded.spent_at(name)),
        "cells": {"tasks": tasks, "harnesses": names, "score": counts.cells(scores, valid)},
    }
    made["in_common"] = in_common(outcomes, levels, made)
    basis.stamp(made, recorded.study.get("seed"), bool(recorded.study.get("adaptive")))
    return made


def _sizes(tasks: Sequence[str], summary: Summary, valid: Any) -> dict[str, Json]:
    """How much there is; `n_clusters` are the groups of tasks, the units of sampling."""
    return {
        "n_tasks": len(tasks),
        "n_judged_tasks": summary.tasks,
        "n_clusters": summary.groups,
        "n_harnesses": int(valid.any(axis=(0, 2)).sum()),
    }


def _origin(recorded: Recorded) -> Origin:
    from harness_eval.stats.summary import Origin  # lazy: slow import

    names, drawn = recorded.names("harnesses"), recorded.study.get("sampled")
    sampled = None if drawn is None else [at for at, name in enumerate(names) if name in drawn]
    return Origin(_groups(recorded), sampled)


def _summarise(recorded: Recorded, origin: Origin, score: Any, valid: Any) -> Summary:
    harnesses, canonical = recorded.named("harnesses"), recorded.study.get("canonical")
    names = [harness["name"] for harness in harnesses]
    # Without a canonical harness there is nothing to compare a level with: what depends on it is dropped afterwards.
    known = canonical in names
    levels = [None if "external" in each else recorded.levels(each) if known else {} for each in harnesses]
    place = names.index(canonical) if known else 0
    return origin.summarise(score, valid, place, levels, seed=int(recorded.study.get("seed") or 0))


def _groups(recorded: Recorded) -> list[Hashable]:
    """The group of each task; a task without one stands alone."""
    return [task.get("group") or ("alone", task["name"]) for task in recorded.named("tasks")]


def _trials(outcomes: Outcomes, planned: int, unsupported: int) -> dict[str, Json]:
    """How many of the planned trials have a verdict, and whose fault it is where there is none."""
    without = outcomes.lost
    done = len(outcomes) + unsupported
    planned = max(planned, done)
    lost = counts.lost_labels(without)
    return {
        "trials": {
            "planned": planned,
            "judged": len(outcomes) - len(without),
            "lost": len(without),
            "unsupported": unsupported,
            "owed": planned - done,
        },
        "incomplete": planned > done,
        "lost": counts.by_owner(lost),
        "lost_labels": lost,
        "lost_messages": counts.lost_messages(without),
    }


def _harnesses(
    recorded: Recorded,
    found: tuple[Summary, Any],
    outcomes: Sequence[Outcome],
    reference: int | None,
    refused: Mapping[str, Mapping[str, Json]],
) -> list[dict[str, Json]]:
    """One entry a harness, in the study's order.

    `difference` is to the canonical harness, `detectable` the one that would have been found with 80 % power; `tasks`
    have a verdict, and stand in so many `clusters`. `follows` are levels that differ because those of `differs` do.
    """
    summary, valid = found
    harnesses = recorded.named("harnesses")
    usual = recorded.levels(harnesses[reference]) if reference is not None else {}
    tallies, groups = counts.by_harness(outcomes), _groups(recorded)
    ties = followed_in(recorded.study)
    empty = counts.tally(())
    entries = []
    for place, harness in enumerate(harnesses):
        name = harness["name"]
        entry: dict[str, Json] = {
            "harness": name,
            "id": harness.get("id"),
            "version": harness.get("version"),
            "canonical": place == reference,
            "external": "external" in harness,
            **_score(summary, place, reference),
            "tasks": int(valid[:, place].any(axis=1).sum()),
            "clusters": len({groups[task] for task in valid[:, place].any(axis=1).nonzero()[0]}),
            **tallies.get(name, empty),
            "differs": _differs(recorded.levels(harness), usual) if reference is not None else {},
            "follows": _follows(harness, harnesses[reference], ties) if reference is not None else {},
        }
        if name in refused:
            entry |= {"verdict": "unsupported", "reason": refused[name]["reason"], "extra_tasks": None}
        entries.append(entry)
    return entries


def _differs(levels: Mapping[str, str], usual: Mapping[str, str]) -> dict[str, str]:
    """The axes on which a harness has another level than the canonical one, with that level."""
    return {axis: label for axis, label in levels.items() if label != usual.get(axis)}


def _follows(
    harness: Mapping[str, Json], usual: Mapping[str, Json], ties: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """The axes that were not varied and differ all the same: the level, and the axis that decides it ("": unknown)."""
    own, other = harness.get("labels") or {}, usual.get("labels") or {}
    apart = _differs({axis: own[axis] for axis in ties if axis in own}, other)
    return {axis: {"level": level, "axis": ties[axis]} for axis, level in apart.items()}


def _score(summary: Summary, place: int, reference: int | None) -> dict[str, Json]:
    one = summary.harnesses[place]
    # of a harness that was not run yet nothing can be said
    compared = reference is not None and one.judged + one.lost > 0
    return {
        **score(summary, place),
        "plain": one.raw,
        "difference": UNKNOWN if reference is None or not compared else difference(summary, place, reference),
        "p_adjusted": one.p_adjusted if compared else None,
        "p_worst": None if too_few(summary) else summary.worst.p_worst[place],
        "verdict": one.verdict if compared else None,
        "reason": one.reason if compared else None,
        "extra_tasks": one.extra_tasks if compared else None,
        "detectable": one.detectable if compared else None,
    }


def _caveats(summary: Summary, reference: int | None) -> dict[str, Json]:
    notes = [*summary.notes, *summary.effects.notes]
    if reference is None:
        notes.append("no canonical harness ran here: gap, verdicts and effects of levels are unknown")
    if not summary.lost.judged:
        notes = ["no trial has been judged"]
    lost, usable = summary.lost, too_few(summary) is None
    return {
        "low_precision": summary.low_precision,
        "loss": {
            "rate": lost.rate,
            "p_equal": lost.p_equal,
            "flagged": lost.flagged,
            "worst_if_failed": lost.worst_if_failed if usable else None,
            "worst_if_passed": lost.worst_if_passed if usable else None,
        },
        "notes": list(dict.fromkeys(notes)),
    }


def _spent(spent: Spent) -> dict[str, Json]:
    """All attempts together; `cost` is None unless every attempt was priced."""
    priced = spent.attempts > 0 and not spent.unpriced
    return {
        "tokens": dict(spent.tokens),
        "cost": spent.cost if priced else None,
        "cost_known": spent.cost,
        "unpriced": spent.unpriced,
        "seconds": round(spent.seconds, 1),
        "steps": spent.steps,
        "attempts": spent.attempts,
    }

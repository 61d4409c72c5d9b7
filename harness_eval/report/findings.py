"""The findings of one endpoint in plain words, and the figures that lead, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness_eval.errors import listed
from harness_eval.report import diagnosis_words, effect_words, external_words, hunted
from harness_eval.report.wording import (
    SCRIPTED,
    UNKNOWN,
    count,
    difference,
    interval,
    one_line,
    p_value,
    percent,
    points,
    share,
)
from harness_eval.types import Json

_SET_SHOWN = 3
_RELIABLE = 0.5  # below it a ranking is mostly noise
_AT_RANDOM = 8  # harnesses drawn at random from which WORST@8 is taken from them alone
_EIGHT = 8  # harnesses that WORST@8 is the expected minimum of
_FOR_THE_FAMILY = 14  # from which more than half of the family statement's confidence is there
REFERENCE = "the reference harness, that all others are compared with"
NO_CANONICAL = "no canonical harness"
MARGIN = "margin 10 pp, simultaneous 95 %"  # of the verdicts

Section = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Headline:
    """One leading figure: its name, its value and interval in words, and what it means."""

    name: str
    value: str
    interval: str
    meaning: str


def title(section: Section) -> str:
    """The endpoint and its model; says so when no language model answers."""
    endpoint = section["endpoint"]
    name = endpoint["name"] if endpoint["model"] == endpoint["name"] else f"{endpoint['model']} at {endpoint['name']}"
    return f"{one_line(name)} ({SCRIPTED})" if endpoint["scripted"] else one_line(name)


def headlines(section: Section, data: Section) -> list[Headline]:
    """WORST, MEAN, SPREAD, GAP, FLOOR, CANONICAL, each with its interval."""
    tested = count(section["n_harnesses"], "tested harness")
    floor = section["floor"]["estimate"]
    canonical = data["canonical_harness"]
    spread = section["spread"]
    return [
        _rate("WORST", section["worst"], worst_phrase(section)),
        _rate("MEAN", section["mean"], f"over {tested}"),
        _points("SPREAD", spread, f"standard deviation between harnesses, net of noise{_beside_spread(section)}"),
        _points("GAP", section["gap"], _reason(section) or ("canonical minus WORST" if canonical else NO_CANONICAL)),
        Headline(
            "FLOOR",
            UNKNOWN if floor is None else f"≥ {percent(floor)}",
            "" if floor is None else "one-sided 95 %",
            _reason(section) or "every tested harness, free of any model",
        ),
        _rate("CANONICAL", section["canonical"], _canonical_phrase(canonical)),
    ]


def _canonical_phrase(name: str | None) -> str:
    """What the canonical harness is; its name where it has another."""
    if not name:
        return NO_CANONICAL
    return REFERENCE if name == "canonical" else f"{REFERENCE}, {one_line(name)}"


def _beside_spread(section: Section) -> str:
    """The spread with its noise, and how far the order of harnesses can be trusted."""
    raw, reliability = section["spread"]["raw"], section["reliability"]
    told = "" if raw is None else f" (raw {points(raw)})"
    if reliability is None:
        return told
    if reliability < _RELIABLE:
        return f"{told}; order unreliable ({reliability:.2f} of 1)"
    return f"{told}; reliability of order {reliability:.2f} of 1"


def _reason(section: Section) -> str:
    """Why what rests on WORST is unknown, if it is."""
    return one_line(section["worst"]["reason"] or "")


def _rate(name: str, figures: Section, meaning: str) -> Headline:
    return Headline(name, percent(figures["estimate"]), interval(figures), meaning)


def _points(name: str, figures: Section, meaning: str) -> Headline:
    return Headline(name, points(figures["estimate"]), interval(figures), meaning)


def low_end(section: Section) -> list[Headline]:
    """WORST@8 and CVaR10: the low end of the harnesses beside the worst one; where unknown, why."""
    drawn = section["wilks"]["sampled"] or 0
    whose = f"the {drawn} drawn at random" if drawn >= _AT_RANDOM else "this set"
    eight = f"the expected minimum of 8 harnesses of {whose}"
    if section["n_harnesses"] < _EIGHT:
        eight = f"only {count(section['n_harnesses'], 'harness')} tested; it takes 8"
    return [
        _rate("WORST@8", section["worst_at_8"], _reason(section) or eight),
        _rate("CVaR10", section["cvar10"], _reason(section) or "the mean of the lowest tenth of harnesses"),
    ]


def secondary(section: Section) -> list[tuple[str, str]]:
    """The further summaries, each in words."""
    quantiles, pass_k = section["quantiles"], section["pass_k"]
    rows = [(one.name, f"{one.value} {one.interval}".rstrip() + f", {one.meaning}") for one in low_end(section)]
    told = "; ".join(f"{name} {share(quantiles[name])}" for name in ("q10", "q50", "q90"))
    rows.append(("Quantiles", f"{UNKNOWN}, {why}" if (why := _reason(section)) else told))
    for k, chance in pass_k.items():
        if int(k) > 1:
            rows.append((f"pass^{k}", share(chance) + f", the chance that {k} different harnesses all pass a task"))
    p_equal = section["spread"]["p_equal"]
    if p_equal is not None:
        rows.append(("Equal harnesses", f"p {p_value(p_equal)} if all harnesses were equally good (F test)"))
    if said := _of_the_family(section):
        rows.append(("Family", said))
    every, none = percent(section["solved_by_all"]), percent(section["solved_by_none"])
    rows.append(("These tasks", f"solved under every harness {every}, under none {none} (of the tasks of this suite)"))
    raw = section["raw_min"]
    bias = "" if raw["bias"] is None else f": by about {points(abs(raw['bias']))} were all harnesses equal"
    rows.append(("Raw minimum", f"{percent(raw['estimate'])} ({raw['label']}{bias})"))
    return rows


def _of_the_family(section: Section) -> str:
    """What the harnesses drawn at random say of all others; "" where they are too few to say much."""
    wilks = section["wilks"]
    if (wilks["sampled"] or 0) < _FOR_THE_FAMILY:
        return ""
    floored = wilks["confidence_floor"]
    more = "" if floored is None else f"; with {percent(floored)}, no worse than FLOOR"
    return (
        f"with {percent(wilks['confidence'])} confidence at least {percent(wilks['share'])} of it is no worse than the "
        f"worst of the {wilks['sampled']} drawn at random{more}"
    )


def size_phrase(section: Section) -> str:
    """How many tasks, and in how many groups where tasks share one."""
    tasks, groups = count(section["n_tasks"], "task"), section["n_clusters"]
    return tasks if groups == section["n_judged_tasks"] else f"{tasks} in {count(groups, 'group')}"


def order_phrase(section: Section) -> str:
    """That the order of harnesses says nothing, where it is mostly noise."""
    reliability = section["reliability"]
    return "Their order is mostly noise." if reliability is not None and reliability < _RELIABLE else ""


def worst_phrase(section: Section) -> str:
    """Which harness is the worst, as far as it can be told."""
    worst, tested = section["worst"], section["n_harnesses"]
    members = worst["set"]
    if not members:
        return one_line(worst["reason"] or "cannot be told")
    if worst["harness"]:
        return one_line(worst["harness"])
    if len(members) == tested:
        return f"one of {tested}: any harness may be it"
    return f"one of {len(members)}: {listed([one_line(name) for name in members], _SET_SHOWN)}"


def sentences(section: Section, data: Section) -> list[str]:
    """The verdict in a few plain sentences."""
    if not section["trials"]["judged"]:
        return ["No trial has a verdict, so nothing can be said yet."]
    told = [_level(section), *effect_words.cause(section)]
    if section["of_the_wire"]:
        told.insert(1, diagnosis_words.wire_sentence(section))
    if section["unsupported"]:
        told.append(diagnosis_words.unsupported_phrase(section, data) + ".")
    if section["recovered"]:
        told.append(diagnosis_words.recovered_sentence(section))
    told += external_words.sentences(section)
    told += [said] if (said := diagnosis_words.in_reasoning_sentence(section)) else []
    if section["low_precision"] and not section["worst"]["reason"]:
        told.append(f"Low precision: {count(section['n_tasks'], 'task')}, fewer than 50, so verdicts stay unclear.")
    return told


def allocation(section: Section) -> list[str]:
    """How trials were allocated where results decided that, a paragraph each; none before a trial has a verdict."""
    return hunted.paragraphs(section) if section["trials"]["judged"] else []


def _level(section: Section) -> str:
    worst, gap = section["worst"], section["gap"]
    tested = count(section["n_harnesses"], "harness")
    if worst["reason"]:
        return (
            f"The mean is {share(section['mean'])} over {tested}. With {one_line(worst['reason'])} the worst cannot be "
            "told, no figure has an interval, and verdicts stay unclear."
        )
    if worst["estimate"] is None:
        return f"The worst of {tested} cannot be estimated from these trials; the mean is {share(section['mean'])}."
    who = "the scripted agent" if section["endpoint"]["scripted"] else "the model"
    said = f"Under the worst of {tested} {who} scores {share(worst)}"
    if gap["estimate"] is not None:
        said += f", {difference(gap)} below the canonical harness"
    if not effect_words.differ(section):
        p_equal = p_value(section["spread"]["p_equal"])
        found = effect_words.detectable_phrase(entry["detectable"] for entry in section["harnesses"])
        beside = f"p {p_equal}; {found}" if found else f"p {p_equal}"
        return f"No difference between harnesses stands out from noise ({beside}). {said}."
    return f"{said}. The worst is {worst_phrase(section)}."


def common_reason(section: Section) -> str | None:
    """Why verdicts are withheld, where it is the same of all harnesses: said once, not on every line."""
    reasons = {entry["reason"] for entry in section["harnesses"] if entry["verdict"] not in (None, "unsupported")}
    return one_line(reason) if len(reasons) == 1 and (reason := reasons.pop()) else None


def verdict_detail(entry: Section, section: Section) -> str:
    """Why a verdict is withheld, or what would decide an unclear one."""
    if entry["reason"]:
        reason = one_line(entry["reason"])
        return "" if reason == common_reason(section) else reason
    more = entry["extra_tasks"]
    return f"about {count(more, 'more task')} would decide" if more else ""


def incomplete_phrase(trials: Section) -> str:
    """What is still owed."""
    owed = f"{count(trials['owed'], 'trial')} of {trials['planned']:,}"
    return f"INCOMPLETE: {owed} not run yet; figures are provisional."


def trials_phrase(trials: Section) -> str:
    """Planned, judged and lost trials, and those of harnesses that cannot run."""
    said = f"{count(trials['planned'], 'trial')} planned, {trials['judged']:,} judged, {trials['lost']:,} lost"
    return f"{said}, {trials['unsupported']:,} of harnesses that cannot run here" if trials["unsupported"] else said


def verdict_counts(section: Section) -> str:
    """How many harnesses got which verdict, and how many more tasks would decide the unclear ones."""
    order = ("compatible", "degraded", "broken", "unclear", "unsupported")
    verdicts = [entry["verdict"] for entry in section["harnesses"]]
    more = sorted(entry["extra_tasks"] for entry in section["harnesses"] if entry["extra_tasks"])
    told = {name: f"{verdicts.count(name)} {name}" for name in order if name in verdicts}
    if more and "unclear" in told:
        all_of_them = f", {more[-1]:,} all" if more[-1] > more[0] else ""
        told["unclear"] += (
            f" (about {count(more[0], 'more task')} would decide {'one' if all_of_them else 'them'}{all_of_them})"
        )
    return " · ".join(told.values()) or UNKNOWN

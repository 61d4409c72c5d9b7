"""A comparison in plain words. All its forms use these, so that they cannot disagree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness_eval.report import effect_words, findings
from harness_eval.report.comparison_details import moved_levels
from harness_eval.report.wording import UNKNOWN, count, difference, interval, one_line, percent, points
from harness_eval.types import Json

Data = Mapping[str, Json]
Unit: TypeAlias = Callable[[float | None], str]

_NAMED = 3
_SAME = 0.05  # a mean that may have moved by more is not called the same
_FIGURES = {
    "mean": ("MEAN", "over the harnesses that both runs have"),
    "worst": ("WORST", "the worst of them, whichever it is in each run"),
    "spread": ("SPREAD", "standard deviation between harnesses, net of noise"),
    "gap": ("GAP", "canonical minus WORST"),
    "canonical": ("CANONICAL", ""),
    "worst_at_8": ("WORST@8", "expected minimum of 8 of these harnesses"),
    "cvar10": ("CVaR10", "mean of the lowest tenth of harnesses"),
}
_IN_POINTS = ("spread", "gap")
_HEAD = {
    "mean": {"better": "higher mean", "worse": "lower mean", "no difference seen": "no change of the mean seen"},
    "spread": {
        "narrower": "narrower spread",
        "wider": "wider spread",
        "no difference seen": "no change of spread seen",
    },
    "worst": {"better": "higher worst", "worse": "lower worst", "no difference seen": "no change of the worst seen"},
    "canonical": {"better": "higher canonical", "worse": "lower canonical", "no difference seen": ""},
}


@dataclass(frozen=True, slots=True)
class Line:
    """One figure in words: before, after, its change with interval, the verdict, what is detectable, what it means."""

    key: str
    name: str
    before: str
    after: str
    change: str
    interval: str
    verdict: str
    detectable: str
    meaning: str


def title(side: Data) -> str:
    """The endpoint and model of one run, with the run's name; says so when no language model answers."""
    return f"{one_line(side['name'])}: {findings.title(side)}"


def short_title(side: Data, other: Data) -> str:
    """What tells one run from the other in a heading: the endpoint, else the run's name, else its folder."""
    kinds = (findings.title, lambda one: one_line(one["name"]), lambda one: one_line(one["folder"]))
    return next((kind(side) for kind in kinds if kind(side) != kind(other)), kinds[0](side))


def compared_phrase(data: Data) -> str:
    """How much both runs have in common."""
    found = data["compared"]
    judged = f"{found['judged_before']:,} trials of the first run, {found['judged_after']:,} of the second"
    cells = f"{count(found['tasks'], 'task')} × {count(found['harnesses'], 'harness')}"
    return f"{cells}, {count(found['cells'], 'cell')} with a verdict in both ({judged})"


def leading(data: Data) -> list[Line]:
    """MEAN, WORST, SPREAD, GAP: the figures that lead."""
    return [_line(name, data) for name in ("mean", "worst", "spread", "gap")]


def secondary(data: Data) -> list[Line]:
    """The further figures: CANONICAL, WORST@8, CVaR10, pass^k, FLOOR."""
    lines = [_line(name, data) for name in ("canonical", "worst_at_8", "cvar10")]
    for k, found in data["pass_k"].items():
        meaning = f"chance that {k} different harnesses all pass a task"
        lines.append(_worded(("pass_k", f"pass^{k}", meaning), found, percent))
    floor = data["floor"]
    before, after = (UNKNOWN if floor[side] is None else f"≥ {percent(floor[side])}" for side in ("before", "after"))
    told = "every harness, free of any model (one-sided 95 %); a limit, whose change has no interval"
    lines.append(Line("floor", "FLOOR", before, after, "", "", "", "", told))
    return lines


def _line(key: str, data: Data) -> Line:
    name, meaning = _FIGURES[key]
    if key in ("gap", "canonical"):
        usual = data["canonical_harness"]
        meaning = meaning or f"the harness {one_line(usual)}"
        meaning = meaning if usual else "the runs have no canonical harness in common"
    line = _worded((key, name, meaning), data["figures"][key], points if key in _IN_POINTS else percent)
    return replace(line, verdict="narrower: canonical fell") if key == "gap" and levelled_down(data) else line


def levelled_down(data: Data) -> bool:
    """Whether the gap narrowed because the canonical harness fell, while the worst did not rise: nobody's gain."""
    moved = [data["figures"][name]["verdict"] for name in ("gap", "canonical", "worst")]
    return moved[:2] == ["narrower", "worse"] and moved[2] != "better"


def _worded(known: tuple[str, str, str], found: Data, unit: Unit) -> Line:
    key, name, meaning = known
    change = found["change"]
    return Line(
        key,
        name,
        unit(found["before"]["estimate"]),
        unit(found["after"]["estimate"]),
        points(change["estimate"], signed=True),
        interval(change, signed=True),
        verdict(found),
        detectable(found),
        meaning,
    )


def verdict(found: Data) -> str:
    """better, worse (of widths narrower, wider) or no difference seen; unknown without an interval."""
    return found["verdict"] or ("no interval" if found["change"]["estimate"] is not None else UNKNOWN)


def detectable(found: Data) -> str:
    """Which change would have been seen, where one can be told."""
    return "" if found["detectable"] is None else points(found["detectable"])


def headline(data: Data) -> str:
    """The outcome in a few words: Same mean (within 2.4 pp), narrower spread, higher worst."""
    told = []
    for name, words in _HEAD.items():
        found = data["figures"][name]
        if name == "mean" and _same(found):
            told.append(f"same mean (within {points(_reach(found))})")
        elif found["verdict"]:
            told.append(words[found["verdict"]])
    said = ", ".join(filter(None, told)) or "too few common tasks to tell"
    return f"{said[:1].upper()}{said[1:]}."


def _unmoved(found: Data) -> bool:
    return bool(found["verdict"] == "no difference seen")


def _reach(found: Data) -> float:
    """How far the change may be from zero."""
    return float(max(abs(found["change"]["low"]), abs(found["change"]["high"])))


def _same(found: Data) -> bool:
    return _unmoved(found) and _reach(found) <= _SAME


def sentences(data: Data) -> list[str]:
    """What moved, in a few plain sentences."""
    told = [_figures_sentence(data), *_canonical_sentence(data), *_harness_sentence(data), *_level_sentence(data)]
    scripted = [side["endpoint"]["scripted"] for side in (data["before"], data["after"])]
    if all(scripted):
        told.append("Both runs are of the scripted agent, not of a language model.")
    elif any(scripted):
        order = "first" if scripted[0] else "second"
        told.append(f"The {order} run is of the scripted agent, not of a language model.")
    return told


def _figures_sentence(data: Data) -> str:
    figures = data["figures"]
    if figures["mean"]["verdict"] is None:
        moved = f"The mean went {_from_to(figures['mean'], percent)}"
        few = f"with {count(data['compared']['tasks'], 'common task')}, fewer than 20, no change has an interval"
        return f"{moved} ({points(figures['mean']['change']['estimate'], signed=True)}); {few}."
    mean = figures["mean"]
    if _same(mean):
        parts = [f"the mean is the same within {points(_reach(mean))} ({_then(mean, percent)})"]
    else:
        parts = [_part("mean", mean, percent)]
    parts += [_part("spread", figures["spread"], points), _part("worst", figures["worst"], percent)]
    said = f"{', '.join(part for part in parts[:-1] if part)}, and {parts[-1]}" if parts[-1] else ", ".join(parts[:-1])
    return f"{said[:1].upper()}{said[1:]}."


def _canonical_sentence(data: Data) -> list[str]:
    found = data["figures"]["canonical"]
    if found["verdict"] in (None, "no difference seen"):
        return []
    why = "; the gap is narrower for that, not because the worst rose" if levelled_down(data) else ""
    return [f"The canonical harness {_moved(found, percent)}{why}."]


def _part(name: str, found: Data, unit: Unit) -> str:
    if found["verdict"] is None:
        known = found["change"]["estimate"] is not None
        return f"the change of the {name} {f'has no interval ({_then(found, unit)})' if known else 'is unknown'}"
    if _unmoved(found):
        most = f"; {points(found['detectable'])} would have been" if found["detectable"] is not None else ""
        return f"no change of the {name} is seen ({_then(found, unit)}{most})"
    return f"the {name} {_moved(found, unit)}"


def _moved(found: Data, unit: Unit) -> str:
    word = "rose" if found["change"]["estimate"] > 0 else "fell"
    return f"{word} {_from_to(found, unit)} ({difference(found['change'], signed=True)})"


def _from_to(found: Data, unit: Unit) -> str:
    return f"from {unit(found['before']['estimate'])} to {unit(found['after']['estimate'])}"


def _then(found: Data, unit: Unit) -> str:
    return f"{unit(found['before']['estimate'])}, then {unit(found['after']['estimate'])}"


def harness_counts(data: Data) -> str:
    """How many harnesses got better, worse, or neither that could be seen."""
    found = [verdict(row) for row in data["harnesses"]]
    order = ("better", "worse", "no difference seen", "no interval", UNKNOWN)
    return " · ".join(f"{found.count(word)} {word}" for word in order if word in found) or "none"


def _harness_sentence(data: Data) -> list[str]:
    told = []
    for word in ("worse", "better"):
        rows = [row for row in data["harnesses"] if row["verdict"] == word]
        rows = rows if word == "worse" else rows[::-1]
        if rows:
            number = count(len(rows), "harness")
            told_of = [(one_line(row["harness"], 60), difference(row["change"], signed=True)) for row in rows[:_NAMED]]
            named = [f"{name} {moved}" for name, moved in told_of]
            most = ", most of all " if len(rows) > _NAMED else ": "
            told.append(f"{number} got {word}{most}{', '.join(named)}.")
    return told


def _level_sentence(data: Data) -> list[str]:
    rows = moved_levels(data)
    if not rows:
        return []
    one, others = rows[0], len(rows) - 1
    effects = " to ".join(points(one[side]["estimate"], signed=True) for side in ("before", "after"))
    more = f"; so did that of {count(others, 'other level')}" if others else ""
    name = effect_words.level_name(one)
    return [f"The effect of {name} went from {effects} ({difference(one['change'], signed=True)}){more}."]

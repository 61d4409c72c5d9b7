"""What the axes and their levels do, in words: the cause of the drop, effects, shares, what was not exercised."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from harness_eval.report.support import NOT_COMPARED
from harness_eval.report.why import NEVER_ACTED, SIGNIFICANT, significant
from harness_eval.report.wording import NOT_EXERCISED, UNKNOWN, count, difference, one_line, p_value, percent, points
from harness_eval.types import Json

Section = Mapping[str, Json]

JOINT = (
    "The joint p of an axis tests all its levels at once; it asks more of the same harnesses, and can be large beside "
    "a small p of one level"
)
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_LEVELS_NAMED = 6
_LEVEL = re.compile(r"([^(]+)\(([^()]+)\)")


def cause(section: Section) -> list[str]:
    """The level that costs most, if any stands out from noise."""
    levels = standing_out(section)
    drops = [row for row in levels if row["effect"] < 0]
    if not drops and section["worst"]["reason"]:  # below 20 tasks no level can stand out
        return []
    rises = [row for row in levels if row["effect"] > 0]
    if rises and not drops:
        best, others = rises[0], len(rises) - 1
        more = f" (and {count(others, 'other level')} {'does' if others == 1 else 'do'} so too)" if others else ""
        return [f"The canonical level costs: {level_name(best)} changes the score by {effect_phrase(best)}{more}."]
    if not drops:
        sought = differ(section) and any(row["effect"] is not None for row in section["axes"])
        from_here = detectable_phrase(row["detectable"] for row in section["axes"])
        none = f"No single level of an axis stands out as the cause{f' ({from_here})' if from_here else ''}."
        return _cause_by_axis(section) or ([none] if sought else [])
    worst = drops[0]
    alike = [row for row in drops if row["axis"] == worst["axis"]]
    others = len(drops) - len(alike)
    said = f"The level {level_name(worst)} changes the score by {effect_phrase(worst)}"
    said = _together(alike) if len(alike) > 1 else said
    part = next((one for one in section["shares"] if one["axis"] == worst["axis"]), None)
    if part and part["share"] is not None and significant(part["p_adjusted"]):
        said += (
            f"; the axis {one_line(worst['axis'])} explains {percent(part['share'])} of the variance between harnesses"
        )
    more = f" {count(others, 'other level')} {'costs' if others == 1 else 'cost'} something too." if others else ""
    return [f"{said}.{more}"]


def standing_out(section: Section) -> list[Section]:
    """The levels whose effect stands out from noise by itself, what matters first."""
    return [row for row in section["axes"] if row["effect"] is not None and significant(row["p_adjusted"])]


def _together(rows: Sequence[Section]) -> str:
    """Several levels of one axis that cost something, with the parameters that all of them share."""
    parsed = [_parameters(str(row["level"])) for row in rows]
    shared = [each for each in parsed[0][1] if all(each in parameters for _, parameters in parsed)]
    names = []
    for name, parameters in parsed[:_LEVELS_NAMED]:
        own = [each for each in parameters if each not in shared]
        names.append(one_line(f"{name}({', '.join(own)})" if own else name))
    names[0] += f" ({effect_phrase(rows[0])})"
    if len(rows) > len(names):
        names.append(f"{len(rows) - len(names)} more")
    costs = sorted(-row["effect"] for row in rows)
    least, most = points(costs[0]), points(costs[-1])
    cost = most if least == most else f"{least.removesuffix(' pp')} to {most}"
    number = _NUMBERS[len(rows)] if len(rows) < len(_NUMBERS) else str(len(rows))
    with_these = f", all with {one_line(', '.join(shared))}," if shared else ""
    axis = one_line(rows[0]["axis"])
    return f"{number} levels of {axis}{with_these} cost {cost} each: {', '.join(names[:-1])} and {names[-1]}"


def _parameters(level: str) -> tuple[str, list[str]]:
    """A level's name and its parameters: `head(cap=2500)` is head with cap=2500."""
    found = _LEVEL.fullmatch(level)
    return (found[1], re.split(r",\s*", found[2])) if found else (level, [])


def _cause_by_axis(section: Section) -> list[str]:
    """The axis that explains most, where all its levels together stand out from noise though none does by itself."""
    part = next(iter(section["shares"]), None)
    if not part or part["share"] is None or not significant(part["p_adjusted"]):
        return []
    axis = one_line(part["axis"])
    most = next((row for row in section["axes"] if row["axis"] == part["axis"] and row["effect"] is not None), None)
    said = f"The axis {axis} makes a difference: it explains {share_phrase(part)} of the variance between harnesses"
    if most is None:
        return [f"{said}."]
    alone = f"p {p_value(most['p_adjusted'])} by itself"
    return [f"{said}. Most of it is {level_name(most)}, {effect_phrase(most)}, {alone}."]


def detectable_phrase(sizes: Iterable[float | None]) -> str:
    """The size from which any of these would have been found with 80 % power, if there is one; "" where unknown."""
    known = [size for size in sizes if size is not None]
    if known and max(known) > 1:
        return "even 100 pp could have been missed"
    return f"detectable from {points(max(known))}" if known else ""


def differ(section: Section) -> bool:
    """Whether the test of equal harnesses leaves room for a difference; an unknown one does."""
    p_equal = section["spread"].get("p_equal")
    return p_equal is None or p_equal < SIGNIFICANT


def share_phrase(one: Section) -> str:
    """An axis's share of the variance, with the test of all its levels at once, or why there is none."""
    if one["share"] is None:
        return _why_unknown(one["reason"])
    joint = "" if one["p_adjusted"] is None else f" (joint p {p_value(one['p_adjusted'])})"
    return percent(one["share"]) + joint


def share_beside_levels(one: Section, section: Section) -> str:
    """The same, without the joint test where a level of the axis stands out by itself: that one decides."""
    if one["share"] is not None and any(row["axis"] == one["axis"] for row in standing_out(section)):
        return percent(one["share"])
    return share_phrase(one)


def joint_sentence(section: Section) -> str:
    """The joint p of every axis with what it asks; "" where none is known."""
    known = [one for one in section["shares"] if one["share"] is not None and one["p_adjusted"] is not None]
    told = ", ".join(f"{one_line(one['axis'])} {p_value(one['p_adjusted'])}" for one in known)
    return f"{JOINT}: {told}." if told else ""


def void_axes(section: Section) -> list[tuple[str, str]]:
    """The axes that are not compared at this endpoint, each with the reason."""
    return [
        (one["axis"], one["reason"])
        for one in section["shares"]
        if one["reason"] and one["reason"].startswith(NOT_COMPARED)
    ]


def level_name(row: Section) -> str:
    """`axis = level`, on one line."""
    return f"{one_line(row['axis'])} = {one_line(row['level'])}"


def effect_figures(row: Section) -> Section:
    """An effect in the shape of all other figures."""
    return {"estimate": row["effect"], "low": row["low"], "high": row["high"]}


def exposure_phrase(row: Section) -> str:
    """In what share of its trials a level acted."""
    if row["exposure"] is None:
        return "no judged trial"
    return NOT_EXERCISED if row["exposure"] == 0 else percent(row["exposure"])


def effect_phrase(row: Section) -> str:
    """The effect with its interval, or why there is none; never that there is no effect."""
    if row["effect"] is not None:
        return difference(effect_figures(row), signed=True)
    return _why_unknown(row["reason"])


def _why_unknown(reason: str | None) -> str:
    if not reason:
        return UNKNOWN
    if reason == NEVER_ACTED:
        return NOT_EXERCISED
    return one_line(reason) if reason.startswith(NOT_COMPARED) else f"{UNKNOWN}: {one_line(reason)}"

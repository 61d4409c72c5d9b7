"""What counts as found, and what as a false accusation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from harness_eval.axes import Level
from harness_eval.family import Family
from harness_eval.harness import canonical
from harness_eval.reference.coupling import COUPLINGS
from harness_eval.report.why import SIGNIFICANT
from harness_eval.types import Json


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a report says, held against what was planted.

    `axis`: the axis that explains most and the first level that stands out are of the planted axis; where no level
    stands out by itself, but all of that axis together do, its first level is the one that the report names. `level`:
    besides, that level is one that the coupling hits, and it costs; or one that it spares, and it gains, where the
    coupling hits the canonical level (the report then says that the canonical level costs). `accused`: axes that stand
    out although they are neither planted nor tied to the planted one. `named` is the level that the report names, as
    "axis = level", or "".
    """

    axis: bool
    level: bool
    accused: tuple[str, ...]
    named: str


def judgement(why: Mapping[str, Json], coupling: str, tied: Collection[str] = ()) -> Judgement:
    """Judge the part `axes` and `shares` of a report about an agent with this coupling ("" is none).

    `tied` holds the axes that a constraint ties to the planted one. An axis stands out when the adjusted p-value of
    all its levels together, or of any one of them, is below the report's own threshold.
    """
    (planted,) = COUPLINGS[coupling].hits if coupling else ("",)
    hit = COUPLINGS[coupling].hits[planted] if coupling else ()
    levels = [row for row in why["axes"] if row["effect"] is not None and _stands_out(row)]
    out = {row["axis"] for row in (*levels, *filter(_stands_out, why["shares"]))}
    leading = why["shares"][0]["axis"] if why["shares"] else ""
    first = levels[0] if levels else _most_of(why, leading) if leading in out else None
    axis = bool(planted) and first is not None and first["axis"] == planted == leading
    level = axis and first is not None and (_costs(first, hit) or _spares(first, hit, canonical().levels[planted]))
    named = f"{first['axis']} = {first['level']}" if first else ""
    return Judgement(axis, level, tuple(sorted(out - {planted, *tied})), named)


def _most_of(why: Mapping[str, Json], axis: str) -> Mapping[str, Json] | None:
    return next((row for row in why["axes"] if row["axis"] == axis and row["effect"] is not None), None)


def _costs(row: Mapping[str, Json], hit: Collection[str]) -> bool:
    return row["effect"] < 0 and row["level"].partition("(")[0] in hit


def _spares(row: Mapping[str, Json], hit: Collection[str], usual: Level) -> bool:
    return row["effect"] > 0 and row["level"].partition("(")[0] not in hit and usual.level_name() in hit


def _stands_out(row: Mapping[str, Json]) -> bool:
    return row["p_adjusted"] is not None and row["p_adjusted"] < SIGNIFICANT


def tied_axes(family: Family, axis: str) -> set[str]:
    """The axes that share a rule of impossible combinations with this one, as far as the family has such levels."""
    tied = set()
    for rule in family.rules():
        meets = any(map(rule.test, family.axes[rule.axis])) and any(map(rule.other_test, family.axes[rule.other]))
        if meets and axis in (rule.axis, rule.other):
            tied |= {rule.axis, rule.other} - {axis}
    return tied

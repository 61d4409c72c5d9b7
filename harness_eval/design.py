"""Which harnesses of a family to run. The same seed gives the same matrix for ever.

What each design can say: `one-at-a-time` what each change does at the canonical harness; `covering` whether any pair of
levels breaks something; `orthogonal` every main effect, each estimated from all harnesses; `random` the distribution
over the family. `smoke`, `standard` and `family` are the presets of the statistics specification, section 3.2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness_eval.axes import Level
from harness_eval.draws import draw, shuffled
from harness_eval.errors import ConfigError
from harness_eval.family import Family
from harness_eval.harness import Harness, canonical, make_harness

Kind = Literal["canonical", "one-at-a-time", "random", "covering", "orthogonal", "smoke", "standard", "family"]
Row = dict[str, int]

# Arrays of strength 2 by number of rows, each with the number of levels of its columns.
_ARRAYS: dict[str, tuple[int, ...]] = {
    "L9(3^4)": (3,) * 4,
    "L18(6^1 3^6)": (6, *(3,) * 6),
    "L32(2^1 4^9)": (2, *(4,) * 9),
    "L64(4^21)": (4,) * 21,
}
_ATTEMPTS = 200
_OTHER_DESIGNS = "use a design that is random, covering or one-at-a-time"


class Design(BaseModel):
    """How to choose harnesses from a family.

    `size` is the number of harnesses with the canonical one, for `random` only; `strength` how many levels at once a
    `covering` design covers; `array` names an orthogonal array instead of the smallest that fits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = "orthogonal"
    size: int | None = Field(default=None, ge=1, le=1000)
    strength: int = Field(default=2, ge=2, le=3)
    array: Literal["L9(3^4)", "L18(6^1 3^6)", "L32(2^1 4^9)", "L64(4^21)"] | None = None

    @model_validator(mode="after")
    def _sized(self) -> Design:
        if self.size is not None and self.kind != "random":
            raise ValueError(f"size: only a random design has one; {self.kind} has as many harnesses as it needs")
        return self


@dataclass(frozen=True, slots=True)
class Plan:
    """The harnesses to run, the canonical one first; what was left out as impossible, with reasons; and notes.

    `sampled` names those that were drawn at random from the family: only they speak for its distribution.
    """

    harnesses: tuple[Harness, ...]
    impossible: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    canonical_repeats: int = 1
    sampled: tuple[str, ...] = ()


def plan_harnesses(family: Family, design: Design, seed: int) -> Plan:
    """The harnesses that a design takes from a family.

    Raises:
        ConfigError: if the family cannot be laid out in that way.
    """
    rows, drawn, notes = _rows(family, design, seed)
    reference = canonical()
    chosen: dict[str, Harness] = {reference.id: reference}
    impossible: dict[str, str] = {}
    sampled: set[str] = set()
    for place, row in enumerate([*rows, *drawn]):
        built = build(family, row, f"h{len(chosen):02d}")
        if isinstance(built, Harness):
            chosen.setdefault(built.id, built)
            sampled |= {built.id} if place >= len(rows) else set()
        else:
            impossible.setdefault(_told(family, row), built)
    names = tuple(harness.name for harness in chosen.values() if harness.id in sampled)
    repeats = 3 if design.kind in {"standard", "family"} else 1
    return Plan(tuple(chosen.values()), tuple(impossible.items()), tuple(notes), repeats, names)


def build(family: Family, row: Row, name: str) -> Harness | str:
    """The harness of a row of level indexes, its name ending in its id; or why it cannot be."""
    choices = {axis: family.axes[axis][index] for axis, index in row.items()}
    own = next((r for r in family.rules() if r.axis in choices and r.other in choices and r.forbids(choices)), None)
    if own:
        return own.reason
    try:
        made = make_harness({"name": name, **choices}, family.name)
    except ConfigError as error:
        return str(error).removeprefix(f"{family.name}: ")
    return made.model_copy(update={"name": f"{name}-{made.id[:6]}"})


def pairs(family: Family) -> Iterator[tuple[tuple[str, Level], tuple[str, Level]]]:
    """All pairs of levels of two axes that can stand together in some harness of the family."""
    for first, second in itertools.combinations(family.axes, 2):
        for one, other in itertools.product(family.axes[first], family.axes[second]):
            if _completable(family, {first: one, second: other}):
                yield (first, one), (second, other)


def _completable(family: Family, chosen: dict[str, Level]) -> bool:
    rules = family.rules()
    if any(rule.forbids(chosen) for rule in rules if rule.axis in chosen and rule.other in chosen):
        return False
    bound = {axis for rule in rules for axis in (rule.axis, rule.other)}
    free = next((axis for axis in family.axes if axis in bound and axis not in chosen), None)
    return free is None or any(_completable(family, {**chosen, free: level}) for level in family.axes[free])


def _told(family: Family, row: Row) -> str:
    return ", ".join(f"{axis} {family.axes[axis][index].label}" for axis, index in row.items())


def _rows(family: Family, design: Design, seed: int) -> tuple[list[Row], list[Row], list[str]]:
    """The rows that a design lays out, those that it draws at random, and notes."""
    if design.kind == "canonical":
        return [], [], []
    if design.kind == "one-at-a-time":
        return _one_at_a_time(family), [], []
    if design.kind == "random":
        return [], _random(family, (design.size or 16) - 1, seed), []
    if design.kind == "smoke":
        return [], _random(family, 7, seed), []
    if design.kind == "covering":
        return _covering(family, design.strength, seed), [], []
    rows, notes = _orthogonal(family, design, seed)
    return rows, _random(family, 32, seed) if design.kind == "family" else [], notes


def _one_at_a_time(family: Family) -> list[Row]:
    return [{axis: index} for axis, levels in family.axes.items() for index in range(1, len(levels))]


def _random(family: Family, count: int, seed: int) -> list[Row]:
    """Distinct possible combinations, drawn by weight; fewer when the family has no more."""
    rows: dict[str, Row] = {}
    met: set[tuple[int, ...]] = set()
    canonical_id = canonical().id
    there = math.prod(len(levels) for levels in family.axes.values())
    for attempt in range(count * _ATTEMPTS):
        if len(rows) == count or len(met) == there:
            break
        row = {axis: _drawn(family, axis, seed, attempt) for axis in family.axes}
        built = "" if tuple(row.values()) in met else build(family, row, "h")
        met.add(tuple(row.values()))
        if isinstance(built, Harness) and built.id != canonical_id:
            rows.setdefault(built.id, row)
    return list(rows.values())


def _drawn(family: Family, axis: str, seed: int, attempt: int) -> int:
    left = draw(seed, "random", attempt, axis)
    for index in range(len(family.axes[axis])):
        left -= family.weight(axis, index)
        if left < 0:
            return index
    return len(family.axes[axis]) - 1


def _covering(family: Family, strength: int, seed: int) -> list[Row]:
    """Every possible combination of `strength` levels at least once."""
    import covertable  # lazy: slow import

    factors = {axis: list(range(len(levels))) for axis, levels in family.axes.items()}
    if len(factors) < strength:
        raise ConfigError(f"family {family.name}: a covering design of strength {strength} needs as many axes")
    constraints = [
        {
            "operator": "fn",
            "requires": [rule.axis, rule.other],
            "evaluate": lambda row, rule=rule: (
                not rule.forbids({axis: family.axes[axis][row[axis]] for axis in (rule.axis, rule.other)})
            ),
        }
        for rule in family.rules()
    ]
    made = covertable.make(factors, strength=strength, salt=str(seed), constraints=constraints)
    return [dict(row) for row in made]


def _orthogonal(family: Family, design: Design, seed: int) -> tuple[list[Row], list[str]]:
    """An orthogonal array whose first row is the canonical harness; columns and levels are dealt out by the seed."""
    import pydoe  # lazy: slow import

    levels, notes = _compatible(family)
    varied = {axis: indexes for axis, indexes in levels.items() if len(indexes) > 1}
    if notes and not varied:
        raise ConfigError(f"family {family.name}: an array has no room for any of it ({notes[0]}); {_OTHER_DESIGNS}")
    name = design.array or ("L32(2^1 4^9)" if design.kind in {"standard", "family"} else _smallest(varied))
    columns = _columns(varied, _ARRAYS[name], seed)
    if columns is None:
        raise ConfigError(
            f"family {family.name}: {len(varied)} axes do not fit into the array {name}; {_OTHER_DESIGNS}"
        )
    table = pydoe.get_orthogonal_array(name).astype(int)
    dealt: dict[str, list[int]] = {}
    for axis, column in columns.items():
        places = _ARRAYS[name][column]
        others = shuffled(varied[axis][1:], seed, "levels", axis)[: places - 1]
        dealt[axis] = [0, *others]
        if len(others) < len(varied[axis]) - 1:
            notes.append(f"{axis}: {places} of its {len(varied[axis])} levels, chosen by the seed, fit into {name}")
    rows = [{axis: dealt[axis][line[column] % len(dealt[axis])] for axis, column in columns.items()} for line in table]
    return rows, [f"orthogonal array {name}", *notes]


def _compatible(family: Family) -> tuple[dict[str, list[int]], list[str]]:
    """The levels of each axis that can stand with every level of the others: an array has no room for exceptions.

    The canonical level of an axis always stays, as the first row is the canonical harness; what clashes with it goes.
    """
    left = {axis: list(range(len(levels))) for axis, levels in family.axes.items()}
    notes = []
    for rule in family.rules():
        for index in list(left[rule.axis]):
            clash = [
                i
                for i in left[rule.other]
                if rule.forbids({rule.axis: family.axes[rule.axis][index], rule.other: family.axes[rule.other][i]})
            ]
            for axis, gone in [(rule.axis, index)] if clash and index else [(rule.other, i) for i in clash]:
                notes.append(f"{axis} {family.axes[axis][gone].label} left out: {rule.reason}")
                left[axis].remove(gone)
    return left, notes


def _smallest(varied: dict[str, list[int]]) -> str:
    def fits(places: tuple[int, ...]) -> bool:
        wanted = sorted((len(indexes) for indexes in varied.values()), reverse=True)
        offered = sorted(places, reverse=True)
        return len(wanted) <= len(offered) and all(w <= o for w, o in zip(wanted, offered, strict=False))

    return next((name for name, places in _ARRAYS.items() if fits(places)), "L32(2^1 4^9)")


def _columns(varied: dict[str, list[int]], places: tuple[int, ...], seed: int) -> dict[str, int] | None:
    """A column for each axis: axes with most levels get the widest ones, ties and the rest by the seed."""
    if len(varied) > len(places):
        return None
    order = sorted(shuffled(varied, seed, "axes"), key=lambda axis: -len(varied[axis]))
    free = sorted(shuffled(range(len(places)), seed, "columns"), key=lambda column: -places[column])
    return dict(zip(order, free, strict=False))

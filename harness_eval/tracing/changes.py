"""Which changes lie between two harnesses, and the harnesses that tell what each of them costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness_eval.axes import Level
from harness_eval.combinations import RULES, Rule
from harness_eval.harness import Harness, make_harness


@dataclass(frozen=True, slots=True)
class Change:
    """What differs between the canonical and the worst harness, on one axis or on several that `reason` ties.

    `added` and `reverted` name the harnesses with this change alone, and with all but this one.
    """

    axes: tuple[str, ...]
    level: str
    canonical_level: str
    added: str
    reverted: str
    reason: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The harnesses of a trace, each once: the canonical one first, then the worst. Of up to two changes some are one.

    `changes` is empty where the two ends are the same.
    """

    harnesses: tuple[Harness, ...]
    changes: tuple[Change, ...]


def lay_out(canonical: Harness, worst: Harness, rules: Sequence[Rule] = RULES) -> Layout:
    """The fewest harnesses that tell what each change costs, changes grouped no more than `rules` demand."""
    usual, changed = canonical.levels, worst.levels
    chosen = {harness.id: harness for harness in (canonical, worst)}

    def named(word: str, start: Mapping[str, Level], then: Mapping[str, Level], axes: tuple[str, ...]) -> str:
        name = f"{word}-{'+'.join(axes)}"
        made = make_harness({**start, **{axis: then[axis] for axis in axes}, "name": name}, name)
        if name in {canonical.name, worst.name}:
            made = made.model_copy(update={"name": f"{name}-{made.id[:6]}"})
        return chosen.setdefault(made.id, made).name

    changes = [
        Change(
            axes=axes,
            level=" + ".join(changed[axis].label for axis in axes),
            canonical_level=" + ".join(usual[axis].label for axis in axes),
            added=named("add", usual, changed, axes),
            reverted=named("revert", changed, usual, axes),
            reason=reason,
        )
        for axes, reason in _groups(usual, changed, rules)
    ]
    return Layout(tuple(chosen.values()), tuple(changes))


def _groups(
    usual: Mapping[str, Level], changed: Mapping[str, Level], rules: Sequence[Rule]
) -> list[tuple[tuple[str, ...], str]]:
    """The smallest groups of differing axes that can be changed one by one in both directions, and what ties each.

    A rule is about two axes. If it forbids the old level of one beside the new level of the other, one of them can
    neither be added without the other nor stay when the other is reverted; so the groups are the connected ones.
    """
    groups = {axis: {axis} for axis in usual if changed[axis] != usual[axis]}
    ties: list[Rule] = []
    for rule in rules:
        both = rule.axis in groups and rule.other in groups
        mixed = ((usual, changed), (changed, usual)) if both else ()
        if any(rule.forbids({rule.axis: one[rule.axis], rule.other: two[rule.other]}) for one, two in mixed):
            ties.append(rule)
            joined = groups[rule.axis] | groups[rule.other]
            groups |= dict.fromkeys(joined, joined)
    distinct = dict.fromkeys(tuple(axis for axis in groups if axis in group) for group in groups.values())
    return [(axes, "; ".join(dict.fromkeys(tie.reason for tie in ties if tie.axis in axes))) for axes in distinct]

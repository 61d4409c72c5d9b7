"""Axes that no study varied and that differ all the same: their level follows from that of another axis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from harness_eval.types import Json

Labels = Mapping[str, str]


def followed(levels: Sequence[Labels], varied: Collection[str]) -> dict[str, str]:
    """By axis outside of `varied` on which harnesses differ, the one varied axis whose level decides it.

    "" stands where several do as well or none does alone; `levels` are those of all harnesses, by axis.
    """
    loose = dict.fromkeys(axis for labels in levels for axis in labels if axis not in varied)
    differ = [axis for axis in loose if len({labels.get(axis) for labels in levels}) > 1]
    found = {}
    for axis in differ:
        decide = [other for other in varied if _decides(levels, other, axis)]
        found[axis] = decide[0] if len(decide) == 1 else ""
    return found


def _decides(levels: Sequence[Labels], one: str, other: str) -> bool:
    pairs = {(labels.get(one), labels.get(other)) for labels in levels}
    return len(pairs) == len({first for first, _ in pairs})


def followed_in(study: Mapping[str, Json]) -> dict[str, str]:
    """The same of what study.json says; empty where it does not say which axes it varied."""
    entries, varied = study.get("harnesses"), study.get("axes")
    if not isinstance(entries, list) or not isinstance(varied, list):
        return {}
    levels = [entry.get("labels") for entry in entries if isinstance(entry, Mapping)]
    return followed([labels for labels in levels if isinstance(labels, Mapping) and labels], varied)


def follows_phrase(axis: str) -> str:
    """That a level was not varied by itself, and what decides it where that is known."""
    return f"follows {axis}" if axis else "not varied by itself"

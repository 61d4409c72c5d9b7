"""Levels of axes as a design matrix, and which of its coefficients the design can separate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .estimate import Array

_TOLERANCE = 1e-8
_NAMED = 4  # confounded levels to spell out


@dataclass(frozen=True, slots=True)
class Coding:
    """Dummy coding with the canonical level as reference. Column 0 of the design is the intercept."""

    names: tuple[tuple[str, str], ...]  # (axis, level) of each further column
    design_HP: Array
    solve_PH: Array  # pseudo-inverse: coefficients = solve @ harness means
    rank: int
    reasons: tuple[str | None, ...]  # one a name: why the coefficient is not separable; None: it is
    harnesses: tuple[int, ...]  # one a name: how many harnesses have the level

    def by_axis(self) -> dict[str, list[int]]:
        """Design columns of each axis."""
        columns: dict[str, list[int]] = {}
        for index, (axis, _) in enumerate(self.names, start=1):
            columns.setdefault(axis, []).append(index)
        return columns

    def why(self, axis: str) -> str | None:
        """The first reason why a level of the axis is not separable."""
        found = (reason for (name, _), reason in zip(self.names, self.reasons, strict=True) if name == axis and reason)
        return next(found, None)


def code_levels(levels_H: Sequence[Mapping[str, str]], canonical: Mapping[str, str]) -> Coding:
    """Code the levels that occur. An axis a harness does not name is at its canonical level."""
    axes = dict.fromkeys([*canonical, *(axis for levels in levels_H for axis in levels)])
    names = [
        (axis, level)
        for axis in axes
        for level in dict.fromkeys(levels.get(axis, canonical.get(axis, "")) for levels in levels_H)
        if level != canonical.get(axis, "")
    ]
    dummies = [
        [float(levels.get(axis, canonical.get(axis, "")) == level) for levels in levels_H] for axis, level in names
    ]
    design_HP = np.array([[1.0] * len(levels_H), *dummies]).T.reshape(len(levels_H), len(names) + 1)
    solve_PH = np.linalg.pinv(design_HP)
    return Coding(
        tuple(names),
        design_HP,
        solve_PH,
        int(np.linalg.matrix_rank(design_HP)) if len(levels_H) else 0,
        tuple(_reasons(names, design_HP, solve_PH)),
        tuple(int(column.sum()) for column in design_HP.T[1:]),
    )


def _reasons(names: list[tuple[str, str]], design_HP: Array, solve_PH: Array) -> list[str | None]:
    """A coefficient is separable when its unit vector lies in the row space of the design."""
    null_PP = np.eye(design_HP.shape[1]) - solve_PH @ design_HP
    labels = ["the level shared by every harness", *(f"{axis}={level}" for axis, level in names)]
    reasons: list[str | None] = []
    for index in range(1, len(labels)):
        if np.abs(null_PP[index]).max() < _TOLERANCE:
            reasons.append(None)
            continue
        same = [i for i in range(len(labels)) if i != index and np.array_equal(design_HP[:, i], design_HP[:, index])]
        if 0 in same:
            reasons.append("every harness has this level: nothing to compare it with")
            continue
        partners = same or [i for i in range(1, len(labels)) if i != index and abs(null_PP[index, i]) >= _TOLERANCE]
        named = ", ".join(labels[i] for i in partners[:_NAMED])
        more = f" and {len(partners) - _NAMED} more" if len(partners) > _NAMED else ""
        reasons.append(f"cannot be told apart from {'' if same else 'a combination of '}{named}{more}")
    return reasons

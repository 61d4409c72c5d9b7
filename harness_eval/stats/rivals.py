"""Another explanation of effects: an interaction of the leading axis that the design hides among main effects.

In an orthogonal array of few rows an interaction of two axes can lie wholly in the space of the main effects. Then none
of it is left over, no lack of fit shows, and it passes as exact effects of several other axes. One interaction is the
simpler explanation of several axes at once: they stand out only if it leaves something for one of them to explain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .contrast_coding import Coding
from .estimate import Array


@dataclass(frozen=True, slots=True)
class Rival:
    """The leading axis, `other` and their interaction: `own_HK` are orthonormal columns that span all three."""

    leading: str
    other: str
    own_HK: Array

    def beyond(self, coding: Coding, axis: str) -> tuple[Coding, list[int]]:
        """The space of the main effects in orthonormal columns, and those of them that only this axis can explain."""
        mine_HK = _rest(coding.design_HP[:, coding.by_axis()[axis]], self.own_HK)
        first_HK = np.column_stack([self.own_HK, mine_HK])
        both_HK = np.column_stack([first_HK, _rest(coding.design_HP, first_HK)])
        names = tuple(("", str(column)) for column in range(1, both_HK.shape[1]))
        changed = replace(coding, names=names, design_HP=both_HK, solve_PH=both_HK.T, reasons=(None,) * len(names))
        return changed, list(range(self.own_HK.shape[1], first_HK.shape[1]))


def rivals(coding: Coding, leading: str) -> Iterator[Rival]:
    """One for each axis that has an interaction with the leading one which adds nothing to the main effects' space."""
    axes, design_HP = coding.by_axis(), coding.design_HP
    for other in axes:
        if other == leading:
            continue
        products = [design_HP[:, one] * design_HP[:, two] for one in axes[leading] for two in axes[other]]
        plain_HP = design_HP[:, [0, *axes[leading], *axes[other]]]
        own_HP = np.column_stack([plain_HP, *products])
        interacts = np.linalg.matrix_rank(own_HP) > np.linalg.matrix_rank(plain_HP)
        if interacts and np.linalg.matrix_rank(np.column_stack([design_HP, own_HP])) == coding.rank:
            yield Rival(leading, other, _basis(own_HP))


def _rest(columns_HP: Array, basis_HK: Array) -> Array:
    return _basis(columns_HP - basis_HK @ (basis_HK.T @ columns_HP))


def _basis(columns_HP: Array) -> Array:
    """Orthonormal columns of the same span."""
    left_HK, size_K, _ = np.linalg.svd(columns_HP, full_matrices=False)
    return np.asarray(left_HK[:, size_K > 1e-8])

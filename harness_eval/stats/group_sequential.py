"""Boundaries for a few looks at growing data that together keep a one-sided error: Pocock's, and O'Brien and Fleming's.

For a release that is looked at a fixed number of times; `gate.sprt` may be looked at after any batch.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from .estimate import Array

Shape: TypeAlias = Literal["pocock", "obrien-fleming"]

_NODES = 64  # of the quadrature at each look
_LOWEST = -9.0  # standard normal values below do not count


def boundaries(looks: int, shape: Shape, alpha: float = 0.05) -> Array:
    """Critical z values of equally spaced looks, which are crossed with probability `alpha` in all under the null.

    Pocock's are all alike, O'Brien and Fleming's fall as sqrt(looks / look). Recursive numerical integration
    (Armitage, McPherson and Rowe 1969).
    """
    from scipy import optimize  # lazy: slow import

    look_K = np.arange(1, looks + 1)
    scale_K = np.ones(looks) if shape == "pocock" else np.sqrt(looks / look_K)

    def excess(constant: float) -> float:
        return crossing(constant * scale_K) - alpha

    return np.asarray(float(optimize.brentq(excess, 0.5, 6.0, xtol=1e-10)) * scale_K)


def crossing(boundary_K: Array) -> float:
    """Probability that a standard random walk, looked at K equally spaced times, is above a boundary at any of them."""
    from scipy import special  # lazy: slow import

    # the sum of k increments is z sqrt(k); density of sums not stopped so far, on nodes below the boundary
    node_N, weight_N = np.polynomial.legendre.leggauss(_NODES)
    sum_N, mass_N, crossed = np.zeros(1), np.ones(1), 0.0
    for look, boundary in enumerate(boundary_K, start=1):
        top, bottom = boundary * look**0.5, _LOWEST * look**0.5
        crossed += float((mass_N * special.ndtr(sum_N - top)).sum())
        next_N = bottom + (top - bottom) * (node_N + 1) / 2
        step_NN = np.exp(-0.5 * (next_N[:, None] - sum_N) ** 2) / (2 * np.pi) ** 0.5
        mass_N = (step_NN @ mass_N) * weight_N * (top - bottom) / 2
        sum_N = next_N
    return crossed

from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.group_sequential import Shape, boundaries, crossing


@pytest.mark.parametrize(
    ("looks", "shape", "last"),
    [
        (3, "pocock", 1.99219),
        (3, "obrien-fleming", 1.70961),
        (5, "pocock", 2.12171),
        (5, "obrien-fleming", 1.75087),
    ],
)
def test_the_last_boundary_agrees_with_r(looks: int, shape: Shape, last: float) -> None:
    assert boundaries(looks, shape)[-1] == pytest.approx(last, abs=1e-5)


def test_one_look_is_the_ordinary_test() -> None:
    assert boundaries(1, "pocock") == pytest.approx([1.644854], abs=1e-6)


def test_early_looks_are_harder_the_way_obrien_and_fleming_have_it() -> None:
    found = boundaries(4, "obrien-fleming")
    assert found / found[-1] == pytest.approx(np.sqrt(4 / np.arange(1, 5)))


def test_the_boundaries_are_crossed_as_often_as_promised() -> None:
    walks = np.random.default_rng(0).standard_normal((40_000, 3)).cumsum(axis=1) / np.sqrt([1, 2, 3])
    boundary_K = boundaries(3, "pocock", 0.1)
    assert crossing(boundary_K) == pytest.approx(0.1)
    assert (walks >= boundary_K).any(axis=1).mean() == pytest.approx(0.1, abs=0.006)

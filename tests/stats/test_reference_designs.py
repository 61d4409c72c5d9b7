"""What the designs are counted from: the reference values for eight axes of 5, 4, 4, 3, 4, 3, 4 and 3 levels."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import prod

from covertable import make
from pydoe import get_orthogonal_array

LEVELS = (5, 4, 4, 3, 4, 3, 4, 3)


def test_the_family_has_so_many_configurations_changes_and_pairs() -> None:
    assert prod(LEVELS) == 34_560
    assert 1 + sum(levels - 1 for levels in LEVELS) == 23
    assert sum(one * other for one, other in combinations(LEVELS, 2)) == 392


def test_a_covering_array_of_twenty_seven_rows_has_every_pair_of_levels() -> None:
    rows = make([list(range(levels)) for levels in LEVELS])
    assert len(rows) == 27
    seen = {(a, row[a], b, row[b]) for row in rows for a, b in combinations(range(8), 2)}
    assert len(seen) == 392


def test_eight_columns_of_the_array_of_thirty_two_hold_each_pair_exactly_twice() -> None:
    rows = get_orthogonal_array("L32(2^1 4^9)").tolist()
    assert len(rows) == 32
    for a, b in combinations(range(1, 9), 2):
        assert Counter((row[a], row[b]) for row in rows) == Counter({(i, j): 2 for i in range(4) for j in range(4)})

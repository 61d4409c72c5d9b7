"""Draws by hash: SHA-256 of a seed and a place, the same for ever and on every Python."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def draw(*parts: object) -> float:
    """A number in 0..1 that depends on the parts alone."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def shuffled(items: Iterable[Item], *parts: object) -> list[Item]:
    """The items in an order that depends on the parts alone."""
    return [item for _, item in sorted(enumerate(items), key=lambda pair: draw(*parts, pair[0]))]


class Draws:
    """One draw after the other from a seed; the n-th one depends on the seed and n alone."""

    def __init__(self, *seed: object) -> None:
        self._seed = seed
        self._drawn = 0

    def _next(self) -> tuple[object, ...]:
        self._drawn += 1
        return (*self._seed, self._drawn)

    def integer(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included. Raises ValueError where there is none."""
        if low > high:
            raise ValueError(f"no whole number from {low} to {high}")
        return min(high, low + int(draw(*self._next()) * (high - low + 1)))

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items. Raises ValueError for none."""
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Iterable[Item]) -> list[Item]:
        """All items in a drawn order."""
        return shuffled(items, *self._next())

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """So many different places of the items, in a drawn order. Raises ValueError where there are not so many."""
        if count > len(items):
            raise ValueError(f"{count} of {len(items)} items cannot be drawn")
        return self.shuffled(items)[:count]

"""In which order the trials of a study run: what protects comparisons from drift, and what a server's cache can use."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Order: TypeAlias = Literal["interleaved", "prefix"]

BLOCK = 4  # tasks that one harness runs in a row under the order `prefix`; what it brings and costs is measured


@dataclass(frozen=True, slots=True)
class Ordering:
    """Pairs of task and harness, one repeat after the other, so that a run stopped early is balanced over repeats.

    Under `interleaved` tasks follow each other, and all harnesses run each of them, shuffled anew. Under `prefix` all
    harnesses run each block of `block` tasks, each harness the whole block in a row, since its trials begin with the
    same instructions and tools, which a server then has in its cache. Blocks come in pairs: the harnesses are shuffled
    for the first and run the second in reverse, so that an even drift costs each harness the same.
    """

    order: Order
    seed: int
    block: int = BLOCK

    def pairs(self, repeat: int, tasks: Sequence[str], harnesses: Sequence[str]) -> Iterator[tuple[str, str]]:
        """All pairs of task and harness of one repeat, in order; the same ones for ever for one seed."""
        width = self.block if self.order == "prefix" else 1
        shuffled: list[str] = []
        for number, start in enumerate(range(0, len(tasks), width)):
            block = tasks[start : start + width]
            if self.order == "prefix" and number % 2:
                shuffled.reverse()
            else:
                shuffled = self._shuffled(repeat, block[0], harnesses)
            yield from ((task, harness) for harness in shuffled for task in block)

    def _shuffled(self, repeat: int, task: str, harnesses: Sequence[str]) -> list[str]:
        order = list(harnesses)
        random.Random(f"{self.seed}:{repeat}:{task}").shuffle(order)
        return order

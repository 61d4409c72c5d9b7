"""Sets of very many trials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from harness_eval.types import TrialKey

MOST_REPEATS = 1 << 20


class Keys(Set[TrialKey]):
    """Trials of which a repeat is one bit, so that a million of them fit into a few megabytes."""

    def __init__(self, keys: Iterable[TrialKey] = ()) -> None:
        self._repeats: dict[tuple[str, str], dict[str, int]] = {}  # by harness and endpoint, and by task: bits
        for key in keys:
            self.add(key)

    def add(self, key: TrialKey) -> None:
        """Add one, whose repeat is less than `MOST_REPEATS`."""
        tasks = self._repeats.setdefault((key.harness, key.endpoint), {})
        tasks[key.task] = tasks.get(key.task, 0) | 1 << key.repeat

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, TrialKey):
            return False
        repeats = self._repeats.get((key.harness, key.endpoint), {}).get(key.task, 0)
        return bool(repeats >> key.repeat & 1)

    def __iter__(self) -> Iterator[TrialKey]:
        for (harness, endpoint), tasks in self._repeats.items():
            for task, bits in tasks.items():
                repeats = (repeat for repeat in range(bits.bit_length()) if bits >> repeat & 1)
                yield from (TrialKey(task, harness, endpoint, repeat) for repeat in repeats)

    def __len__(self) -> int:
        return sum(bits.bit_count() for tasks in self._repeats.values() for bits in tasks.values())

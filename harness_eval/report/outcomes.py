"""Recorded trials as a report needs them: a hundred bytes each, however many there are."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple, overload

_LARGEST = 2**53  # a count of tokens beyond which no number is exact


class Outcome(NamedTuple):
    """What a report needs of one recorded trial. `score` (0..1) is None for a lost trial, which has an `owner`.

    `label` is that of the failure, `turns` counts the turns of each label (None: not recorded), `recovered` is the
    score after going on from a leaked call (None: the trial did not end on one). A tuple, as a report makes millions.
    """

    task: str
    harness: str
    endpoint: str
    repeat: int
    owner: str
    message: str
    label: str
    stop: str
    labels: tuple[str, ...]
    turns: Mapping[str, int] | None
    acted: frozenset[str]
    score: float | None
    recovered: float | None
    cost: float | None
    seconds: float
    tokens: int

    @property
    def judged(self) -> bool:
        """Whether there is a verdict."""
        return self.score is not None


_SHARED = Outcome._fields.index("score")  # the fields before it have few different values, those behind it are numbers


class _Shared:
    """A column of values of which few differ: each is kept once, with a number of four bytes for each row."""

    def __init__(self) -> None:
        self.rows = array("I")
        self.values: list[Any] = []
        self._known: dict[Hashable, int] = {}

    def append(self, value: Any) -> None:
        key = tuple(value.items()) if isinstance(value, Mapping) else value
        place = self._known.setdefault(key, len(self.values))
        if place == len(self.values):
            self.values.append(value)
        self.rows.append(place)


class Table:
    """Outcomes by column while they are read: 44 bytes of shared values and 40 of numbers for each."""

    def __init__(self) -> None:
        self.shared = [_Shared() for _ in range(_SHARED)]
        self.numbers = [array("d") for _ in Outcome._fields[_SHARED:]]

    def append(self, outcome: Outcome) -> None:
        """Add one at the end."""
        for column, value in zip(self.shared, outcome[:_SHARED], strict=True):
            column.append(value)
        given = (outcome.score, outcome.recovered, outcome.cost, outcome.seconds, min(outcome.tokens, _LARGEST))
        for numbers, number in zip(self.numbers, given, strict=True):
            numbers.append(nan if number is None else number)

    def latest(self) -> Outcomes:
        """The last outcome of each trial, in the order in which they were added. Takes 32 bytes each while it works."""
        import numpy  # lazy: slow import

        if not (count := len(self.numbers[0])):
            return Outcomes(self, array("I"))
        key = numpy.zeros(count, dtype=numpy.int64)
        for column in self.shared[: Outcome._fields.index("repeat") + 1]:
            key *= len(column.values)
            key += numpy.frombuffer(column.rows, dtype=numpy.uint32)
        _, last = numpy.unique(key[::-1], return_index=True)
        places = numpy.sort(count - 1 - last).astype(numpy.uint32)
        return Outcomes(self, array("I", places.tobytes()))


class Outcomes(Sequence[Outcome]):
    """Outcomes of a table by their places in it, four bytes each; an Outcome is made when it is asked for."""

    def __init__(self, table: Table, places: array[int]) -> None:
        self._table = table
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Outcome: ...

    @overload
    def __getitem__(self, place: slice) -> Outcomes: ...

    def __getitem__(self, place: int | slice) -> Outcome | Outcomes:
        if isinstance(place, slice):
            return Outcomes(self._table, self._places[place])
        return next(iter(Outcomes(self._table, array("I", [self._places[place]]))))

    def __iter__(self) -> Iterator[Outcome]:
        # Of maps alone, which run without the interpreter: a report walks over all trials some twenty times.
        places, shared = self._places, self._table.shared
        columns = [map(each.values.__getitem__, map(each.rows.__getitem__, places)) for each in shared]
        *unsure, seconds, tokens = (map(each.__getitem__, places) for each in self._table.numbers)
        rows = zip(*columns, *(map(_known, each) for each in unsure), seconds, map(int, tokens), strict=True)
        return map(Outcome._make, rows)

    def where(self, wanted: Callable[[Outcome], bool]) -> Outcomes:
        """Those of them that are wanted."""
        return self.pick(number for number, outcome in enumerate(self) if wanted(outcome))

    def pick(self, numbers: Iterable[int]) -> Outcomes:
        """Some of them by their numbers in here."""
        return Outcomes(self._table, array("I", map(self._places.__getitem__, numbers)))


def _known(number: float) -> float | None:
    return None if number != number else number

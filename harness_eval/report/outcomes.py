"""Recorded trials as a report needs them: less than a hundred bytes each, however many there are."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from math import nan
from operator import attrgetter
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


_NAMES = ("task", "harness", "endpoint", "repeat")
_WAY = ("owner", "message", "label", "stop", "labels", "acted")  # few of their combinations differ
_UNSURE = ("score", "recovered", "cost")  # numbers that may be unknown
_NUMBERS = (*_UNSURE, "seconds", "tokens")
_name, _way, _number = (attrgetter(*names) for names in (_NAMES, _WAY, _NUMBERS))


class _Shared:
    """A column of values of which few differ: each is kept once, with a number of four bytes for each row."""

    def __init__(self) -> None:
        self.rows = array("I")
        self.values: list[Any] = []
        self._known: dict[Hashable, int] = {}

    def append(self, value: Any, key: Hashable) -> None:
        """Add a value at the end; the same key stands for an equal value."""
        place = self._known.get(key)
        if place is None:
            place = self._known[key] = len(self.values)
            self.values.append(value)
        self.rows.append(place)


class Table:
    """Outcomes by column while they are read: 24 bytes of shared values and 40 of numbers for each."""

    def __init__(self) -> None:
        self.names = [_Shared() for _ in _NAMES]
        self.way, self.turns = _Shared(), _Shared()
        self.numbers = [array("d") for _ in _NUMBERS]

    def append(self, outcome: Outcome) -> None:
        """Add one at the end."""
        for column, value in zip(self.names, _name(outcome), strict=True):
            column.append(value, value)
        self.way.append(way := _way(outcome), way)
        self.turns.append(outcome.turns, None if outcome.turns is None else tuple(outcome.turns.items()))
        *unsure, seconds, tokens = _number(outcome)
        for numbers, number in zip(self.numbers, (*unsure, seconds, min(tokens, _LARGEST)), strict=True):
            numbers.append(nan if number is None else number)

    def latest(self) -> Outcomes:
        """The last outcome of each trial, in the order in which they were added. Takes 32 bytes each while it works."""
        import numpy  # lazy: slow import

        if not (count := len(self.numbers[0])):
            return Outcomes(self, array("I"))
        key = numpy.zeros(count, dtype=numpy.int64)
        for column in self.names:
            key *= len(column.values)
            key += numpy.frombuffer(column.rows, dtype=numpy.uint32)
        _, last = numpy.unique(key[::-1], return_index=True)
        places = numpy.sort(count - 1 - last).astype(numpy.uint32)
        return Outcomes(self, array("I", places.tobytes()))

    def column(self, field: str, places: Sequence[int]) -> Iterator[Any]:
        """One field of the outcomes at these places; of maps alone, which run without the interpreter."""
        if field in _NUMBERS:
            numbers = map(self.numbers[_NUMBERS.index(field)].__getitem__, places)
            return map(_known, numbers) if field in _UNSURE else map(int, numbers) if field == "tokens" else numbers
        if field in _WAY:
            at = _WAY.index(field)
            return map([way[at] for way in self.way.values].__getitem__, map(self.way.rows.__getitem__, places))
        shared = self.turns if field == "turns" else self.names[_NAMES.index(field)]
        return map(shared.values.__getitem__, map(shared.rows.__getitem__, places))


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
        return map(Outcome._make, zip(*map(self.column, Outcome._fields), strict=True))

    def column(self, field: str) -> Iterator[Any]:
        """One field of each: a tenth of the time that making all outcomes takes."""
        return self._table.column(field, self._places)

    def whose(self, field: str, wanted: Callable[[Any], bool]) -> Outcomes:
        """Those of which one field is as wanted."""
        return self.pick(number for number, value in enumerate(self.column(field)) if wanted(value))

    @property
    def lost(self) -> Outcomes:
        """Those without a verdict."""
        return self.whose("score", lambda score: score is None)

    @property
    def unsolved(self) -> Outcomes:
        """Those without a full score, lost ones included."""
        return self.whose("score", lambda score: score is None or score < 1.0)

    def where(self, wanted: Callable[[Outcome], bool]) -> Outcomes:
        """Those of them that are wanted."""
        return self.pick(number for number, outcome in enumerate(self) if wanted(outcome))

    def pick(self, numbers: Iterable[int]) -> Outcomes:
        """Some of them by their numbers in here."""
        return Outcomes(self._table, array("I", map(self._places.__getitem__, numbers)))


def column(outcomes: Sequence[Outcome], field: str) -> Iterator[Any]:
    """One field of each."""
    return outcomes.column(field) if isinstance(outcomes, Outcomes) else map(attrgetter(field), outcomes)


def _known(number: float) -> float | None:
    return None if number != number else number

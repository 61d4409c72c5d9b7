"""How a compatibility matrix is laid out: models against harnesses, which of them stand across, and how close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness_eval.types import Json

Data: TypeAlias = Mapping[str, Json]
Density: TypeAlias = Literal["full", "snug", "dense"]

ORDER = ("broken", "degraded", "unclear", "unsupported", "compatible")  # what must be acted on first
_FULL = 6  # columns that have room for all that is known of a cell
_SNUG = 11  # columns that have room for a word and a difference


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the matrix; `cell` is None where the two were not tried together."""

    subject: Data
    harness: Data
    cell: Data | None
    at: tuple[int, int]  # subject, harness

    @property
    def kind(self) -> str:
        """The verdict; "canonical" of what all others are compared with, "untried" where there is nothing."""
        if self.cell is None:
            return "untried"
        reference = self.cell["verdict"] == "compatible" and self.cell["difference"]["estimate"] is None
        return "canonical" if reference else str(self.cell["verdict"])

    @property
    def anchor(self) -> str:
        """The id of what tells everything about it in a page."""
        return f"cell-{self.at[0]}-{self.at[1]}"


@dataclass(frozen=True, slots=True)
class Grid:
    """All places of a matrix, by subject and then by harness, the canonical ones first."""

    subjects: Sequence[Data]
    harnesses: Sequence[Data]
    rows: Sequence[Sequence[Place]]

    @property
    def places(self) -> Iterator[Place]:
        """Every place, row by row."""
        return (place for row in self.rows for place in row)

    @property
    def columns(self) -> Sequence[Sequence[Place]]:
        """The places of each harness, by subject."""
        return list(zip(*self.rows, strict=True))

    @property
    def turned(self) -> bool:
        """Whether the harnesses stand down the side: there are so many more of them than of models."""
        return len(self.harnesses) > max(_FULL, 1.5 * len(self.subjects))

    @property
    def lines(self) -> Sequence[Sequence[Place]]:
        """The places as they are drawn: a line a model, or a harness where the matrix is turned."""
        return self.columns if self.turned else self.rows

    @property
    def across(self) -> int:
        """How many columns are drawn."""
        return len(self.subjects if self.turned else self.harnesses)

    @property
    def density(self) -> Density:
        """How much of a cell has room in its place."""
        return "full" if self.across <= _FULL else "snug" if self.across <= _SNUG else "dense"


def grid(data: Data) -> Grid:
    """The matrix of a document; of two cells for one place the one that is not stale."""
    harnesses = sorted(data["harnesses"], key=lambda one: not one["canonical"])
    cells = sorted(data["cells"], key=lambda one: not one["stale"])
    found = {(cell["subject"], cell["harness"]): cell for cell in cells}
    rows = [
        [
            Place(subject, harness, found.get((subject["id"], harness["name"])), (row, column))
            for column, harness in enumerate(harnesses)
        ]
        for row, subject in enumerate(data["subjects"])
    ]
    return Grid(data["subjects"], harnesses, rows)


def worst_first(places: Iterable[Place]) -> list[Place]:
    """The places with a cell, what must be acted on first, the largest drop first among equals."""
    order = (*ORDER, "canonical")

    def key(place: Place) -> tuple[int, float]:
        drop = place.cell["difference"]["estimate"] if place.cell else None
        return order.index(place.kind), 1.0 if drop is None else drop

    return sorted((place for place in places if place.cell is not None), key=key)

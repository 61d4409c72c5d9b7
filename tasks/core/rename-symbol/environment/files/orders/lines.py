"""The records: an order and its lines. Amounts are cents, weights grams."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Line:
    """So many pieces of one article."""

    article: str
    pieces: int
    cents: int
    grams: int
    zone: str = "A"


@dataclass(frozen=True)
class Order:
    """Lines, a rebate in percent and what was paid in advance."""

    number: str
    lines: tuple[Line, ...] = field(default=())
    rebate: int = 0
    paid: int = 0

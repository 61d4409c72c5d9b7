"""Vehicles, and the decks on which they stand."""

from dataclasses import dataclass, field


class Full(Exception):
    """A deck has no room for a vehicle."""


@dataclass(frozen=True)
class Vehicle:
    """Length in metres, weight in tonnes."""

    plate: str
    length: float
    weight: float

    def check(self):
        """Raises ValueError for what cannot be."""
        if self.length <= 0:
            raise ValueError(f"length {self.length}")
        if self.weight <= 0:
            raise ValueError(f"weight {self.weight}")


@dataclass
class Deck:
    """A deck of so many metres, for vehicles up to so many tonnes."""

    name: str
    length: float
    limit: float
    used: float = 0.0
    trim: float = 0.0
    plates: list = field(default_factory=list)

    def take(self, vehicle):
        """Put the vehicle behind the others. Raises Full."""
        if vehicle.weight > self.limit:
            raise Full(f"{vehicle.weight} t is more than {self.limit} t")
        if self.used + vehicle.length > self.length:
            raise Full(f"only {self.length - self.used:g} m left")
        middle = self.used + vehicle.length / 2
        self.used += vehicle.length
        self.plates.append(vehicle.plate)
        moment = (middle - self.length / 2) * vehicle.weight
        if moment:
            self.trim += moment / 3
            print(f"DEBUG: trim of {self.name} is now {self.trim:.1f}")

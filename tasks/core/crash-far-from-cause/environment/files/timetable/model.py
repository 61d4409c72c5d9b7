"""Stops, lines and trips."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Stop:
    """A place where buses stop."""

    code: str
    name: str
    closed: bool = False


@dataclass
class Line:
    """A line or a variant of one; `stops` are the codes of its stops in order."""

    code: str
    name: str
    stops: list[str]
    base: str = ""

    def variant(self, code, name):
        """This line under another code and name."""
        return replace(self, code=code, name=name, base=self.code)

    def serves(self, stop):
        """Whether the line has this stop."""
        return stop in self.stops

    def last(self):
        """The code of the stop at which it ends."""
        return self.stops[-1]


@dataclass
class Trip:
    """One bus on its way; `times` has a text for each stop served."""

    number: str
    line: Line
    times: dict[str, str]
    notes: list[str] = field(default_factory=list)

    def start(self):
        """The time at the first stop served."""
        return min(self.times.values())

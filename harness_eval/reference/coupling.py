"""What a coupling between model and harness is: a class that is data.

A coupling takes the turn that the uncoupled agent would take and spoils it when the harness is one that it does not
bear. Deriving registers it; its name is its class name in kebab case. Whether it is there at all is drawn once for
each trial, so that one of strength .5 spoils about half of the repeats, the same ones under every harness.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness_eval.reference.moment import Moment
from harness_eval.reference.turns import Turn

COUPLINGS: dict[str, type[Coupling]] = {}
"""Every coupling by name."""


@dataclass(frozen=True)
class Coupling(ABC):
    """A weakness of strength 0 (never there) to 1 (always there).

    `hits` names, by axis, the levels under which it must lower the score; everywhere else it does nothing.
    """

    strength: float = 1.0

    hits: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init_subclass__(cls) -> None:
        COUPLINGS[cls.kind()] = cls

    @classmethod
    def kind(cls) -> str:
        """The coupling's name."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()

    def draw(self, task: str, seed: int) -> float:
        """A number in [0, 1) that is always the same for one trial, and independent between couplings."""
        text = f"{self.kind()}\x1f{task}\x1f{seed}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") / 2**56

    @abstractmethod
    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """What the agent does instead of this turn; the turn itself when the harness is one that it bears.

        Args:
            turn: what it would do without this coupling.
            moment: what it knows.
            luck: the trial's draw, which is below the strength.
        """


def spoilt(turn: Turn, moment: Moment, couplings: Iterable[Coupling], seed: int) -> Turn:
    """The turn after every coupling that this trial drew."""
    for coupling in couplings:
        luck = coupling.draw(moment.script.task, seed)
        if luck < coupling.strength:
            turn = coupling.spoil(turn, moment, luck)
    return turn

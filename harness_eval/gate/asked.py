"""What a check is asked for, and the order in which it looks at trials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness_eval.draws import draw
from harness_eval.gate.document import Kind

Gate: TypeAlias = Literal["sprt", "fixed", "e-process"]

MARGIN, NARROW_MARGIN = 0.10, 0.05
MANY_TASKS = 200  # from which on a release is held to the narrow margin


@dataclass(frozen=True, slots=True)
class Asked:
    """How to check.

    `gate`: "sprt" and "e-process" look while trials end and stop early, "fixed" looks once at all of them. `release`
    asks instead whether the new run is surely not worse by more than the margin, and lets nothing else through.
    `harness`: the gated one; None: the baseline's canonical one. `margin`: the drop (0..1) that matters; None: 0.10,
    and for a release of at least 200 tasks 0.05. `alpha`, `beta`: chance of a false alarm, and of missing a drop of the
    margin. `cap`: most repeats of the new run. `changed`: differences that are accepted. `matrix`: ask of the worst
    harness and of the spread too. `lost_limit`: share of lost trials above which there is no verdict.
    """

    gate: Gate = "sprt"
    release: bool = False
    harness: str | None = None
    margin: float | None = None
    alpha: float = 0.05
    beta: float = 0.10
    cap: int = 3
    changed: frozenset[Kind] = frozenset()
    matrix: bool = True
    lost_limit: float = 0.10

    def margin_of(self, tasks: int) -> float:
        """The margin that holds for so many tasks."""
        if self.margin is not None:
            return self.margin
        return NARROW_MARGIN if self.release and tasks >= MANY_TASKS else MARGIN


def look_order(tasks: Iterable[str], seed: int) -> list[str]:
    """Tasks in the order in which their trials are run and looked at: by hash, so that any beginning is a fair sample.

    It depends on the names and the seed of the new run alone, so a finished run is looked at as one that is under way.
    """
    return sorted(tasks, key=lambda name: (draw("look", seed, name), name))

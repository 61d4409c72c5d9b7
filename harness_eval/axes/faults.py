"""Axis faults: probes of how the model behaves when its tools misbehave."""

from __future__ import annotations

from typing import ClassVar

from harness_eval.axes.level import Level
from harness_eval.axes.tool import Outcome
from harness_eval.types import ToolCall


class Faults(Level):
    """What is made to go wrong."""

    axis: ClassVar[str] = "faults"

    def spoil(self, call: ToolCall, number: int, outcome: Outcome) -> Outcome:
        """What the model gets instead of this outcome; `number` counts the trial's calls from 0."""
        del call, number
        return outcome


class FaultFree(Faults):
    """Nothing is made to go wrong."""

"""Axis distractors: plausible tools that have nothing to do with the task and really answer."""

from __future__ import annotations

from typing import ClassVar

from harness_eval.axes.level import Level


class Distractors(Level):
    """How many unrelated tools are offered."""

    axis: ClassVar[str] = "distractors"


class Alone(Distractors):
    """No unrelated tool."""

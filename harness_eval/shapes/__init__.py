"""Shapes of data sets: how a row becomes a task folder. A mapping file names its shape and the columns."""

from __future__ import annotations

from harness_eval.shapes.question import Question
from harness_eval.shapes.repair import Repair
from harness_eval.shapes.row import Shape, UnusableRow

SHAPES: dict[str, type[Shape]] = {"repair": Repair, "question": Question}

__all__ = ["SHAPES", "Shape", "UnusableRow"]

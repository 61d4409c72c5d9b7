"""Compatibility matrices: models and their servings against harnesses and their versions, from any number of runs."""

from __future__ import annotations

from harness_eval.compat.collecting import Asked, collect, moved
from harness_eval.compat.document import Margins, Matrix

__all__ = ["Asked", "Margins", "Matrix", "collect", "moved"]

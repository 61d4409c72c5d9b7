"""How harnesses differ: one module an axis, in the order of a harness's fields."""

from __future__ import annotations

from harness_eval.axes.protocol import Protocol  # isort: skip
from harness_eval.axes.description import Description  # isort: skip
from harness_eval.axes.toolset import Toolset  # isort: skip
from harness_eval.axes.distractors import Distractors  # isort: skip
from harness_eval.axes.truncation import Truncation  # isort: skip
from harness_eval.axes.context import Context  # isort: skip
from harness_eval.axes.thinking import Thinking  # isort: skip
from harness_eval.axes.planning import Planning  # isort: skip
from harness_eval.axes.stopping import Stopping  # isort: skip
from harness_eval.axes.results import Results  # isort: skip
from harness_eval.axes.mistakes import Errors  # isort: skip
from harness_eval.axes.shell import Shell  # isort: skip
from harness_eval.axes.prompt import Prompt  # isort: skip
from harness_eval.axes.faults import Faults  # isort: skip
from harness_eval.axes.level import Level, axes, levels, make_level  # isort: skip
from harness_eval.axes.plugins import load_plugins  # isort: skip

KINDS = {
    "format": ("protocol", "description", "toolset", "distractors", "results", "errors"),
    "context structure": ("truncation", "context", "thinking", "shell"),
    "control flow": ("planning", "stopping", "prompt", "faults"),
}
"""The three kinds of harness overfitting known from the field, and the axes that belong to each."""

__all__ = [
    "KINDS",
    "Context",
    "Description",
    "Distractors",
    "Errors",
    "Faults",
    "Level",
    "Planning",
    "Prompt",
    "Protocol",
    "Results",
    "Shell",
    "Stopping",
    "Thinking",
    "Toolset",
    "Truncation",
    "axes",
    "levels",
    "make_level",
]

load_plugins()

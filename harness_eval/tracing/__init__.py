"""The trace of a run's worst drop: the worst harness taken apart, change by change, on fresh repeats.

Every axis on which the worst harness differs from the canonical one is a change; those that cannot differ on their own
are one change together. Each is added alone to the canonical harness and reverted alone from the worst one: from these
harnesses Shapley values of the drop are made. They run in a folder of their own below the run's, with both ends among
them: the worst was chosen on the run's own trials, so that these would overstate its drop.
"""

from harness_eval.tracing.again import FOLDER, begun, config_of, layout_of, most_harnesses, place, prepare
from harness_eval.tracing.changes import Change, Layout, lay_out

__all__ = [
    "FOLDER",
    "Change",
    "Layout",
    "begun",
    "config_of",
    "lay_out",
    "layout_of",
    "most_harnesses",
    "place",
    "prepare",
]

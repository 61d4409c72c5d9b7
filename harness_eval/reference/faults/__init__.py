"""Ways in which the reference endpoint can be told to misbehave on the wire, each a class that is data."""

from harness_eval.reference.faults import calls, failures, framing, leaks, reasoning, refusals
from harness_eval.reference.faults.base import EVENT_STREAM, FAULTS, Answer, Asked, Draws, Fault, as_json, make_faults

__all__ = [
    "EVENT_STREAM",
    "FAULTS",
    "Answer",
    "Asked",
    "Draws",
    "Fault",
    "as_json",
    "calls",
    "failures",
    "framing",
    "leaks",
    "make_faults",
    "reasoning",
    "refusals",
]

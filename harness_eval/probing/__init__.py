"""A probe as a run needs it: which harnesses an endpoint refuses, and which axes compare nothing there."""

from harness_eval.probing.asked import probe
from harness_eval.probing.found import Probe, Unsupported, Void, as_record, by_reason, impossible, in_words, read, write
from harness_eval.probing.recorded import Prober, prober

__all__ = [
    "Probe",
    "Prober",
    "Unsupported",
    "Void",
    "as_record",
    "by_reason",
    "impossible",
    "in_words",
    "probe",
    "prober",
    "read",
    "write",
]

"""What a few cheap calls tell about an endpoint before trials are paid for; nothing here knows of harnesses."""

from harness_eval.endpoints.probe.asking import Asking, at_once
from harness_eval.endpoints.probe.check import Check, Status
from harness_eval.endpoints.probe.examination import CHECKS, MOST_CALLS, Examined, examine
from harness_eval.endpoints.probe.wire import wire

__all__ = ["CHECKS", "MOST_CALLS", "Asking", "Check", "Examined", "Status", "at_once", "examine", "wire"]

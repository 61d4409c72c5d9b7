"""A plugin of pytest that says at the end how each test went.

Printed words and exit codes are not what counts: the outcomes come as one line of JSON that begins with the token, on a
descriptor that was opened before pytest began to catch what tests print.
"""

from __future__ import annotations

import json
import os
from typing import Any

_TOKEN = os.environ.pop("OUTCOMES_TOKEN", "")
_OUT = os.dup(1)
_passed: dict[str, bool] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """A phase of a test is over; a test has passed if all its phases have, and one of them was the test itself."""
    expected = hasattr(report, "wasxfail") and report.outcome == "skipped"
    if report.when == "call" or report.outcome != "passed":
        good = report.outcome == "passed" or expected
        _passed[report.nodeid] = good and _passed.get(report.nodeid, True)


def pytest_sessionfinish(session: Any) -> None:
    """All is over; a worker of pytest-xdist leaves it to the session that collects."""
    if not hasattr(session.config, "workerinput"):
        os.write(_OUT, ("\n" + _TOKEN + json.dumps(_passed) + "\n").encode())

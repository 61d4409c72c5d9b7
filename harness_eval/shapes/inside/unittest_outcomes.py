"""Run the unittest tests that standard input names, and say at the end how each went.

Printed words and exit codes are not what counts: the outcomes come as one line of JSON that begins with the token, on a
descriptor that the tests do not write to.
"""

from __future__ import annotations

import json
import os
import sys
import unittest
from typing import Any


class Outcomes(unittest.TestResult):
    """Notes for each test whether it passed."""

    def __init__(self) -> None:
        super().__init__()
        self.passed: dict[str, bool] = {}

    def _note(self, test: unittest.TestCase, good: bool) -> None:
        self.passed[test.id()] = good and self.passed.get(test.id(), True)

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        """It passed."""
        self._note(test, True)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        """It failed, as it should."""
        self._note(test, True)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:  # noqa: N802
        """A part of it is done."""
        self._note(test, err is None)


def main() -> None:
    """Load and run the tests, then tell."""
    given = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path[:0] = given["python_path"]
    loader = unittest.TestLoader()
    suite = unittest.TestSuite(loader.loadTestsFromName(name) for name in given["tests"])
    outcomes = Outcomes()
    suite.run(outcomes)
    for test, told in [*outcomes.failures, *outcomes.errors]:
        print(test.id(), told[-600:], file=sys.stderr)
    out.write("\n" + given["token"] + json.dumps(outcomes.passed) + "\n")
    out.flush()


if __name__ == "__main__":
    main()

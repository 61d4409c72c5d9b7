"""Score = the share of Goals reached, halved when one of Kept (what had to stay as it was) is broken."""

import sys
import unittest
from pathlib import Path

import check


def share(case: type[unittest.TestCase]) -> float:
    """The part of a case's tests that passes; a crash counts as not passed."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    missed = result.failures + result.errors
    for test, trace in missed:
        print(f"{test.id()}: {trace.strip().splitlines()[-1][:300]}")
    return 1 - len({test.id() for test, _ in missed}) / result.testsRun


if __name__ == "__main__":
    score = share(check.Goals) * (1.0 if share(check.Kept) == 1 else 0.5)
    print(f"score {score:.4f}")
    (Path(sys.argv[1]) / "reward.txt").write_text(f"{score:.4f}\n", encoding="utf-8")

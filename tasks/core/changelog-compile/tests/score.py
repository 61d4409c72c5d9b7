"""Score = the share of GOALS reached, halved when one of KEPT (what had to stay as it was) is broken."""

import sys
import unittest
from collections.abc import Callable
from pathlib import Path

import check


def share(checks: tuple[Callable[[], None], ...]) -> float:
    """The part of the checks that passes; a crash counts as not passed."""
    result = unittest.TestResult()
    unittest.TestSuite(map(unittest.FunctionTestCase, checks)).run(result)
    missed = result.failures + result.errors
    for test, trace in missed:
        print(f"{test.id()}: {trace.strip().splitlines()[-1][:300]}")
    return 1 - len(missed) / len(checks)


if __name__ == "__main__":
    score = share(check.GOALS) * (1.0 if share(check.KEPT) == 1 else 0.5)
    print(f"score {score:.4f}")
    (Path(sys.argv[1]) / "reward.txt").write_text(f"{score:.4f}\n", encoding="utf-8")

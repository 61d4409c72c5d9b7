"""Open files: the limit is raised as far as it may be, and a lower one is told."""

from __future__ import annotations

import subprocess
import sys

_CHILD = """
import resource, sys
from harness_eval.cli.descriptors import allow_descriptors
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
allow_descriptors(int(sys.argv[3]))
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def _limited(soft: int, hard: int, trials: int) -> tuple[int, str]:
    given = [str(each) for each in (soft, hard, trials)]
    done = subprocess.run([sys.executable, "-c", _CHILD, *given], capture_output=True, text=True, check=True)
    return int(done.stdout.splitlines()[-1]), done.stdout + done.stderr


def test_the_limit_is_raised_to_what_the_trials_need() -> None:
    limit, said = _limited(256, 4096, 500)
    assert limit == 2200
    assert "note" not in said


def test_a_limit_that_is_enough_is_left_alone() -> None:
    assert _limited(1024, 4096, 4)[0] == 1024


def test_a_limit_that_may_not_be_raised_far_enough_is_told() -> None:
    limit, said = _limited(256, 1000, 500)
    assert limit == 1000
    assert "enough for about 200 of 500 trials at once" in said

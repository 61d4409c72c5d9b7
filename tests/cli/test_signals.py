"""What signals do to a command that has just begun."""

from __future__ import annotations

import subprocess
import sys

_BEGUN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from harness_eval import cli

class Command:
    def main(self, **_):
        os.kill(os.getpid(), signal.SIGTERM)
        sys.exit("it went on")

cli.typer.main.get_command = lambda _: Command()
cli.main()
"""


def test_a_command_that_a_script_runs_in_the_background_is_ended_by_sigterm() -> None:
    done = subprocess.run([sys.executable, "-c", _BEGUN], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")

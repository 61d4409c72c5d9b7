"""Whose a leftover is, and whether that process is provably dead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness_eval.sandboxes import owner


def _token_of(program: subprocess.Popen[str]) -> str:
    assert program.stdout is not None
    return program.stdout.readline().strip()


_TELL = "import time; from harness_eval.sandboxes import owner; print(owner.token(), flush=True); time.sleep(60)"


def test_a_living_process_is_not_gone_and_a_dead_one_is() -> None:
    program = [sys.executable, "-c", _TELL]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as other:
        token = _token_of(other)
        assert not owner.gone(token)
        other.kill()
    assert owner.gone(token)


def test_a_later_process_with_the_same_id_is_another() -> None:
    machine, started = owner.token().rpartition(".")[0], owner.token().rpartition(".")[2]
    assert owner.gone(f"{machine}.{int(started) + 1}")


def test_what_cannot_be_known_counts_as_alive() -> None:
    for token in ("", "nonsense", "0123456789ab.4026531836.1.1", owner.token().replace(".", "-")):
        assert not owner.gone(token)

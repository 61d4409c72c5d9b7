"""Measure how robust an agent model is to the harness around it.

Read in this order: `types` (the nouns), `agent` (the only loop), `harness` (one level on each axis), `axes` (how
harnesses differ), `trial` (one cell of the matrix), `study` (plan, run, record, report).
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_eval.frames import Run

__version__ = "0.1.0"


def load(*runs: str | PathLike[str]) -> Run:
    """One or several runs as pandas frames; see `harness_eval.frames.Run`.

    Raises:
        ConfigError: a folder is not that of a run.
    """
    from harness_eval.frames import load as load_frames  # lazy: slow import

    return load_frames(*runs)

"""Measure how robust an agent model is to the harness around it.

Read in this order: `types` (the nouns), `agent` (the only loop), `harness` (one level on each axis), `axes` (how
harnesses differ), `trial` (one cell of the matrix), `study` (plan, run, record, report).
"""

__version__ = "0.1.0"

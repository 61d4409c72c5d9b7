"""Results that were obtained elsewhere become the folder of a run, which every reader of runs then understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness_eval.importing.attempts import Found, Wishes
from harness_eval.importing.inspect_logs import read_logs
from harness_eval.importing.kinds import INSPECT, TABLE, TERMINAL_BENCH, kind_of
from harness_eval.importing.table import read_tables
from harness_eval.importing.terminal_bench import read_jobs
from harness_eval.importing.writing import Imported, write

__all__ = ["KINDS", "Imported", "Wishes", "import_run"]

_READERS: Mapping[str, Callable[[Sequence[Path], Wishes], Found]] = {
    TABLE: read_tables,
    INSPECT: read_logs,
    TERMINAL_BENCH: read_jobs,
}
KINDS = tuple(_READERS)


def import_run(sources: Sequence[Path], folder: Path, wishes: Wishes, kind: str | None = None) -> Imported:
    """Write what the sources hold as the folder of a run; the order of sources and of their rows does not matter.

    Args:
        sources: files or folders, all of one kind.
        folder: the run's folder; one that holds this very import already is left as it is.
        wishes: names to give, columns to rename, the canonical harness, the scorer.
        kind: one of `KINDS`; without it the sources tell.

    Raises:
        ConfigError: a source is wrong (with file, line and column), or the folder holds something else.
    """
    chosen = kind or kind_of(sources)
    return write(folder, _READERS[chosen](sources, wishes), chosen, sources, wishes)

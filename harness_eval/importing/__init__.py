"""Results that were obtained elsewhere become the folder of a run, which every reader of runs then understands."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness_eval.errors import ConfigError
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
    _check_distinct(sources)
    chosen = kind or kind_of(sources)
    named = wishes.named()
    if wishes.columns and chosen != TABLE:
        raise ConfigError(f"--column {next(iter(wishes.columns))}: only a table has columns, and this is {chosen}")
    if wishes.scorer and chosen == TABLE:
        raise ConfigError("--scorer: a table has no scorers; --column score=NAME says which column counts")
    return write(folder, _READERS[chosen](sources, named), chosen, sources, named)


def _check_distinct(sources: Sequence[Path]) -> None:
    seen: set[str] = set()
    for source in sources:
        place = os.path.realpath(source)
        if place in seen:
            raise ConfigError(f"{source}: is named twice")
        seen.add(place)
